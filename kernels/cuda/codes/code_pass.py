"""The passes of scans and reductions by code, and their CUDA source; see by_code.cuh."""

from functools import cached_property
from typing import ClassVar

import numpy as np

from ...late_dataclass import dataclass
from ...options import Exclusive
from ..core.closure_constants import numbers_size
from ..core.plan import (
    NO_CARRY,
    Capability,
    Form,
    Geometry,
    OfOperator,
    TypedOperator,
    state_dtype,
)
from ..core.source import (
    constants_source,
    exclusive_bits,
    include,
    null_kinds,
    numbers_source,
    operator_source,
    struct,
    word,
    words_of,
)
from ..core.tuning import LARGE_SHARED
from ..core.visitors import BY_CODE, VisitorSpec
from .tuning import (
    CODE_BATCH,
    CODE_BLOCKS,
    CODE_SHARED,
    CODE_WARPS,
    SMALL_STATE,
    TABLE_BATCH,
    TABLE_COLUMNS,
    TABLE_WARPS,
)

STEPS = ("reduce chunks", "scan table", "scan chunks", "walk parts")


@dataclass(frozen=True)
class CodePass(OfOperator):
    """One of the steps of a scan by code.

    Parameters
    ----------
    operator : TypedOperator
    step : str
        One of STEPS.
    code : int
        Bytes of a code.
    nulls : str
        One of NULL_KINDS.
    exclusive : bool or tuple of bool
    mark_nulls : bool
    scans : bool
        Whether rows are scanned, and not only reduced.
    bytes : int
        At least the bytes that a warp keeps for its groups.
    chunk : int
        Rows of a chunk; 0 where rows lie in parts by the leading bits of their codes, and chunks are parts or pieces of
        them.
    """

    operator: TypedOperator
    step: str
    code: int
    nulls: str
    exclusive: Exclusive
    mark_nulls: bool
    scans: bool
    bytes: int
    chunk: int
    visitor: ClassVar[VisitorSpec] = BY_CODE
    carry: ClassVar[np.dtype] = NO_CARRY

    @property
    def parted(self) -> bool:
        """Whether chunks are parts of rows, or pieces of parts."""
        return not self.chunk

    @cached_property
    def parameters(self) -> str:
        """The format of the parameters, as by_code.cuh declares them."""
        of = self.operator
        pointers = len(of.inputs) + len(of.outputs) + 2 * len(of.state) + 10
        return f"={pointers}Q9q0s{numbers_size(of.op, of.inputs)}s"

    def warps(self, capability: Capability) -> int:
        """Return the warps of a block."""
        if self.step == "scan table":
            return TABLE_WARPS >> (state_dtype(self.operator.state).itemsize > SMALL_STATE)
        return max(CODE_WARPS, key=lambda warps: warps * self._resident(warps, capability))

    def _resident(self, warps: int, capability: Capability) -> int:
        """Return how many blocks of `warps` warps a multiprocessor has room for."""
        room = CODE_SHARED[capability in LARGE_SHARED]
        return min(CODE_BLOCKS, room // (warps * self.bytes + 1024))

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        if self.step == "scan table":
            warps, blocks = self.warps(capability), 2
            items = 32 * warps if self.parted else TABLE_COLUMNS
            shared = warps * 32 * state_dtype(self.operator.state).itemsize
        else:
            warps = self.warps(capability)
            # the items of a launch over parts are the parts
            items, shared = warps * (1 if self.parted else self.chunk), warps * self.bytes
            blocks = max(1, self._resident(warps, capability))
        return Geometry(threads=32 * warps, shared=shared, items=items, blocks=blocks)


def group_bytes(state: Form) -> int:
    """Return the bytes that a warp keeps for a group: its state, and a lane number."""
    return state_dtype(state).itemsize + 1


def code_source(each: CodePass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a step. Each step of `relief` leaves more registers to a thread."""
    of = each.operator
    constants = {
        "INPUTS": len(of.inputs),
        "OUTPUTS": len(of.outputs),
        "FIELDS": len(of.state),
        "STEP": STEPS.index(each.step),
        "WARPS": each.warps(capability),
        "BATCH": max(1, (TABLE_BATCH if each.step == "scan table" else CODE_BATCH) >> relief),
        "COLUMNS": TABLE_COLUMNS,
        **null_kinds(each.nulls),
        "EXCLUSIVE": exclusive_bits(each.exclusive, len(of.outputs)),
        "MARK_NULLS": each.mark_nulls,
        "SCANS": each.scans,
        "PARTED": each.parted,
    }
    lines = include("words", "int128") + constants_source(constants)
    lines += numbers_source(of) + operator_source(of)
    lines += [f"using Code = {word(np.dtype(f'u{each.code}'))};", *_parts(of)]
    lines += words_of([(f"s.f{i}", dtype) for i, dtype in enumerate(of.state)])
    return "\n".join([*lines, *include("states", each.visitor.source), ""])


def _parts(of: TypedOperator) -> list[str]:
    """Define `Part`, the access to a field of a state by its number."""
    return [line for line in struct("State", of.state, "Part") if not line.startswith("struct")]
