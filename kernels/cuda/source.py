"""The part of a kernel's CUDA source that depends on types: structs of elements, states and outputs, and options.

Everything is generated from dtypes and options; no text of a user's ever gets into CUDA source. Data are
bits here: a field is an unsigned integer of its size. This module must never compile or launch anything.
"""

from dataclasses import dataclass

import numpy as np

from ..nulls import InBand, Mask, Nulls
from ..operators import Operator
from .tuning import Tile

Form = tuple[np.dtype, ...]

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


def word(dtype: np.dtype) -> str:
    """Return the C++ type of a field: its size and alignment are those of `dtype`."""
    if dtype == np.complex64:
        return "c64"
    if dtype == np.complex128:
        return "c128"
    return f"u{8 * dtype.itemsize}"


def source(variant: Variant, tile: Tile, stages: int) -> str:
    """Return the CUDA source of a variant: what is generated, then the engine."""
    nulls = ("none", "in band", "bits", "bytes").index(variant.nulls)
    constants = {
        "INPUTS": len(variant.inputs),
        "OUTPUTS": len(variant.outputs),
        "VN": tile.vector,
        "ROWS": tile.rows,
        "WARPS": tile.warps,
        "STAGES": stages,
        "NULLS": nulls,
        "EXCLUSIVE": int(variant.exclusive),
        "REVERSE": int(variant.reverse),
        "MARK": int(variant.mark),
        "WRITE": int(variant.write),
    }
    lines = ['#include "words.cuh"']
    lines += [f"constexpr int {name} = {value};" for name, value in constants.items()]
    lines += _struct("Element", variant.inputs, "In")
    lines += _struct("State", variant.state, None)
    lines += _struct("Output", variant.outputs, "Out")
    lines += _function("combine", variant.state, [variant.state] * 2, "State", ["State", "State"])
    lines += _function("lift", variant.state, [variant.inputs], "State", ["Element"])
    lines += _function("lower", variant.outputs, [variant.state], "Output", ["State"])
    lines += _function("identity", variant.state, [], "State", [])
    lines += _function("null_output", variant.outputs, [], "Output", [])
    flag = (np.dtype(np.uint8),)
    lines += _function("missing", flag, [variant.inputs], "Missing", ["Element"])
    lines += [f'#include "{name}.cuh"' for name in ("states", "tile", "lookback")]
    lines += [f'#include "{variant.schedule}.cuh"', ""]
    return "\n".join(lines)


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


def _function(
    name: str, result: Form, arguments: list[Form], returns: str, takes: list[str]
) -> list[str]:
    """Declare the linked function of pointers to fields, and a function of structs that calls it."""
    pointers = [f"{word(d)}*" for form in (result, *arguments) for d in form]
    values = [f"&r.f{i}" for i in range(len(result))]
    values += [f"&v{a}.f{i}" for a, form in enumerate(arguments) for i in range(len(form))]
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
            f"{{ {returns} r; {call} return r; }}"
        )
    return [linked, wrapper]
