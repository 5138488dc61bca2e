"""What a fuzzer is, how it is run for a time, and how what it finds is told."""

import re
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from random import Random
from typing import Any, Protocol

from .choices import Choices, minimised

MINIMISING = 20.0
"""Seconds for the minimising of one finding."""


class Case(Protocol):
    """Something that is tried; its repr says how a reader would try it."""

    label: str
    """Its kind: of findings of one kind and message, the first is minimised, and others are counted."""

    def check(self) -> str:
        """Raise an exception if something is wrong; return in a few words what was seen."""


class Told:
    """A part of a case; its repr leaves out what is as it is by default."""

    def __repr__(self) -> str:
        known: Any = self
        told = [
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(known)
            if getattr(self, one.name) != one.default
        ]
        return f"{type(self).__name__}({', '.join(told)})"


@dataclass(frozen=True)
class Fuzzer:
    """What draws cases."""

    name: str
    draw: Callable[[Choices], Case]
    started: Callable[[], None] = lambda: None
    """What is done once before the first case."""


@dataclass
class Finding:
    """A case that failed, as small as it could be made."""

    fuzzer: Fuzzer
    number: int
    """Which case of the seed it was."""
    recorded: list[int]
    key: tuple[str, str, str]
    text: str
    times: int = 1

    def minimise(self, seconds: float) -> None:
        """Replace the case by the smallest one found that fails likewise."""

        def still(recorded: list[int]) -> bool:
            failed = _failure(self.fuzzer, Choices(recorded=recorded))
            return failed is not None and failed[0] == self.key

        self.recorded = minimised(self.recorded, still, seconds)
        failed = _failure(self.fuzzer, Choices(recorded=self.recorded))
        if failed is not None:
            self.text = failed[1]


@dataclass
class Run:
    """A fuzzer's cases of one seed, one after the other."""

    fuzzer: Fuzzer
    seed: int
    number: int = 0
    """Of the next case."""
    seconds: float = 0.0
    minimising: float = MINIMISING
    seen: Counter[str] = field(default_factory=Counter)
    findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)

    def step(self) -> Finding | None:
        """Try the next case; return what it found that is new."""
        begin = time.monotonic()
        number, self.number = self.number, self.number + 1
        choices = Choices(Random(f"{self.fuzzer.name} {self.seed} {number}"))
        failed = _failure(self.fuzzer, choices, self.seen)
        self.seconds += time.monotonic() - begin
        if failed is None:
            return None
        key, text = failed
        known = self.findings.get(key)
        if known is not None:
            known.times += 1
            return None
        finding = self.findings[key] = Finding(self.fuzzer, number, choices.made, key, text)
        finding.minimise(self.minimising)
        return finding

    def steps(self, seconds: float, cases: int) -> Iterator[Finding]:
        """Try cases for so long, and at most so many in all; yield what is new."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.number < cases:
            found = self.step()
            if found is not None:
                yield found

    def __str__(self) -> str:
        seen = ", ".join(f"{count} {what}" for what, count in self.seen.most_common())
        wrong = sum(f.times for f in self.findings.values())
        return f"{self.fuzzer.name}: {self.number} cases in {self.seconds:.0f} s, {wrong} wrong ({seen})"


def _failure(
    fuzzer: Fuzzer, choices: Choices, seen: Counter[str] | None = None
) -> tuple[tuple[str, str, str], str] | None:
    """Draw a case and try it; return the kind of its failure and a text that tells of it."""
    case: Any = None
    try:
        case = fuzzer.draw(choices)
        what = case.check()
    except Exception as error:
        label = getattr(case, "label", "draw")
        key = (label, type(error).__name__, _pattern(str(error)))
        where = "".join(traceback.format_exception(error)[-4:])
        return key, f"{case!r}\n{where}"
    if seen is not None:
        seen[what] += 1
    return None


def _pattern(message: str) -> str:
    """Return the first line of a message without what differs from case to case."""
    line = message.partition("\n")[0]
    return re.sub(r"(\".*\"|'.*'|\[.*?\])|[\d.]+", "_", line)[:80]
