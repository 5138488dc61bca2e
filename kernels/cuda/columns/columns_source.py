"""The CUDA source of a pass over columns: code generated from columns, keys, states and outputs, then the engine.

As in `source`, data are bits, and no text from a user gets into CUDA source.
"""

import numpy as np

from ...operators.built_in import commutes
from ..core.plan import Capability
from ..core.source import (
    constants_source,
    exclusive_bits,
    include,
    numbers_source,
    operator_source,
    word,
    words_of,
)
from ..core.tuning import STAGES_AT_LEAST, WINDOW
from .column_pass import COUNTS, ColumnPass, forms_of
from .tuning import COLUMN_BLOCKS, batch_for

SELECTION_KINDS = {"runs": 1, "bits": 2}
"""The numbers in selection.cuh of selections that need more than the row itself."""


def columns_source(each: ColumnPass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a pass over columns. Each step of `relief` leaves more registers to a thread."""
    warps, rows = each.shape
    neighbours, visitor = each.selection == "runs", each.visitor
    after = each.last and neighbours
    value_mask = len(each.keys) + len(each.values) + len(each.masks) - 1
    constants = {
        "COLUMNS": each.columns,
        "KEYS": len(each.keys),
        "VALUES": len(each.values),
        "VALUE_MASK": value_mask if each.value_nulls.masked else -1,
        "OUTPUTS": each.outputs,
        "ROWS": rows,
        "WARPS": warps,
        "STAGES": max(STAGES_AT_LEAST, each.stages(capability)),
        "DEPTH": each.depth(capability),
        "LISTED_ROWS": each.listed_rows,
        "WINDOW": WINDOW,
        "BATCH": max(1, batch_for(each.words(schedule)) >> relief),
        "RESIDENT": max(1, COLUMN_BLOCKS[each.operator is not None] >> relief),
        "SELECTS": SELECTION_KINDS.get(each.selection, 0),
        "BEFORE": neighbours and not after,
        "AFTER": after,
        "REVERSE": each.reverse,
        "SPLIT": each.split,
        "IN_PLACE": each.in_place,
        "LOOKS_BACK": visitor.looks_back,
        "WRITE": True,
        "REDUCES": visitor.reduces,
        "STARTS": each.starts,
        "IN_BAND": each.value_nulls.kind == "in band",
        "EXCLUSIVE": exclusive_bits(each.exclusive, each.outputs),
        "MARK_NULLS": each.mark_nulls,
        "COMMUTES": each.operator is not None and commutes(each.operator.op),
    }
    lines = include("words") + constants_source(constants)
    lines += _columns(each) + _keys(each) + _states(each, schedule) + _kept(each)
    lines += include("states", "columns_tile") + _selection(each)
    lines += include("selection", visitor.source, "lookback")
    lines += include(f"{visitor.engine}_{schedule}")
    return "\n".join([*lines, ""])


def _columns(each: ColumnPass) -> list[str]:
    def column(i: int, kind: str, bits: bool, null: int) -> str:
        return (
            f"template <> struct Column<{i}> {{ using type = {kind}; static constexpr bool BITS = "
            f"{int(bits)}; static constexpr int NULL_IS = {null}; }};"
        )

    found = [(word(d), False, 0) for d in (*each.keys, *each.values)]
    found += [("u8", n.kind == "bits", n.null) for n in each.masks]
    found += [(word(d), False, 0) for d in each.gathered_columns]
    lines = ["template <int K> struct Column;"]
    return lines + [column(i, *one) for i, one in enumerate(found)]


def _keys(each: ColumnPass) -> list[str]:
    """Define a row of keys, or of a predicate's inputs, with a flag for each that a mask may mark missing."""
    fields = [f"{word(d)} f{i};" for i, d in enumerate(each.keys)]
    fields += [f"u8 n{i};" for i, n in enumerate(each.key_nulls) if n.masked]
    lines = [f"struct Key {{ {' '.join(fields)} }};", "template <int K> struct Field;"]
    mask = len(each.keys) + len(each.values)
    for i, nulls in enumerate(each.key_nulls[: len(each.keys)]):
        lines.append(
            f"template <> struct Field<{i}> {{ static constexpr int MASK = {mask if nulls.masked else -1}; "
            f"static __device__ __forceinline__ auto& of(Key& k) {{ return k.f{i}; }} static __device__ "
            f"__forceinline__ auto& null(Key& k) {{ return k.{'n' if nulls.masked else 'f'}{i}; }} }};"
        )
        mask += nulls.masked
    scalars = [f"{word(d)} f{i};" for i, d in enumerate(each.scalars)]
    return [*lines, f"struct Scalars {{ {' '.join(scalars) or 'u64 none;'} }};"]


def _states(each: ColumnPass, schedule: str) -> list[str]:
    """Define the state of a tile and its prefix: the count of selected items, and what follows the last of them."""
    count = "u32" if schedule == "pipelined" else "i64"
    since, whole = (
        "Count open;" * (each.visitor.counts > 1),
        "i64 open;" * (each.visitor.counts > 1),
    )
    lines = numbers_source(each.operator)
    if each.operator is not None:
        lines += ["namespace op {", *operator_source(each.operator), "}"]
        since = whole = "op::State open;"
    lines += [f"using Count = {count};", f"struct State {{ Count selected; {since} }};"]
    if schedule == "pipelined":
        lines.append(f"struct Prefix {{ i64 selected; {whole} }};")
        if not since:
            lines.append("template <> constexpr bool ADDS<State> = true;")
    else:
        lines.append("using Prefix = State;")
    fields = [
        (f"s.{name}", COUNTS[schedule]) for name in ("selected", "open")[: each.visitor.counts]
    ]
    if each.operator is not None:
        fields += [(f"s.open.f{i}", dtype) for i, dtype in enumerate(each.operator.state)]
    return [
        *lines,
        *words_of(fields),
        "__device__ __forceinline__ State identity();",
        "template <class Earlier> __device__ __forceinline__ Earlier combine(const Earlier&, const State&);",
    ]


def _kept(each: ColumnPass) -> list[str]:
    """Define what a warp keeps of a selected item of a waiting tile: its place, and its values in the tile."""
    fields = [f"{word(m.dtype)} m{i};" for i, m in enumerate(each.gathered) if m.column >= 0]
    fields += ["op::State open;"] if each.operator else []
    lines = [f"struct Kept {{ u32 selection; {' '.join(fields)} }};"]
    lines += ["template <int K> struct Gathered;"] if each.gathered else []
    for i, one in enumerate(each.gathered):
        saved = f"template <class K> static __device__ __forceinline__ auto& saved(K& k) {{ return k.m{i}; }} "
        lines.append(
            f"template <> struct Gathered<{i}> {{ using type = {word(one.dtype)}; static constexpr int "
            f"COLUMN = {one.column}; static constexpr bool POSITION = {int(one.column == -2)}; "
            f"{saved if one.column >= 0 else ''}}};"
        )
    return lines


def _selection(each: ColumnPass) -> list[str]:
    """Define `is_selected` for a row, and `differs` for two rows; only one of them is called."""
    selected, differs, lines = "false", "false", []
    if each.selection == "flags":
        selected = "k.f0 != 0"
    elif each.selection == "predicate":
        forms = forms_of(each.order, each.keys, each.scalars)
        pointers = ", ".join(f"{word(d)}*" for d in forms)
        lines.append(f'extern "C" __device__ void op_predicate(u8*, {pointers});')
        given = [f"&{'k' if kind == 'row' else 's'}.f{i}" for kind, i in each.order]
        nulls = "".join(f" && !k.n{i}" for i, n in enumerate(each.key_nulls) if n.masked)
        lines.append(
            "__device__ __forceinline__ bool passes(const Params& p, Key k) { u8 r; Scalars s = p.scalars; "
            f"op_predicate(&r, {', '.join(given)}); return r{nulls}; }}"
        )
        selected = "passes(p, k)"
    elif each.selection == "runs":
        differs = " || ".join(
            f"!same_keys{_comparison(d)}(a.f{i}, b.f{i}, {f'a.n{i}, b.n{i}' if n.masked else '0, 0'})"
            for i, (d, n) in enumerate(zip(each.keys, each.key_nulls, strict=True))
        )
        lines.append('#include "keys.cuh"')
    return [
        *lines,
        f"__device__ __forceinline__ bool is_selected(const Params& p, const Key& k) {{ return {selected}; }}",
        f"__device__ __forceinline__ bool differs(const Key& a, const Key& b) {{ return {differs}; }}",
    ]


def _comparison(dtype: np.dtype) -> str:
    return "_as_floats" if dtype.kind in "fc" else ""
