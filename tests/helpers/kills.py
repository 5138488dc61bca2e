"""Calls that end a run, as if its process was killed there."""

from collections.abc import Callable
from typing import Any


class KilledError(BaseException):
    """Nothing catches it."""


def before(call: Callable[..., Any], at: int) -> Callable[..., Any]:
    """Return a function that is killed before its call of this number."""
    left = [at]

    def wrapped(*args: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError
        return call(*args, **options)

    return wrapped


def behind(call: Callable[..., Any], at: int) -> Callable[..., Any]:
    """Return a function that is killed behind its call of this number."""
    left = [at]

    def wrapped(*args: Any, **options: Any) -> Any:
        found = call(*args, **options)
        left[0] -= 1
        if left[0] < 0:
            raise KilledError
        return found

    return wrapped
