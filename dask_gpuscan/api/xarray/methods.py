"""The methods of ``.gpuscan`` of xarray's DataArrays and Datasets, and of their groups."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, SupportsIndex

from ...kernels import BUILT_IN, Operator
from ...kernels.messages import name_list
from ...ops.arrays.scan import refuse_states
from ..arguments import OPERATORS, check_flags, check_limit, check_operator, sum_of
from ..arrays.axis import check_arrays, fill_along, scan_along
from ..family import family
from ..types import Obj
from .walk import Dims, dims_of, keeps_attrs, walked

KINDS = dict.fromkeys(("cumsum", "cumprod"), "biufcm")
"""The kinds of dtypes that have a sum or a product, as xarray sees it; other methods take all."""


class XarrayScans(Generic[Obj]):
    """Scans and fills along dimensions."""

    _obj: Any
    _codes: Any = None
    """The group of each place along the dimension, if there are groups."""

    def cumsum(
        self,
        dim: Dims = None,
        *,
        skipna: bool | None = None,
        keep_attrs: bool | None = None,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
        reproducible: bool = False,
    ) -> Obj:
        """Return the running sum along dimensions, over the borders of chunks too.

        Parameters
        ----------
        dim : hashable, iterable of hashable, or ``...``, optional
            The dimensions. By default all of them, one after the other; in groups the one that they are along.
        skipna : bool, optional
            Pass over NaN: each gets the sum before it. If False, everything from the first NaN on is NaN. By default
            True for floating-point and complex numbers, as in xarray.
        keep_attrs : bool, optional
            Keep the attributes. By default as xarray's option ``keep_attrs`` says, and if that says nothing, keep them.
        exclusive : bool, default False
            Sum what comes before each element, without the element itself.
        initial : scalar, optional
            Start from this value rather than from zero.
        reverse : bool, default False
            Run from the last element to the first.
        dtype : dtype, optional
            Accumulate and answer in this dtype. Default: as NumPy does.
        reproducible : bool, default False
            Give floating-point sums bits that depend on the values alone, as in `Gpuscan.cumsum`; along several
            dimensions, on their order too.

        Returns
        -------
        DataArray or Dataset
            Of the same dimensions in the same order, coordinates, names and chunks; lazy over Dask arrays. In groups,
            elements in no group are NaN. Variables of a Dataset that have none of the dimensions stay as they are, and
            those that are not numbers are left out, as in xarray.

        Raises
        ------
        TypeError
            For variables that have no sum, naming them; for an `initial` or `dtype` that does not fit.
        ValueError
            For dimensions that are not there.

        See Also
        --------
        XarrayGpuscan.scan : The same by any operator.
        XarrayGpuscan.groupby : In groups.

        Notes
        -----
        One pass over the data for each dimension; see `dask_gpuscan.kernels.scan` for the algorithm.

        Examples
        --------
        >>> import numpy as np, xarray as xr, dask_gpuscan
        >>> rain = xr.DataArray([[1.0, 2.0], [np.nan, 4.0], [5.0, 6.0]], dims=("time", "x"))
        >>> rain.gpuscan.cumsum("time").values
        array([[ 1.,  2.],
               [ 1.,  6.],
               [ 6., 12.]])
        >>> rain.chunk(time=1).gpuscan.cumsum("time", reverse=True).compute().values
        array([[ 6., 12.],
               [ 5., 10.],
               [ 5.,  6.]])
        """
        options = _options(exclusive, initial, reverse, dtype)
        op = BUILT_IN[sum_of(reproducible)]
        return self._scan("cumsum", op, dim, skipna, keep_attrs, options)

    @family(
        """
        >>> import numpy as np, xarray as xr, dask_gpuscan
        >>> level = xr.DataArray([np.nan, 3.0, np.nan, 2.0, 4.0], dims="time")
        >>> level.gpuscan.{name}("time").values
        {0}
        """
    )
    def _running(
        self,
        dim: Dims = None,
        *,
        skipna: bool | None = None,
        keep_attrs: bool | None = None,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Obj:
        """Return the running product or extreme along dimensions; parameters as for `cumsum`."""
        options, op = _options(exclusive, initial, reverse, dtype), BUILT_IN[OPERATORS["_running"]]
        return self._scan("_running", op, dim, skipna, keep_attrs, options)

    cumprod = _running(
        "Return the running product along dimensions; parameters as for `cumsum`.",
        "array([ 1.,  3.,  3.,  6., 24.])",
    )
    cummax = _running(
        """Return the running maximum along dimensions, of times too; parameters as for `cumsum`.

        What comes before the first value is NaN; in integers, with ``exclusive=True``, the smallest of the dtype.
        NaT is passed over by default, as NaN is.
        """,
        "array([nan,  3.,  3.,  3.,  4.])",
    )
    cummin = _running(
        "Return the running minimum along dimensions, of times too; parameters as for `cumsum`, and `cummax`.",
        "array([nan,  3.,  3.,  2.,  2.])",
    )

    def scan(
        self,
        op: Operator,
        dim: Dims = None,
        *,
        skipna: bool | None = None,
        keep_attrs: bool | None = None,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Obj:
        """Scan along dimensions by any operator.

        Parameters
        ----------
        op : Operator
            A built-in one, or one made by `dask_gpuscan.operator`, of one input.
        dim, skipna, keep_attrs, exclusive, reverse, dtype
            As for `cumsum`.
        initial : state, optional
            Start from this state of the operator.

        Returns
        -------
        DataArray or Dataset

        Raises
        ------
        TypeError, ValueError
            If `op` is not an operator, takes several inputs, or cannot be compiled for a variable.

        See Also
        --------
        operator : Make an operator.

        Examples
        --------
        >>> import xarray as xr, dask_gpuscan
        >>> wet = xr.DataArray([0, 3, 0, 2], dims="time")
        >>> wet.gpuscan.scan(dask_gpuscan.logical_any, "time").values
        array([False,  True,  True,  True])
        """
        if check_operator(op).inputs != 1:
            raise TypeError(
                f"{op.name} takes {op.inputs} inputs, and a variable is one; scan arrays by dask_gpuscan.scan"
            )
        options = _options(exclusive, initial, reverse, dtype)
        return self._scan(f"scan-{op.name}", op, dim, skipna, keep_attrs, options)

    def ffill(self, dim: Hashable = None, limit: SupportsIndex | None = None) -> Obj:
        """Fill NaN and NaT with the last value before them along a dimension, over the borders of chunks too.

        Parameters
        ----------
        dim : hashable, optional
            May be left out where there is one dimension, and in groups.
        limit : int, optional
            Fill at most this many elements in a row.

        Returns
        -------
        DataArray or Dataset
            With all attributes. Integers, bools and strings, which have no NaN, stay as they are.

        Raises
        ------
        TypeError
            For variables of objects, naming them.
        ValueError
            For a dimension that is not there, and a `limit` that is not a positive integer.

        See Also
        --------
        XarrayGpuscan.bfill : The next value instead.

        Examples
        --------
        >>> import numpy as np, xarray as xr, dask_gpuscan
        >>> x = xr.DataArray([1.0, np.nan, np.nan, np.nan], dims="time").chunk(time=1)
        >>> x.gpuscan.ffill("time", limit=2).values
        array([ 1.,  1.,  1., nan])
        """
        return self._fill("ffill", dim, limit)

    def bfill(self, dim: Hashable = None, limit: SupportsIndex | None = None) -> Obj:
        """Fill NaN and NaT with the next value after them along a dimension; parameters as for `ffill`.

        Examples
        --------
        >>> import numpy as np, xarray as xr, dask_gpuscan
        >>> xr.DataArray([np.nan, 2.0, np.nan], dims="time").gpuscan.bfill("time").values
        array([ 2.,  2., nan])
        """
        return self._fill("bfill", dim, limit)

    # --- how all of them are done ---------------------------------------------------------------------

    def _scan(
        self,
        label: str,
        op: Operator,
        dim: Dims,
        skipna: bool | None,
        keep_attrs: bool | None,
        options: dict[str, Any],
    ) -> Obj:
        """Scan along dimensions."""
        for name, flag in {"skipna": skipna, "keep_attrs": keep_attrs}.items():
            if flag is not None:
                check_flags(**{name: flag})

        def along(array: Any, axis: int) -> Any:
            arrays = check_arrays(op, array)
            passes = array.dtype.kind in "fc" if skipna is None else skipna
            out = scan_along(label, arrays, op, axis, {**options, "skipna": passes}, self._codes)
            if isinstance(out, tuple):
                refuse_states(op)
            return out

        dims, keeps = self._dims(dim), keeps_attrs(keep_attrs)
        return walked(label, self._obj, dims, along, keeps, KINDS.get(label))

    def _fill(self, label: str, dim: Hashable, limit: Any) -> Obj:
        most, dims = check_limit(limit), self._dims(dim)
        if len(dims) != 1:
            raise ValueError(f"dim must be one dimension, found {name_list(dims)}")

        def along(array: Any, axis: int) -> Any:
            return fill_along(label, array, axis, most, self._codes)

        return walked(label, self._obj, dims, along, keep_attrs=True)

    def _dims(self, dim: Dims) -> list[Hashable]:
        """Return the dimensions that are asked for."""
        return dims_of(self._obj, dim)


def _options(exclusive: bool, initial: Any, reverse: bool, dtype: Any) -> dict[str, Any]:
    return {"exclusive": exclusive, "initial": initial, "reverse": reverse, "dtype": dtype}
