"""Each fuzzer for a moment, always on the same cases; and that fuzzers find, minimise and keep what is wrong."""

from dataclasses import dataclass

import pytest
from hypothesis import strategies as st

from helpers.versions import older

if older("pandas", "3") or older("pyarrow", "20"):
    pytest.skip(
        "fuzzers know what pandas 3 answers, and types of pyarrow 20", allow_module_level=True
    )

from . import operators, peers
from .__main__ import main
from .fuzzer import fuzz
from .fuzzers import FUZZERS

CASES = {
    "arguments": 300,
    "arrow": 12,
    "cuts": 10,
    "edges": 3,
    "files": 50,
    "frames": 5,
    "operators": 2,
    "peers": 12,
    "predicates": 250,
    "schedules": 12,
}
"""Of operators those of one family, as each more is a kernel for each entry."""
FEW = {"operators": operators.cases_of(("automata",), ("int64",))}


@pytest.mark.parametrize("name", FUZZERS)
def test_nothing_is_found(name):
    seen = fuzz(name, FEW.get(name, FUZZERS[name]), 0, max_examples=CASES[name])
    assert seen.total() > 0.8 * CASES[name]  # no case is drawn twice


def test_other_answers_of_peers_are_found(monkeypatch):
    monkeypatch.setattr(peers, "equal", lambda ours, theirs: ours is None)
    with pytest.raises(AssertionError, match=r"of (polars|DuckDB)"):
        fuzz("peers", peers.PEERS, 0, max_examples=12)


@dataclass(frozen=True)
class Sum:
    """Numbers whose sum must be small."""

    numbers: list[int]

    def check(self) -> str:
        assert sum(self.numbers) < 100, f"sum {sum(self.numbers)}"
        return "small"


def test_the_command(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(FUZZERS, "sums", st.builds(Sum, st.lists(st.integers(0, 1000))))
    assert main(["predicates", "--minutes", "0.001", "--seed", "7"]) == 0
    told = capsys.readouterr().out
    assert "predicates: 25 cases (" in told
    assert "nothing found; SEED=7" in told
    for _ in range(2):  # the second begins with what the first one kept
        assert main(["sums"]) == 1
        told = capsys.readouterr().out
        assert "sums found" in told
        assert "[100])" in told
    assert "sums: 0 cases" in told
    with pytest.raises(SystemExit):
        main(["predicate"])
    assert "there is no fuzzer 'predicate', only" in capsys.readouterr().err
