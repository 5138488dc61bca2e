"""Walks over DataArrays and Datasets of xarray, which change each variable's array, axis after axis."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from ...forks import importing
from ...kernels.messages import name_list, not_among, shown

Dims: TypeAlias = Hashable | Iterable[Hashable] | EllipsisType | None
"""One dimension, several, or with None or ``...`` all."""

Along = Callable[[Any, int], Any]
"""Makes an array of an array and one of its axes."""


def dims_of(obj: Any, dim: Dims) -> list[Hashable]:
    """Return the dimensions of an object that are asked for.

    Raises
    ------
    ValueError
        For a dimension that is not there.
    """
    known = list(obj.dims)
    if dim is None or dim is ...:
        return known
    asked = [dim] if isinstance(dim, str) or not isinstance(dim, Iterable) else list(dim)
    for one in asked:
        if one not in known:
            raise ValueError(f"dim: {_no_dimension(one, obj)}")
    return [one for one in known if one in asked]


def _no_dimension(name: Any, obj: Any) -> str:
    """Return the message for a name that is not a dimension."""
    if isinstance(name, Hashable) and name in obj.coords:
        along = name_list(obj.coords[name].dims)
        return f"{shown(name)} is a coordinate along {along}, and no dimension"
    return not_among(name, list(obj.dims), "a dimension", "dimensions")


def keeps_attrs(keep_attrs: bool | None) -> bool:
    """Return whether attributes are kept: by default as xarray's option says."""
    if keep_attrs is not None:
        return keep_attrs
    with importing:
        import xarray

    option = xarray.get_options()["keep_attrs"]
    return True if option == "default" else bool(option)


def walked(
    label: str,
    obj: Any,
    dims: list[Hashable],
    along: Along,
    keep_attrs: bool,
    kinds: str | None = None,
) -> Any:
    """Return an object in which `along` was applied to each variable's array, along dimensions.

    Parameters
    ----------
    label : str
        What errors name.
    obj : DataArray or Dataset
    dims : list of hashable
    along : callable
    keep_attrs : bool
    kinds : str, optional
        Of a Dataset's variables that have one of the dimensions, those whose dtype is of another kind are left out.

    Raises
    ------
    ValueError
        If chunks have no known sizes.
    """
    if any(np.isnan(size) for size in obj.sizes.values()):
        raise ValueError("chunks must have known sizes; call compute_chunk_sizes() first")
    if not hasattr(obj, "data_vars"):
        out = obj.copy(deep=False, data=_array(label, obj, dims, along))
        out.encoding = {}
        return out if keep_attrs else _without_attrs(out)
    variables = {n: v for n, v in obj.data_vars.items() if set(v.dims) & set(dims)}
    left_out = [n for n, v in variables.items() if kinds is not None and not _is_of(v.dtype, kinds)]
    made = {
        name: (variable.dims, _array(label, variable, dims, along), variable.attrs)
        for name, variable in variables.items()
        if name not in left_out
    }
    out = obj.drop_vars(left_out).assign(made)
    return out if keep_attrs else _without_attrs(out)


def _is_of(dtype: Any, kinds: str) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in kinds


def _array(label: str, variable: Any, dims: list[Hashable], along: Along) -> Any:
    """Apply `along` to a variable's array, axis after axis; errors name the variable."""
    array = variable.data
    if not getattr(array.dtype, "isnative", True):  # as files hold numbers
        array = array.astype(array.dtype.newbyteorder("="))
    try:
        for axis, dim in enumerate(variable.dims):
            if dim in dims:
                array = along(array, axis)
    except (TypeError, ValueError) as error:
        title = "the DataArray" if variable.name is None else f"variable {shown(variable.name)}"
        raise type(error)(f"{label} of {title}: {error}") from error.__cause__
    return array


def _without_attrs(out: Any) -> Any:
    """Return an object without its attributes, and those of its variables but not of its coordinates."""
    out.attrs = {}
    for variable in getattr(out, "data_vars", {}).values():
        variable.attrs = {}
    return out
