"""The parts of CUDA source that are generated for every kernel: constants, structs of dtypes, an operator's functions.

Everything is generated from dtypes and options; no text from a user gets into CUDA source. Data are bits here: a field
is an unsigned integer of its size.
"""

import os
from collections.abc import Mapping, Sequence

import numpy as np

from ...operators.built_in import BUILT_IN
from ...operators.operator import Operator
from ...options import Exclusive, check_exclusive
from .closure_constants import numbers_of
from .plan import NULL_KINDS, Form, TypedOperator

RACECHECK = bool(os.environ.get("DASK_GPUSCAN_RACECHECK"))
"""Whether to build kernels that compute-sanitizer's racecheck can follow, which are slower."""


def constants_source(constants: Mapping[str, int]) -> list[str]:
    """Define constants."""
    constants = {**constants, "EVERY_LANE": RACECHECK}
    return [f"constexpr int {name} = {int(value)};" for name, value in constants.items()]


def null_kinds(kind: str) -> dict[str, int]:
    """Return constants for the kinds of nulls, and `NULLS`, the kind of a pass."""
    numbers = {name: number for number, name in enumerate(NULL_KINDS.values())}
    return {**numbers, "NULLS": numbers[NULL_KINDS[kind]]}


def include(*names: str) -> list[str]:
    """Include device sources."""
    return [f'#include "{name}.cuh"' for name in names]


def word(dtype: np.dtype) -> str:
    """Return the C++ type of a field, with the size and alignment of `dtype`."""
    if dtype.kind == "V":
        return "i128"
    if dtype == np.complex64:
        return "c64"
    if dtype == np.complex128:
        return "c128"
    return f"u{8 * dtype.itemsize}"


def numbers_source(of: TypedOperator | None) -> list[str]:
    """Define the numbers that functions take, in shared memory, and a function that copies them from the parameters."""
    numbers = {} if of is None or of.is_native else numbers_of(of.op, of.inputs)
    form = [dtype for each in numbers.values() for dtype in each]
    fields = " ".join(f"{word(dtype)} f{i};" for i, dtype in enumerate(form))
    lines = [f"struct alignas(8) Numbers {{ {fields or 'u64 none;'} }};"]
    copy = ""
    if form:
        lines.append("__shared__ Numbers numbers;")
        copy = "if (threadIdx.x == 0) numbers = p.numbers; __syncthreads(); "
    start = "template <class Params> __device__ __forceinline__ void take_numbers(const Params& p)"
    return [*lines, f"{start} {{ {copy}}}"]


def operator_source(of: TypedOperator) -> list[str]:
    """Declare an operator's types and functions, which are linked or, if it is native, written out."""
    return [
        *struct("Element", of.inputs, "In"),
        *struct("State", of.state, None),
        *struct("Output", of.outputs, "Out"),
        *(_native(of.op) if of.is_native else _linked(of, numbers_of(of.op, of.inputs))),
        *answer_source(len(of.outputs)),
    ]


def exclusive_bits(exclusive: Exclusive, outputs: int) -> int:
    """Return a bit for each output: whether it is exclusive, that is, of the state before each element."""
    check_exclusive(exclusive, outputs)
    flags = exclusive if isinstance(exclusive, tuple) else (exclusive,) * outputs
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def answer_source(outputs: int) -> list[str]:
    """Define `answer`: the outputs for the states before and after an element, given a bit for each output."""
    fields = ", ".join(f"EXCLUSIVE >> {i} & 1 ? b.f{i} : a.f{i}" for i in range(outputs))
    return [
        "template <int EXCLUSIVE> __device__ __forceinline__ Output answer(State before, State after) {",
        "  if constexpr (EXCLUSIVE == 0) return lower(after);",
        f"  else if constexpr (EXCLUSIVE == {(1 << outputs) - 1}) return lower(before);",
        f"  else {{ Output b = lower(before), a = lower(after); return {{{fields}}}; }}",
        "}",
    ]


def _linked(of: TypedOperator, numbers: dict[str, Form]) -> list[str]:
    state, flag = of.state, (np.dtype(np.uint8),)
    lines, first = [], 0
    for name, result, arguments, returns, takes in (
        ("combine", state, [state] * 2, "State", ["State"] * 2),
        ("lift", state, [of.inputs], "State", ["Element"]),
        ("lower", of.outputs, [state], "Output", ["State"]),
        ("follow", of.outputs, [of.outputs, of.inputs], "Output", ["Output", "Element"]),
        ("identity", state, [], "State", []),
        ("null_output", of.outputs, [], "Output", []),
        ("missing", flag, [of.inputs], "Missing", ["Element"]),
    ):
        if name == "follow" and of.follow is None:
            continue
        taken = numbers.get(name, ())
        lines += _function(name, result, arguments, returns, takes, taken, first)
        first += len(taken)
    return lines


def struct(name: str, form: Form, access: str | None, *, rows: bool = False) -> list[str]:
    """Define a struct of dtypes, or of `rows` of them, and with `access` a function that returns a field by number."""
    types_ = [f"Row<{word(dtype)}>" if rows else word(dtype) for dtype in form]
    fields = " ".join(f"{field} f{i};" for i, field in enumerate(types_))
    lines = [f"struct {name} {{ {fields} }};"]
    if access:
        lines.append(f"template <int K> struct {access};")
        for i, field in enumerate(types_):
            lines.append(
                f"template <> struct {access}<{i}> {{ using type = {field}; "
                f"static __device__ __forceinline__ {field}& of({name}& v) {{ return v.f{i}; }} }};"
            )
    return lines


def words_of(fields: Sequence[tuple[str, np.dtype]]) -> list[str]:
    """Define conversions of a state to and from words of four bytes, which are shuffled between lanes and published."""
    first, to, back = 0, "", ""
    for name, dtype in fields:
        to += f"to_words({name}, w.word + {first}); "
        back += f"from_words(w.word + {first}, {name}); "
        first += max(1, dtype.itemsize // 4)
    return [
        f"constexpr int STATE_WORDS = {first};",
        "struct StateWords { u32 word[STATE_WORDS]; };",
        f"__device__ __forceinline__ StateWords words_of(const State& s) {{ StateWords w; {to}return w; }}",
        f"__device__ __forceinline__ State state_of(const StateWords& w) {{ State s; {back}return s; }}",
    ]


_NATIVE = {
    BUILT_IN[name]: (seen, combine, identity)
    for name, seen, combine, identity in (
        ("add", "", "{plus(a.f0, b.f0)}", "{{0, 0}}"),
        ("minimum", "", "{pick(less(b.f0, a.f0), b.f0, a.f0)}", "{{~u64(0), i64(~u64(0) >> 1)}}"),
        ("maximum", "", "{pick(less(a.f0, b.f0), b.f0, a.f0)}", "{{0, i64(u64(1) << 63)}}"),
        ("first", ", 1", "{pick(a.f1, a.f0, b.f0), u8(a.f1 | b.f1)}", "{{0, 0}, 0}"),
        ("last", ", 1", "{pick(b.f1, b.f0, a.f0), u8(a.f1 | b.f1)}", "{{0, 0}, 0}"),
    )
}
"""Operators on 128-bit integers: the fields after the element in its state, the combined state, the identity."""


def _native(op: Operator) -> list[str]:
    """Define the functions of a built-in operator on 128-bit integers."""
    seen, combine, identity = _NATIVE[op]
    start = "__device__ __forceinline__"
    return [
        f"{start} State combine(State a, State b) {{ return State{combine}; }}",
        f"{start} State lift(Element e) {{ return {{e.f0{seen}}}; }}",
        f"{start} Output lower(State s) {{ return {{s.f0}}; }}",
        f"{start} State identity() {{ return {identity}; }}",
        f"{start} Output null_output() {{ return {{{{0, 0}}}}; }}",
        f"{start} bool is_missing(Element) {{ return false; }}",
    ]


def _function(
    name: str,
    result: Form,
    arguments: list[Form],
    returns: str,
    takes: list[str],
    numbers: Form = (),
    first: int = 0,
) -> list[str]:
    """Declare the linked function of pointers to fields, and a function of structs that calls it.

    The linked function takes `numbers` as well, which are fields `first` and following of `Numbers`.
    """
    pointers = [f"{word(d)}*" for form in (result, *arguments, numbers) for d in form]
    values = [f"&r.f{i}" for i in range(len(result))]
    values += [f"&v{a}.f{i}" for a, form in enumerate(arguments) for i in range(len(form))]
    values += [f"&n.f{first + i}" for i in range(len(numbers))]
    copy = "Numbers n = numbers; " if numbers else ""
    parameters = ", ".join(f"{kind} v{a}" for a, kind in enumerate(takes))
    linked = f'extern "C" __device__ void op_{name}({", ".join(pointers)});'
    call = f"op_{name}({', '.join(values)});"
    if returns == "Missing":
        wrapper = (
            f"__device__ __forceinline__ bool is_missing({parameters}) "
            f"{{ u8 r; {call.replace('&r.f0', '&r')} return r; }}"
        )
    else:
        wrapper = (
            f"__device__ __forceinline__ {returns} {name}({parameters}) "
            f"{{ {returns} r; {copy}{call} return r; }}"
        )
    return [linked, wrapper]
