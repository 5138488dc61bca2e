"""Tables and columns that speak Arrow, read as frames of pandas over the same memory, and answers as tables again.

Those of polars and pyarrow come back as such, those of DuckDB and others as pyarrow's.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterable
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from ...engines.run import is_stream
from ...forks import importing
from ...frames.messages import first_line
from ...frames.pandas.arrow import array_of_arrow, arrow_of_array
from ...frames.pandas.library import PANDAS
from ...frames.pandas.native import one_array
from ...frames.registry import columns_of, is_frame, unused_name
from ...kernels.late_dataclass import dataclass
from ..windows.expanding import Ewm

F = TypeVar("F", bound=Callable[..., Any])

# --- kinds of tables ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """How the tables of a library are taken apart and made."""

    name: str
    """Pickles refer to the kind by this name."""
    column_type: Any
    """The type of columns; anything else is a table."""
    columns: Callable[[Any], Iterable[tuple[str, Any]]]
    """Return the names and columns of a table."""
    dtype: Callable[[Any], Any]
    """Return the type of a column's elements."""
    chunks: Callable[[Any], pa.ChunkedArray]
    """Return a column as one of Arrow."""
    column: Callable[[str, pa.ChunkedArray, Any], Any]
    """Return a column of Arrow as one of the library, of a type if one is given."""
    table: Callable[[list[str], list[Any]], Any]
    """Return names and columns as a table."""
    rows: Callable[[int], Any]
    """Return a table of this many rows that has no columns."""

    def __reduce__(self) -> Any:
        return _kind_called, (self.name,)


def _kind_called(name: str) -> Kind:
    return _polars() if name == "polars" else {"tables": _TABLES, "batches": _BATCHES}[name]


def _cast(column: pa.ChunkedArray, kind: pa.DataType | None) -> pa.ChunkedArray:
    if kind is None or kind == column.type:
        return column
    try:
        return column.cast(kind)
    except pa.ArrowNotImplementedError:  # Arrow makes no runs and no views of lists
        return column


_TABLES = Kind(
    name="tables",
    column_type=pa.ChunkedArray,
    columns=lambda table: zip(table.column_names, table.columns, strict=True),
    dtype=attrgetter("type"),
    chunks=lambda column: column,
    column=lambda _, column, kind: _cast(column, kind),
    table=lambda names, columns: pa.Table.from_arrays(columns, names),
    rows=lambda count: pa.table({"": pa.nulls(count)}).select([]),
)

_BATCHES = Kind(
    name="batches",
    column_type=pa.Array,
    columns=lambda batch: zip(batch.schema.names, batch.columns, strict=True),
    dtype=attrgetter("type"),
    chunks=lambda column: pa.chunked_array([column]),
    column=lambda _, column, kind: one_array(_cast(column, kind)),
    table=lambda names, columns: pa.RecordBatch.from_arrays(columns, names),
    rows=lambda count: pa.record_batch({"": pa.nulls(count)}).select([]),
)


@functools.cache
def _polars() -> Kind:
    with importing:
        import polars as pl

    def chunks(series: pl.Series) -> pa.ChunkedArray:
        if series.dtype == pl.Object:  # polars would show addresses
            raise TypeError("Objects have no type of Arrow")
        # as a frame, as streams of older series are wrong; unnamed, as a null character in a name ends the process
        return series.alias("").to_frame().to_arrow().column(0)

    def column(name: str, values: pa.ChunkedArray, dtype: Any) -> pl.Series:
        if _has_lists_of_one_length(values.type):  # polars cannot read their slices with nulls
            values = values.take(pa.array(np.arange(len(values))))
        series = pl.from_arrow(values, rechunk=False).alias(name)
        return series if dtype in (None, series.dtype) else series.cast(dtype)

    def table(names: list[str], columns: list[Any]) -> pl.DataFrame:
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"the answer has two columns named {twice!r}; rename one of them first"
            )
        return pl.DataFrame(dict(zip(names, columns, strict=True)))

    return Kind(
        name="polars",
        column_type=pl.Series,
        columns=lambda frame: zip(frame.columns, frame.get_columns(), strict=True),
        dtype=attrgetter("dtype"),
        chunks=chunks,
        column=column,
        table=table,
        rows=lambda count: pl.DataFrame({"": [None] * count}).drop(""),
    )


def _has_lists_of_one_length(dtype: pa.DataType) -> bool:
    inner = (dtype.field(i).type for i in range(dtype.num_fields))
    return pa.types.is_fixed_size_list(dtype) or any(map(_has_lists_of_one_length, inner))


def _is_polars(obj: Any) -> bool:
    cls: Any = type(obj)  # mypy does not know that classes are hashable
    return _are_polars(cls)


@functools.cache
def _are_polars(cls: type) -> bool:
    return any(base.__module__.partition(".")[0] == "polars" for base in cls.__mro__)


def is_lazy_frame(obj: Any) -> bool:
    """Return whether an object is a LazyFrame of polars."""
    return _is_polars(obj) and type(obj).__name__ == "LazyFrame"


def _kind_of(table: Any) -> Kind:
    """Return the kind of a table or column of polars or pyarrow."""
    if _is_polars(table):
        return _polars()
    return _BATCHES if isinstance(table, (pa.RecordBatch, pa.Array)) else _TABLES


# --- reading -----------------------------------------------------------------------------------------


def is_table(obj: Any) -> bool:
    """Return whether an object is a table or a column that speaks Arrow, and has no ``.gpuscan`` of its own."""
    if _is_polars(obj):  # old versions do not speak Arrow
        return hasattr(type(obj), "to_arrow")
    speaks = hasattr(type(obj), "__arrow_c_stream__") or hasattr(type(obj), "__arrow_c_array__")
    return speaks and not is_frame(obj) and not hasattr(type(obj), "gpuscan")


def known_table(obj: Any) -> Any:
    """Return a table or column of pyarrow or polars as it is, and any other as one of pyarrow. A stream is read.

    Examples
    --------
    >>> known_table(pa.RecordBatchReader.from_batches(pa.schema([("x", "i8")]), [])).num_rows
    0
    """
    if _is_polars(obj) or isinstance(obj, (pa.Table, pa.RecordBatch, pa.ChunkedArray, pa.Array)):
        return obj
    streams = hasattr(type(obj), "__arrow_c_stream__")
    read: Any = _read(f"a {type(obj).__name__}", pa.chunked_array if streams else pa.array, obj)
    if not pa.types.is_struct(read.type):
        return read
    if not streams:
        return pa.RecordBatch.from_struct_array(read)
    batches = [pa.RecordBatch.from_struct_array(chunk) for chunk in read.chunks]
    return pa.Table.from_batches(batches, pa.schema(list(read.type)))


def _read(title: str, read: Callable[[Any], Any], obj: Any) -> Any:
    try:
        return read(obj)
    except Exception as error:  # whatever a library raises for what has no type in Arrow
        raise TypeError(
            f"{title} cannot be read as Arrow: {first_line(error)}; cast it, or leave it out"
        ) from error


class TableSource:
    """A table or column read as an object of pandas, and the way back for answers.

    Parameters
    ----------
    table : table or column
        Of polars or pyarrow.
    in_stream : bool, default False
        Whether others follow, whose categories have the same order.
    """

    def __init__(self, table: Any, in_stream: bool = False) -> None:
        self._kind = _kind_of(table)
        is_column = isinstance(table, self._kind.column_type)
        named = [(getattr(table, "name", "value"), table)]
        if not is_column:
            named = list(self._kind.columns(table))
        names = [name for name, _ in named]
        arrays = [
            _read(
                f"column {name!r}", lambda c: array_of_arrow(self._kind.chunks(c), in_stream), each
            )
            for name, each in named
        ]
        index = pd.RangeIndex(len(table) if is_column else _rows(table))
        self.frame: Any = PANDAS.frame(arrays, names, index)
        if is_column:
            self.frame = PANDAS.series(arrays[0], index, names[0])
        types = [self._kind.dtype(column) for _, column in named]
        dtypes = [array.dtype for array in arrays]
        self._types: dict[Any, Any] = dict(zip(zip(names, dtypes, strict=True), types, strict=True))
        """Types of the source's columns by name and dtype in pandas; those of categories by dtype."""
        for dtype, kind in zip(dtypes, types, strict=True):
            if isinstance(dtype, pd.CategoricalDtype):
                self._types.setdefault(dtype, kind)

    def answer(self, method: str, found: Any) -> Any:
        """Return the answer of a method of pandas' accessor as an object of the source's library."""
        if isinstance(found, tuple):
            return tuple(self.answer(method, one) for one in found)
        if isinstance(found, (pd.DataFrame, pd.Series)):
            return self._made(method, found)
        if is_stream(found):
            return found.written_by(self.answer, self.methods)
        if isinstance(found, Ewm):
            found = found._of_tables()
        if type(found).__module__.partition(".")[0] == __name__.partition(".")[0]:
            return self.methods(found)
        return found

    def methods(self, target: Any) -> Any:
        """Return the methods of an object, with answers of the source's library."""
        return Waiting(target, self)

    def _made(self, method: str, found: pd.DataFrame | pd.Series) -> Any:
        """Make a table or a column, which have no index: keys become columns, labels of rows are dropped."""
        named = [(_text(c.name, method), PANDAS.array(c)) for c in columns_of(found)]
        pairs = unused_name("column", [name for name, _ in named])  # whose labels have no name
        levels = {
            pairs if name is None else _text(name, method): PANDAS.index_level(found, i)
            for i, name in enumerate(found.index.names)
            if i or name is not None
        }
        if found.ndim == 1:
            ((name, array),) = named
            if not levels:
                return self._column(name, array)
            named = [(method if name in levels else name, array)]
        named = [*((name, PANDAS.array(level)) for name, level in levels.items()), *named]
        if not named:
            return self._kind.rows(len(found))
        made = [self._column(name, array) for name, array in named]
        return self._kind.table([name for name, _ in named], made)

    def _column(self, name: str, array: Any) -> Any:
        types = self._types
        kind = types.get((name, array.dtype), types.get(array.dtype))
        return self._kind.column(name, arrow_of_array(array), kind)


def _rows(table: Any) -> int:
    return int(table.height if hasattr(table, "height") else table.num_rows)


def _text(name: Hashable, method: str) -> str:
    """Return a name of pandas as text: the method's for a column without a name; names of two levels are joined."""
    parts = name if isinstance(name, tuple) else (name,)
    return "_".join(str(part) for part in parts if part != "") if name is not None else method


OF_AN_INDEX = {"sort_index": "sort_values(by)", "reset_index": "row_number()"}
"""Methods of a frame's index, which tables do not have, and what to use instead."""


def no_index(name: str) -> TypeError:
    """Return the error of a method of an index."""
    return TypeError(f"{name}: a table has no index; use {OF_AN_INDEX[name]}")


class Waiting:
    """Groups, windows or buckets of a table, waiting for a method: all those that they have on frames of pandas."""

    def __init__(self, target: Any, source: TableSource) -> None:
        self._target = target
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in OF_AN_INDEX:
            raise no_index(name)
        return bridged(self._source, name, getattr(self._target, name))

    def __getitem__(self, columns: Any) -> Any:
        return self._source.answer("", self._target[columns])

    def __iter__(self) -> Any:
        return iter(self._target)  # refuses

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._target) if not name.startswith("_")]

    def __repr__(self) -> str:
        return repr(self._target)


def bridged(source: TableSource, name: str, member: Any) -> Any:
    """Return a method that takes tables and answers with tables; anything else as an answer."""
    if not inspect.isroutine(member):
        return source.answer(name, member)

    @functools.wraps(member)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = {key: unwrapped(value, source.frame) for key, value in kwargs.items()}
        return source.answer(name, member(*[unwrapped(a, source.frame) for a in args], **given))

    return call


def unwrapped(argument: Any, frame: Any = None) -> Any:
    """Return a table, a column, a list with columns or a dtype as an object of pandas; any other argument as it is.

    A column with the name and the values of a column of the frame stands for that one, because each look at a table
    makes another object.
    """
    if isinstance(argument, (list, tuple)) and any(map(is_table, argument)):
        return [unwrapped(each, frame) for each in argument]
    if is_table(argument):
        found = TableSource(known_table(argument)).frame
        if getattr(frame, "ndim", 1) == 2 and found.ndim == 1 and found.name in frame.columns:
            own = frame[found.name]
            return own if own.equals(found) else found
        return found
    if _is_polars(argument):
        argument = _dtype_of_polars(argument)
    return pd.ArrowDtype(argument) if isinstance(argument, pa.DataType) else argument


def _dtype_of_polars(argument: Any) -> pa.DataType:
    with importing:
        import polars as pl

    if not isinstance(argument, (pl.DataType, type(pl.DataType))):
        raise TypeError(
            f"a {type(argument).__name__} of polars is not taken as an argument; give a Series, a DataFrame or names "
            f"of columns"
        )
    return _read(
        f"dtype {argument}", lambda dtype: pl.Series(dtype=dtype).to_arrow().type, argument
    )


def takes_tables(function: F) -> F:
    """Let a function of frames take tables: its answer is of the kind of the first of its parameters that is one."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not any(map(is_table, (*args, *kwargs.values()))):
            return function(*args, **kwargs)
        given = signature.bind(*args, **kwargs)
        sources = {
            name: TableSource(known_table(argument))  # once, as a stream is read once
            for name, argument in given.arguments.items()
            if is_table(argument)
        }
        frames = {name: source.frame for name, source in sources.items()}
        plain = {
            name: unwrapped(value) for name, value in given.arguments.items() if name not in frames
        }
        first = next(iter(sources.values()))
        return first.answer(function.__name__, function(**plain, **frames))

    return call  # type: ignore[return-value]
