"""``.gpuscan`` of xarray's DataArrays and Datasets: scans and fills along dimensions, in groups and not."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ...kernels.messages import name_list, shown
from ..types import Obj
from .groups import PlaceGroups, place_groups
from .methods import XarrayScans
from .walk import Dims


class XarrayGroups(XarrayScans[Obj]):
    """Scans and fills along a dimension in groups, as `XarrayGpuscan.groupby` returns them.

    Examples
    --------
    >>> import xarray as xr, dask_gpuscan
    >>> x = xr.DataArray([1, 2, 3], dims="time", coords={"station": ("time", ["b", "a", "b"])})
    >>> x.gpuscan.groupby("station")
    <groups of an xarray DataArray by 'station', along 'time'>
    >>> x.gpuscan.groupby("station").cumsum().values
    array([1, 2, 4])
    """

    def __init__(self, obj: Any, groups: PlaceGroups) -> None:
        self._obj, self._groups, self._codes = obj, groups, groups.codes

    def __repr__(self) -> str:
        names, dim = name_list(self._groups.names), shown(self._groups.dim)
        return f"<groups of an xarray {type(self._obj).__name__} by {names}, along {dim}>"

    def _dims(self, dim: Dims) -> list[Hashable]:
        own = self._groups.dim
        asked = [own] if dim is None else super()._dims(dim)
        if asked != [own]:
            raise ValueError(
                f"dim must be {shown(own)}, along which the groups are, found {name_list(asked)}"
            )
        return asked


class XarrayGpuscan(XarrayScans[Obj]):
    """Scans and fills of a DataArray or Dataset of xarray, reached as ``.gpuscan``.

    Arrays are of NumPy, CuPy or Dask, and so are the answers: computed at once, or lazy. They are those of xarray on
    the whole data, whatever the chunks. Dimensions and their order, coordinates and names are kept.

    See Also
    --------
    on : The same, of a type that checkers and editors know.
    cumsum, cumprod, cummax, cummin, scan, ffill, bfill : Of arrays.

    Examples
    --------
    >>> import numpy as np, xarray as xr, dask_gpuscan
    >>> rain = xr.DataArray(np.ones((4, 2)), dims=("time", "x"), name="rain").chunk(time=2)
    >>> rain.gpuscan.cumsum("time").compute().values
    array([[1., 1.],
           [2., 2.],
           [3., 3.],
           [4., 4.]])
    """

    def __init__(self, obj: Any) -> None:
        self._obj = obj

    def __repr__(self) -> str:
        return f"<gpuscan of an xarray {type(self._obj).__name__}>"

    def groupby(self, group: Any = None, **groupers: Any) -> XarrayGroups[Obj]:
        """Return groups of the places along a dimension, in any order.

        Parameters
        ----------
        group : str, DataArray, sequence of str, or mapping of name to Grouper
            As xarray's ``groupby`` takes it: the name of a coordinate, of a variable or of a part of a time, as
            "time.month"; a DataArray along a dimension; several names; or groupers by name.
        **groupers : Grouper
            Of ``xarray.groupers``, by name.

        Returns
        -------
        XarrayGroups

        Raises
        ------
        TypeError, ValueError
            For names that are not there, groups along several dimensions, and whatever xarray refuses.

        See Also
        --------
        XarrayGpuscan.cumsum : Its parameters are those of the sum in groups.

        Notes
        -----
        Elements whose group is missing are in none: their answers are NaN. Labels that are Dask arrays are computed by
        this call. Chunks hand on the states of the groups that they have met.

        Examples
        --------
        >>> import pandas as pd, xarray as xr, dask_gpuscan
        >>> time = pd.date_range("2026-01-30", periods=4)
        >>> rain = xr.DataArray([1.0, 2.0, 3.0, 4.0], dims="time", coords={"time": time})
        >>> rain.chunk(time=1).gpuscan.groupby("time.month").cumsum().compute().values
        array([1., 3., 3., 7.])
        """
        return XarrayGroups(self._obj, place_groups(self._obj, group, groupers))
