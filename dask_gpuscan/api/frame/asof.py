"""`merge_asof`: rows of one ordered frame with the nearest of another."""

# pandas is read as Any here, so that overloads look alike.
# mypy: disable-error-code="overload-cannot-match"

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, overload

import numpy as np
import pandas as pd
import pyarrow as pa

from ...engines.run import engine_of, meta_of, methods_of
from ...frames.keys import is_name, key_arrays
from ...frames.messages import ColumnError, column_title
from ...frames.registry import choose_columns, column_of, library_of, names_of, unused_name
from ...kernels.bounded_cache import BoundedCache
from ...kernels.messages import not_among, shown
from ...ops.asof.asof import AsOf
from ...ops.asof.columns import AsOfSide, dropped, plan_of
from ...ops.windows.exact import holds_decimals
from ..arguments import check_choice, check_column, check_flags
from ..tables.tables import takes_tables
from ..types import Duration, LazyTable, Names, Table
from .resume import streams_lazy_frames

if TYPE_CHECKING:
    import dask.dataframe as dd
    from typing_extensions import Unpack

    from ..types import CudfFrame, CudfSeries

    OfPandas: TypeAlias = pd.DataFrame | pd.Series
    OfDask: TypeAlias = dd.DataFrame | dd.Series
    OfCudf: TypeAlias = CudfFrame | CudfSeries


class AsOfKeywords(TypedDict, total=False):
    """Keywords of `merge_asof` other than those that rows are matched on."""

    left_on: Hashable
    right_on: Hashable
    left_index: bool
    right_index: bool
    by: Names | None
    left_by: Names | None
    right_by: Names | None
    suffixes: Sequence[str | None]
    tolerance: float | Duration | None
    allow_exact_matches: bool
    direction: Literal["backward", "forward", "nearest"]
    known: Hashable


@overload
def merge_asof(
    left: OfDask, right: OfDask | OfPandas, on: Hashable = None, **keywords: Unpack[AsOfKeywords]
) -> dd.DataFrame: ...
@overload
def merge_asof(
    left: OfPandas, right: OfDask, on: Hashable = None, **keywords: Unpack[AsOfKeywords]
) -> dd.DataFrame: ...
@overload
def merge_asof(
    left: OfPandas, right: OfPandas, on: Hashable = None, **keywords: Unpack[AsOfKeywords]
) -> pd.DataFrame: ...
@overload
def merge_asof(
    left: OfCudf, right: OfCudf, on: Hashable = None, **keywords: Unpack[AsOfKeywords]
) -> CudfFrame: ...
@overload
def merge_asof(
    left: Table, right: Any, on: Hashable = None, **keywords: Unpack[AsOfKeywords]
) -> Table: ...
@overload
def merge_asof(
    left: LazyTable, right: Any, on: Hashable = None, **keywords: Unpack[AsOfKeywords]
) -> LazyTable: ...
@streams_lazy_frames
@takes_tables
def merge_asof(
    left: Any,
    right: Any,
    on: Any = None,
    left_on: Any = None,
    right_on: Any = None,
    left_index: bool = False,
    right_index: bool = False,
    by: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    suffixes: Any = ("_x", "_y"),
    tolerance: Any = None,
    allow_exact_matches: bool = True,
    direction: str = "backward",
    known: Any = None,
) -> Any:
    """Return each row of an ordered frame with the nearest row of another, wherever their partitions begin.

    Parameters
    ----------
    left, right : DataFrame or named Series
        Of pandas or cuDF, or Dask collections of these, of any numbers of partitions; one may be a collection and the
        other not. Each is ordered by what it is matched on, over all its partitions. A stream, or a LazyFrame of
        polars, as `left` stays one, and is read in batches; so is a second one as `right`, if matches are looked for
        backwards.
    on, left_on, right_on : name, optional
        The column of numbers or times that is ordered; default the one column that both have.
    left_index, right_index : bool, default False
        Match on the index of a side instead.
    by, left_by, right_by : name or list of names, optional
        Columns whose values must be equal. A null equals a null.
    suffixes : pair of str, default ("_x", "_y")
        What is added to names that both sides have.
    tolerance : int, float or timedelta, optional
        How far away a match may be.
    allow_exact_matches : bool, default True
        Whether equal values match.
    direction : {"backward", "forward", "nearest"}, default "backward"
        Match the last row at or before the left row, the first one at or after it, or the nearer of both; of
        two equally near rows, the earlier one.
    known : name, optional
        A column of `right` that says since when each row is known, of the dtype of what it is matched on. The match is
        the last row by `on` among those that were known at the left row, as they stood then: of rows with equal `on`
        the one that was known last, such as a correction. `right` may be in any order; rows where `known` is null were
        never known. Only backwards, on columns, and without `tolerance`.

    Returns
    -------
    DataFrame
        As from ``pandas.merge_asof`` on the whole data. If a side is matched on its index, the answer has the
        left index, and a Dask collection the divisions of the left side; otherwise it has a default index,
        which does not restart in each partition.

    Raises
    ------
    TypeError
        For keys that are not names, for frames of two libraries, for columns without an order, and for `by` of values
        that cannot be hashed.
    ValueError
        For unknown names, and for arguments and dtypes that ``pandas.merge_asof`` refuses (a
        ``pandas.errors.MergeError``, which is a ValueError). At compute time, if keys decrease or are null,
        naming the partition.

    See Also
    --------
    Gpuscan.ffill : The last value of the same column.
    Gpuscan.sort_values : Order rows first.

    Notes
    -----
    Each partition of the right side is cut at the last keys of the left partitions, and each piece goes to its own. Of
    what lies before a partition, or behind it, the look-back over partitions hands on one row for each value of `by`.
    So a match may be any number of partitions away, and no partition sees more than its share.

    In a Dask collection, columns of the right side have a dtype that holds nulls: NumPy's integers become float64
    and its bool objects; in eager calls only where some row has no match. On cuDF, whose dtypes all hold nulls,
    they keep their dtype. An empty left side keeps its own index.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> trades = pd.DataFrame({"t": [3, 5, 9], "name": list("aba"), "price": [1.0, 2.0, 4.0]})
    >>> quotes = pd.DataFrame({"t": [1, 4, 5, 8], "name": list("aaba"), "bid": [0.5, 0.6, 2.5, 0.7]})
    >>> dask_gpuscan.merge_asof(trades, quotes, on="t", by="name")
       t name  price  bid
    0  3    a    1.0  0.5
    1  5    b    2.0  2.5
    2  9    a    4.0  0.7

    The figure of quarter 1 was corrected at 6; before that, nobody knew:

    >>> asked = pd.DataFrame({"t": [3, 5, 7]})
    >>> figures = pd.DataFrame({"t": [1, 1], "since": [2, 6], "sales": [10, 12]})
    >>> dask_gpuscan.merge_asof(asked, figures, on="t", known="since")["sales"].tolist()
    [10, 10, 12]
    """
    if not isinstance(suffixes, (list, tuple)) or len(suffixes) != 2:
        raise ValueError(f"suffixes must be a pair of str, found {shown(suffixes)}")
    check_flags(
        left_index=left_index, right_index=right_index, allow_exact_matches=allow_exact_matches
    )
    check_choice("direction", direction, DIRECTIONS)
    if not (tolerance is None or np.isscalar(tolerance) or isinstance(tolerance, timedelta)):
        raise TypeError(f"tolerance must be a number or a duration, found {shown(tolerance)}")
    given_sides = _frame("left", left), _frame("right", right)
    if known is not None:
        if left_index or right_index or tolerance is not None or direction != "backward":
            raise ValueError("known goes with a match backwards, on columns and without tolerance")
        names = {"left_by": left_by, "right_by": right_by, "by": by}
        ons = (left_on, right_on) if on is None else (on, on)
        return _as_known(
            given_sides, ons, on is not None, known, names, suffixes, allow_exact_matches
        )
    engine = engine_of(*given_sides)
    left = engine.collection(given_sides[0], bool(left_index or right_index))
    right = engine.collection(given_sides[1], bool(right_index))
    left, right = (engine_of(side).accepted(side) for side in (left, right))
    frames = [engine.meta(side) for side in (left, right)]
    libraries = [library_of(frame) for frame in frames]
    if libraries[0] is not libraries[1]:
        raise TypeError(
            f"left and right must be of one library, found {libraries[0]} and {libraries[1]}"
        )
    keys = {
        "on": on, "left_on": left_on, "right_on": right_on,
        "by": by, "left_by": left_by, "right_by": right_by,
    }  # fmt: skip
    options = {
        "left_index": bool(left_index), "right_index": bool(right_index), "suffixes": tuple(suffixes),
        "tolerance": tolerance, "allow_exact_matches": bool(allow_exact_matches), "direction": direction,
    }  # fmt: skip
    asked = [(type(k), tuple(k) if isinstance(k, list) else k) for k in keys.values()]
    key = (*map(_names_and_dtypes, frames), *asked, *options.values(), type(tolerance))
    try:
        question = _QUESTIONS.get(key)
    except TypeError:  # a name or a dtype cannot be hashed
        question = _question(frames, keys, options)
    if question is None:
        question = _QUESTIONS.store(key, _question(frames, keys, options))
    return engine.merge_asof(left, right, question)


def _as_known(
    sides: tuple[Any, Any],
    ons: tuple[Any, Any],
    drops: bool,
    known: Any,
    by: Any,
    suffixes: Any,
    exact: bool,
) -> Any:
    """Match rows with the newest that was known: the newest so far of all, in the order in which they become known."""
    left, right = sides
    metas = meta_of(left), meta_of(right)
    if None in ons:
        raise ValueError("known needs on, or left_on and right_on")
    known_names = names_of(metas[1])
    for argument, name in (("right_on", ons[1]), ("known", known)):
        check_column(argument, name, known_names)
    dtypes = [column_of(metas[1], name).dtype for name in (ons[1], known)]
    if dtypes[0] != dtypes[1]:
        raise TypeError(
            f"known={known!r} must have the dtype of {ons[1]!r}, found {dtypes[1]} and {dtypes[0]}; cast one"
        )
    since = unused_name("since", [*names_of(metas[0]), *known_names])
    rows = engine_of(right).map_partitions(
        right, _since, ons[1], known, since, keeps_divisions=False
    )
    rows = methods_of(rows).sort_values(since, ignore_index=True)
    keys = by["by"] if by["by"] is not None else by["right_by"]
    of_keys = methods_of(rows) if keys is None else methods_of(rows).groupby(keys, dropna=False)
    newest = methods_of(rows[ons[1]]).cummax() if keys is None else of_keys[ons[1]].cummax()
    rows = methods_of(rows).filter(rows[ons[1]] == newest)
    if drops:
        rows = engine_of(rows).map_partitions(rows, _without, ons[1])
    found = merge_asof(
        left,
        rows,
        left_on=ons[0],
        right_on=since,
        suffixes=suffixes,
        allow_exact_matches=exact,
        **by,
    )
    return engine_of(found).map_partitions(found, _without, since)


def _since(frame: Any, on: Hashable, known: Hashable, name: str) -> Any:
    """Return rows that are known at some time, and from when on they may be matched."""
    rows = frame[frame[known].notna()]
    return rows.assign(**{name: rows[known].where(~(rows[known] < rows[on]), rows[on])})


def _without(frame: Any, name: Hashable) -> Any:
    return choose_columns(frame, [other for other in names_of(frame) if other != name])


_QUESTIONS: BoundedCache[Any, AsOf] = BoundedCache()


def _names_and_dtypes(frame: Any) -> tuple[Any, ...]:
    library = library_of(frame)
    dtypes = [*library.dtypes(frame), *library.index_dtypes(frame)]
    # NumPy's that are equal have one text, which takes long to make
    texts = tuple([(d, None if isinstance(d, np.dtype) else str(d)) for d in dtypes])
    names = tuple(names_of(frame))
    # 1, 1.0 and True are equal, and so are labels of levels and tuples
    kinds = (type(frame.columns), type(frame.index), *map(type, names))
    return library, names, kinds, tuple(library.index_names(frame)), texts


def _question(frames: list[Any], given: dict[str, Any], options: dict[str, Any]) -> AsOf:
    """Return the merge that arguments ask for; raises their errors."""
    keys = {name: _checked(name, names, frames) for name, names in given.items()}
    sides = _sides(keys, (options["left_index"], options["right_index"]), frames)
    tolerance = options["tolerance"]
    for side, frame in zip(sides, frames, strict=True):
        if side.is_index or side.on is not None:
            _check_order(side.on_column(frame), tolerance)
    names = _answer_names(frames, sides, keys, options)
    limit = None if tolerance is None else _stored(tolerance, sides[0].on_column(frames[0]))
    plan = plan_of(frames[0], frames[1], sides, names)
    return AsOf(*sides, plan, options["direction"], options["allow_exact_matches"], limit)


def _answer_names(
    frames: list[Any],
    sides: tuple[AsOfSide, AsOfSide],
    keys: dict[str, list[Hashable] | None],
    options: dict[str, Any],
) -> list[Hashable]:
    """Return the names of the answer's columns; raises the errors of `pandas.merge_asof`, which makes them.

    It is called with frames without rows, which takes some milliseconds: names and dtypes are all that counts.
    """
    empty = [frame.iloc[:0] for frame in frames]
    for frame, side in zip(empty, sides, strict=True):
        # refuses values that cannot be compared
        key_arrays(library_of(frame), side.by_columns(frame))
    hosts = [f.to_pandas() if hasattr(f, "to_pandas") else f for f in empty]
    on = [side.on_column(host) for side, host in zip(sides, hosts, strict=True)]
    if on[0].dtype == on[1].dtype and holds_decimals(on[0]):  # by which pandas matches no rows
        pairs = zip(sides, hosts, strict=True)
        hosts = [h if s.is_index else h.astype({s.on: "int64"}) for s, h in pairs]
        options = options | {"tolerance": None}
    hosts = [_without_intervals(h, s.by) for h, s in zip(hosts, sides, strict=True)]
    try:
        names = list(pd.merge_asof(*hosts, **keys, **options).columns)
    except pd.errors.MergeError as error:
        way_out = next((way for said, way in _WAYS_OUT.items() if said in str(error)), None)
        if way_out is None:
            raise
        raise pd.errors.MergeError(f"{error}; {way_out}") from None
    kept = hosts[1].drop(columns=dropped(sides))
    if len(names) <= hosts[0].shape[1] + kept.shape[1]:
        return names
    # there are keys among them
    return list(pd.merge(hosts[0], kept, how="cross", suffixes=options["suffixes"]).columns)


_WAYS_OUT = {
    "must be the same type": "cast those of one side with astype (tables of polars and pyarrow have dtypes of Arrow)",
    "but not equal ones": "cast the keys of both sides to texts, or give them the same categories",
}
"""Ways out for errors of pandas."""

_BYTES = pd.ArrowDtype(pa.binary(16))


def _without_intervals(empty: pd.DataFrame, by: Sequence[Hashable]) -> pd.DataFrame:
    """Return a frame without rows whose keys that are Arrow's intervals, which pandas does not match, are bytes."""
    found = empty.copy()
    for name in by:
        dtype = empty[name].dtype
        if isinstance(dtype, pd.ArrowDtype) and pa.types.is_interval(dtype.pyarrow_dtype):
            found[name] = pd.Series(index=empty.index, dtype=_BYTES)
    return found


def _frame(name: str, side: Any) -> Any:
    """Return a side as a frame."""
    meta = meta_of(side)
    ndim = getattr(meta, "ndim", 0)
    if ndim not in (1, 2) or not hasattr(meta, "iloc"):
        raise TypeError(f"{name} must be a DataFrame or a named Series, found {shown(side)}")
    if ndim == 2:
        return side
    if meta.name is None:
        raise ValueError(f"{name} is a Series without a name; rename it first")
    return side.to_frame()


DIRECTIONS = ("backward", "forward", "nearest")

_OF = {"left": (0,), "right": (1,)}
"""The sides of an argument, by how its name begins; others are of both."""


def _checked(argument: str, given: Any, frames: list[Any]) -> list[Hashable] | None:
    """Return the names that an argument gives, all of them columns."""
    if given is None:
        return None
    own = [names_of(frames[i]) for i in _OF.get(argument.partition("_")[0], (0, 1))]
    is_one = not isinstance(given, (list, tuple)) or (isinstance(given, tuple) and given in own[0])
    names = [given] if is_one else list(given)
    if not names:
        raise ValueError(f"{argument} must name at least one column")
    if not all(map(is_name, names)):
        raise TypeError(
            f"{argument} must be the name of a column or a list of names, found {shown(given)}; "
            f"assign other keys as columns first"
        )
    for name in names:
        for known in own:
            if name not in known:
                raise ColumnError(f"{argument}={not_among(name, known)}")
            if known.count(name) > 1:
                raise ValueError(f"{argument} names {shown(name)}, which is there twice")
    return names


def _sides(
    keys: dict[str, list[Hashable] | None], is_index: tuple[Any, Any], frames: list[Any]
) -> tuple[AsOfSide, AsOfSide]:
    """Return the columns that sides are matched on; pandas checks that arguments make sense together."""
    if keys["on"] and (keys["left_on"] or keys["right_on"]):
        raise pd.errors.MergeError(
            'Can only pass argument "on" OR "left_on" and "right_on", not a combination of both.'
        )
    found = []
    common = [name for name in names_of(frames[0]) if name in names_of(frames[1])]
    for name, index in zip(("left", "right"), is_index, strict=True):
        on = keys[f"{name}_on"] or keys["on"] or common
        by = keys[f"{name}_by"] or keys["by"] or []
        found.append(AsOfSide(name, on[0] if on and not index else None, bool(index), tuple(by)))
    return found[0], found[1]


def _check_order(column: Any, tolerance: Any) -> None:
    """Raise a TypeError for a column by which no row can be matched, or not up to a tolerance."""
    library, dtype = library_of(column), column.dtype
    if holds_decimals(column):
        return
    layout = library.layout(dtype)
    if layout is None or layout.storage(dtype).kind not in "biuf" or dtype == np.float16:
        raise TypeError(
            f"{column_title(column)} of dtype {dtype} has no order that rows are matched by; cast it with astype"
        )
    if tolerance is None:
        return
    if dtype.kind not in "iufmM" or (dtype.kind in "mM" and library.time_unit(dtype) == "D"):
        raise TypeError(
            f"tolerance is for numbers, datetimes and timedeltas, found {column_title(column)} of dtype {dtype}"
        )
    if isinstance(tolerance, float) and tolerance != tolerance:
        raise ValueError(f"tolerance must be a number, found {shown(tolerance)}")


def _stored(tolerance: Any, column: Any) -> Any:
    """Return a tolerance in the numbers that a column stores."""
    if holds_decimals(column):
        try:
            return library_of(column).stored_number(tolerance, column.dtype)
        except TypeError:
            raise TypeError(
                f"tolerance must be a Decimal or an integer that {column_title(column)} of dtype {column.dtype} holds, "
                f"found {shown(tolerance)}"
            ) from None
    if column.dtype.kind not in "mM":
        return tolerance
    unit = library_of(column).time_unit(column.dtype)
    return int(pd.Timedelta(tolerance).as_unit(unit).to_timedelta64().astype(np.int64))
