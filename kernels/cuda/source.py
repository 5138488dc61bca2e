"""The part of a kernel's CUDA source that depends on types: structs of elements, states and outputs, and options.

Everything is generated from dtypes and options; no text of a user's ever gets into CUDA source. Data are
bits here: a field is an unsigned integer of its size. This module must never compile or launch anything.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..built_in import BUILT_IN
from ..nulls import InBand, Mask, Nulls
from ..operators import Operator
from .numbers import numbers_of
from .tuning import (
    BANKS_FROM,
    GROUP_WORDS,
    PANEL_BLOCKS,
    RESIDENT_WARPS,
    WIDE_BATCH,
    WIDE_GROUP_WORDS,
    WINDOW,
    Tile,
    aggregators_for,
    lookbacks_for,
    panel_for,
)

Form = tuple[np.dtype, ...]

RACECHECK = bool(os.environ.get("DASK_GPUSCAN_RACECHECK"))
"""Build kernels that compute-sanitizer's racecheck can follow, which are slower."""

SCHEDULES = ("classic", "pipelined", "strided", "rows")
"""Names of the device sources that hold a kernel."""


@dataclass(frozen=True)
class Variant:
    """What one compiled kernel is for. `nulls` is "none", "in band", "bits" or "bytes"."""

    op: Operator
    inputs: Form
    state: Form
    scalar_state: bool
    outputs: Form
    scalar_output: bool
    dtype: np.dtype | None
    nulls: str
    exclusive: bool
    reverse: bool
    mark: bool
    write: bool
    schedule: str


def kind_of_nulls(nulls: Nulls) -> str:
    """Return the name under which kernels for these nulls are compiled."""
    if isinstance(nulls, Mask):
        return "bits" if nulls.shift == 3 else "bytes"
    return "in band" if isinstance(nulls, InBand) else "none"


def state_dtype(state: Form) -> np.dtype:
    """Return the structured dtype with the memory layout of the C++ struct `State`."""
    fields = [(f"f{i}", dtype) for i, dtype in enumerate(state)]
    return np.dtype(fields, align=True)


def state_words(state: Form) -> int:
    """Return the four-byte words of a state, as the kernels move them."""
    return sum(max(1, d.itemsize // 4) for d in state)


def word(dtype: np.dtype) -> str:
    """Return the C++ type of a field: its size and alignment are those of `dtype`."""
    if dtype.kind == "V":
        return "i128"
    if dtype == np.complex64:
        return "c64"
    if dtype == np.complex128:
        return "c128"
    return f"u{8 * dtype.itemsize}"


def source(variant: Variant, tile: Tile, stages: int, relief: int = 0) -> str:
    """Return the CUDA source of a variant: what is generated, then the engine.

    Each step of `relief` leaves more registers to a thread: fewer blocks on a multiprocessor, fewer
    descriptors asked for at once. The results have the same bits.
    """
    nulls = ("none", "in band", "bits", "bytes").index(variant.nulls)
    words = state_words(variant.state)
    wide, pipelined = words > 2, variant.schedule == "pipelined"
    constants = {
        "INPUTS": len(variant.inputs),
        "OUTPUTS": len(variant.outputs),
        "VN": tile.vector,
        "ROWS": tile.rows,
        "WARPS": tile.warps,
        "STAGES": stages,
        "GROUP_WORDS": (WIDE_GROUP_WORDS if wide and pipelined else GROUP_WORDS) >> relief,
        "AGGREGATORS": aggregators_for(tile, words),
        "LOOKBACKS": lookbacks_for(words),
        "WINDOW": WINDOW,
        "BATCH": max(1, (WIDE_BATCH if wide else WINDOW) >> relief),
        "RESIDENT": max(1, RESIDENT_WARPS // tile.warps >> relief),
        "BANKS": int(pipelined and len(variant.inputs) >= BANKS_FROM),
        "STREAM": int(variant.schedule == "classic"),
        "EVERY_LANE": int(RACECHECK),
        "NULLS": nulls,
        "EXCLUSIVE": int(variant.exclusive),
        "REVERSE": int(variant.reverse),
        "MARK": int(variant.mark),
        "WRITE": int(variant.write),
    }
    if variant.schedule == "strided":
        panel = panel_for(variant.inputs, words)
        constants |= {"VN": panel.vector, "WARPS": panel.warps, "DEPTH": panel.depth}
        constants["RESIDENT"] = max(1, PANEL_BLOCKS >> relief)
    lines = ['#include "words.cuh"', '#include "int128.cuh"']
    lines += [f"constexpr int {name} = {value};" for name, value in constants.items()]
    lines += _struct("Element", variant.inputs, "In")
    lines += _struct("State", variant.state, None)
    lines += words_of([(f"s.f{i}", dtype) for i, dtype in enumerate(variant.state)])
    lines += _struct("Output", variant.outputs, "Out")
    if is_native(variant):
        lines += numbers_source({}) + _native(variant.op)
    else:
        numbers = numbers_of(variant.op, variant.inputs)
        lines += numbers_source(numbers) + functions_source(variant, numbers)
    lines += [f'#include "{name}.cuh"' for name in ("states", "tile", "lookback")]
    lines += [f'#include "{variant.schedule}.cuh"', ""]
    return "\n".join(lines)


def numbers_source(numbers: dict[str, Form]) -> list[str]:
    """Define the numbers that functions take as each block has them, and what brings them there from the launch."""
    form = [dtype for each in numbers.values() for dtype in each]
    fields = " ".join(f"{word(dtype)} f{i};" for i, dtype in enumerate(form))
    lines = [f"struct alignas(8) Numbers {{ {fields or 'u64 none;'} }};"]
    copy = ""
    if form:
        lines.append("__shared__ Numbers numbers;")
        copy = "if (threadIdx.x == 0) numbers = p.numbers; __syncthreads(); "
    start = "template <class Params> __device__ __forceinline__ void take_numbers(const Params& p)"
    return [*lines, f"{start} {{ {copy}}}"]


def functions_source(variant: Variant, numbers: dict[str, Form]) -> list[str]:
    """Declare and wrap the linked functions of an operator."""
    state, flag = variant.state, (np.dtype(np.uint8),)
    lines, first = [], 0
    for name, result, arguments, returns, takes in (
        ("combine", state, [state] * 2, "State", ["State"] * 2),
        ("lift", state, [variant.inputs], "State", ["Element"]),
        ("lower", variant.outputs, [state], "Output", ["State"]),
        ("identity", state, [], "State", []),
        ("null_output", variant.outputs, [], "Output", []),
        ("missing", flag, [variant.inputs], "Missing", ["Element"]),
    ):
        taken = numbers.get(name, ())
        lines += _function(name, result, arguments, returns, takes, taken, first)
        first += len(taken)
    return lines


def _struct(name: str, form: Form, access: str | None) -> list[str]:
    fields = " ".join(f"{word(dtype)} f{i};" for i, dtype in enumerate(form))
    lines = [f"struct {name} {{ {fields} }};"]
    if access:
        lines.append(f"template <int K> struct {access};")
        for i, dtype in enumerate(form):
            field = word(dtype)
            lines.append(
                f"template <> struct {access}<{i}> {{ using type = {field}; "
                f"static __device__ __forceinline__ {field}& of({name}& v) {{ return v.f{i}; }} }};"
            )
    return lines


def words_of(fields: Sequence[tuple[str, np.dtype]]) -> list[str]:
    """Define a state `s` as words of four bytes, without padding: what is shuffled between lanes and published."""
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


def is_native(variant: Variant) -> bool:
    """Tell whether the operator's functions are CUDA C++, as for types that Numba does not have."""
    return variant.inputs[0].kind == "V"


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
"""Operators on 128-bit integers: what follows the element in its state, the combined state, the identity."""


def _native(op: Operator) -> list[str]:
    """The functions of a built-in operator on 128-bit integers."""
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

    The linked function takes `numbers` as well, of which the first is number `first` of all.
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
