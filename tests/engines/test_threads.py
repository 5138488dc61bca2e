"""Threads that call a method at once, before a kernel of it is compiled, have the answer of one thread."""

import itertools
import time
from pathlib import Path

import pytest

from helpers.programs import python
from helpers.samples import share
from helpers.threads import THREADS, complaints

SAMPLE = ("Gpuscan.cumsum", "GroupBy.cumsum", "Gpuscan.sort_values", "Gpuscan.filter", "array scan")


@pytest.mark.slow
def test_methods_on_a_cold_cache():
    names = share(SAMPLE, 2)
    done = python("-m", "helpers.threads", *names, folder=Path(__file__).parents[1])
    assert done.stdout.count(": 0 complaints") == len(names)


def test_calls_that_disturb_each_other_are_found():
    count, calls = itertools.count(), itertools.count()
    assert not complaints("right", lambda: 1, repr)
    assert complaints("counts", lambda: next(count), repr) == [
        f"counts: {THREADS} threads have other bits"
    ]

    def raises_once():
        number = next(calls)
        time.sleep(0.01)
        return 1 / number

    (told,) = complaints("raises", raises_once, repr)
    assert told.startswith("raises: 1 threads raise")
    assert "ZeroDivisionError" in told
