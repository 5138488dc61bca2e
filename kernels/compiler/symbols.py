"""Symbols of an engine: functions that it calls, and that are generated when operators are linked into it.

The numbers of an operator's inputs, states and answers are *elements* in an engine, of any type. In LLVM each is an
integer of a width that no number has: the engine only moves it and passes it to symbols. When operators are linked, the
types of their numbers replace these integers in the LLVM code, which is then the same as if all had been compiled at
once. Only elements that functions return in memory keep the distances of the integers, which are larger than numbers,
as offsets are fixed when the engine is made.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import types
from numba.extending import NativeValue, lower_cast, models, register_model, unbox

from .function_fingerprint import Registry
from .numba_internals import cgutils, excinfo_t, status_of
from .tuples import converted, parts, passed, whole

SYMBOL = "operator."
"""The prefix of the names of symbols."""

IDENTITY = "identity"
"""The name of the function that returns an operator's identity."""

WIDTH, STEP = 1024, 128
"""The bits of the first element, and by how many bits each next one is wider; there is no padding between elements."""

MOST = 70
"""The largest number of elements of an engine."""


@dataclass(frozen=True)
class Symbol:
    """A function of an operator or of an element that an engine calls, with the types of its arguments and answer."""

    name: str
    kinds: tuple[Any, ...]
    answer: Any
    place: int | None = None
    """The place of its operator among those of the engine."""

    @property
    def may_raise(self) -> bool:
        """Whether it is a function of an operator, which also returns a status."""
        return self.place is not None and self.name != IDENTITY

    def __str__(self) -> str:
        content = ", ".join(each.name for each in (*self.kinds, self.answer))
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        return f"{SYMBOL}{self.place}.{self.name}.{digest}"


SYMBOLS = Registry()
"""Symbols by name."""

Numbers = tuple[Any, ...]
"""The types of an engine's elements."""


class Element(types.Type):
    """The type of a number of any type in an engine."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(name=f"Element({number})")


class Elements(types.Array):
    """The type of an array of elements."""

    def address(self, context: Any, builder: Any, array: Any, i: Any) -> Any:
        """Generate the address of element `i` of an array."""
        array = context.make_array(self)(context, builder, array)
        pointer = types.CPointer(self.dtype)
        if self.layout == "C":
            symbol = Symbol("address", (pointer, types.intp), pointer)
            return call(symbol, context, builder, [array.data, i])
        start = builder.bitcast(array.data, cgutils.voidptr_t)
        at = builder.gep(start, [builder.mul(i, builder.extract_value(array.strides, 0))])
        return builder.bitcast(at, array.data.type)

    def load(self, context: Any, builder: Any, address: Any) -> Any:
        """Generate a read of the element at an address."""
        symbol = Symbol("load", (types.CPointer(self.dtype),), self.dtype)
        return call(symbol, context, builder, [address])

    def store(self, context: Any, builder: Any, value: Any, address: Any) -> None:
        """Generate a write of an element to an address."""
        symbol = Symbol("store", (self.dtype, types.CPointer(self.dtype)), types.none)
        call(symbol, context, builder, [value, address])


# --- calls of symbols, in an engine -------------------------------------------------------------------


def call(symbol: Symbol, context: Any, builder: Any, values: Any) -> Any:
    """Generate a call of a symbol, and register the symbol."""
    SYMBOLS.setdefault(str(symbol), symbol)
    return builder.call(_declared(symbol, None, context, builder.module), values)


def call_or_raise(symbol: Symbol, context: Any, builder: Any, values: Any) -> Any:
    """Generate a call of an operator's function, which may raise."""
    code, error, found = cgutils.unpack_tuple(builder, call(symbol, context, builder, values), 3)
    status = status_of(context, builder, code, error)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return found


def _declared(symbol: Symbol, numbers: Numbers | None, context: Any, module: Any) -> Any:
    """Return the function of a symbol; with `numbers`, the one that is linked into an engine for these types."""
    answer, *taken = [_type(each, numbers, context) for each in (symbol.answer, *symbol.kinds)]
    if symbol.may_raise:
        status = ir.IntType(32), excinfo_t.as_pointer()
        answer = ir.LiteralStructType([*status, answer])
    return cgutils.get_or_insert_function(module, ir.FunctionType(answer, taken), str(symbol))


def _type(kind: Any, numbers: Numbers | None, context: Any) -> Any:
    """Return the LLVM type of an argument or the answer of a symbol.

    Numba uses an array for a tuple of numbers of one type. An engine uses a struct, as it does not know the types.
    """
    if numbers is None:
        return context.get_value_type(kind)
    if isinstance(kind, types.CPointer):
        return _type(kind.dtype, numbers, context).as_pointer()
    if isinstance(kind, types.UniTuple):
        return ir.ArrayType(_type(kind.dtype, numbers, context), len(kind))
    if isinstance(kind, types.BaseTuple):
        return ir.LiteralStructType([_type(each, numbers, context) for each in kind])
    return context.get_value_type(of_numbers(kind, numbers))


# --- functions of symbols -------------------------------------------------------------------------------


def of_numbers(kind: Any, numbers: Numbers) -> Any:
    """Return a type with elements replaced by the types of numbers."""
    if isinstance(kind, types.BaseTuple):
        return types.BaseTuple.from_types([of_numbers(each, numbers) for each in kind])
    if isinstance(kind, types.CPointer):
        return types.CPointer(of_numbers(kind.dtype, numbers))
    return numbers[kind.number] if isinstance(kind, Element) else kind


_ELEMENT = re.compile(r"(?<=[ ({\[<])(i\d{4})(?![\w.])")
_ZERO = re.compile(r"(?<=[ ({\[<])(i\d{4}) 0\b")
_PHI = re.compile(r" phi i\d{4} .*")
_LAID_OUT = re.compile(r" (?:alloca|getelementptr)\b")
_MOVED = re.compile(
    r" (?:load|store)\b [{\[<][^%]*\bi\d{4}\b"
    if llvm.llvm_version_info >= (17,)
    else r" (?:alloca|load|store|getelementptr)\b.*[ ({\[<]i\d{4}\b"  # pointers have types
)


def has_elements_in_memory(code: str) -> bool:
    """Return whether LLVM code moves several elements in memory at once."""
    return _MOVED.search(code) is not None


def inlined(code: str, names: list[str]) -> str:
    """Return LLVM code with functions of these names marked to be inlined wherever they are called."""
    found = "|".join(map(re.escape, names))
    begins = re.compile(rf"^(define [^\n]*@(?:{found})\([^\n]*\)[^#{{\n]*)", re.MULTILINE)
    return begins.sub(r"\1 alwaysinline ", code)


def cut(code: str, wrapper: str) -> list[str]:
    """Return LLVM code in pieces; every second one is an element's type.

    Layouts of memory keep the types of elements, as elements have their distances in memory. Only in the wrapper, which
    is not optimised, memory is laid out for the numbers.
    """
    code = _PHI.sub(lambda phi: phi[0].replace("[ 0,", "[ zeroinitializer,"), code)
    pieces, stays = [""], False
    for line in _ZERO.sub(r"\1 zeroinitializer", code).splitlines(keepends=True):
        if line.startswith("define"):
            stays = f"@{wrapper}(" not in line
        first, *more = [line] if stays and _LAID_OUT.search(line) else _ELEMENT.split(line)
        pieces[-1] += first
        pieces += more
    return pieces


def with_numbers(pieces: list[str], numbers: Numbers, context: Any) -> str:
    """Join LLVM code that was cut, with elements replaced by the types of numbers."""
    names = {
        f"i{WIDTH + STEP * k}": str(context.get_value_type(kind)) for k, kind in enumerate(numbers)
    }
    pieces[1::2] = [names[each] for each in pieces[1::2]]
    return "".join(pieces)


def generate(
    symbol: Symbol, module: Any, operators: list[Any], numbers: Numbers, context: Any, library: Any
) -> None:
    """Generate the function of a symbol in a module; link the functions that it calls into a library."""
    operator = None if symbol.place is None else operators[symbol.place]
    function = _declared(symbol, numbers, context, module)
    function.attributes.add("alwaysinline")
    builder = ir.IRBuilder(function.append_basic_block())
    target, *taken = [of_numbers(each, numbers) for each in (symbol.answer, *symbol.kinds)]
    given = [
        whole(context, builder, kind, parts(builder, kind, value))
        for kind, value in zip(taken, function.args, strict=True)
    ]
    status: list[Any] = []
    if operator is None:
        found = _GENERATORS[symbol.name](context, builder, taken, target, given)
    elif symbol.name == IDENTITY:
        found = operator.generated(context, builder, target, given)
    else:
        made = operator.compiled(symbol.name, tuple(taken))
        library.add_linking_library(made.library)
        library.inlined.append(made.fndesc.llvm_func_name)
        answer, wanted = made.signature.return_type, made.signature.args
        callee, convention = context.declare_function(module, made.fndesc), context.call_conv
        given = passed(context, builder, given, taken, wanted)
        ended, found = convention.call_function(builder, callee, answer, wanted, given)
        found = converted(context, builder, target, answer, found)
        status = [ended.code, ended.excinfoptr]
    if isinstance(target, types.BaseTuple):
        kind, values = _type(symbol.answer, numbers, context), parts(builder, target, found)
        found = ir.Constant(kind, ir.Undefined)
        for k, value in enumerate(values):
            found = builder.insert_value(found, value, k)
    builder.ret(cgutils.pack_struct(builder, [*status, found]) if status else found)


def _addressed(context: Any, builder: Any, taken: list[Any], target: Any, given: list[Any]) -> Any:
    start = builder.bitcast(given[0], context.get_data_type(target.dtype).as_pointer())
    return builder.bitcast(builder.gep(start, given[1:]), given[0].type)


def _loaded(context: Any, builder: Any, taken: list[Any], target: Any, given: list[Any]) -> Any:
    place = builder.bitcast(given[0], context.get_data_type(target).as_pointer())
    return context.unpack_value(builder, target, place)


def _stored(context: Any, builder: Any, taken: list[Any], target: Any, given: list[Any]) -> Any:
    value, place = given
    place = builder.bitcast(place, context.get_data_type(taken[0]).as_pointer())
    context.pack_value(builder, taken[0], value, place)
    return context.get_dummy_value()


_GENERATORS: dict[str, Callable[..., Any]] = {
    "address": _addressed,
    "load": _loaded,
    "store": _stored,
    "unbox": lambda context, builder, taken, target, given: (
        context.get_python_api(builder).to_native_value(target, given[0]).value
    ),
    "cast": lambda context, builder, taken, target, given: context.cast(
        builder, given[0], taken[0], target
    ),
    "nan": lambda context, builder, taken, target, given: nan(context, builder, taken[0], given[0]),
    "null": lambda context, builder, taken, target, given: null(
        context, builder, taken[0], given[0]
    ),
}
"""The generators of functions of elements."""


def nan(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Generate a test whether a number is NaN; integers never are."""
    if isinstance(kind, Element):
        return call(Symbol("nan", (kind,), types.boolean), context, builder, [value])
    if isinstance(kind, types.Complex):
        number = context.make_complex(builder, kind, value)
        each = [builder.fcmp_unordered("uno", x, x) for x in (number.real, number.imag)]
        return builder.or_(*each)
    if isinstance(kind, types.Float):
        return builder.fcmp_unordered("uno", value, value)
    return cgutils.false_bit


def null(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Generate a test whether a number is a null in band: NaN, or the smallest integer of 64 bits."""
    if isinstance(kind, Element):
        return call(Symbol("null", (kind,), types.boolean), context, builder, [value])
    if kind == types.int64:
        return builder.icmp_signed("==", value, value.type(types.int64.minval))  # NaT
    return nan(context, builder, kind, value)


# --- Numba's hooks ------------------------------------------------------------------------------------


@register_model(Element)
class _ElementModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Element) -> None:
        super().__init__(manager, kind, ir.IntType(WIDTH + STEP * kind.number))


register_model(Elements)(models.ArrayModel)


@unbox(Element)
def _unbox_element(kind: Any, obj: Any, c: Any) -> Any:
    symbol = Symbol("unbox", (types.pyobject,), kind)
    value = call(symbol, c.context, c.builder, [obj])
    failed = cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    return NativeValue(value, is_error=failed)


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


@lower_cast(Element, Element)
@lower_cast(Element, types.Number)
@lower_cast(Element, types.Boolean)
@lower_cast(types.Number, Element)
@lower_cast(types.Boolean, Element)
def _cast_element(context: Any, builder: Any, kind: Any, target: Any, value: Any) -> Any:
    return call(Symbol("cast", (kind,), target), context, builder, [value])
