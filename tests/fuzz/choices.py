"""Random draws that are recorded, so that a case can be drawn again, and smaller."""

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Draws of one case: at random, or those of a recording, beyond whose end each is the first.

    Of all that may be drawn the first is the simplest: a recording becomes simpler by lowering its numbers.
    """

    def __init__(self, random: Random | None = None, recorded: Sequence[int] = ()) -> None:
        self._random = random
        self._recorded = recorded
        self.made: list[int] = []

    def below(self, count: int) -> int:
        """Draw an integer from 0 to below a count."""
        if self._random is not None:
            drawn = self._random.randrange(count)
        else:
            at = len(self.made)
            drawn = min(self._recorded[at], count - 1) if at < len(self._recorded) else 0
        self.made.append(drawn)
        return drawn

    def pick(self, options: Sequence[T]) -> T:
        """Draw one of some options."""
        return options[self.below(len(options))]

    def between(self, low: int, high: int) -> int:
        """Draw an integer between two, both included; the lower one is the simplest."""
        return low + self.below(high - low + 1)

    def flag(self) -> bool:
        """Draw False or True."""
        return bool(self.below(2))

    def one_in(self, count: int) -> bool:
        """Draw True once in so many draws."""
        return self.below(count) == count - 1

    def many(self, draw: Callable[[], T], most: int) -> list[T]:
        """Draw a list of at most so many elements, short ones as often as long ones."""
        return [draw() for _ in range(self.below(self.below(most + 1) + 1))]


def minimised(
    recorded: list[int], still: Callable[[list[int]], bool], seconds: float = 60.0
) -> list[int]:
    """Return a shorter recording, or one of lower numbers, that `still` holds for, which it does for the given one.

    Parts are left out, of half of the recording to single numbers; then each number is lowered by bisection. This is
    repeated until nothing changes, or the time is over. (MacIver and Donaldson, *Test-case reduction via test-case
    generation: insights from the Hypothesis reducer*, ECOOP 2020.)
    """
    end = time.monotonic() + seconds
    best = list(recorded)

    def tried(candidate: list[int]) -> bool:
        nonlocal best
        if candidate == best or time.monotonic() > end or not still(candidate):
            return False
        best = candidate
        return True

    while True:
        before = list(best)
        size = max(len(best) // 2, 1)
        while size:
            at = len(best) - size
            while at >= 0:
                tried(best[:at] + best[at + size :])
                at -= max(size // 2, 1)
            size //= 2
        for at in range(len(before)):
            _lower(lambda: best, at, tried)
        if best == before or time.monotonic() > end:
            return best


def _lower(best: Callable[[], list[int]], at: int, tried: Callable[[list[int]], bool]) -> None:
    """Lower a number as far as it goes, and the one before it by one where it is a length that no longer holds."""
    if at >= len(best()) or best()[at] == 0:
        return
    low, high = 0, best()[at]
    if tried([*best()[:at], 0, *best()[at + 1 :]]):
        return
    while high - low > 1 and at < len(best()):
        middle = (low + high) // 2
        if tried([*best()[:at], middle, *best()[at + 1 :]]):
            high = middle
        else:
            low = middle
    for after in range(at + 1, min(at + 8, len(best()))):  # a length, and an element of it
        shorter = [*best()[:at], best()[at] - 1, *best()[at + 1 : after], *best()[after + 1 :]]
        if best()[at] and tried(shorter):
            return
