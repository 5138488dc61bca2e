"""Arrow's columns of every type, sliced and in chunks: answers are those of plain lists, or a short refusal.

Buffers hold other values before and behind those of a column, so that an offset that is forgotten shows.
"""

import datetime
import decimal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import dask_gpuscan

from .drawn import LENGTHS, Shown, lists

D = decimal.Decimal
DAYS = tuple(datetime.date(2026, 1, d) for d in (1, 2, 3)) + (datetime.date(1969, 12, 31),)
MOMENTS = tuple(datetime.datetime(2026, 1, d, 12) for d in (1, 2, 3))
CLOCK = tuple(datetime.time(h, 30) for h in (0, 1, 23))
SPANS = tuple(datetime.timedelta(seconds=s) for s in (0, 1, -1, 3600))
TEXTS = ("", "a", "b", "ä", "a longer text than a view holds")
BYTES = tuple(t.encode() for t in TEXTS)


def _ints(bits: int, signed: bool) -> tuple[int, ...]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return (0, 1, 2, 3, low, high)


def _dictionary(values: pa.DataType, ordered: bool = False) -> pa.DataType:
    return pa.dictionary(pa.int8(), values, ordered)


POOLS: tuple[tuple[pa.DataType, Sequence[Any]], ...] = (
    *((getattr(pa, f"int{bits}")(), _ints(bits, True)) for bits in (64, 8, 16, 32)),
    *((getattr(pa, f"uint{bits}")(), _ints(bits, False)) for bits in (8, 16, 32, 64)),
    (pa.bool_(), (False, True)),
    *((kind, (0.0, 0.5, -1.0, 2.0)) for kind in (pa.float64(), pa.float32(), pa.float16())),
    *((kind, TEXTS) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *((kind, BYTES) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())),
    (pa.binary(2), (b"aa", b"ab", b"b ")),
    (pa.date32(), DAYS),
    (pa.date64(), DAYS),
    *((pa.timestamp(unit, zone), MOMENTS) for unit in ("ns", "s", "us") for zone in (None, "UTC")),
    (pa.timestamp("ms", "Europe/Berlin"), MOMENTS),
    *((kind, CLOCK) for kind in (pa.time32("s"), pa.time64("us"))),
    *((pa.duration(unit), SPANS) for unit in ("ns", "s", "us")),
    *(
        (kind, (D("0.00"), D("1.50"), D("-2.25")))
        for kind in (pa.decimal128(9, 2), pa.decimal256(40, 2))
    ),
    *((kind, (D("0.00"), D("1.50"))) for kind in (pa.decimal32(5, 2), pa.decimal64(12, 2))),
    (pa.null(), (None,)),
    *((_dictionary(pa.string(), ordered), ("b", "a", "c")) for ordered in (False, True)),
    (_dictionary(pa.int64()), (3, 1, 2)),
    (_dictionary(pa.large_string()), ("b", "a")),
    *(
        (kind, ([], [1], [1, None], [2, 3]))
        for kind in (pa.list_(pa.int64()), pa.large_list(pa.int64()))
    ),
    (pa.list_view(pa.int64()), ([], [1], [1, 2])),
    (pa.list_(pa.int8(), 2), ([1, 2], [3, 4])),
    (
        pa.struct([("a", pa.int64()), ("b", pa.string())]),
        ({"a": 1, "b": "x"}, {"a": None, "b": "y"}),
    ),
    (pa.map_(pa.string(), pa.int64()), ([("a", 1)], [])),
    (pa.run_end_encoded(pa.int32(), pa.int64()), (1, 2, 3)),
    (pa.month_day_nano_interval(), (pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([0, 1, 0]))),
    (pa.uuid(), (b"0" * 16, b"1" * 16)),
    (pa.bool8(), (True, False)),
)
"""Every type, and values of it, of which the first are the simplest."""


def array_of(items: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return values as an array of a type, which pyarrow makes of few values for some types."""
    if pa.types.is_run_end_encoded(kind):
        return pa.compute.run_end_encode(pa.array(items, kind.value_type), kind.run_end_type)
    if isinstance(kind, pa.BaseExtensionType):
        stored = [None if i is None else int(i) for i in items] if kind == pa.bool8() else items
        return pa.ExtensionArray.from_storage(kind, pa.array(stored, kind.storage_type))
    if pa.types.is_dictionary(kind):
        return pa.array(items, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(items, kind)


@st.composite
def laid_out(draw: Any, items: Sequence[Any], kind: pa.DataType, spare: Any) -> pa.ChunkedArray:
    """Draw values in chunks, each a slice out of an array that holds more."""
    cuts = draw(st.lists(st.integers(0, len(items)), max_size=4))
    chunks = []
    for begin, end in pairwise([0, *sorted(cuts), len(items)]):
        before, behind = draw(st.integers(0, 9)), draw(st.integers(0, 2))
        padded = [*[spare] * before, *items[begin:end], *[None] * behind]
        chunks.append(array_of(padded, kind).slice(before, end - begin))
    return pa.chunked_array(chunks, kind)


@dataclass(frozen=True)
class Ask:
    """A method of tables with columns x, of any type, and g and o, of integers; and what plain lists come to."""

    ours: Callable[[Any], Any]
    rows: Callable[[list[dict[str, Any]]], list[Any]]
    """Return the values of the answer's column x."""
    on: Callable[[pa.DataType], bool] = lambda kind: True
    """Tell which types it is asked for; those of others are not compared."""


def _hashed(value: Any) -> Any:
    return repr(value)


def _first_of_each(rows: list[dict[str, Any]]) -> list[Any]:
    seen = {}
    for row in rows:
        seen.setdefault(_hashed(row["x"]), row["x"])
    return list(seen.values())


def _consecutive(rows: list[dict[str, Any]]) -> list[Any]:
    return [
        row["x"]
        for i, row in enumerate(rows)
        if i == 0 or _hashed(row["x"]) != _hashed(rows[i - 1]["x"])
    ]


def _filled(rows: list[dict[str, Any]], back: bool = False) -> list[Any]:
    found, last = [], None
    for row in rows[:: -1 if back else 1]:
        last = row["x"] if row["x"] is not None else last
        found.append(last)
    return found[:: -1 if back else 1]


def _shifted(rows: list[dict[str, Any]], by: int) -> list[Any]:
    return [rows[i - by]["x"] if 0 <= i - by < len(rows) else None for i in range(len(rows))]


def _last_of_groups(rows: list[dict[str, Any]]) -> list[Any]:
    last: dict[int, Any] = {row["g"]: None for row in rows}
    last |= {row["g"]: row["x"] for row in rows if row["x"] is not None}
    return [last[g] for g in sorted(last)]


def _largest_so_far(rows: list[dict[str, Any]]) -> list[Any]:
    found, most = [], None
    for row in rows:
        if row["x"] is not None:
            most = row["x"] if most is None else max(most, row["x"])
        found.append(None if row["x"] is None else most)
    return found


def _sorted(rows: list[dict[str, Any]]) -> list[Any]:
    values = [row["x"] for row in rows]
    there = sorted(v for v in values if v is not None)
    return there + [None] * (len(values) - len(there))


def _is_ordered(kind: pa.DataType) -> bool:
    return not (
        pa.types.is_nested(kind)
        or pa.types.is_interval(kind)
        or pa.types.is_dictionary(kind)
        or isinstance(kind, pa.BaseExtensionType)
        or pa.types.is_float16(kind)  # Arrow has no order of these
    )


ASKS: dict[str, Ask] = {
    "filter": Ask(lambda g: g.filter("o > 3"), lambda rows: [r["x"] for r in rows if r["o"] > 3]),
    "filter by x": Ask(
        lambda g: g.filter("x.notnull()"), lambda rows: [r["x"] for r in rows if r["x"] is not None]
    ),
    "shift": Ask(lambda g: g.shift(2), lambda rows: _shifted(rows, 2)),
    "shift back": Ask(lambda g: g.shift(-1), lambda rows: _shifted(rows, -1)),
    "ffill": Ask(lambda g: g.ffill(), _filled),
    "bfill": Ask(lambda g: g.bfill(), lambda rows: _filled(rows, True)),
    "sort by o": Ask(
        lambda g: g.sort_values("o", ascending=False),
        lambda rows: [r["x"] for r in sorted(rows, key=lambda r: -r["o"])],
    ),
    "sort": Ask(lambda g: g.sort_values("x"), _sorted, _is_ordered),
    "drop_duplicates": Ask(lambda g: g.drop_duplicates("x"), _first_of_each),
    "unique_consecutive": Ask(lambda g: g.unique_consecutive("x"), _consecutive),
    "rle": Ask(lambda g: g.rle("x"), _consecutive),
    "head": Ask(
        lambda g: g.groupby("g").head(1),
        lambda rows: [
            r["x"] for i, r in enumerate(rows) if r["g"] not in [q["g"] for q in rows[:i]]
        ],
    ),
    "last": Ask(lambda g: g.groupby("g").last(), _last_of_groups),
    "group ffill": Ask(lambda g: g.groupby("o").ffill(), lambda rows: [r["x"] for r in rows]),
    "cummax": Ask(lambda g: g.cummax(), _largest_so_far, _is_ordered),
    "groups of x": Ask(
        lambda g: g.groupby("x", dropna=False).size(),
        lambda rows: _sorted([{"x": v} for v in _first_of_each(rows)]),
        _is_ordered,
    ),
}
"""What is asked of tables."""


@dataclass(frozen=True, repr=False)
class ArrowCase(Shown):
    """A table and what is asked of it."""

    asked: str
    table: pa.Table
    form: str

    @property
    def kind(self) -> pa.DataType:
        """The type of column x."""
        return self.table.schema.field("x").type

    def __repr__(self) -> str:
        chunks = [(c.offset, c.to_pylist()) for c in self.table.column("x").chunks]
        rest = {n: self.table.column(n).to_pylist() for n in ("g", "o")}
        return f"{self.asked} of {self.kind} as a {self.form}: chunks (offset, values) {chunks}, {rest}"

    def check(self) -> str:
        """Compare with what lists come to."""
        ask = ASKS[self.asked]
        rows = self.table.to_pylist()
        try:
            answer = ask.ours(dask_gpuscan.on(FORMS[self.form](self.table)))
        except (TypeError, ValueError, NotImplementedError) as error:
            return _refused(error)
        found = _listed(answer)["x"]
        if not ask.on(self.kind):
            return "not compared"
        expected = ask.rows(rows)
        assert list(map(_hashed, found)) == list(map(_hashed, expected)), (
            f"{found}, and {expected} of lists"
        )
        return "as lists"


def _refused(error: Exception) -> str:
    assert len(str(error)) < 600, "a long message"
    assert not isinstance(error, pa.ArrowException), f"an error of Arrow's: {error}"
    return "refused"


def _listed(answer: Any) -> dict[str, list[Any]]:
    read = answer if hasattr(answer, "to_pydict") else answer.to_arrow()
    return dict(read.to_pydict())


FORMS: dict[str, Callable[[pa.Table], Any]] = {
    "table": lambda table: table,
    "batch": lambda table: (
        table.combine_chunks().to_batches()[0]
        if len(table)
        else pa.RecordBatch.from_pydict(
            {n: table.column(n).combine_chunks() for n in table.column_names}
        )
    ),
    "stream": lambda table: Stream(table),
}
"""How a table is given."""


class Stream:
    """Someone else's table, known by its Arrow protocol alone."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


@st.composite
def _cases(draw: Any) -> ArrowCase:
    kind, pool = draw(st.sampled_from(POOLS))
    count = draw(LENGTHS)
    nulls = draw(st.integers(0, 3))
    one = st.sampled_from([*pool] * (5 - nulls) + [None] * (nulls * len(pool)))
    columns = {
        "x": (draw(lists(one, count)), kind, pool[-1]),
        "g": (draw(lists(st.integers(0, 2), count)), pa.int64(), 99),
        "o": (draw(st.permutations(range(count))), pa.int32(), 99),
    }
    table = pa.table({name: draw(laid_out(*column)) for name, column in columns.items()})
    return ArrowCase(draw(st.sampled_from([*ASKS])), table, draw(st.sampled_from([*FORMS])))


ARROW = _cases()
"""A type, values, how they lie in memory, and what is asked."""
