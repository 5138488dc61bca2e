"""What the engine calls, resolved by Numba from the types: an operator's functions, elements, states, nulls.

Each stub below is a Python name that has a meaning only inside compiled code. An operator travels into
the engine as an argument of a type that carries its content token, so that compiled kernels can be kept
on disk and found again. This module must never know the order in which elements are visited.
"""

import hashlib
import logging
import threading
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.errors import NumbaError
from numba.extending import (
    NativeValue,
    models,
    overload,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.numpy_support import as_dtype

from ..functions import rebuild
from ..nulls import NAT
from ..operators import Operator

ENTRY: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
OPTIONS: dict[str, Any] = {**ENTRY, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Of what Python calls, and of what only compiled code calls: wrappers of the latter would double its compile time."""

_SOURCES = hashlib.sha256()
for _path in sorted(Path(__file__).parent.glob("*.py")):
    _SOURCES.update(_path.read_bytes())

_known: dict[str, Operator] = {}


def stamped(content: str) -> str:
    """Complete the name of a type, of which kernels on disk are found again, with the content of the engine."""
    return f"{content}, {_SOURCES.hexdigest()[:16]})"


class OperatorType(types.Type):
    """The Numba type of one operator: its name holds the content of the operator and of the engine."""

    def __init__(self, token: str) -> None:
        self.token = token
        super().__init__(name=stamped(f"Operator({token}"))


def operator_type(op: Operator) -> OperatorType:
    """Return the Numba type of `op` and remember its functions for the compiler."""
    if op.token not in _known:
        if op.fingerprint() != op.token:
            raise ValueError(
                f"{op.name}: a module that its functions use has changed since the operator was made; "
                f"make it anew"
            )
        _known[op.token] = op
    return OperatorType(op.token)


@register_model(OperatorType)
class _OperatorModel(models.OpaqueModel):
    pass


@typeof_impl.register(Operator)
def _typeof_operator(op: Operator, context: Any) -> OperatorType:
    return operator_type(op)


@unbox(OperatorType)
def _unbox_operator(typ: Any, obj: Any, context: Any) -> Any:
    return NativeValue(context.context.get_dummy_value())


def cached_njit(function: Any) -> Any:
    """Compile lazily and keep the machine code on disk; where no folder can be written, in memory."""
    try:
        return numba.njit(cache=True, **ENTRY)(function)
    except RuntimeError:  # "no locator available": a read-only installation without a home
        return numba.njit(**ENTRY)(function)


_compiling = threading.Lock()


def load_kernel(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Compile `function` for arguments of these types, or find it on disk; what cannot be read is made anew."""
    with _compiling:
        _compile(function, arguments)
    return function.overloads[arguments]


def _compile(function: Any, arguments: tuple[Any, ...]) -> None:
    try:
        function.compile(arguments)
        if arguments in function.overloads:
            return  # two processes that compile at once may have mixed up their files
    except (NumbaError, AssertionError):
        raise
    except Exception as error:
        reason = f"cannot read kernels: {type(error).__name__}"
        logging.getLogger(__name__).info("%s; compiling them anew", reason)
    function._cache.flush()
    function.compile(arguments)


def _compiled(function: Any) -> Any:
    return rebuild(function, numba.njit(**OPTIONS))


# --- the operator's functions ---------------------------------------------------------------------


def combine(op, a, b):  # type: ignore[no-untyped-def]
    """State of `a` followed by `b`."""


def lift(op, element):  # type: ignore[no-untyped-def]
    """State of one element."""


def lower(op, state):  # type: ignore[no-untyped-def]
    """Element that a scan writes for a state."""


@overload(combine)
def _combine(op, a, b):  # type: ignore[no-untyped-def]
    function = _compiled(_known[op.token].combine)
    return lambda op, a, b: function(a, b)


@overload(lift)
def _lift(op, element):  # type: ignore[no-untyped-def]
    if _known[op.token].lift is None:
        return lambda op, element: element
    function = _compiled(_known[op.token].lift)
    if isinstance(element, types.BaseTuple):
        return lambda op, element: function(*element)
    return lambda op, element: function(element)


@overload(lower)
def _lower(op, state):  # type: ignore[no-untyped-def]
    if _known[op.token].lower is None:
        return lambda op, state: state
    function = _compiled(_known[op.token].lower)
    return lambda op, state: function(state)


# --- elements and states: a scalar of one array, or a tuple of one scalar an array -----------------


def load(arrays, i):  # type: ignore[no-untyped-def]
    """Element `i` of an array, or the tuple of elements `i` of a tuple of arrays; a scalar is itself."""


def store(arrays, i, value):  # type: ignore[no-untyped-def]
    """Write element `i` of an array or of a tuple of arrays; of None, nothing."""


def cast(like, value):  # type: ignore[no-untyped-def]
    """Convert a scalar or tuple to the types of `like`."""


@overload(load)
def _load(arrays, i):  # type: ignore[no-untyped-def]
    if isinstance(arrays, types.Array):
        return lambda arrays, i: arrays[np.uintp(i)]
    if not isinstance(arrays, types.BaseTuple):
        return lambda arrays, i: arrays
    if len(arrays) == 1:
        return lambda arrays, i: (load(arrays[0], i),)
    return lambda arrays, i: (load(arrays[0], i), *load(arrays[1:], i))


@overload(store)
def _store(arrays, i, value):  # type: ignore[no-untyped-def]
    if isinstance(arrays, types.NoneType):
        return lambda arrays, i, value: None
    if isinstance(arrays, types.Array):

        def one(arrays, i, value):  # type: ignore[no-untyped-def]
            arrays[np.uintp(i)] = value

        return one
    if len(arrays) == 1:

        def final(arrays, i, value):  # type: ignore[no-untyped-def]
            arrays[0][np.uintp(i)] = value[0]

        return final

    def several(arrays, i, value):  # type: ignore[no-untyped-def]
        arrays[0][np.uintp(i)] = value[0]
        store(arrays[1:], i, value[1:])

    return several


@overload(cast)
def _cast(like, value):  # type: ignore[no-untyped-def]
    if isinstance(like, types.BaseTuple):
        if len(like) == 1:
            return lambda like, value: (cast(like[0], value[0]),)
        return lambda like, value: (cast(like[0], value[0]), *cast(like[1:], value[1:]))
    if like == value:
        return lambda like, value: value
    convert = as_dtype(like).type
    return lambda like, value: convert(value)


# --- nulls ----------------------------------------------------------------------------------------


def is_null(nulls, element, i):  # type: ignore[no-untyped-def]
    """Tell whether element `i` is missing: never (None), in band (bool) or by a mask (tuple)."""


def in_band(element):  # type: ignore[no-untyped-def]
    """Tell whether an element is NaN or NaT, or any part of a tuple is NaN."""


def is_nan(element):  # type: ignore[no-untyped-def]
    """Tell whether a scalar is NaN; integers never are."""


@overload(is_null)
def _is_null(nulls, element, i):  # type: ignore[no-untyped-def]
    if isinstance(nulls, types.NoneType):
        return lambda nulls, element, i: False
    if isinstance(nulls, types.Boolean):
        return lambda nulls, element, i: in_band(element)

    def masked(nulls, element, i):  # type: ignore[no-untyped-def]
        buffer, offset, shift, null = nulls
        at = offset + i
        low = (1 << shift) - 1
        return ((buffer[np.uintp(at >> shift)] >> (at & low)) & 1) == null

    return masked


@overload(in_band)
def _in_band(element):  # type: ignore[no-untyped-def]
    if isinstance(element, types.BaseTuple):
        if len(element) == 1:
            return lambda element: is_nan(element[0])
        return lambda element: is_nan(element[0]) | in_band(element[1:])
    if element == types.int64:
        return lambda element: element == NAT
    return lambda element: is_nan(element)


@overload(is_nan)
def _is_nan(element):  # type: ignore[no-untyped-def]
    if isinstance(element, (types.Float, types.Complex)):
        return lambda element: element != element
    return lambda element: False
