"""Reductions of groups: the methods of `GroupBy` that give one row a group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, SupportsIndex

from ...engines.run import engine_of
from ...frames.messages import HINT, column_title, name_columns
from ...frames.registry import choose_columns, library_of
from ...kernels import Operator
from ...ops.core.operation import GroupReduction, Part
from ...ops.groupby.hashed import HashedReduce
from ...ops.groupby.library_reduction import reduce_by_library
from ...ops.groupby.reduce import NullIfNone, ReduceColumn, reduction_of
from ...ops.groupby.reduce import reproducible as reproducible_reduction_of
from ...ops.groupby.sorted_values import WHOLE_GROUPS
from ...ops.groupby.spec import GroupBySpec
from ...ops.scan.operator_traits import traits_of
from ...ops.statistics.groups import Reduction, spread
from ...ops.statistics.table import REDUCTIONS, ROWS
from ...ops.windows.exact import holds_decimals
from ..arguments import check_ddof, check_flags, check_operator, hints
from ..family import family
from ..types import FrameT, Obj, SeriesT
from .columns import GroupByColumns

EXAMPLE = """
>>> import pandas as pd, dask_gpuscan
>>> df = pd.DataFrame({{"k": [1, 1, 2], "x": [7, 2, 5]}})
>>> df.gpuscan.groupby("k")["x"].{name}().to_dict()
{0}
"""


class GroupByReductions(GroupByColumns[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that reduces."""

    # --- how --------------------------------------------------------------------------------------

    @property
    def _may_ask(self) -> bool:
        """Whether the library's own group-by may be used, which cannot work in parts."""
        if self._engine.IN_PARTS or self._one_pass or self._options.sort is False:
            return False
        return bool(library_of(self._meta).asks_groups)

    def _ask_library(self, names: Sequence[Hashable], method: str, **options: Any) -> Any:
        """Return the answer of the library's own group-by for these columns; None if it is not used, or refuses."""
        picked = self._selected if isinstance(self._selected, list) else []
        if not self._may_ask or len(set(picked)) < len(picked):
            return None
        chosen = names[0] if self._as_series else list(dict.fromkeys(names))
        return reduce_by_library(self._obj, self._by, self._dropna, chosen, method, options)

    def _operation(
        self, name: str, column: Hashable, ddof: int = 1, reproducible: bool = False
    ) -> Any:
        if name in WHOLE_GROUPS:
            return WHOLE_GROUPS[name]
        library, values = library_of(self._meta), self._column(column)
        if reproducible:
            try:
                return reproducible_reduction_of(library, values.dtype, name)
            except (TypeError, ValueError) as error:
                name_columns(error, name, [values])
                raise
        if name == "prod" and self._engine.IN_PARTS and library.rounds_products(values.dtype):
            raise TypeError(
                f"prod of {column_title(values)}: products of dtype {values.dtype} are rounded at each step, so that "
                f"they would depend on how rows lie in partitions; {HINT}"
            )
        reduction = REDUCTIONS[name]
        if reduction.ddof is not None:
            reduction = spread(name, ddof)
        return reduction_of(library, values.dtype, reduction)

    def _reduce_groups(
        self, parts: Sequence[Part[GroupReduction]], as_series: bool, named: bool = False
    ) -> Any:
        """Reduce groups to one row each, by our own means."""
        return self._run(self._reductions(parts, as_series, named))

    def _reductions(
        self, parts: Sequence[Part[GroupReduction]], as_series: bool, named: bool = False
    ) -> GroupBySpec:
        label = parts[0].operation.name if len(parts) == 1 else "agg"
        return self._spec(label, parts, as_series, named)

    def _reduce(self, name: str, numeric_only: bool | None = None, **options: Any) -> Any:
        """Reduce each column; `numeric_only` is None where a method has none."""
        if numeric_only is not None:
            check_flags(numeric_only=numeric_only)
        plan = name, bool(numeric_only), *options.items()
        known = self._plans.get(plan)
        if known is None:
            known = self._plans.store(plan, self._in_kernels(name, numeric_only, options) or ...)
        if known is not ... and library_of(self._meta).is_plain(self._meta):
            return self._answer(self._engine.tree_reduce(self._obj, known))
        names = self._reduced(name, bool(numeric_only))
        if not options.get("reproducible"):
            found = self._ask_library(names, name, **options)
            if found is not None:
                return self._answer(found)
        if not names:
            return self._no_columns()
        with hints(self._as_series, numeric_only):
            parts = [Part(n, (n,), self._operation(name, n, **options)) for n in names]
            return self._answer(self._reduce_groups(parts, self._as_series))

    def _in_kernels(
        self, name: str, numeric_only: bool | None, options: dict[str, Any]
    ) -> HashedReduce | None:
        """Return how kernels reduce all columns of a frame in memory; None if others may be asked, or there is none."""
        names, known = self._reduced(name, bool(numeric_only)), self._known
        if self._engine.IN_PARTS or self._one_pass or not names:
            return None
        if self._meta.ndim == 2 and [n for n in names if known.count(n) != 1 or names.count(n) > 1]:
            return None
        keys = [key.dtype for key in self._by.series(library_of(self._meta), self._meta)]
        dtypes = [self._column(n).dtype for n in names]
        if not library_of(self._meta).leaves_groups(keys, dtypes, name):
            return None
        with hints(self._as_series, numeric_only):
            parts = [Part(n, (n,), self._operation(name, n, **options)) for n in names]
            way = self._way(self._reductions(parts, self._as_series))
            way.spec.planned(library_of(self._meta), self._meta)
        by_kernels = all(isinstance(p.operation, ReduceColumn | NullIfNone) for p in parts)
        return way if by_kernels and isinstance(way, HashedReduce) else None

    def _no_columns(self) -> Any:
        """Return an answer without columns, one row a group."""
        counts = self._reduce_groups([Part("size", (), ReduceColumn(ROWS))], False, named=True)
        return self._answer(engine_of(counts).map_partitions(counts, choose_columns, []))

    def sum(self, numeric_only: bool = False, *, reproducible: bool = False) -> Obj:
        """Return the sum of each group, ignoring nulls; a group without values has sum 0.

        Parameters
        ----------
        numeric_only : bool, default False
            Leave out columns that are not numbers or bool.
        reproducible : bool, default False
            Give floating-point sums bits that depend on the values of the group alone, as in `Gpuscan.cumsum`.

        Raises
        ------
        TypeError
            For a column that has no sum, or no reproducible one, naming it.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].sum().to_dict()
        {1: 9, 2: 5}
        """
        return self._sums("sum", numeric_only, reproducible)

    def _sums(self, name: str, numeric_only: bool, reproducible: bool) -> Obj:
        check_flags(reproducible=reproducible)
        options = {"reproducible": True} if reproducible else {}
        found: Obj = self._reduce(name, numeric_only, **options)
        return found

    def mean(self, numeric_only: bool = False, *, reproducible: bool = False) -> Obj:
        """Return the mean of each group; parameters as for `sum`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].mean().to_dict()
        {1: 4.5, 2: 5.0}
        """
        return self._sums("mean", numeric_only, reproducible)

    @family(EXAMPLE)
    def _each(self, numeric_only: bool = False) -> Obj:
        """Return one value of each group; `numeric_only` as for `sum`."""
        return self._reduce("_each", numeric_only)

    prod = _each("Return the product of each group.", {1: 14, 2: 5})
    min = _each("Return the smallest value of each group.", {1: 2, 2: 5})
    max = _each("Return the largest value of each group.", {1: 7, 2: 5})
    first = _each(
        "Return the first value of each group that is not null, of any dtype.", {1: 7, 2: 5}
    )
    last = _each(
        "Return the last value of each group that is not null, of any dtype.", {1: 2, 2: 5}
    )

    @family(EXAMPLE)
    def _spread(self, ddof: SupportsIndex = 1, numeric_only: bool = False) -> Obj:
        """Return how far the values of each group are spread, divided by their number less `ddof`."""
        return self._reduce("_spread", numeric_only, ddof=check_ddof(ddof))

    var = _spread(
        "Return the variance of each group, divided by the number of values less `ddof`.",
        "{1: 12.5, 2: nan}",
    )
    std = _spread("Return the standard deviation of each group.", "{1: 3.5355339059327378, 2: nan}")
    sem = _spread(
        "Return the standard error of the mean of each group: its standard deviation over the root of the count.",
        "{1: 2.5, 2: nan}",
    )

    @family(EXAMPLE.replace("[7, 2, 5]", "[0, 3, None]"))
    def _any_dtype(self) -> Obj:
        """Return one value of each group, of columns of any dtype."""
        return self._reduce("_any_dtype")

    any = _any_dtype(
        "Return whether any value of each group is true (not zero).", {1: True, 2: False}
    )
    all = _any_dtype(
        "Return whether all values of each group are true (not zero).", {1: False, 2: True}
    )
    count = _any_dtype(
        "Return the number of values of each group that are not null; `size` counts rows.",
        {1: 2, 2: 0},
    )
    nunique_consecutive = _any_dtype(
        "Return how many runs of equal values each group has, in the rows' order, passing over nulls; see `nunique`.",
        {1: 2, 2: 0},
    )

    def size(self) -> SeriesT:
        """Return the number of rows of each group, as a Series.

        See Also
        --------
        count : Values that are not null.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, None, 5]})
        >>> df.gpuscan.groupby("k")["x"].size().to_dict()
        {1: 2, 2: 1}
        """
        names = self._columns()[:1]
        if not names:
            names = [n for n in self._by.columns if n not in self._by.levels][:1]
        found = self._ask_library(names, "size")  # cuDF has no size for columns of Arrow's dtypes
        if found is not None:
            return self._sizes(found)
        name = self._meta.name if self._meta.ndim == 1 else None
        name = self._selected if self._as_series and self._meta.ndim == 2 else name
        if self._as_series:
            part = Part(name, (self._columns()[0],), ReduceColumn(REDUCTIONS["size"]))
        else:
            part = Part(name, (), ReduceColumn(ROWS))
        return self._sizes(self._reduce_groups([part], True))

    def _sizes(self, found: Any) -> Any:
        """Return the answer of `size`, which is a column of that name where keys are columns."""
        return self._answer(found if self._options.as_index else found.rename("size"))

    def _exact(self, part: Part[Any], statistic: str) -> Part[Any]:
        """Return a part by an operator as one by a statistic if it reduces decimals, which no kernel takes."""
        (name,) = part.sources
        if not holds_decimals(self._column(name)):
            return part
        return replace(part, operation=self._operation(statistic, name))

    def reduce(self, op: Operator) -> Obj | SeriesT:
        """Reduce each group by any operator.

        Parameters
        ----------
        op : Operator
            An operator of several inputs takes the columns in their order, and answers with one Series.

        Returns
        -------
        Series or DataFrame
            The operator's answer for each group; its identity where a group has no values.

        See Also
        --------
        agg : By name.
        operator : Make an operator.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].reduce(dask_gpuscan.bitwise_xor).to_dict()
        {1: 5, 2: 5}
        """
        operation = ReduceColumn(Reduction(check_operator(op).name, op, _unused), user=True)
        parts, joint = self._op_parts(op, operation)
        exact = traits_of(op).statistic
        if exact is not None:
            parts = [self._exact(part, exact) for part in parts]
        return self._answer(self._reduce_groups(parts, joint or self._as_series))


def _unused(xp: Any, states: Any) -> Any:
    raise AssertionError("an operator of a user's lowers its own states")
