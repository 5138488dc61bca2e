"""Tests of pandas that ours do not pass, each with the reason; one that passes after all fails the run."""

DIFFERENCES: dict[str, str] = {}
"""Reasons, by the end of a test's id from its module on; without its parameters, of all of them."""


def reason_for(test: str) -> str | None:
    """Return why a test does not pass; None if it should."""
    whole = test.partition("[")[0]
    return next((DIFFERENCES[name] for name in (test, whole) if name in DIFFERENCES), None)
