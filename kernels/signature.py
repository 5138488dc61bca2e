"""Which dtypes an operator's states and answers have for given inputs: facts for every backend, inferred by Numba.

A state must have one type whatever was combined, so the type is the smallest that holds a lifted element and the
combination of two states. 128-bit integers, which Numba does not have, are told by the facts of an operator.
"""

# Numba reads the parameters of compiled functions.
# mypy: disable-error-code="no-untyped-def"

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types
from numba.core.errors import NumbaError
from numba.np.numpy_support import as_dtype

from .built_in import FACTS, facts_of
from .int128 import INT128, Int128, as_int128, is_int128
from .jit import cached_njit, load_kernel
from .operator_calls import combine, lift, lower, make_constant, operator_type
from .operators import Operator

Form = tuple[np.dtype, ...]


class StateForm(NamedTuple):
    """The dtypes of the fields of states or answers, and whether these are scalars rather than tuples."""

    fields: Form
    scalar: bool


@dataclass(frozen=True)
class Signature:
    """The dtypes of a scan: inputs, state fields, outputs, and whether state and output are scalars."""

    inputs: Form
    state: Form
    scalar_state: bool
    outputs: Form
    scalar_output: bool
    identity: Any

    def __post_init__(self) -> None:
        fields = (self.inputs, self.state, self.scalar_state, self.outputs, self.scalar_output)
        object.__setattr__(self, "_hash", hash((*fields, self.identity)))

    def __hash__(self) -> int:  # every call looks for kernels by it
        return self._hash  # type: ignore[attr-defined, no-any-return]

    @cached_property
    def state_form(self) -> StateForm:
        """The form of states."""
        return StateForm(self.state, self.scalar_state)

    @cached_property
    def output_form(self) -> StateForm:
        """The form of answers."""
        return StateForm(self.outputs, self.scalar_output)

    @cached_property
    def plain_identity(self) -> Any:
        """The identity as Python's numbers."""
        return joined([part.item() for part in self.parts(self.identity)], self.scalar_state)

    def parts(self, state: Any) -> tuple[Any, ...]:
        """Return the fields of a state."""
        return (state,) if self.scalar_state else state


def joined(parts: Sequence[Any], scalar: bool) -> Any:
    """Return the one part of what is a scalar, or a tuple of all parts.

    Examples
    --------
    >>> joined([1], True), joined([1], False)
    (1, (1,))
    """
    return parts[0] if scalar else tuple(parts)


def signature(op: Operator, dtypes: Sequence[Any], dtype: Any = None) -> Signature:
    """Return the types of states and answers of an operator for inputs of these dtypes.

    Parameters
    ----------
    op : Operator
    dtypes : sequence of dtype
    dtype : dtype, optional
        The type to answer in; where the element itself is the state, also the one to accumulate in.

    Raises
    ------
    TypeError, ValueError
        If the operator's functions do not compile, raise, or do not fit together; for INT128, if the operator is none
        of those that take it.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> signature(BUILT_IN["add"], [np.int32]).outputs
    (dtype('int64'),)
    """
    wanted = None if dtype is None else np.dtype(dtype)
    return signature_of(op, tuple([np.dtype(d) for d in dtypes]), wanted)


def state(op: Operator, value: Any, dtypes: Sequence[Any], dtype: Any, name: str) -> Any:
    """Return a user's `value` as a state of the operator; an element of a tuple-state one is lifted.

    Raises
    ------
    TypeError
        Naming the argument `name`, if the value does not fit.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> state(BUILT_IN["last"], 3, [np.int64], None, "initial")
    (np.int64(3), np.True_)
    """
    types_ = signature(op, dtypes, dtype)
    lifts = not types_.scalar_state and not isinstance(value, tuple) and op.inputs == 1
    if lifts and op.lift is not None and np.isscalar(value):
        value = op.lift(value)
    return as_state(value, types_, name)


@lru_cache(maxsize=4096)
def signature_of(op: Operator, inputs: Form, dtype: np.dtype | None) -> Signature:
    """Return what `signature` does, for dtypes that are NumPy's objects already.

    Raises
    ------
    TypeError
        If Numba cannot compile a function of the operator for these inputs, its states have no common
        type, or its identity does not fit the state.
    ValueError
        If a function raises, does not end, or the identity is none.
    """
    if any(d.kind == "V" for d in inputs):
        return _of_int128(op, inputs, dtype)
    if len(inputs) != op.inputs:
        raise TypeError(f"{op.name} takes {op.inputs} input arrays, found {len(inputs)}")
    if op.lift is None and dtype is not None and op.inputs == 1:
        _from_dtype(inputs[0])
        state = _from_dtype(dtype)
    else:
        state = _common(op, lifted(op, inputs))
    scalar_state = not isinstance(state, types.BaseTuple)
    lowered = _ask(op, "lower", probe_lower, state)
    scalar_output = not isinstance(lowered, types.BaseTuple)
    outputs = _dtypes(op, "lower", lowered)
    if dtype is not None:
        if not scalar_output:
            raise TypeError(f"dtype: {op.name} answers with a tuple, which takes no dtype")
        outputs = (dtype,)
    fields = _dtypes(op, "combine", state)
    accumulates = (
        op.lift is None and op.inputs == 1
    )  # the identity must suit the state, not the input
    neutral = op.identity_for(*(fields if accumulates else inputs))
    identity = _as_fields(neutral, fields, scalar_state, f"identity of {op.name}")
    found = Signature(inputs, fields, scalar_state, outputs, scalar_output, identity)
    _try(op, found)
    return found


def _of_int128(op: Operator, inputs: Form, dtype: np.dtype | None) -> Signature:
    identity = facts_of(op).int128_identity
    if identity is None or len(inputs) != 1 or not is_int128(inputs[0]):
        known = ", ".join(o.name for o, facts in FACTS.items() if facts.int128_identity is not None)
        raise TypeError(f"{op.name} does not take {inputs}: for 128-bit integers there are {known}")
    if dtype is not None and not is_int128(dtype):
        raise TypeError(f"dtype must be None or INT128 for 128-bit integers, found {dtype}")
    if not isinstance(identity, tuple):
        return Signature((INT128,), (INT128,), True, (INT128,), True, Int128(identity))
    number, seen = identity
    state: Form = (INT128, np.dtype(np.bool_))
    return Signature((INT128,), state, False, (INT128,), True, (Int128(number), np.bool_(seen)))


def lifted(op: Operator, inputs: Form) -> Any:
    """Return the Numba type of a lifted element of these dtypes.

    Raises
    ------
    TypeError
        If Numba cannot compile the lift for them.
    """
    return _ask(
        op, "lift", probe_lift, _numba_type(inputs) if op.inputs > 1 else _from_dtype(inputs[0])
    )


def as_state(value: Any, types_: Signature, name: str) -> Any:
    """Return `value` as a state of these types: a scalar or array, or a tuple of them; 128-bit integers as Int128.

    Raises
    ------
    TypeError
        If the value has another form, or a field cannot hold its part.
    """
    if not any(d.kind == "V" for d in types_.state):
        return _as_fields(value, types_.state, types_.scalar_state, name)
    parts = (value,) if types_.scalar_state else value
    if not isinstance(parts, tuple) or len(parts) != len(types_.state):
        raise TypeError(f"{name} must be a tuple (integer, bool), found {value!r}")
    found = tuple(
        as_int128(part, name) if field.kind == "V" else _as_fields(part, (field,), True, name)
        for part, field in zip(parts, types_.state, strict=True)
    )
    return found[0] if types_.scalar_state else found


def _as_fields(value: Any, fields: Form, scalar: bool, name: str) -> Any:
    if scalar and isinstance(value, np.generic) and value.dtype == fields[0]:
        return value
    wanted = fields[0].name if scalar else f"a tuple ({', '.join(f.name for f in fields)})"
    if isinstance(value, tuple) == scalar or not (scalar or len(value) == len(fields)):
        raise TypeError(f"{name} must be {wanted}, found {value!r}")
    parts = (value,) if scalar else value
    converted = []
    for part, field in zip(parts, fields, strict=True):
        array = np.asarray(part)
        if array.dtype.kind not in "biufc":
            raise TypeError(f"{name} must be {wanted}, found {value!r}")
        with np.errstate(all="ignore"):
            cast = array.astype(field)
            exact = field.kind in "fc" and array.dtype.kind in "biufc"[: 4 + (field.kind == "c")]
            if not exact and not np.array_equal(cast, array):
                raise TypeError(f"{name} must be {wanted}, found {value!r}")
        converted.append(cast[()])
    return converted[0] if scalar else tuple(converted)


@cached_njit
def probe_lift(op, element):
    """Have the type of a lifted element."""
    return lift(op, element)


@cached_njit
def probe_combine(op, a, b):
    """Have the type of a combined state."""
    return combine(op, a, b)


@cached_njit
def probe_lower(op, state):
    """Have the type of a lowered state."""
    return lower(op, state)


PATIENCE = 10.0
"""Seconds after which a function is taken not to end for one element."""


def _try(op: Operator, types_: Signature) -> None:
    """Run the operator's functions on the element 1 and the identity, before there is data.

    Raises
    ------
    ValueError
        If one of them raises or does not end (`Endless`), or the identity changes the state that it is
        combined with.
    """
    elements = tuple(d.type(1) for d in types_.inputs)
    try:
        state: Any
        lifted = _run(op, "lift", probe_lift, elements if op.inputs > 1 else elements[0])
        if types_.scalar_state:
            state = np.asarray(lifted).astype(types_.state[0])[()]
        else:
            fields = zip(lifted, types_.state, strict=True)
            state = tuple(np.asarray(part).astype(d)[()] for part, d in fields)
        combined = (
            _run(op, "combine", probe_combine, types_.identity, state),
            _run(op, "combine", probe_combine, state, types_.identity),
        )
        _run(op, "lower", probe_lower, state)
    except NumbaError as error:
        raise TypeError(f"{op.name}: Numba cannot compile it: {_reason(error)}") from error
    except Endless:
        raise
    except IndexError:  # an array may have all elements of the data, and not the element 1
        return
    except Exception as error:
        raise ValueError(f"{op.name} raised {type(error).__name__}: {error}") from error
    for result in combined:
        if not np.allclose(result, state, equal_nan=True):
            raise ValueError(
                f"identity of {op.name}: combined with the state {state!r}, "
                f"{types_.identity!r} gives {result!r}; give another identity, or a lift that "
                f"brings every element to a state that it leaves as it is"
            )


class Endless(ValueError):
    """A function that does not end."""


_endless: set[tuple[str, str]] = set()
"""Tokens and functions of operators that did not end: each would leave one more thread that runs on."""


def _run(op: Operator, role: str, probe: Any, *arguments: Any) -> Any:
    """Call a function of the operator, which is compiled first: that may take longer than it may run.

    It runs in a thread of its own, which waits for nobody: what is compiled cannot be interrupted, and if it never
    ends, the thread does not either, but it neither holds a lock nor keeps the process from ending.
    """
    message = f"{op.name}: {role} did not end within {PATIENCE:g} seconds for the element 1; it runs on in a thread"
    if (op.token, role) in _endless:
        raise Endless(message)
    wanted = (operator_type(op), *map(numba.typeof, arguments))
    compiled = load_kernel(probe, wanted).entry_point
    found: list[Any] = []
    failures: list[BaseException] = []

    def attempt() -> None:
        try:
            found.append(compiled(op, *arguments))
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=attempt, daemon=True, name=f"{role} of {op.name}")
    thread.start()
    until = time.monotonic() + PATIENCE
    while thread.is_alive():
        if time.monotonic() > until:
            _endless.add((op.token, role))
            raise Endless(message)
        thread.join(0.1)  # no longer, so that an interrupt is heard
    if failures:
        raise failures[0]
    return found[0]


def _common(op: Operator, state: Any) -> Any:
    """The smallest type that holds `state` and the combination of any two such states."""
    for _ in range(4):
        combined = _ask(op, "combine", probe_combine, state, state)
        wider = _unify(state, combined)
        if wider is None:
            raise TypeError(f"{op.name}: combine of two states {state} is {combined}: another form")
        if wider == state:
            return state
        state = wider
    raise TypeError(f"{op.name}: the type of the state grows with every combine, last {state}")


def _unify(a: Any, b: Any) -> Any:
    if isinstance(a, types.BaseTuple) and isinstance(b, types.BaseTuple) and len(a) == len(b):
        fields = [_unify(x, y) for x, y in zip(a, b, strict=True)]
        return None if None in fields else types.Tuple(fields)
    if isinstance(a, types.BaseTuple) or isinstance(b, types.BaseTuple):
        return None
    x, y = (as_dtype(t) for t in (a, b))
    return _from_dtype(np.result_type(x, y))


def _ask(op: Operator, role: str, probe: Any, *arguments: Any) -> Any:
    """Return the type of `role` of `op` for arguments of these types.

    If it cannot be compiled with the numbers that it captures as arguments, they are made constants, for all threads.
    """
    kind = operator_type(op)
    try:
        answer = load_kernel(probe, (kind, *arguments)).signature.return_type
    except Exception as error:
        if any(kind.values):
            made = make_constant(op)  # unless another thread has
            try:
                return _ask(op, role, probe, *arguments)
            except TypeError:
                if made:  # they were not the reason
                    make_constant(op, False)
                raise
        called = f"{role}({', '.join(map(str, arguments))})"
        raise TypeError(f"{op.name}: Numba cannot compile {called}: {_reason(error)}") from error
    _dtypes(op, role, answer)
    return types.unliteral(answer)


def _reason(error: Exception) -> str:
    """The one line of Numba's long message that tells what it could not do."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # without colours
    lines = [line.strip(" >") for line in plain.splitlines()] or [type(error).__name__]
    for start in (
        "Unknown attribute",
        "Untyped global",
        "No implementation",
        "Cannot unify",
        "Invalid",
    ):
        for at, line in enumerate(lines):
            if line.startswith(start) and "<function " not in line:  # not one of our own stubs
                return " ".join(part for part in lines[at : at + 3] if part)
    return next((line for line in lines[1:] if line), lines[0])


def _dtypes(op: Operator, role: str, answer: Any) -> Form:
    fields = tuple(answer) if isinstance(answer, types.BaseTuple) else (answer,)
    for f in fields:
        if not isinstance(f, (types.Number, types.Boolean)):
            raise TypeError(
                f"{op.name}: {role} must return numbers or a flat tuple, found {answer}"
            )
    return tuple(as_dtype(f) for f in fields)


def _from_dtype(dtype: np.dtype) -> Any:
    if dtype.name not in _SUPPORTED or not dtype.isnative:
        raise TypeError(f"the kernels do not take arrays of dtype {dtype}; cast them with astype")
    return numba.from_dtype(dtype)


_SUPPORTED = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
)


def _numba_type(fields: Form) -> Any:
    return types.Tuple([_from_dtype(f) for f in fields])
