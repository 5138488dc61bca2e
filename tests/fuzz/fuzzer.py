"""What a case of a fuzzer is, and how cases are drawn and checked."""

from collections import Counter
from typing import Any, Protocol

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS
from hypothesis.strategies import SearchStrategy


class Case(Protocol):
    """Something that is tried; its repr says how a reader would try it."""

    def check(self) -> str:
        """Raise an exception if something is wrong; return in a few words what was seen."""


# Hypothesis makes most cases by changes to the one before: of 600, frames had 74 methods and not 117. What it takes for
# a backend of somebody else draws each case afresh.
AVAILABLE_PROVIDERS["afresh"] = AVAILABLE_PROVIDERS["hypothesis"]
QUIETLY = settings(
    backend="afresh",
    database=None,
    deadline=None,
    print_blob=False,
    phases=(Phase.reuse, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def fuzz(name: str, cases: SearchStrategy[Any], number: Any, **options: Any) -> Counter[str]:
    """Check cases of a seed, and return what was seen of how many; raise what is wrong with the smallest case."""
    seen: Counter[str] = Counter()

    def check(case: Case) -> None:
        seen[case.check()] += 1

    check.__name__ = check.__qualname__ = name  # by which Hypothesis keeps what it has found
    seed(number)(settings(QUIETLY, **options)(given(cases)(check)))()
    return seen
