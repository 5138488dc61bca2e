"""The dtypes of an operator's states and answers for given inputs, and values as states.

They are the same for every backend. `inference` asks Numba for them; for 128-bit integers, which Numba does not have,
the traits of an operator say them.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays import INT128, is_int128
from ..compiler import argument_types as types
from ..compiler.late import numba
from ..int128 import Int128, as_int128
from ..late_dataclass import dataclass
from ..messages import shown
from .associativity import bare, counter_example
from .built_in import TRAITS, traits_of
from .calls import is_own
from .inference import (
    Endless,
    Form,
    combined,
    dtypes_of,
    lifted,
    lowered,
    numba_type,
    reason_of,
    run,
    undefined,
)
from .operator import BUILT_IN, Operator

Scalar = complex | np.generic | np.ndarray
State = Scalar | tuple[Scalar, ...]
"""A scalar, an array with a scalar for each line, or a tuple of these with an item for each field."""


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
    identity: State

    def __post_init__(self) -> None:
        fields = (self.inputs, self.state, self.scalar_state, self.outputs, self.scalar_output)
        object.__setattr__(self, "_hash", hash((*fields, self.identity)))

    def __hash__(self) -> int:  # fast, as every call looks for kernels by it
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
        """The identity as Python numbers."""
        return joined([part.item() for part in self.parts(self.identity)], self.scalar_state)

    def parts(self, state: Any) -> tuple[Any, ...]:
        """Return the fields of a state."""
        return (state,) if self.scalar_state else state


def joined(parts: Sequence[Any], scalar: bool) -> Any:
    """Return the one part of a scalar, or a tuple of all parts.

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
        If the operator's functions do not compile, raise, or do not fit together; for INT128, if the operator does not
        take it.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> signature(BUILT_IN["add"], [np.int32]).outputs
    (dtype('int64'),)
    """
    wanted = None if dtype is None else np.dtype(dtype)
    return signature_of(op, tuple([np.dtype(d) for d in dtypes]), wanted)


def user_state(op: Operator, value: State, dtypes: Sequence[Any], dtype: Any, name: str) -> Any:
    """Return a user's `value` as a state of the operator; if states are tuples, an element is lifted.

    Raises
    ------
    TypeError
        Naming the argument `name`, if the value does not fit.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> user_state(BUILT_IN["last"], 3, [np.int64], None, "initial")
    (np.int64(3), np.True_)
    """
    types_ = signature(op, dtypes, dtype)
    lifts = not types_.scalar_state and not isinstance(value, tuple) and op.inputs == 1
    if lifts and op.lift is not None and np.isscalar(value):
        if np.asarray(value).dtype.kind not in (
            "biufc" if types_.inputs[0].kind == "c" else "biuf"
        ):
            raise TypeError(f"{name} must be {types_.inputs[0]}, found {shown(value)}")
        value = op.lift(value)
    return as_state(value, types_, name)


def signature_of(op: Operator, inputs: Form, dtype: np.dtype | None) -> Signature:
    """Return what `signature` returns, given NumPy's dtype objects."""
    return _signature_of(op, inputs, dtype, op.check)  # equal operators may differ in `check`


@lru_cache(maxsize=4096)
def _signature_of(op: Operator, inputs: Form, dtype: np.dtype | None, check: bool) -> Signature:
    """Return the types of states and answers, after a trial.

    Raises
    ------
    TypeError
        If Numba cannot compile a function of the operator for these inputs, its states have no common
        type, or its identity does not fit the state.
    ValueError
        If a function raises or does not end, or the identity changes a state.
    """
    if any(d.kind == "V" for d in inputs):
        return _of_int128(op, inputs, dtype)
    if len(inputs) != op.inputs:
        raise TypeError(f"{op.name} takes {op.inputs} input arrays, found {len(inputs)}")
    if op.lift is None and dtype is not None and op.inputs == 1:
        numba_type(inputs[0])
        state = numba_type(dtype)
        combined(op, state)
    else:
        state = combined(op, lifted(op, inputs))
    scalar_state = not isinstance(state, types.Tuple)
    answer = lowered(op, state)
    scalar_output = not isinstance(answer, types.Tuple)
    outputs = dtypes_of(op, "lower", answer)
    accumulates = (
        op.lift is None and op.inputs == 1
    )  # the identity must suit the state, not the input
    if dtype is not None:
        if not scalar_output:
            raise TypeError(f"dtype: {op.name} answers with a tuple, which takes no dtype")
        cast = inputs[0] if accumulates else outputs[0]
        if cast.kind == "c" and dtype.kind != "c":
            raise TypeError(f"dtype={dtype} cannot hold complex numbers, ask for a complex dtype")
        outputs = (dtype,)
    fields = dtypes_of(op, "combine", state)
    neutral = op.identity_for(*(fields if accumulates else inputs))
    identity = _as_fields(neutral, fields, scalar_state, f"identity of {op.name}")
    found = Signature(inputs, fields, scalar_state, outputs, scalar_output, identity)
    # tests try the package's operators, except on complex numbers, which some of them divide by zero
    if check or any(d.kind == "c" for d in inputs) or not is_own(op) or _changes_one(op, found):
        _try(op, found)
    return found


def _changes_one(op: Operator, types_: Signature) -> bool:
    """Return whether the identity changes the element 1, as Python computes it: users may give one of their own."""
    ones = [d.type(1) for d in types_.inputs]
    try:
        with np.errstate(all="ignore"):
            state = ones[0] if op.lift is None else op.lift(*ones)
            pairs = (types_.identity, state), (state, types_.identity)
            return not all(_same(op.combine(*pair), state) for pair in pairs)
    except Exception:  # of functions that only run as compiled code
        return False


def _of_int128(op: Operator, inputs: Form, dtype: np.dtype | None) -> Signature:
    identity = traits_of(op).int128_identity
    if identity is None or len(inputs) != 1 or not is_int128(inputs[0]):
        known = ", ".join(
            o.name for o, traits in TRAITS.items() if traits.int128_identity is not None
        )
        raise TypeError(f"{op.name} does not take {inputs}: for 128-bit integers there are {known}")
    if dtype is not None and not is_int128(dtype):
        raise TypeError(f"dtype must be None or INT128 for 128-bit integers, found {dtype}")
    if not isinstance(identity, tuple):
        return Signature((INT128,), (INT128,), True, (INT128,), True, Int128(identity))
    number, seen = identity
    state: Form = (INT128, np.dtype(np.bool_))
    return Signature((INT128,), state, False, (INT128,), True, (Int128(number), np.bool_(seen)))


def as_state(value: State, types_: Signature, name: str) -> Any:
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
        raise TypeError(f"{name} must be a tuple (integer, bool), found {shown(value)}")
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
        raise TypeError(f"{name} must be {wanted}, found {shown(value)}")
    parts = (value,) if scalar else value
    converted = []
    for part, field in zip(parts, fields, strict=True):
        array = np.asarray(part)
        if array.dtype.kind not in "biufc":
            raise TypeError(f"{name} must be {wanted}, found {shown(value)}")
        with np.errstate(all="ignore"):
            cast = array.astype(field)
            exact = field.kind in "fc" and array.dtype.kind in "biufc"[: 4 + (field.kind == "c")]
            if not exact and not np.array_equal(cast, array):
                raise TypeError(f"{name} must be {wanted}, found {shown(value)}")
        converted.append(cast[()])
    return converted[0] if scalar else tuple(converted)


def _try(op: Operator, types_: Signature) -> None:
    """Run the operator's functions on the element 1 and the identity before there is data, and with `check` on others.

    Raises
    ------
    ValueError
        If one of them raises or does not end (`Endless`), the identity changes the state that it is
        combined with, or the operator is not associative.
    """
    try:
        state = _sample(op, types_, 1)
        combined = _with_identity(op, types_, state)
        if op.lower is not None:
            run(op, "lower", state)
    except numba.NumbaError as error:
        if BUILT_IN.get(op.name) is op:
            raise TypeError(undefined(op, types_.inputs)) from error
        raise TypeError(f"{op.name}: Numba cannot compile it: {reason_of(error)}") from error
    except Endless:
        raise
    except IndexError:  # an array may have all elements of the data, and not the element 1
        return
    except Exception as error:
        raise ValueError(f"{op.name} raised {type(error).__name__}: {error}") from error
    for result in combined:
        if not _same(result, state):
            raise ValueError(changes_state(op, bare(types_.identity), bare(state), bare(result)))
    if op.check:
        _try_associative(op, types_, state)


def changes_state(op: Operator, identity: Any, state: Any, result: Any) -> str:
    """Return the message about an identity that changes a state."""
    return (
        f"identity of {op.name}: combined with the state {state!r}, {identity!r} gives {result!r}; give another "
        f"identity, or a lift that brings every element to a state that it leaves as it is"
    )


def _try_associative(op: Operator, types_: Signature, first: Any) -> None:
    """Raise a ValueError for an operator that is not associative on states that the identity does not change."""
    states = [first]
    try:
        for element in (2, 3):
            state = _sample(op, types_, element)
            if all(_same(result, state) for result in _with_identity(op, types_, state)):
                states.append(state)
        found = counter_example(
            op, lambda a, b: state_of(types_, run(op, "combine", a, b)), states, _same
        )
    except Endless:
        raise
    except Exception:  # it may be for elements of another kind
        return
    if found:
        raise ValueError(
            f"{found}; a scan would depend on where the data are cut. If the data are such that it is associative "
            f"on them, make it with check=False"
        )


def _sample(op: Operator, types_: Signature, element: int) -> Any:
    """Return the state of an element, the same in all inputs."""
    elements = tuple(d.type(element) for d in types_.inputs)
    lifted = elements if op.inputs > 1 else elements[0]
    return state_of(types_, lifted if op.lift is None else run(op, "lift", lifted))


def state_of(types_: Signature, fields: Any) -> Any:
    """Return the answer of an operator's function as a state."""
    if types_.scalar_state:
        return np.asarray(fields).astype(types_.state[0])[()]
    pairs = zip(fields, types_.state, strict=True)
    return tuple(np.asarray(part).astype(d)[()] for part, d in pairs)


def _with_identity(op: Operator, types_: Signature, state: Any) -> tuple[Any, Any]:
    """Return a state combined with the identity, on either side."""
    neutral = types_.identity
    return run(op, "combine", neutral, state), run(op, "combine", state, neutral)


def _same(x: Any, y: Any) -> bool:
    return bool(np.allclose(x, y, equal_nan=True))
