"""Calls of an operator's functions in compiled code; Numba resolves them from the operator's type.

An operator travels into compiled code as an argument of a type that carries its content token, so that compiled
kernels can be kept on disk and found again. The helpers for tuples generate code at once (intrinsics): functions that
call themselves for the rest of a tuple would take most of a kernel's compile time.
"""

# Numba reads the parameters of intrinsics.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import (
    NativeValue,
    intrinsic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from ..compiler.forms import Form, Linkable
from ..compiler.frozen_functions import rebuild
from ..compiler.function_fingerprint import Registry
from ..compiler.jit import LINKED_ALLOCATING, overloaded
from ..compiler.numba_internals import as_dtype, cgutils, cpu_target, struct_value
from ..compiler.pack import NAMES, content_name
from ..compiler.symbols import IDENTITY
from ..compiler.tuples import kinds, parts, passed, whole
from .operator import ROLES, Code, Operator

_known = Registry()
"""The code of operators, by its token."""
_constant: set[str] = set()
"""The tokens of code that is compiled with its numbers as constants, because it cannot be otherwise."""


class OperatorType(Linkable):
    """The Numba type of operators with the same code and, if it is a tuple, identity: its name holds their content.

    Its values are the numbers that the code takes, a tuple of them for each function. Its title, the name of the first
    such operator, is no part of it.
    """

    def __init__(self, code: Code, title: str, identity: tuple[Any, ...] | None) -> None:
        self.token = code.token
        self.title = title
        self.identity = identity
        each = [[numba.from_dtype(x.dtype) for x in values] for values in code.values]
        self.values = types.Tuple([types.Tuple(kinds) for kinds in each])
        self.functions = frozenset(role for role in ROLES if code.functions[role] is not None)
        super().__init__(name=f"Operator({code.token}, {identity})")

    def generated(self, context: Any, builder: Any, answer: Any, given: list[Any]) -> Any:
        """Generate the identity, which is given; as constants where it is no function of dtypes.

        Compilers leave constants out. Sums of 4 million float64 by 1,000 codes, with NaN as nulls, on a core without
        AVX-512: 1.6 ns a row, 3.3 without.
        """
        if self.identity is None:
            return given[0]
        each = zip(kinds(answer), self.identity, strict=True)
        numbers = [(kind, np.asarray(part).astype(as_dtype(kind)).item()) for kind, part in each]
        found = [context.get_constant_generic(builder, *one) for one in numbers]
        return whole(context, builder, answer, found)

    def compiled(self, name: str, kinds: tuple[Any, ...]) -> Any:
        """Return what is compiled of a function, for arguments of these types, its numbers among them."""
        function = _compiled(self.token, name)
        *_, given, _ = function.get_call_template(kinds, {})
        return function.overloads[tuple(given)]


def operator_type(op: Operator) -> OperatorType:
    """Return the Numba type of `op` and remember its functions for the compiler."""
    code = code_of(op)
    if code.token not in _known:
        if op.fingerprint() != op.token:
            raise ValueError(
                f"{op.name}: a module that its functions use has changed since the operator was made; "
                f"make it anew"
            )
        _known[code.token] = code
    return OperatorType(code, op.name, op.identity if isinstance(op.identity, tuple) else None)


def code_of(op: Operator) -> Code:
    """Return the compiled parts of `op`."""
    return op.constant if op.code.token in _constant else op.code


def make_constant(op: Operator, constant: bool = True) -> bool:
    """Compile the numbers that functions like those of `op` capture as constants from now on; tell if that is new."""
    token = op.code.token
    if not any(op.code.values) or (token in _constant) == constant:
        return False
    (_constant.add if constant else _constant.discard)(token)
    return True


def as_constant_as(op: Operator, other: Operator) -> Operator:
    """Return `other`, which is made of functions of `op`: its numbers are constants if those of `op` are."""
    if code_of(op) is not op.code:
        make_constant(other)
    return other


@lru_cache(maxsize=4096)
def _pack_name(kind: OperatorType) -> str:
    """Return how packs of kernels call an operator; raises `Foreign` for one with functions of a user's."""
    code = _known[kind.token]
    functions = [code.functions[role] for role in ROLES]
    return content_name(*functions, *map(_names, code.values), repr(kind.identity))


def _names(values: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple([x.dtype.name for x in values])


NAMES[OperatorType] = _pack_name


@register_model(Form)
@register_model(OperatorType)
class _OperatorModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("values", kind.values)])


@typeof_impl.register(Operator)
def _typeof_operator(op: Operator, context: Any) -> OperatorType:
    return operator_type(op)


@unbox(Form)
@unbox(OperatorType)
def _unbox_operator(kind: Any, obj: Any, c: Any) -> Any:
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    if not any(kind.values):
        return NativeValue(struct_value(made))
    code = c.pyapi.object_getattr_string(obj, "code")
    values = c.pyapi.object_getattr_string(code, "values")
    found = c.unbox(kind.values, values)
    made.values = found.value
    c.pyapi.decref(values)
    c.pyapi.decref(code)
    return NativeValue(struct_value(made), is_error=found.is_error)


# --- the operator's functions ---------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _compiled(token: str, role: str) -> Any:
    function = _known[token].functions[role]
    return rebuild(function, numba.njit(boundscheck=True, **LINKED_ALLOCATING))


def resolve(typing_context, function, arguments):
    """Return the type that a compiled function answers with, and what generates a call of it.

    Intrinsics stand for calls by it: a function in between would have to be compiled itself.
    """
    kind = types.Dispatcher(function)
    inner = typing_context.resolve_function_type(kind, tuple(arguments), {})

    def generate(context, builder, values):
        given = passed(context, builder, values, arguments, inner.args)
        return context.get_function(kind, inner)(builder, given)

    return inner.return_type, generate


def asked(op, role, arguments):
    """Return the type that a function of an operator answers with, for arguments of these types."""
    kinds_ = kinds(arguments[0]) if role == "lift" else arguments
    return _call(cpu_target.typing_context, role, op, kinds_)[0]


def _call(typing_context, role, op, kinds_):
    """Return the type that a function of an operator answers with, and what generates a call of it."""
    place = ROLES.index(role)
    taken = tuple(op.values[place])
    if isinstance(op, Form):
        answer, generate = op.resolve(role, (*taken, *kinds_))
    else:
        function = _compiled(op.token, role)
        answer, generate = resolve(typing_context, function, (*taken, *kinds_))

    def call(context, builder, value, given):
        values = cgutils.create_struct_proxy(op)(context, builder, value).values
        numbers = cgutils.unpack_tuple(builder, builder.extract_value(values, place), len(taken))
        return generate(context, builder, [*numbers, *given])

    return answer, call


@intrinsic
def combine(typing_context, op, a, b):
    """State of `a` followed by `b`."""
    answer, call = _call(typing_context, "combine", op, (a, b))

    def codegen(context, builder, signature, args):
        return call(context, builder, args[0], args[1:])

    return answer(op, a, b), codegen


@intrinsic
def lift(typing_context, op, element):
    """State of one element."""
    if "lift" not in op.functions:
        return element(op, element), lambda context, builder, signature, args: args[1]
    answer, call = _call(typing_context, "lift", op, kinds(element))

    def codegen(context, builder, signature, args):
        return call(context, builder, args[0], parts(builder, element, args[1]))

    return answer(op, element), codegen


@intrinsic
def lower(typing_context, op, state):
    """Element that a scan writes for a state."""
    if "lower" not in op.functions:
        return state(op, state), lambda context, builder, signature, args: args[1]
    answer, call = _call(typing_context, "lower", op, (state,))

    def codegen(context, builder, signature, args):
        return call(context, builder, args[0], args[1:])

    return answer(op, state), codegen


@intrinsic
def identity_of(typing_context, op, identity):
    """The identity, which is given; as constants, if it is known when this is compiled."""
    answer = types.unliteral(identity)
    generate = None
    if isinstance(op, Form):
        _, generate = op.resolve(IDENTITY, (answer,))

    def codegen(context, builder, signature, args):
        given = [context.cast(builder, args[1], identity, answer)]
        if generate is not None:
            return generate(context, builder, given)
        return op.generated(context, builder, answer, given)

    return answer(op, identity), codegen


@intrinsic
def _selected(typing_context, flags, yes, no):
    """Of each part of two tuples one, as a tuple of flags says."""

    def codegen(context, builder, signature, args):
        each = zip(*(cgutils.unpack_tuple(builder, a, len(yes)) for a in args), strict=True)
        found = [builder.select(one, a, b) for one, a, b in each]
        return context.make_tuple(builder, yes, found)

    return yes(flags, yes, no), codegen


def answer(op, exclusive, before, after):
    """Element that a scan writes, given the states before and after it; a tuple of flags says which of each output."""
    raise NotImplementedError


@overloaded(answer)
def _answer(op, exclusive, before, after):
    if isinstance(exclusive, types.BaseTuple):
        return lambda op, exclusive, before, after: _selected(
            exclusive, lower(op, before), lower(op, after)
        )
    return lambda op, exclusive, before, after: lower(op, before) if exclusive else lower(op, after)
