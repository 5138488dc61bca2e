"""The methods of ``.gpuscan`` that put rows in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engines.run import engine_of, meta_of
from ...frames.keys import By, check_by, is_name
from ...frames.messages import FLAG
from ...frames.registry import library_of
from ...kernels.messages import name_list, shown
from ...kernels.scalars import is_integer
from ...ops.sort.sort import IndexLevels, Order
from ..arguments import check_choice, check_flags
from ..types import FrameT, Keep, Methods, Names, Obj, SeriesT

NA_POSITIONS = ("first", "last")


class SortMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that sorts rows."""

    def sort_values(
        self,
        by: Names | None = None,
        ascending: bool | Sequence[bool] = True,
        na_position: Keep = "last",
        ignore_index: bool = False,
        key: Callable[[Any], Any] | None = None,
    ) -> Obj:
        """Return the rows in the order of keys; rows with equal keys stay in their order.

        Parameters
        ----------
        by : name or list of names
            Columns, or levels of the index, the most significant first. For DataFrames only: a Series is its own key.
        ascending : bool or list of bool, default True
            For all keys, or one for each. Rows with equal keys stay in their order either way.
        na_position : {"last", "first"}, default "last"
            Where nulls and NaN come, ascending or not.
        ignore_index : bool, default False
            Number the rows from 0, over all partitions.
        key : callable, optional
            Takes each key as a Series and returns the values to sort by. For a Dask collection it is called for
            each partition, so each value must depend on its own row only, and the dtype on no values:
            ``str.len()`` gives floats where there are nulls, ``str.len().astype("float64")`` everywhere.

        Returns
        -------
        Series or DataFrame
            As from ``sort_values(kind="stable")`` of pandas. A Dask collection has as many partitions as
            before, with unknown divisions; up to 323 partitions, each is within 10 % of an even share of the
            rows.

        Raises
        ------
        TypeError
            For keys whose values have no order, such as lists, and strings among numbers.
        ValueError
            For unknown or repeated names, if there are not as many directions as keys, or for any other
            `na_position`.

        See Also
        --------
        sort_index : Rows in the order of their labels.

        Notes
        -----
        A radix sort of each partition: strings are numbered in the order of their code points, categoricals
        are in that of their categories. Partitions are sorted by a regular sample: Shi and Schaeffer, J. Parallel
        and Distributed Computing 14 (1992). Equal keys are ordered by where they came from, so a key that many
        rows have is spread over several partitions. The setting ``dataframe.shuffle.method`` of Dask says how
        rows are moved; the default with a client is ``"p2p"``.

        Examples
        --------
        >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
        >>> df = pd.DataFrame({"k": ["b", "a", "b"], "x": [1.0, 2.0, 3.0]})
        >>> df.gpuscan.sort_values("k", ascending=False)
           k    x
        0  b  1.0
        2  b  3.0
        1  a  2.0
        >>> ddf = dd.from_pandas(df, npartitions=2)
        >>> ddf.gpuscan.sort_values(["k", "x"], ascending=[True, False]).compute()["x"].tolist()
        [2.0, 3.0, 1.0]
        """
        meta = meta_of(self._obj)
        if meta.ndim == 1:
            if by is not None:
                raise TypeError(f"by is for DataFrames, found {shown(by)} for a Series")
            keys = By(())
        else:
            keys = check_by(meta, by)
        return self._sorted(
            keys, max(len(keys.columns), 1), ascending, na_position, ignore_index, key
        )

    def sort_index(
        self,
        ascending: bool | Sequence[bool] = True,
        na_position: Keep = "last",
        ignore_index: bool = False,
        level: Names | None = None,
        key: Callable[[Any], Any] | None = None,
    ) -> Obj:
        """Return the rows in the order of their labels; rows with equal labels stay in their order.

        Parameters
        ----------
        ascending, na_position, ignore_index
            As for `sort_values`; `ascending` may have one flag a level.
        level : int, name or list of these, optional
            Levels of the index, the most significant first; by default all, in their order. As in pandas, the
            other levels follow, unless each level is given a direction of its own.
        key : callable, optional
            As for `sort_values`, of each level as an Index.

        Returns
        -------
        Series or DataFrame
            If a Dask collection has known divisions, labels ascend and nulls are last, it is sorted partition
            by partition and keeps its divisions. Otherwise divisions are unknown; ``compute_current_divisions``
            of Dask finds them.

        Raises
        ------
        TypeError, ValueError
            As `sort_values`.

        See Also
        --------
        Gpuscan.sort_values : By columns.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1, 2, 3], index=["b", "c", "a"]).gpuscan.sort_index().tolist()
        [3, 1, 2]
        """
        names = library_of(meta_of(self._obj)).index_names(meta_of(self._obj))
        numbers = _levels(names, level)
        every = range(len(names)) if isinstance(ascending, FLAG) else ()
        keys = IndexLevels(numbers, tuple(n for n in every if n not in numbers))
        return self._sorted(keys, len(keys), ascending, na_position, ignore_index, key)

    def _sorted(
        self,
        keys: By | IndexLevels,
        count: int,
        ascending: Any,
        na_position: str,
        ignore_index: bool,
        key: Callable[[Any], Any] | None,
    ) -> Any:
        check_choice("na_position", na_position, NA_POSITIONS)
        check_flags(ignore_index=ignore_index)
        if key is not None and not callable(key):
            raise TypeError(f"key must be a function or None, found {shown(key)}")
        order = Order(keys, flags_of(ascending, count), na_position == "first", key)
        return engine_of(self._obj).sort(self._obj, order, bool(ignore_index))


def flags_of(ascending: Any, count: int) -> tuple[bool, ...]:
    """Return one flag a key."""
    flags = [ascending] * count if isinstance(ascending, FLAG) else ascending
    if not isinstance(flags, (list, tuple)) or not all(isinstance(flag, FLAG) for flag in flags):
        raise TypeError(
            f"ascending must be True, False or a list of these, found {shown(ascending)}"
        )
    if len(flags) != count:
        raise ValueError(f"ascending must have one flag a key, found {len(flags)} for {count} keys")
    return tuple(map(bool, flags))


def _levels(names: list[Any], level: Any) -> tuple[int, ...]:
    """Return the numbers of levels that are given by name or number."""
    if level is None:
        return tuple(range(len(names)))
    found = []
    for one in level if isinstance(level, list) else [level]:
        if not is_name(one):
            raise TypeError(f"level must be names or numbers of levels, found {shown(one)}")
        if names.count(one) > 1:
            raise ValueError(f"level names {shown(one)}, which is there twice")
        if one in names:
            number = names.index(one)
        elif is_integer(one) and -len(names) <= one < len(names):
            number = one % len(names)
        else:
            named = [name for name in names if name is not None]
            known = f"{name_list(named)}, " if named else ""
            raise ValueError(
                f"level must be among the levels of the index, {known}0 to {len(names) - 1}, found {shown(one)}"
            )
        if number in found:
            raise ValueError(f"level names {one!r} twice")
        found.append(number)
    if not found:
        raise ValueError("level must name at least one level of the index")
    return tuple(found)
