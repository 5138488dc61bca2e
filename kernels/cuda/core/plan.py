"""Plans, which are sequences of passes; a pass is one kernel.

A pass holds everything that its machine code depends on, the size of its blocks, and the layout of their shared
memory. `ScanPass` is over lines of an operator's inputs, `ColumnPass` over columns of rows; most others are a
`PlainPass`, which has no operator, one schedule, and tiles of one size.
"""

from collections.abc import Callable
from dataclasses import field
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from ...late_dataclass import dataclass
from ...operators.operator import Operator
from ...operators.signature import Signature
from .closure_constants import kernel_token
from .tuning import PLAIN_ITEMS, PLAIN_THREADS
from .visitors import VisitorSpec

Form = tuple[np.dtype, ...]
Capability = tuple[int, int]


class Extent(NamedTuple):
    """The range of a pass: the length of lines, their number, and how many lie side by side."""

    length: int
    lines: int = 1
    inner: int = 1


class Tickets(Enum):
    """When blocks take their tiles by ticket, which needs memory that is set to zero before a launch."""

    NEVER = "never"
    WHERE_BLOCKS_ARE_FEW = "where blocks are few"
    """If there are more tiles than blocks."""
    ALWAYS = "always"


@dataclass(frozen=True)
class Geometry:
    """The size of a kernel's blocks, and of their scratch space."""

    threads: int
    items: int
    """Items of a line that a block takes at once; 0 if it takes whole lines."""
    blocks: int
    """The most blocks on a multiprocessor."""
    shared: int = 0
    """Bytes of dynamic shared memory of a block."""
    lines: int = 1
    """Lines that a block takes at once."""
    descriptor: int = 0
    """Bytes of a descriptor, in which a tile publishes its state."""
    described_from: int = 1
    """The fewest tiles of a line for which there are descriptors."""
    tickets: Tickets = Tickets.NEVER
    """When blocks take their tiles by ticket."""


class Pass(Protocol):
    """One kernel of a plan."""

    @property
    def visitor(self) -> VisitorSpec:
        """The primitive."""

    @property
    def operator(self) -> "TypedOperator | None":
        """The operator that it combines states by, if any."""

    @property
    def name(self) -> str:
        """Its name in errors."""

    @property
    def token(self) -> str:
        """Identifies its machine code in the cache of cubins, together with its source."""

    @property
    def parameters(self) -> str:
        """The format of the parameters of a launch: pointers, integers, the first state, and numbers."""

    @property
    def carry(self) -> np.dtype:
        """The dtype of the state after the last item of a line."""

    def sized(self, capability: Capability) -> "Pass":
        """Return the pass with tiles of the size that suits a GPU of this compute capability."""

    def schedule(self, extent: Extent, capability: Capability, blocks: int, forced: str) -> str:
        """Return how tiles are handed out on `blocks` multiprocessors, or `forced` for long lines."""

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks of a schedule."""


@dataclass(frozen=True)
class Plan:
    """Passes that run one after another on one stream, in one block of memory."""

    passes: tuple[Pass, ...]

    @cached_property
    def _hash(self) -> int:
        return hash(self.passes)

    def __hash__(self) -> int:  # called at every launch
        return self._hash


class KernelPass:
    """The base of all passes, by default with one schedule, and tiles of one size."""

    def sized(self, capability: Capability) -> Self:
        """Return the pass unchanged."""
        return self

    def schedule(self, extent: Extent, capability: Capability, blocks: int, forced: str) -> str:
        """Return the only schedule."""
        return "classic"

    @cached_property
    def alone(self) -> Plan:
        """The plan of this pass alone, made once, as hashing a pass takes long."""
        return Plan((self,))  # type: ignore[arg-type]


# --- operators and nulls --------------------------------------------------------------------------


@dataclass(frozen=True)
class TypedOperator:
    """An operator with the types that its functions are compiled for."""

    op: Operator
    inputs: Form
    state: Form
    scalar_state: bool
    outputs: Form
    scalar_output: bool
    identity: Any = field(compare=False)
    follow: Callable[..., Any] | None = field(default=None, compare=False)
    """Returns an answer of a scan from the previous answer and an element, if the operator has such a function."""

    @property
    def is_native(self) -> bool:
        """Whether its functions are written in CUDA C++, for types that Numba does not have."""
        return self.inputs[0].kind == "V"

    @property
    def token(self) -> str:
        """Identifies the machine code of its functions."""
        forms = self.inputs, self.state, self.outputs
        return repr((kernel_token(self.op, self.inputs), forms, repr(self.identity)))


class OfOperator(KernelPass):
    """The base of passes of one operator."""

    operator: TypedOperator

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.operator.op.name

    @cached_property
    def token(self) -> str:
        """Identifies the operator."""
        return self.operator.token


def typed(
    op: Operator, types_: Signature, follow: Callable[..., Any] | None = None
) -> TypedOperator:
    """Return an operator with its types."""
    return TypedOperator(
        op, types_.inputs, types_.state, types_.scalar_state, types_.outputs, types_.scalar_output,
        types_.identity, follow,
    )  # fmt: skip


def state_dtype(state: Form) -> np.dtype:
    """Return the structured dtype with the memory layout of the C++ struct `State` of an operator."""
    return np.dtype([(f"f{i}", dtype) for i, dtype in enumerate(state)], align=True)


def state_words(state: Form) -> int:
    """Return the four-byte words of a state in kernels."""
    return sum(max(1, d.itemsize // 4) for d in state)


def in_words(size: int) -> int:
    """Return how many bytes `size` bytes take among a kernel's parameters."""
    return -(-size // 8) * 8


NULL_KINDS = {"none": "NO_NULLS", "in band": "IN_BAND", "bits": "BITS", "bytes": "BYTES"}
"""The kinds of nulls, by where missing elements are marked, and their names in CUDA source."""


@dataclass(frozen=True)
class Nullness:
    """Where missing elements of a column are marked, one of NULL_KINDS, and the value in a mask that marks them."""

    kind: str = "none"
    null: int = 0

    @property
    def masked(self) -> bool:
        """Whether a mask is read."""
        return self.kind in ("bits", "bytes")


NOWHERE = Nullness()
"""No element is missing."""


NO_CARRY = np.dtype([])


class PlainPass(KernelPass):
    """A pass without an operator and, by default, without a carry."""

    operator: ClassVar[TypedOperator | None] = None
    token = ""

    @property
    def carry(self) -> np.dtype:
        """The dtype of no carry."""
        return NO_CARRY

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        return Geometry(threads=PLAIN_THREADS, items=PLAIN_THREADS * PLAIN_ITEMS, blocks=4)
