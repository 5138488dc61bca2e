"""Functions that end a run at one of their calls, as if the process were killed there."""

from collections.abc import Callable
from typing import Any


class KilledError(BaseException):
    """Raised in place of a kill; no code catches it."""


def before(call: Callable[..., Any], at: int) -> Callable[..., Any]:
    """Return a function that is killed before its call number `at`."""
    left = [at]

    def wrapped(*args: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError
        return call(*args, **options)

    return wrapped


def behind(call: Callable[..., Any], at: int) -> Callable[..., Any]:
    """Return a function that is killed after its call number `at`."""
    left = [at]

    def wrapped(*args: Any, **options: Any) -> Any:
        found = call(*args, **options)
        left[0] -= 1
        if left[0] < 0:
            raise KilledError
        return found

    return wrapped
