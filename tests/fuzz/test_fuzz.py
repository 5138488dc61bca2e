"""Each fuzzer for a moment, always on the same cases; and that fuzzers find, minimise and repeat what is wrong."""

import re
from dataclasses import dataclass
from functools import partial
from random import Random

import pytest

from helpers.versions import older

if older("pandas", "3") or older("pyarrow", "20"):
    pytest.skip(
        "fuzzers know what pandas 3 answers, and types of pyarrow 20", allow_module_level=True
    )

from . import operators
from .__main__ import main
from .choices import Choices, minimised
from .fuzzer import Fuzzer, Run
from .fuzzers import FUZZERS

CASES = {
    "arguments": 300,
    "arrow": 12,
    "cuts": 12,
    "edges": 3,
    "files": 120,
    "frames": 5,
    "operators": 2,
    "predicates": 500,
    "schedules": 12,
}
"""Of seed 0; of operators those of one family, as each more is a kernel for each entry."""
FEW = {
    "operators": Fuzzer(
        "operators", partial(operators.draw, families=("automata",), dtypes=("int64",))
    )
}


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


def test_the_command(capsys, monkeypatch):
    assert main(["predicates", "--cases", "5", "--seed", "7"]) == 0
    told = capsys.readouterr().out
    assert "predicates: 5 cases" in told
    assert "0 findings; SEED=7" in told
    monkeypatch.setitem(FUZZERS, "sums", SUMS)
    assert main(["sums", "--cases", "200", "--seed", "3"]) == 1
    told = capsys.readouterr().out
    assert re.search(r'SEED=3 FUZZ="sums --first \d+ --cases 1"', told)
    assert "1 finding; SEED=3" in told
    for wrong in (["predicate"], ["sums", "--minutes", "no"], ["sums", "--cases", "-1"]):
        with pytest.raises(SystemExit):
            main(wrong)
    assert "there is no fuzzer 'predicate', only" in capsys.readouterr().err
