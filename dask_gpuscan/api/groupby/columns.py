"""The columns that are grouped, and where equal keys are; a group-by is specified and run here."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

from ...engines.run import Engine, engine_of, meta_of, methods_of, run
from ...frames.keys import By, check_by
from ...frames.messages import column_title
from ...frames.registry import column_of, library_of, names_of, unused_name
from ...kernels import Operator
from ...kernels.bounded_cache import BoundedCache
from ...kernels.late_dataclass import dataclass
from ...ops.core.columnwise import labelled_columns, without_name
from ...ops.core.groups import INT64
from ...ops.core.operation import GroupScan, Needs, Operation, Part
from ...ops.core.plans import Planned, Signature, shared_plans, signature_of
from ...ops.groupby.spec import GroupBySpec
from ...ops.groupby.strategy import KeyOrder, strategy
from ...ops.scan.row_number import ResetIndex
from ..absent import NotIterable
from ..arguments import check_choice_of_columns, check_inputs
from ..types import FrameT, Methods, Obj, SeriesT

EVERY_COLUMN: Any = ...
"""The selection if no column was chosen; None may be the name of a column."""


@dataclass(frozen=True)
class Grouping:
    """Rows, and their keys by name."""

    rows: Any
    """The rows as the caller gave them."""
    obj: Any
    """The rows with a column for each key that has no name."""
    by: By
    titles: tuple[Hashable, ...]
    """The names of keys in answers."""
    hidden: tuple[Hashable, ...] = ()
    """The names of columns that keys are made of; answers leave them out."""
    signature: Signature | None = None
    """That of the rows, if all keys are columns of theirs."""

    @classmethod
    def by_names(cls, obj: Any, by: Any) -> Grouping:
        """Return rows with keys that have names; raises an error for wrong names."""
        meta = meta_of(obj)
        signature = signature_of(meta)
        plans = shared_plans(signature, tuple(by) if isinstance(by, list) else (by,))
        found = plans.get("keys") or plans.store("keys", check_by(meta, by))
        return cls(obj, obj, found, found.columns, (), None if found.levels else signature)

    @property
    def of_series(self) -> bool:
        """Whether the rows are a series that became a frame."""
        own = self.rows is self.obj
        return not own and bool(meta_of(self.rows).ndim < meta_of(self.obj).ndim)

    @property
    def without_name(self) -> bool:
        """Whether the rows are a series without a name, which has one in a frame."""
        return self.of_series and meta_of(self.rows).name is None


@dataclass(frozen=True)
class GroupOptions:
    """How rows are grouped, and what answers of groups look like."""

    clustered: bool | None = None
    dropna: bool = True
    sort: bool | None = None
    """Whether groups are in the order of their keys; by default they are unless equal keys are adjacent."""
    as_index: bool = True


class GroupByColumns(NotIterable, Methods[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that knows its frame."""

    def __init__(
        self, grouping: Grouping, options: GroupOptions, selected: Any = EVERY_COLUMN
    ) -> None:
        self._grouping = grouping
        self._obj = grouping.obj
        self._engine: Engine = engine_of(grouping.obj)
        self._meta: Any = self._engine.meta(grouping.obj)
        self._by = grouping.by
        self._options = options
        self._clustered, self._dropna = options.clustered, options.dropna
        self._selected = selected

    def _names(self) -> list[Hashable]:
        """Return the names of the columns of the rows; none of a series."""
        rows = meta_of(self._grouping.rows)
        return names_of(rows) if rows.ndim == 2 else []

    def _chosen(self, columns: Any) -> Any:
        """Return a checked selection: the name of a column, or a list of names."""
        rows = meta_of(self._grouping.rows)
        if rows.ndim == 1:
            raise TypeError("a Series has no columns to choose from")
        check_choice_of_columns(columns, names_of(rows))
        return list(columns) if isinstance(columns, list) else columns

    @cached_property
    def _plans(self) -> BoundedCache[Any, Any]:
        """What methods found out about frames of these labels and dtypes; of this one alone if it is in parts."""
        options, selected = self._options, self._selected
        chosen = isinstance(selected, list)
        labels = (
            *self._by.columns,
            *(selected if chosen else [] if selected is ... else [selected]),
        )
        return shared_plans(
            None if self._engine.IN_PARTS else self._grouping.signature,
            labels, type(self).__name__, len(self._by.columns), chosen, options.clustered, options.dropna, options.sort,
        )  # fmt: skip

    @property
    def _as_series(self) -> bool:
        one = self._selected is not EVERY_COLUMN and not isinstance(self._selected, list)
        return bool(self._meta.ndim == 1 or one)

    @cached_property
    def _known(self) -> list[Hashable]:
        """The names of all columns."""
        return names_of(self._meta)

    def _columns(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns that are reduced or scanned."""
        if self._meta.ndim == 1:
            return [self._meta.name]
        if self._selected is not EVERY_COLUMN:
            names = self._selected if isinstance(self._selected, list) else [self._selected]
        else:
            keys = (*self._by.columns, *self._grouping.hidden)
            names = [n for n in self._known if n not in keys]
        if numeric_only and not self._as_series:
            library = library_of(self._meta)
            names = [n for n in names if library.is_numeric(self._column(n).dtype)]
        return list(names)

    def _reduced(self, method: str, numeric_only: bool) -> list[Hashable]:
        """Names of the columns that a method reduces; a series must be numeric if `numeric_only` asks for that."""
        names = self._columns(numeric_only)
        if numeric_only and self._as_series:
            column = self._column(names[0])
            if not library_of(self._meta).is_numeric(column.dtype):
                raise TypeError(
                    f"{method} of {column_title(column)}: dtype {column.dtype} is not numeric, and numeric_only=True "
                    f"asks for numbers"
                )
        return names

    def _column(self, name: Hashable) -> Any:
        found = column_of(self._meta, name)
        if getattr(found, "ndim", 1) > 1:
            raise ValueError(f"column {name!r} is there twice; rename one of them first")
        return found

    def _needed(self, names: Sequence[Hashable]) -> Any:
        """The collection with these columns and the keys only, if others would be read or moved."""
        if self._meta.ndim == 1:
            return self._obj
        names, known = [n for n in names if n not in self._by.levels], self._known
        for name in names:
            if known.count(name) != 1:
                self._column(name)  # raises an error that says what is wrong
        kept = [*self._by.names, *names]
        if self._one_pass or not self._engine.IN_PARTS:
            return self._engine.narrow(self._obj, kept)
        return self._engine.select(self._obj, [name in kept for name in known])

    @cached_property
    def _key_order(self) -> KeyOrder:
        """Where rows with equal keys are: the caller says it, or known divisions do."""
        if self._clustered:
            return KeyOrder.ADJACENT
        in_partitions = (
            self._clustered is None
            and self._options.sort is None
            and self._engine.is_sorted_by_index(self._obj)
            and self._by.columns == self._by.levels == (self._meta.index.name,)
        )
        return KeyOrder.ONE_PARTITION if in_partitions else KeyOrder.ANYWHERE

    @property
    def _one_pass(self) -> bool:
        return self._key_order is not KeyOrder.ANYWHERE

    def _spec(
        self,
        label: str,
        parts: Sequence[Part[Any]],
        as_series: bool,
        named: bool = False,
        each_row: bool = False,
    ) -> GroupBySpec:
        """Return the specification of a group-by."""
        return GroupBySpec(
            self._by,
            f"groupby-{label}",
            tuple(parts),
            as_series,
            self._dropna,
            named,
            null_keys=each_row and self._null_keys,
            each_row=each_row,
            sort=each_row or self._one_pass or self._options.sort is not False,
        )

    def _way(self, spec: GroupBySpec) -> Any:
        """Return the operation that does a group-by of these rows."""
        if not spec.sort and spec.needs is Needs.WHOLE_GROUPS:
            raise ValueError(
                "quantiles, nunique and lists have groups in the order of their keys; leave out sort=False, or use "
                "clustered=True if equal keys are adjacent"
            )
        return strategy(spec, self._key_order)

    def _run(self, spec: GroupBySpec) -> Any:
        way = self._way(spec)
        return run(self._needed([n for part in spec.parts for n in part.sources]), way)

    def _scan(
        self, label: str, parts: Sequence[Part[GroupScan]], as_series: bool, named: bool = False
    ) -> Any:
        """Scan groups: one answer for each row."""
        return self._named(self._run(self._spec(label, parts, as_series, named, each_row=True)))

    def _scan_columns(
        self,
        label: str,
        scan: Planned,
        parts: Callable[[], Sequence[Part[GroupScan]]],
        as_series: bool,
        *facts: bool,
    ) -> Any:
        """Scan groups by parts that depend on a scan, facts, labels and dtypes alone; the scan keeps the way."""
        plans, null_keys = self._plans, self._null_keys
        key = id(plans), null_keys, facts
        known = scan.plans.get(key)
        if known is not None and known[0] is plans:
            return self._named(self._engine.look_back(self._obj, known[1]))
        spec = self._spec(label, parts(), as_series, each_row=True)
        out = self._named(self._run(spec))
        if not self._engine.IN_PARTS and self._grouping.signature is not None:
            scan.plans.store(key, (plans, self._way(spec)))
        return out

    def _named(self, out: Any) -> Any:
        """Return an answer of rows or groups; that of a series without a name has none, that of a frame its labels."""
        grouping = self._grouping
        if out.ndim == 1:
            named = not grouping.without_name
            return out if named else engine_of(out).map_partitions(out, without_name)
        if grouping.obj is grouping.rows:
            return out
        names, rows = names_of(meta_of(out)), meta_of(grouping.rows)
        if rows.ndim == 1 or not set(names) <= set(names_of(rows)):
            return out
        like = library_of(rows).no_rows(rows)  # without the keys that were added as columns
        return engine_of(out).map_partitions(out, labelled_columns, names, like)

    def _answer(self, out: Any) -> Any:
        """Return an answer of groups with keys where they are asked for: in its index, or as columns."""
        infers = self._plans.get("infers keys")
        if infers is None:
            infers = self._plans["infers keys"] = self._infers_keys
        grouping, as_index = self._grouping, self._options.as_index
        is_own = grouping.obj is grouping.rows and grouping.titles == self._by.columns
        if is_own and as_index and not infers:
            return out
        out, titles = self._named(out), list(grouping.titles)
        hidden: list[Hashable] = []
        if not as_index:
            columns = names_of(meta_of(out))
            known = set(columns)  # a number of NumPy compares itself with each item of a tuple
            for i, title in enumerate(titles):
                if title in known:  # the column then takes the place of the key, as in pandas
                    titles[i] = unused_name(f"key {i}", [*columns, *titles])
                    hidden.append(titles[i])
        if infers or tuple(titles) != self._by.columns:
            out = engine_of(out).map_partitions(out, with_key_names, titles, infers)
        if as_index:
            return out
        out = run(out, ResetIndex())
        flags = [name not in hidden for name in names_of(meta_of(out))]
        return engine_of(out).select(out, flags) if hidden else out

    @cached_property
    def _infers_keys(self) -> bool:
        """Whether keys that are objects have the dtype of their values in answers, known once there are data."""
        if self._engine.IN_PARTS:
            return False
        library, by = library_of(self._meta), self._by
        keys = [by.column(library, self._meta, name) for name in by.columns]
        return True in [key.dtype == object for key in keys]

    @cached_property
    def _null_keys(self) -> bool:
        """Whether rows may be in no group; before there are data, the dtypes of the keys decide."""
        may = self._plans.get("null keys")
        if may is None:
            has_own = self._dropna and not library_of(self._meta).holds_null(INT64)  # else all have
            by_dtype = has_own and self._by.may_be_null(self._meta, by_dtype=True)
            may = self._plans["null keys"] = by_dtype
        return may and self._by.may_be_null(self._meta, by_dtype=self._engine.IN_PARTS)

    def _of(self, frame: Any) -> Any:
        """Return the same groups of a frame with the same rows and more columns."""
        return methods_of(frame).groupby(
            list(self._by.columns), clustered=self._clustered, dropna=self._dropna
        )

    def _op_parts(self, op: Operator, operation: Operation) -> tuple[list[Part[Operation]], bool]:
        """One part a column, or one of all columns for an operator of several inputs."""
        names = self._columns()
        if op.inputs == 1:
            return [Part(n, (n,), operation) for n in names], False
        check_inputs(op, len(names))
        return [Part(None, tuple(names), operation)], True


def with_key_names(frame: Any, titles: Sequence[Hashable], infers: bool) -> Any:
    """Return an answer of groups whose first levels of the index have these names, and inferred dtypes if asked."""
    library = library_of(frame)
    names = library.index_names(frame)
    levels = [library.array(library.index_level(frame, i)) for i in range(len(names))]
    if infers:
        levels[: len(titles)] = map(library.inferred, levels[: len(titles)])
    out = frame.copy(deep=False)
    out.index = library.key_index(levels, [*titles, *names[len(titles) :]])
    return out
