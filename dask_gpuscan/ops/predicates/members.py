"""What may follow a dot in a predicate: tests for nulls, methods of texts and parts of dates, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from operator import methodcaller
from typing import Any

from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown


@dataclass(frozen=True)
class Member:
    """One of the things that may follow a dot."""

    value: Callable[..., Any]
    """Return it of a column, given its arguments."""
    parameters: int | None = 0
    """How many texts it takes; None if it has no parentheses."""
    keywords: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)
    """What it takes by name, and the values of each."""
    check: Callable[[str, Mapping[str, bool]], None] = lambda *_: None
    """Raise a ValueError for a text that means something else to the libraries."""


def _matched(match: Callable[[Any, str], Any], column: Any, text: str, **keywords: bool) -> Any:
    """Return where texts match; with `na`, that is the value where there is no text.

    Without, objects do not match where they are no texts, as pandas' strings do not where they are null.
    """
    found = match(column.str, text)
    if "na" not in keywords and found.dtype != object:
        return found
    found = found.where(found.notnull() & column.notnull(), keywords.get("na", False))
    return found.astype(bool) if found.dtype == object else found


_SPECIAL = re.compile(r"[][.^$*+?{}\\|()]")


def _check_literal(text: str, keywords: Mapping[str, bool]) -> None:
    if "regex" not in keywords and _SPECIAL.search(text):
        raise ValueError(
            "str.contains looks for the text itself; write regex=False, as the text would be a pattern to pandas"
        )


_NA = {"na": (True, False)}
_MATCHES = {
    "str.startswith": Member(partial(_matched, lambda s, text: s.startswith(text)), 1, _NA),
    "str.endswith": Member(partial(_matched, lambda s, text: s.endswith(text)), 1, _NA),
    "str.contains": Member(
        partial(_matched, lambda s, text: s.contains(text, regex=False)),
        1,
        {**_NA, "regex": (False,)},
        _check_literal,
    ),
}
_CALLED = (
    *("isnull", "isna", "notnull", "notna"),
    *("str.lower", "str.upper", "str.strip", "str.len", "dt.total_seconds"),
)
_PARTS = (
    *("year", "quarter", "month", "day", "hour", "minute", "second", "microsecond", "nanosecond"),
    "is_leap_year",
    *(f"is_{part}_{end}" for part in ("month", "quarter", "year") for end in ("start", "end")),
    *("days", "seconds", "microseconds", "nanoseconds"),
)
_SYNONYMS = (
    ("day_of_week", "dayofweek", "weekday"),
    ("day_of_year", "dayofyear"),
    ("days_in_month", "daysinmonth"),
)
"""Names of the same part, of which a library may know one only."""


def _part(names: Sequence[str]) -> Member:
    def value(column: Any) -> Any:
        parts = column.dt
        return getattr(parts, next((name for name in names if hasattr(parts, name)), names[0]))

    return Member(value, None)


def _called(path: str) -> Member:
    *accessor, method = path.split(".")
    call = methodcaller(method)
    return Member(lambda column: call(getattr(column, accessor[0]) if accessor else column))


MEMBERS: dict[str, Member] = {
    **{path: _called(path) for path in _CALLED},
    **_MATCHES,
    **{f"dt.{part}": _part([part]) for part in _PARTS},
    **{f"dt.{part}": _part(names) for names in _SYNONYMS for part in names},
}
"""What may follow a dot, by how it is written; the meaning is that of pandas."""

ACCESSORS = ("str", "dt")
"""What a further dot and a name must follow."""

ACCEPTED = (
    "isnull(), notnull(), str.startswith(text), str.endswith(text), str.contains(text), str.lower(), "
    "dt.year, dt.hour, ..."
)
"""Some of them, for messages."""


def check_arguments(path: str, texts: Sequence[Any], keywords: Mapping[str, bool]) -> None:
    """Raise a ValueError for arguments that something after a dot does not take."""
    member = MEMBERS[path]
    if len(texts) != (member.parameters or 0):
        raise ValueError(
            f"{path} takes {'one text' if member.parameters else 'nothing'}, found {len(texts)} values"
        )
    for name, value in keywords.items():
        accepted = member.keywords.get(name)
        if accepted is None:
            raise ValueError(f"{path} takes no argument {shown(name)}")
        if not any(value is one for one in accepted):
            raise ValueError(
                f"{path} takes {name}={' or '.join(map(str, accepted))}, found {shown(value)}"
            )
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"{path} takes a text, found {type(text).__name__}")
        member.check(text, keywords)
