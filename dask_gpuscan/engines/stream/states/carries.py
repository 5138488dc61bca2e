"""Operations as values of JSON, so that states that are read from files can be joined, and list their totals.

Those of a few kinds are written, with operators that have a name here: nothing that is read is run.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from ....kernels import BUILT_IN, Operator
from ....ops.kept import CARRIES
from .records import require


def write_carry(value: Any) -> Any:
    """Return an operation as a value of JSON; raises a TypeError for one that cannot be written."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return {"float": value.hex()}
    if kind in (tuple, list):
        return {"tuple": [write_carry(one) for one in value]}
    if isinstance(value, Operator) and BUILT_IN.get(value.name) is value:
        return {"operator": value.name}
    if is_dataclass(value) and CARRIES.get(kind.__name__) is kind:
        given = {f.name: write_carry(getattr(value, f.name)) for f in fields(value) if f.init}
        return {"class": kind.__name__, "fields": given}
    raise TypeError(f"{kind.__name__} cannot be written")


def read_carry(value: Any) -> Any:
    """Return what `write_carry` was given; raises an error of any kind for what it does not write."""
    if not isinstance(value, dict):
        require(value is None or isinstance(value, (bool, int, str)), "a value")
        return value
    if value.keys() == {"class", "fields"}:
        given = {name: read_carry(one) for name, one in value["fields"].items()}
        return CARRIES[value["class"]](**given)
    ((name, one),) = value.items()
    return READ[name](one)


READ: dict[str, Any] = {
    "float": float.fromhex,
    "tuple": lambda one: tuple(map(read_carry, one)),
    "operator": BUILT_IN.__getitem__,
}
"""How other values are read, by their names."""
