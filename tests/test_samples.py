"""Samples of long tests: at least one case of each test runs, the same ones each time."""

import pytest

from helpers import samples

CASES = [
    (f"test_{name}[{i}]", parts)
    for name, parts in (("a", 1), ("b", 3), ("c", 100))
    for i in range(12)
]


@pytest.mark.parametrize("every", [False, True])
def test_at_least_one_case_of_each_test_runs(monkeypatch, every):
    monkeypatch.setattr(samples, "ALL", every)
    taken = [case for case, runs in zip(CASES, samples.sample(CASES), strict=True) if runs]
    counts = [sum(case.startswith(f"test_{name}[") for case, _ in taken) for name in "abc"]
    assert counts[0] == 12
    assert counts[1:] == [12, 12] if every else 1 <= counts[1] < 12 and counts[2] == 1
    assert taken == [case for case, runs in zip(CASES, samples.sample(CASES), strict=True) if runs]
