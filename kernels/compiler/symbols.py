"""Symbols of an engine: functions that it calls, and that are generated or compiled when an operator is linked.

Elements of an operator's inputs are 64 bits in an engine, whatever numbers they hold. What loads one, tests it and
makes a number of it is generated for the numbers at hand.
"""

import hashlib
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import NativeValue, lower_cast, models, register_model, unbox

from ..late_dataclass import dataclass
from .function_fingerprint import Registry
from .numba_internals import cgutils

SYMBOL = "operator."
"""How the symbols of operators' functions begin."""

_WORD = ir.IntType(64)

IDENTITY = "identity"
"""The name of what returns an operator's identity."""


@dataclass(frozen=True)
class Symbol:
    """A function that an engine calls: of which of its operators, and the types that it takes and answers."""

    place: int
    name: str
    kinds: tuple[Any, ...]
    answer: Any

    @property
    def is_generated(self) -> bool:
        """Whether it takes and returns values as they are, and is generated, not compiled."""
        return self.name in (IDENTITY, "load", "null", "nan", "number")

    def __str__(self) -> str:
        content = ", ".join(each.name for each in (*self.kinds, self.answer))
        return (
            f"{SYMBOL}{self.place}.{self.name}.{hashlib.sha256(content.encode()).hexdigest()[:16]}"
        )


SYMBOLS = Registry()
"""What symbols stand for; as many as there are types of states."""


def symbol_of(place: int, name: str, kinds: tuple[Any, ...], answer: Any) -> Symbol:
    """Return a symbol, which is known from now on."""
    symbol = Symbol(place, name, kinds, answer)
    found: Symbol = SYMBOLS.setdefault(str(symbol), symbol)
    return found


def _plain(symbol: Symbol, context: Any, module: Any) -> Any:
    """Return the function of a symbol that takes and returns values as they are."""
    answer, *kinds = map(context.get_value_type, (symbol.answer, *symbol.kinds))
    return cgutils.get_or_insert_function(module, ir.FunctionType(answer, kinds), str(symbol))


def plain_call(symbol: Symbol, context: Any, builder: Any, values: list[Any]) -> Any:
    """Generate a call of a function that takes and returns values as they are."""
    return builder.call(_plain(symbol, context, builder.module), values)


class Element(types.Type):
    """The type of elements of an operator's inputs in an engine: 64 bits, which hold a number of any type."""

    def __init__(self, place: int, number: int, layout: str) -> None:
        self.place, self.number, self.layout = place, number, layout
        super().__init__(name=f"Element({place}, {number}, {layout})")

    def ask(self, name: str, answer: Any, context: Any, builder: Any, values: list[Any]) -> Any:
        """Generate a call of a function of elements: load, null, nan or number."""
        kinds = _LOADED if name == "load" else (self,)
        return plain_call(symbol_of(self.place, name, kinds, answer), context, builder, values)


class Elements(types.Array):
    """The type of an array of an operator's inputs in an engine."""


_LOADED = types.voidptr, types.intp, types.intp
"""What a load takes: where the array is, which element, and how many bytes there are from one to the next."""

Numbers = dict[tuple[int, int], Any]
"""The types of elements, by the place of the operator and the number of the input."""


def numbers_of(kinds: tuple[Any, ...], numbers: Numbers) -> tuple[Any, ...]:
    """Return types with those of the numbers in the place of elements."""
    return tuple([numbers[k.place, k.number] if isinstance(k, Element) else k for k in kinds])


def generated(symbol: Symbol, operator: Any, numbers: Numbers, context: Any, library: Any) -> Any:
    """Return LLVM code of a function that is not compiled."""
    module = library.create_ir_module(str(symbol))
    function = _plain(symbol, context, module)
    builder = ir.IRBuilder(function.append_basic_block())
    if symbol.name == IDENTITY:
        found = operator.generated(context, builder, symbol.answer, function.args)
    else:
        found = _of_element(symbol, numbers, context, builder, function.args)
    builder.ret(found)
    return module


def _of_element(
    symbol: Symbol, numbers: Numbers, context: Any, builder: Any, given: list[Any]
) -> Any:
    """Generate what a function of elements answers."""
    element = symbol.answer if symbol.name == "load" else symbol.kinds[0]
    kind = numbers[element.place, element.number]
    if symbol.name == "load":
        place = _place(context, builder, kind, element.layout, *given)
        return _bits(builder, context.unpack_value(builder, kind, place))
    value = _number(context, builder, kind, *given)
    if symbol.name == "number":
        return context.cast(builder, value, kind, symbol.answer)
    if isinstance(kind, types.Float):
        return builder.fcmp_unordered("uno", value, value)
    if symbol.name == "null" and kind == types.int64:
        return builder.icmp_signed("==", value, value.type(types.int64.minval))  # NaT
    return cgutils.false_bit


def _place(
    context: Any, builder: Any, kind: Any, layout: str, start: Any, number: Any, stride: Any
) -> Any:
    """Generate the address of an element of an array."""
    pointer = context.get_data_type(kind).as_pointer()
    if layout == "C":
        return builder.gep(builder.bitcast(start, pointer), [number])
    return builder.bitcast(builder.gep(start, [builder.mul(number, stride)]), pointer)


def _bits(builder: Any, value: Any) -> Any:
    """Return a number as 64 bits."""
    if isinstance(value.type, (ir.FloatType, ir.DoubleType)):
        word = ir.IntType(32 if isinstance(value.type, ir.FloatType) else 64)
        value = builder.bitcast(value, word)
    return value if value.type == _WORD else builder.zext(value, _WORD)


def _number(context: Any, builder: Any, kind: Any, bits: Any) -> Any:
    """Return the number that 64 bits hold."""
    target = context.get_value_type(kind)
    if isinstance(kind, types.Float):
        word = bits if kind.bitwidth == 64 else builder.trunc(bits, ir.IntType(kind.bitwidth))
        return builder.bitcast(word, target)
    return bits if target == _WORD else builder.trunc(bits, target)


def adapted(symbol: Symbol, made: Any, numbers: Numbers, context: Any, library: Any) -> Any:
    """Return LLVM code of a function that takes elements, and calls one that takes numbers."""
    convention, module = context.call_conv, library.create_ir_module(str(symbol))
    wanted = made.signature.args
    taken = wanted[: len(wanted) - len(symbol.kinds)]
    given = (*taken, *symbol.kinds)
    function = ir.Function(module, convention.get_function_type(symbol.answer, given), str(symbol))
    builder = ir.IRBuilder(function.append_basic_block())
    values = context.get_arg_packer(given).from_arguments(
        builder, convention.get_arguments(function)
    )
    each = zip(values, given, wanted, strict=True)
    values = [
        _number(context, builder, kind, value) if isinstance(own, Element) else value
        for value, own, kind in each
    ]
    packed = context.get_arg_packer(wanted).as_arguments(builder, values)
    callee = context.declare_function(module, made.fndesc)
    builder.ret(builder.call(callee, [*function.args[:2], *packed]))
    return module


@register_model(Element)
class _ElementModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORD)


register_model(Elements)(models.ArrayModel)


@unbox(Elements)
def _unbox_elements(kind: Any, obj: Any, c: Any) -> Any:
    array = c.context.make_array(kind)(c.context, c.builder)
    place = c.builder.bitcast(array._getpointer(), c.pyapi.voidptr)
    counts = c.context.enable_nrt
    unpack = c.pyapi.nrt_adapt_ndarray_from_python if counts else c.pyapi.numba_array_adaptor
    failed = unpack(obj, place)
    return NativeValue(
        c.builder.load(array._getpointer()), is_error=cgutils.is_not_null(c.builder, failed)
    )


@lower_cast(Element, types.Number)
@lower_cast(Element, types.Boolean)
def _element_to_number(context: Any, builder: Any, kind: Any, target: Any, value: Any) -> Any:
    return kind.ask("number", target, context, builder, [value])
