"""What files of states may hold of operations: what these keep of rows, and the operations themselves.

Objects of the classes named here are written by the names and the fields of their classes, and nothing else is read.
What operations keep of rows are *records*: the annotation of a field says what it holds, and all arrays of a record are
of the same rows. A record may have a property `fits`, and a method `moved` for another library.
"""

from __future__ import annotations

from typing import Any

from ..frames.keys import By
from ..frames.registry import Schema
from ..kernels.options import Quantile
from .asof.in_turn import RightRows
from .core.columnwise import ColumnCarry, JointCarry, NamedCarry
from .core.operation import Part
from .groupby.adjacent import AdjacentScan, RunKeys
from .groupby.hashed import Table
from .groupby.hashed_scan import HashedScan
from .groupby.spec import GroupBySpec
from .run_numbers import RunNumbers, RunRows
from .runs import Open, RunCount
from .scan.column_scan import Scan
from .scan.fill import Fill, FillColumns
from .scan.kernel_scan import ScanArguments
from .scan.row_number import CountRows, FirstMet, ResetIndex, RowNumber
from .scan.value_scan import HostScalar
from .time.buckets import Span
from .time.group_buckets import LastBucket
from .time.resample import OpenBucket
from .time.sessions import CountGaps, SessionNumbers
from .time.time_column import TimeColumn
from .windows.group_surroundings import GroupOverlap
from .windows.halo import RowArrays
from .windows.order_statistics import RollingOrder
from .windows.rolling import (
    RollingColumns,
    RollingOperator,
    RollingStatistic,
    RowShape,
    TimeShape,
)
from .windows.shift import Difference, Shift
from .windows.surroundings import ColumnOverlap, NamedOverlap


def _by_name(*classes: type) -> dict[str, Any]:
    return {one.__name__: one for one in classes}


RECORDS = _by_name(
    *(Schema, Table, RowArrays, Open, RunCount, RunKeys, HostScalar, RightRows),
    *(Span, OpenBucket, LastBucket),
)

CARRIES = _by_name(
    *(By, Part, GroupBySpec, HashedScan, AdjacentScan, ColumnCarry, JointCarry, NamedCarry),
    *(Scan, ScanArguments, Fill, FillColumns, CountRows, FirstMet, RowNumber, ResetIndex),
    *(RunNumbers, RunRows),
    *(CountGaps, SessionNumbers, TimeColumn, RowShape, TimeShape, Shift, Difference),
    *(RollingColumns, RollingStatistic, RollingOperator, RollingOrder, Quantile),
    *(ColumnOverlap, NamedOverlap, GroupOverlap),
)
"""The classes of operations that are written, and of what these are made of."""
