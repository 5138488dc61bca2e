"""Groups of the places along a dimension of a DataArray or Dataset: xarray finds them, and here they get codes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ...forks import importing
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import name_list, not_among, shown


@dataclass(frozen=True)
class PlaceGroups:
    """Groups of the places along a dimension."""

    names: tuple[Hashable, ...]
    """The names of what they are made of."""
    dim: Hashable
    codes: Any
    """The group of each place, a NumPy array of int64; -1 for none."""


def place_groups(obj: Any, group: Any, groupers: Mapping[Any, Any]) -> PlaceGroups:
    """Return groups of the places along one dimension, which xarray's ``groupby`` finds.

    Raises
    ------
    TypeError, ValueError
        For names that are not there, groups along several dimensions, and whatever xarray refuses.
    """
    with importing:
        import xarray

    is_array = isinstance(group, (xarray.DataArray, xarray.IndexVariable))
    is_named = isinstance(group, (Sequence, Mapping)) and len(group)
    if not (is_array or is_named or (group is None and groupers)):
        raise TypeError(
            f"groupby takes the name of a coordinate, a DataArray, or groupers by name, found {shown(group)}"
        )
    if is_array:
        group = group.compute()
        found = {group.name: group}
    else:
        names = [group] if isinstance(group, str) else list(group or ())
        bases = {name: _base(obj, name) for name in (*names, *groupers)}
        # labels that are lazy are computed, once
        lazy = {name: obj[name].compute() for name in bases.values() if obj[name].chunks}
        obj = obj.assign_coords(lazy)
        found = {name: _named(obj, name) for name in bases}
    dims = dict.fromkeys(dim for one in found.values() for dim in one.dims)
    if len(dims) != 1:
        raise ValueError(
            f"group must be along one dimension, found {name_list(found)} along {name_list(dims)}"
        )
    (dim,) = dims
    if dim not in obj.dims:
        raise ValueError(f"group: {not_among(dim, list(obj.dims), 'a dimension', 'dimensions')}")
    codes = np.full(obj.sizes[dim], -1, np.int64)
    if len(codes):  # xarray refuses to group nothing
        for code, places in enumerate(obj.groupby(group, **groupers).groups.values()):
            codes[places] = code
    return PlaceGroups(tuple(found), dim, codes)


def _base(obj: Any, name: Any) -> Any:
    """Return the name of the coordinate or variable that a name, also of a part such as "time.month", belongs to."""
    known = [*obj.coords, *getattr(obj, "data_vars", ())]
    base = name.partition(".")[0] if isinstance(name, str) and name not in known else name
    if base not in known and base not in obj.dims:
        raise ValueError(f"group: {not_among(base, known, 'a coordinate', 'coordinates')}")
    return base


def _named(obj: Any, name: Any) -> Any:
    """Return a coordinate or variable, or a part of one that holds times."""
    try:
        return obj[name]
    except (AttributeError, KeyError) as error:
        raise ValueError(f"group={shown(name)}: {error}") from error
