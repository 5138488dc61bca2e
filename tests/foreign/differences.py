"""Tests of pandas that ours do not pass, each with the reason; one that passes after all fails the run."""

DIFFERENCES = {
    "series.test_cumulative::TestSeriesCumulativeOps::test_datetime_series[cumsum]": (
        "compares sums of floats bit by bit; ours are added in four lanes, and differ in the last bit"
    ),
}
"""Reasons, by the end of a test's id from its module on; without its parameters, of all of them."""


def reason_for(test: str) -> str | None:
    """Return why a test does not pass; None if it should."""
    whole = test.partition("[")[0]
    return next((DIFFERENCES[name] for name in (test, whole) if name in DIFFERENCES), None)
