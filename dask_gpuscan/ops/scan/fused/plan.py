"""The choice of scans that one kernel does together, the dtypes that each needs, and the operator of all.

Scans that need more than an operator's functions, such as products of floating-point numbers, are done one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from ....frames.messages import HINT
from ....frames.registry import column_of, library_of
from ....frames.types import Frame
from ....kernels import Operator
from ....kernels.bounded_cache import BoundedCache
from ....kernels.late_dataclass import dataclass
from ....kernels.messages import shown
from ....kernels.nulls import NAT
from ...core.groups import fields_of
from ...core.operation import GroupScan, MultiOutput, Part
from ..column_scan import Scan
from ..inputs import Columns, Compiled, Input, PlainColumn, compiled, evaluated, has_mask
from ..kernel_scan import ScanArguments, starting_from
from ..plan import ScanPlan, scan_plan
from .operator import Lane, Marks, fused_operator, lane, marked
from .scan import Answer, FusedScan, OfOneColumn, Read, ScanOf

WIDEST = 64
"""Most bytes of the states of scans that are done together: GPUs take these in all ways of scanning groups."""


@dataclass(frozen=True)
class Entry:
    """One scan among several.

    Parameters
    ----------
    name : hashable
        Of its column in the answer.
    op : Operator
    of : tuple of Input
        Its inputs: as many as the operator has.
    options : ScanArguments
        Its own, in the direction of all.
    """

    name: Hashable
    op: Operator
    of: tuple[Input, ...]
    options: ScanArguments

    @property
    def key(self) -> Hashable:
        """Differs between entries; texts differ for values that are equal but of other types."""
        return self.name, self.op.token, tuple([of.key for of in self.of]), repr(self.options)


@dataclass(frozen=True)
class Planned:
    """An entry that is done together with others."""

    entry: Entry
    place: int
    """The place of its column in the answer."""
    inputs: tuple[Compiled, ...]
    plan: ScanPlan
    lane: Lane
    marks: Marks
    marked: Lane
    """The lane that also takes which rows are left out and which are missing."""
    null_tests: tuple[str, ...]
    """For each input, the test of whether an element is null; empty if only a mask says so."""

    @property
    def column(self) -> Input | None:
        """The column that is scanned, if the one input is a plain column."""
        (of, *more) = self.entry.of
        return of if isinstance(of, PlainColumn) and not more else None


def fused_parts(
    frame: Frame,
    entries: Sequence[Entry],
    where: Input | None,
    in_groups: bool = False,
) -> Parts:
    """Return the parts of an answer, as few as possible; each entry is a column of the answer.

    Raises
    ------
    TypeError, ValueError
        For an entry that cannot be scanned, naming it.
    """
    inputs = [of for entry in entries for of in entry.of] + ([] if where is None else [where])
    names = dict.fromkeys(name for of in inputs for name in of.columns)
    columns = {name: column_of(frame, name) for name in names}
    dtypes = tuple([column.dtype for column in columns.values()])
    asked = tuple([entry.key for entry in entries])
    key = library_of(frame), asked, where and where.key, tuple(names), dtypes, in_groups
    found = PARTS.get(key)
    if found is not None:
        return found
    no_rows = {n: library_of(c).slice_column(c, 0, 0) for n, c in columns.items()}
    return PARTS.store(key, tuple(_parts(no_rows, entries, where, in_groups)))


Parts = tuple[Part[GroupScan], ...]

PARTS: BoundedCache[Any, Parts] = BoundedCache()
"""The answers of `fused_parts`, by all that they depend on."""


def _parts(
    columns: Columns,
    entries: Sequence[Entry],
    where: Input | None,
    in_groups: bool,
) -> list[Part[GroupScan]]:
    rows = None
    if where is not None:
        with entitled("where"):
            rows = _boolean(where, columns)
    parts: list[Part[GroupScan]] = []
    together: list[Planned] = []
    for place, entry in enumerate(entries):
        with entitled(shown(entry.name)):
            found = _planned(entry, place, columns, where, in_groups)
        if isinstance(found, Planned):
            together.append(found)
        else:
            parts.append(found)
    for some in _chunks(together):
        parts.append(_fused(some, columns, rows))
    return parts


@contextmanager
def entitled(title: str) -> Iterator[None]:
    """Begin the message of an error in the block with a title."""
    try:
        yield
    except (TypeError, ValueError) as error:
        text = str(error).removeprefix("predicate").lstrip(": ")
        raise type(error)(f"{title}: {text}") from error.__cause__


def _boolean(where: Input, columns: Columns) -> Compiled:
    found = compiled(where, columns)
    library = library_of(columns[where.columns[0]])
    layout = library.layout(found.dtype)
    if layout is None or layout.storage(found.dtype) != np.bool_:
        raise TypeError(f"it must be boolean, found dtype {found.dtype}")
    return found


def _planned(
    entry: Entry,
    place: int,
    columns: Columns,
    where: Input | None,
    in_groups: bool,
) -> Planned | Part[GroupScan]:
    """Return an entry planned to be done with others, or the part that does it alone."""
    op, options = entry.op, entry.options
    inputs = tuple([compiled(of, columns) for of in entry.of])
    library = library_of(columns[entry.of[0].columns[0]])
    dtypes = tuple([found.dtype for found in inputs])
    names = tuple(dict.fromkeys(n for of in entry.of for n in of.columns))
    other = next((dtype for dtype in dtypes if library.layout(dtype) is None), None)
    if other is not None:
        if where is not None:
            raise TypeError(f"dtype {other} cannot be scanned with where; {HINT}")
        scan = Scan(f"scan-{op.name}", op, options, in_groups)
        scan.dtype([evaluated(of, columns) for of in entry.of])
        return MultiOutput((entry.name,), names, ScanOf(scan, entry.of, names), (place,))
    plan = scan_plan(library, op, dtypes, options.dtype, in_groups)
    if where is not None and not (plan.has_nulls or plan.traits.answers_at_nulls):
        if options.dtype is not None:
            raise TypeError(
                f"dtype={options.dtype} cannot hold the nulls of rows that are left out; ask for a nullable dtype "
                f"such as 'Int64'"
            )
        answers = library.nullable(plan.dtype)
        options = replace(options, dtype=library.masked(plan.dtype))
        plan = replace(scan_plan(library, op, dtypes, options.dtype, in_groups), answers=answers)
    scan = Scan(f"scan-{op.name}", op, options, in_groups)
    initial = scan.by_kernels.initial_state(plan)
    if _is_alone(plan, op):
        if where is not None and plan.kernel_dtype.kind == "V":
            raise TypeError(f"dtype {plan.dtype} cannot be scanned with where; {HINT}")
        read = tuple(dict.fromkeys([*names, *(() if where is None else where.columns)]))
        alone = ScanOf(scan, entry.of, read, where)
        return MultiOutput((entry.name,), read, alone, (place,))
    if initial is None and options.exclusive:
        initial = plan.zero
    of = plan.op
    if initial is not None:
        of = starting_from(of, initial, tuple(type(x) for x in fields_of(initial)))
    tests = []
    for layout, storage, dtype in zip(plan.layouts, plan.storages, dtypes, strict=True):
        in_band = layout.nulls == "in band" and not library.is_number(dtype)
        tests.append("nat" if in_band else "nan" * (storage.kind in "fc" and layout.nan_is_null))
    marks = Marks(
        options.exclusive,
        plan.layout.nulls if plan.has_nulls else "",
        options.exclusive and op.null_identity and options.initial is None and plan.has_nulls,
        options.skipna,
    )
    made = lane(of, plan.storages, plan.kernel_dtype)
    with_marks = marked(made, marks, plan.kernel_dtype)
    return Planned(entry, place, inputs, plan, made, marks, with_marks, tuple(tests))


def _is_alone(plan: ScanPlan, op: Operator) -> bool:
    """Whether an entry needs more than the functions of its operator."""
    in_order = op.in_order and plan.kernel_dtype.kind in "fc"
    checked = plan.checks_overflow or plan.narrows or plan.held_by is not None
    return in_order or checked or any(s.kind == "V" for s in plan.storages)


def _chunks(planned: Sequence[Planned]) -> Iterator[list[Planned]]:
    """Return entries in as few pieces as their states allow."""
    some: list[Planned] = []
    size = 0
    for one in planned:
        width = sum(max(d.itemsize, 4) for d in one.marked.dtypes)
        if some and size + width > WIDEST:
            yield some
            some, size = [], 0
        some.append(one)
        size += width
    if some:
        yield some


def _fused(planned: list[Planned], columns: Columns, rows: Compiled | None) -> Part[GroupScan]:
    """Return the part that does some entries together."""
    names = tuple(one.entry.name for one in planned)
    places = tuple(one.place for one in planned)
    reverse = planned[0].entry.options.reverse
    answers = tuple(
        Answer(one.plan.dtype, one.plan.answers, one.marks.nulls == "mask") for one in planned
    )
    first = planned[0]
    if rows is None and _share_nulls(planned):
        assert isinstance(first.column, PlainColumn)
        op = fused_operator([one.lane for one in planned], ["x0"], ["x0"] * len(planned))
        flags = tuple([one.marks.exclusive for one in planned])
        scan: FusedScan = OfOneColumn(
            op,
            first.column.columns,
            (Read(first.column, False),),
            answers,
            reverse,
            exclusive=flags if len(set(flags)) > 1 else flags[0],
            has_nulls=bool(first.marks.nulls),
            keeps_nan=any(one.plan.keeps_nan for one in planned),
            valued=_valued(planned),
        )
        return MultiOutput(names, scan.names, scan, places)
    used = [*([rows] if rows else []), *(found for one in planned for found in one.inputs)]
    inputs = list(dict.fromkeys(of for found in used for of in found.reads))
    reads = tuple(Read(of, _masked(of, columns)) for of in inputs)
    elements = [
        n for i, r in enumerate(reads) for n in ((f"x{i}", f"m{i}") if r.masked else (f"x{i}",))
    ]
    functions: dict[str, Any] = {"nan": _is_nan, "nat": _is_nat}

    def written(found: Compiled) -> tuple[str, list[str]]:
        """Write the value of an input, and where the masks of its columns make it null."""
        at = [inputs.index(of) for of in found.reads]
        value = ", ".join(f"x{i}" for i in at)
        if found.function is not None:
            name = f"f{len(functions)}"
            functions[name] = found.function
            value = f"{name}({value})"
        return value, [f"m{i}" for i in at if reads[i].masked]

    keep = "True"
    if rows is not None:
        value, masks = written(rows)
        keep = " & ".join([value, *(f"(not {mask})" for mask in masks)])
    lanes, calls = [], []
    for one in planned:
        values, missing = [], []
        for found, test in zip(one.inputs, one.null_tests, strict=True):
            value, masks = written(found)
            values.append(value)
            missing += [*masks, *([f"{test}({value})"] if test else [])]
        if rows is None and not missing and not one.marks.exclusive:
            lanes.append(one.lane)
            calls.append(", ".join(values))
        else:
            lanes.append(one.marked)
            calls.append(", ".join([keep, " | ".join(missing) or "False", *values]))
    op = fused_operator(lanes, elements, calls, **functions)
    sources = tuple(dict.fromkeys(n for of in inputs for n in of.columns))
    return MultiOutput(names, sources, FusedScan(op, sources, reads, answers, reverse), places)


def _valued(planned: Sequence[Planned]) -> tuple[tuple[int, int] | None, ...]:
    """Return the place of each entry's state in the state of all, if its answer is null without a value; else None."""
    ends = accumulate(one.lane.width for one in planned)
    return tuple(
        (end - one.lane.width, end)
        if one.marks.nulls and one.plan.op.null_identity and one.entry.options.initial is None
        else None
        for one, end in zip(planned, ends, strict=True)
    )


def _masked(of: Input, columns: Columns) -> bool:
    return has_mask(evaluated(of, columns))


def _is_nan(x):  # type: ignore[no-untyped-def]
    return x != x


def _is_nat(x):  # type: ignore[no-untyped-def]
    return x == NAT


def _share_nulls(planned: Sequence[Planned]) -> bool:
    """Whether entries scan one column and are null in the same rows, before and after each."""
    first = planned[0]
    return all(
        one.column is not None
        and one.column == first.column
        and replace(one.marks, exclusive=first.marks.exclusive) == first.marks
        and one.marks.skipna
        and not one.marks.seen
        for one in planned
    )
