"""Operations as values of JSON, so that states that are read from files can be joined, and list their totals.

Those of a few kinds are written, with operators that have a name here: nothing that is read is run.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from ....frames.keys import By
from ....kernels import BUILT_IN, Operator
from ....kernels.options import Quantile
from ....ops.core.columnwise import ColumnCarry, JointCarry, NamedCarry
from ....ops.core.operation import Part
from ....ops.groupby.adjacent import AdjacentScan
from ....ops.groupby.hashed_scan import HashedScan
from ....ops.groupby.spec import GroupBySpec
from ....ops.scan.column_scan import Scan
from ....ops.scan.fill import Fill, FillColumns
from ....ops.scan.kernel_scan import ScanArguments
from ....ops.scan.row_number import CountRows, FirstMet, ResetIndex, RowNumber
from ....ops.time.sessions import CountGaps, SessionNumbers
from ....ops.time.time_column import TimeColumn
from ....ops.windows.order_statistics import RollingOrder
from ....ops.windows.rolling import (
    RollingColumns,
    RollingOperator,
    RollingStatistic,
    RowShape,
    TimeShape,
)
from ....ops.windows.shift import Difference, Shift
from ....ops.windows.surroundings import ColumnOverlap, GroupOverlap, NamedOverlap
from .consistent import require

CARRIES: dict[str, Any] = {
    one.__name__: one
    for one in (
        *(By, Part, GroupBySpec, HashedScan, AdjacentScan, ColumnCarry, JointCarry, NamedCarry),
        *(Scan, ScanArguments, Fill, FillColumns, CountRows, FirstMet, RowNumber, ResetIndex),
        *(CountGaps, SessionNumbers, TimeColumn, RowShape, TimeShape, Shift, Difference),
        *(RollingColumns, RollingStatistic, RollingOperator, RollingOrder, Quantile),
        *(ColumnOverlap, NamedOverlap, GroupOverlap),
    )
}
"""The classes of operations that are written, and of what these are made of."""


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
