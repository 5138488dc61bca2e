"""Each fuzzer for a moment, always on the same cases; and that fuzzers find, minimise and repeat what is wrong."""

import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import pytest

from . import operators
from .choices import Choices, minimised
from .fuzzer import Fuzzer, Run
from .fuzzers import FUZZERS

CASES = {"arrow": 100, "edges": 15, "frames": 25, "operators": 10, "predicates": 1_000}
"""Of seed 0; of operators those of one family, as each more is a kernel for each entry."""
FEW = {"operators": Fuzzer("operators", partial(operators.draw, families=("automata",), dtypes=("int64",)))}  # fmt: skip


@pytest.mark.parametrize("name", FUZZERS)
def test_nothing_is_found(name):
    run = Run(FEW.get(name, FUZZERS[name]), seed=0, minimising=10.0)
    run.fuzzer.started()
    found = list(run.steps(600.0, CASES[name]))
    assert run.number == CASES[name]
    assert not found, found[0].text
    assert sum(run.seen.values()) == CASES[name]


@dataclass(frozen=True)
class Sum:
    """Numbers whose sum must be small."""

    numbers: list[int]
    label: str = "sum"

    def check(self) -> str:
        assert sum(self.numbers) < 100, f"sum {sum(self.numbers)}"
        return "small"


SUMS = Fuzzer("sums", lambda choices: Sum(choices.many(lambda: choices.below(1000), 30)))


def test_findings_are_minimised_counted_and_repeated():
    run = Run(SUMS, seed=3)
    (found,) = run.steps(60.0, 200)
    assert eval(found.text.splitlines()[0]).numbers == [100]
    assert found.times + run.seen["small"] == 200
    again = Run(SUMS, seed=3, number=found.number)
    assert again.step().recorded == found.recorded
    assert Run(SUMS, seed=4).step() != found


def test_a_recording_is_drawn_again():
    choices = Choices(Random(1))
    drawn = SUMS.draw(choices)
    assert SUMS.draw(Choices(recorded=choices.made)) == drawn
    assert SUMS.draw(Choices()) == Sum([])
    assert minimised([5, 9, 7], lambda made: sum(made) >= 9) == [9]


def test_the_command_runs_and_refuses_what_is_not_there():
    def run(*arguments):
        command = [sys.executable, "-m", "fuzz", *arguments]
        return subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)

    done = run("predicates", "--cases", "5", "--seed", "7")
    assert done.returncode == 0, done.stderr
    assert "predicates: 5 cases" in done.stdout
    assert "0 findings; SEED=7" in done.stdout
    wrong = run("predicate")
    assert wrong.returncode == 2
    assert "there is no fuzzer 'predicate'" in wrong.stderr
