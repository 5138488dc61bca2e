"""Calls of an operator's functions in compiled code; Numba resolves them from the operator's type.

An operator is an argument of compiled code; its type has its content token, so that compiled kernels can be found on
disk. The helpers for tuples generate code directly (intrinsics): recursive functions over a tuple would take most of a
kernel's compile time.
"""

# Numba reads the parameters of intrinsics.
# mypy: disable-error-code="no-untyped-def"

from dataclasses import field
from functools import lru_cache, partial
from typing import Any

from ..compiler import argument_types as types
from ..compiler.frozen_functions import rebuild
from ..compiler.function_fingerprint import Registry
from ..compiler.functions import LINKED_ALLOCATING, intrinsic, njit, overloaded
from ..compiler.late import Late, cgutils, forms, internals, numba, symbols
from ..compiler.pack import Foreign, content_name
from ..compiler.tuples import kinds, parts, passed
from ..late_dataclass import dataclass
from .operator import ROLES, Code, Operator

compiled_type = Late(f"{__package__}.compiled_type")

known = Registry()
"""The code of operators, by its token."""
_constant: set[str] = set()
"""The tokens of code that can be compiled only with its numbers as constants."""


@dataclass(frozen=True)
class OperatorType(types.Type):
    """The type of operators with the same code and, if it is a tuple, identity.

    Its title, the name of the first such operator, is no part of it.
    """

    content: str
    code: Code = field(compare=False)
    identity: tuple[Any, ...] | None = field(compare=False)
    title: str = field(compare=False)

    @property
    def name(self) -> str:
        return _pack_name(self)

    @property
    def numba(self) -> Any:
        return compiled_type.OperatorType(self)


def operator_type(op: Operator) -> OperatorType:
    """Return the type of `op` and remember its functions for the compiler."""
    code = code_of(op)
    if code.token not in known:
        if op.fingerprint() != op.token:
            raise ValueError(
                f"{op.name}: a module that its functions use has changed since the operator was made; "
                f"make it anew"
            )
        known[code.token] = code
    identity = op.identity if isinstance(op.identity, tuple) else None
    return OperatorType(f"{code.token}, {identity}", code, identity, op.name)


def is_own(op: Operator) -> bool:
    """Return whether all functions of an operator belong to this package."""
    try:
        return bool(operator_type(op).name)
    except Foreign:
        return False


def code_of(op: Operator) -> Code:
    """Return the compiled parts of `op`."""
    return op.constant if op.code.token in _constant else op.code


def make_constant(op: Operator, constant: bool = True) -> bool:
    """From now on, compile captured numbers of functions like those of `op` as constants; return whether it is new."""
    token = op.code.token
    if not any(op.code.values) or (token in _constant) == constant:
        return False
    (_constant.add if constant else _constant.discard)(token)
    return True


def as_constant_as(op: Operator, other: Operator) -> Operator:
    """Return `other`, made of functions of `op`, with its numbers as constants if those of `op` are."""
    if code_of(op) is not op.code:
        make_constant(other)
    return other


@lru_cache(maxsize=4096)
def _pack_name(kind: OperatorType) -> str:
    """Return the name of an operator in packs of kernels; raises `Foreign` if it has a user's functions."""
    functions = [kind.code.functions[role] for role in ROLES]
    return content_name(*functions, *map(_names, kind.code.values), repr(kind.identity))


def _names(values: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple([x.dtype.name for x in values])


# --- the operator's functions ---------------------------------------------------------------------


_CHECKED = {**LINKED_ALLOCATING, "boundscheck": True}


@lru_cache(maxsize=4096)
def compiled(token: str, role: str) -> Any:
    """Return the dispatcher of an operator's function."""
    return rebuild(known[token].functions[role], partial(njit, options=_CHECKED))


def resolve(typing_context, function, arguments):
    """Return the type of a compiled function's answer, and the generator of a call.

    With it, intrinsics stand for calls: a function in between would have to be compiled itself.
    """
    kind = numba.types.Dispatcher(function.made)
    inner = typing_context.resolve_function_type(kind, tuple(arguments), {})

    def generate(context, builder, values):
        given = passed(context, builder, values, arguments, inner.args)
        return context.get_function(kind, inner)(builder, given)

    return inner.return_type, generate


def asked(op, role, arguments):
    """Return the type of the answer of an operator's function for arguments of these types."""
    given = types.to_numba(arguments)
    kinds_ = kinds(given[0]) if role == "lift" else given
    return _call(internals.cpu_target.typing_context, role, op.numba, kinds_)[0]


def _call(typing_context, role, op, kinds_):
    """Return the type of the answer of an operator's function, and the generator of a call."""
    place = ROLES.index(role)
    taken = tuple(op.values[place])
    if isinstance(op, forms.Form):
        answer, generate = op.resolve(role, (*taken, *kinds_))
    else:
        function = compiled(op.token, role)
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
    """The given identity; as constants, if it is known when this is compiled."""
    answer = numba.types.unliteral(identity)
    generate = None
    if isinstance(op, forms.Form):
        _, generate = op.resolve(symbols.IDENTITY, (answer,))

    def codegen(context, builder, signature, args):
        given = [context.cast(builder, args[1], identity, answer)]
        if generate is not None:
            return generate(context, builder, given)
        return op.generated(context, builder, answer, given)

    return answer(op, identity), codegen


@intrinsic
def _selected(typing_context, flags, yes, no):
    """For each flag of a tuple, the item of one of two tuples."""

    def codegen(context, builder, signature, args):
        each = zip(*(cgutils.unpack_tuple(builder, a, len(yes)) for a in args), strict=True)
        found = [builder.select(one, a, b) for one, a, b in each]
        return context.make_tuple(builder, yes, found)

    return yes(flags, yes, no), codegen


def answer(op, exclusive, before, after):
    """Element that a scan writes, given the states before and after it; flags select one of them for each output."""
    raise NotImplementedError


@overloaded(answer)
def _answer(op, exclusive, before, after):
    if isinstance(exclusive, numba.types.BaseTuple):
        return lambda op, exclusive, before, after: _selected(
            exclusive, lower(op, before), lower(op, after)
        )
    return lambda op, exclusive, before, after: lower(op, before) if exclusive else lower(op, after)
