"""Methods of `GroupBy` that count values, and that fill nulls between them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, SupportsIndex

from ...engines.run import engine_of, meta_of, run
from ...frames.keys import By
from ...frames.registry import library_of, names_of, unused_name
from ...kernels.messages import shown
from ...ops.core.columnwise import without_name
from ...ops.groupby.value_counts import ValueCounts
from ...ops.scan.row_number import ResetIndex
from ...ops.windows.interpolate import BY_INDEX, Interpolate
from ...ops.windows.interpolate_groups import append_places, interpolate_rows
from ..arguments import check_flags
from ..frame.gaps import close_gaps
from ..frame.interpolate import checked_fill
from ..types import Duration, FrameT, Obj, SeriesT
from .transform import GroupByTransform


class GroupByValues(GroupByTransform[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that counts values, and fills nulls between them."""

    def value_counts(
        self,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        dropna: bool = True,
    ) -> SeriesT:
        """Return how often each value, or each row of several columns, occurs in each group; most frequent first.

        Parameters
        ----------
        normalize, sort, ascending, dropna
            As for `Gpuscan.value_counts`; counts are sorted, and shares are of all that are counted, within a group.

        Returns
        -------
        Series
            As of `pandas.api.typing.SeriesGroupBy.value_counts`, named ``count`` or ``proportion``, in one partition.
            Keys are the first levels of its index, and values the others.

        Raises
        ------
        TypeError
            For values that cannot be hashed, and for columns of a pandas frame that are categorical.

        See Also
        --------
        Gpuscan.value_counts : Without groups.
        nunique : How many values there are.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": list("abaa"), "x": [1, 1, 2, 2]})
        >>> df.gpuscan.groupby("k")["x"].value_counts().to_dict()
        {('a', 2): 2, ('a', 1): 1, ('b', 1): 1}
        """
        check_flags(normalize=normalize, sort=sort, ascending=ascending, dropna=dropna)
        groups, runs = (self._runs_as_groups(), 1) if self._clustered else (self, 0)
        rows, names = groups._rows_of_columns()
        names = [name for name in names if name not in groups._by.columns]
        counts = ValueCounts(
            By((*groups._by.columns, *names), groups._by.levels),
            levels=True,
            normalize=bool(normalize),
            sort=bool(sort),
            ascending=bool(ascending),
            dropna=bool(dropna),
            keys=len(groups._by.columns),
            drop_keys=self._dropna,
            sort_keys=bool(runs) or self._options.sort is not False,
            as_series=self._as_series,
        )
        out = run(rows, counts)
        titles = self._grouping.titles
        if self._meta.ndim == 1 or self._grouping.of_series:
            names = [meta_of(self._grouping.rows).name]
        infers = not self._engine.IN_PARTS
        out = engine_of(out).map_partitions(out, with_levels, runs, [*titles, *names], infers)
        return out if self._options.as_index else run(out, ResetIndex())

    def interpolate(
        self,
        method: Literal["linear", "pad"] = "linear",
        *,
        limit: SupportsIndex | None = None,
        limit_direction: Literal["forward", "backward", "both"] | None = None,
        limit_area: Literal["inside", "outside"] | None = None,
        max_gap: SupportsIndex | Duration | None = None,
    ) -> Obj:
        """Fill nulls from the last value before them and the next one after, within each group.

        Parameters
        ----------
        method : {"linear", "pad"}, default "linear"
            "linear" puts values on a line between both, with equal distances between the rows of a group. "pad" takes
            the value before.
        limit, limit_direction, limit_area, max_gap
            As for `Gpuscan.interpolate`; "pad" takes `limit` only.

        Returns
        -------
        Series or DataFrame
            With the rows, the order and the index of the frame; null in rows whose key is null, unless groups were
            made with ``dropna=False``. Dtypes are those of `Gpuscan.interpolate`.

        Raises
        ------
        TypeError
            For a column that holds neither numbers nor times; "pad" takes any dtype.
        ValueError
            For other values of the arguments.

        See Also
        --------
        ffill : The last value before, of any dtype.
        Gpuscan.interpolate : Without groups, also by the distances of the index.

        Notes
        -----
        Three scans of the groups, over any number of partitions, number rows and bring the values around each row.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": list("abaa"), "x": [1.0, 7.0, None, 4.0]})
        >>> df.gpuscan.groupby("k")["x"].interpolate().tolist()
        [1.0, 7.0, 2.5, 4.0]
        """
        fill = checked_fill(method, limit, limit_direction, limit_area)
        if max_gap is not None:
            given: Any = {"limit_direction": limit_direction, "limit_area": limit_area}
            found = self.interpolate(method, limit=limit, **given)
            return close_gaps(self._obj, self, found, max_gap)
        if method in BY_INDEX:
            raise ValueError(
                f"method must be 'linear' or 'pad' in groups, found {shown(method)}; choose the rows of one group for "
                f"distances of the index"
            )
        if not isinstance(fill, Interpolate):
            return self.ffill(limit)
        if method == "pad":
            raise ValueError("limit_area is for method='linear' in groups; leave it out")
        rows, names = self._rows_of_columns()
        engine = self._engine
        for name in names:
            fill.dtype(self._column(name) if self._meta.ndim == 2 else self._meta)
        numbers = self._of(rows).cumcount()
        known = [str(name) for name in names_of(meta_of(rows))]
        rows = engine.with_column(rows, numbers, unused_name("number", known))
        number = names_of(meta_of(rows))[-1]
        rows = engine.map_partitions(rows, append_places, names, number)
        places = names_of(meta_of(rows))[-len(names) :]
        groups = self._of(rows)[[*names, *places]]
        out = engine.map_partitions(
            rows,
            interpolate_rows,
            groups.ffill(),
            groups.bfill(),
            names,
            number,
            places,
            fill,
            self._null_keys,
        )
        if not self._as_series:
            return out
        out = out[names[0]]
        unnamed = self._meta.ndim == 1 and self._meta.name is None
        return engine.map_partitions(out, without_name) if unnamed else self._named(out)

    def _rows_of_columns(self) -> tuple[Any, list[Hashable]]:
        """Return the rows as a frame of the keys and the columns, and the names of the columns."""
        names = self._columns()
        if self._meta.ndim == 2:
            return self._needed(names), names
        names = ["value" if self._meta.name is None else self._meta.name]
        return self._obj.to_frame(name=names[0]), names


def with_levels(counts: Any, first: int, titles: Sequence[Hashable], infers: bool) -> Any:
    """Return counts without the first levels of their index, others by these names, and inferred dtypes if asked."""
    library = library_of(counts)
    count = len(library.index_names(counts))
    arrays = [library.array(library.index_level(counts, i)) for i in range(first, count)]
    arrays = [library.inferred(array) for array in arrays] if infers else arrays
    return library.series(
        library.array(counts),
        library.key_index(arrays, titles, levels=len(arrays) > 1),
        counts.name,
    )
