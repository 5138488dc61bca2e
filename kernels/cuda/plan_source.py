"""The part of a compaction kernel's CUDA source that depends on its plan: columns, keys, states, what is moved.

As in `source`, data are bits and no text of a user's gets into CUDA source. This module must never see an array,
compile or launch anything.
"""

import numpy as np

from .numbers import numbers_of
from .plan import COUNTS, STAGES_AT_LEAST, Plan, state_words_of
from .source import _struct, functions_source, numbers_source, word, words_of
from .tuning import WIDE_BATCH, WINDOW


def batch_for(words: int) -> int:
    """Return how many blocks of 32 tiles a look-back warp asks for at once, for states of so many words."""
    return WINDOW if words <= 2 else WINDOW // 2 if words <= 4 else WIDE_BATCH


def plan_source(plan: Plan, schedule: str, capability: tuple[int, int]) -> str:
    """Return the CUDA source of a plan: what is generated, then the engine."""
    warps, rows = plan.cut
    stages = plan.stages(capability)
    neighbours = plan.marks == "runs"
    after = plan.last and neighbours
    value_mask = len(plan.keys) + len(plan.values) + len(plan.masks) - 1
    constants = {
        "COLUMNS": plan.columns,
        "KEYS": len(plan.keys),
        "VALUES": len(plan.values),
        "VALUE_MASK": value_mask if plan.value_nulls.masked else -1,
        "OUTPUTS": plan.outputs,
        "ROWS": rows,
        "WARPS": warps,
        "STAGES": max(STAGES_AT_LEAST, stages),
        "DEPTH": plan.depth(capability),
        "LISTED_ROWS": plan.listed_rows,
        "WINDOW": WINDOW,
        "BATCH": batch_for(state_words_of(plan, schedule)),
        "RESIDENT": 1 if plan.by else 2,
        "MARKS": int(neighbours),
        "BEFORE": int(neighbours and not after),
        "AFTER": int(after),
        "REVERSE": int(plan.reverse),
        "SPLIT": int(plan.split),
        "IN_PLACE": int(plan.in_place),
        "LOOKS_BACK": int(plan.visitor != "heads"),
        "WRITE": 1,
        "REDUCES": int(plan.reduces),
        "STARTS": int(plan.starts),
        "IN_BAND": int(plan.value_nulls.kind == "in band"),
        "EXCLUSIVE": int(plan.by is not None and plan.by.exclusive),
        "MARK_NULLS": int(plan.by is not None and plan.by.mark),
    }
    lines = ['#include "words.cuh"']
    lines += [f"constexpr int {name} = {value};" for name, value in constants.items()]
    lines += _columns(plan) + _keys(plan) + _states(plan, schedule)
    lines += _kept(plan)
    lines += [f'#include "{name}.cuh"' for name in ("states", "columns")]
    lines += _marks(plan)
    lines += [f'#include "{name}.cuh"' for name in ("marks", plan.visitor, "lookback", "folds")]
    lines += [f'#include "staged_{schedule}.cuh"', ""]
    return "\n".join(lines)


def _columns(plan: Plan) -> list[str]:
    def column(i: int, kind: str, bits: bool, null: int) -> str:
        return (
            f"template <> struct Column<{i}> {{ using type = {kind}; static constexpr bool BITS = "
            f"{int(bits)}; static constexpr int NULL_IS = {null}; }};"
        )

    found = [(word(d), False, 0) for d in (*plan.keys, *plan.values)]
    found += [("u8", n.kind == "bits", n.null) for n in plan.masks]
    found += [(word(d), False, 0) for d in plan.staged]
    lines = ["template <int K> struct Column;"]
    return lines + [column(i, *each) for i, each in enumerate(found)]


def _keys(plan: Plan) -> list[str]:
    """A row of keys, or of what a predicate reads, with a flag for each that a mask may tell missing."""
    fields = [f"{word(d)} f{i};" for i, d in enumerate(plan.keys)]
    fields += [f"u8 n{i};" for i, n in enumerate(plan.key_nulls) if n.masked]
    lines = [f"struct Key {{ {' '.join(fields)} }};", "template <int K> struct Field;"]
    mask = len(plan.keys) + len(plan.values)
    for i, nulls in enumerate(plan.key_nulls):
        lines.append(
            f"template <> struct Field<{i}> {{ static constexpr int MASK = {mask if nulls.masked else -1}; "
            f"static __device__ __forceinline__ auto& of(Key& k) {{ return k.f{i}; }} static __device__ "
            f"__forceinline__ auto& null(Key& k) {{ return k.{'n' if nulls.masked else 'f'}{i}; }} }};"
        )
        mask += nulls.masked
    scalars = [f"{word(d)} f{i};" for i, d in enumerate(plan.scalars)]
    return [*lines, f"struct Scalars {{ {' '.join(scalars) or 'u64 none;'} }};"]


def _states(plan: Plan, schedule: str) -> list[str]:
    """The state of a tile, and what comes before one: the count of marked items, and what has come since the last."""
    numbers = numbers_of(plan.by.op, plan.by.inputs) if plan.by else {}
    lines = numbers_source(numbers)
    if plan.by is not None:
        inputs, state, outputs = plan.by.inputs, plan.by.state, plan.by.outputs
        lines.append("namespace op {")
        lines += _struct("Element", inputs, "In")
        lines += _struct("State", state, None)
        lines += _struct("Output", outputs, "Out")
        lines += functions_source(plan.by, numbers)
        lines.append("}")
    since = {"run_lengths": "Count open;", "by_key": "op::State open;"}.get(plan.visitor, "")
    whole = {"run_lengths": "i64 open;"}.get(plan.visitor, since)
    lines += [
        f"using Count = {'u32' if schedule == 'pipelined' else 'i64'};",
        f"struct State {{ Count marked; {since} }};",
    ]
    if schedule == "pipelined":
        lines.append(f"struct Prefix {{ i64 marked; {whole} }};")
        if not since:
            lines.append("template <> constexpr bool ADDS<State> = true;")
    else:
        lines.append("using Prefix = State;")
    return [
        *lines,
        *words_of(_fields(plan, schedule)),
        "__device__ __forceinline__ State identity();",
        "template <class Earlier> __device__ __forceinline__ Earlier combine(const Earlier&, const State&);",
    ]


def _kept(plan: Plan) -> list[str]:
    """What a warp keeps of a marked item of a tile that waits: its place, and what would be read from the tile."""
    fields = [f"{word(m.dtype)} m{i};" for i, m in enumerate(plan.moved) if m.column >= 0]
    fields += ["op::State open;"] if plan.by else []
    lines = [f"struct Kept {{ u32 marks; {' '.join(fields)} }};"]
    lines += ["template <int K> struct Moved;"] if plan.moved else []
    for i, moved in enumerate(plan.moved):
        saved = f"template <class K> static __device__ __forceinline__ auto& saved(K& k) {{ return k.m{i}; }} "
        lines.append(
            f"template <> struct Moved<{i}> {{ using type = {word(moved.dtype)}; static constexpr int "
            f"COLUMN = {moved.column}; static constexpr bool POSITION = {int(moved.column == -2)}; "
            f"{saved if moved.column >= 0 else ''}}};"
        )
    return lines


def _fields(plan: Plan, schedule: str) -> list[tuple[str, np.dtype]]:
    """The fields of a state, in the order of its words."""
    fields: list[tuple[str, np.dtype]] = [("s.marked", COUNTS[schedule])]
    if plan.visitor == "run_lengths":
        fields.append(("s.open", COUNTS[schedule]))
    if plan.by is not None:
        fields += [(f"s.open.f{i}", dtype) for i, dtype in enumerate(plan.by.state)]
    return fields


def _marks(plan: Plan) -> list[str]:
    """Define `is_marked` for a row, and `differs` for two; the one that is not wanted is not called."""
    marked, differs, lines = "false", "false", []
    if plan.marks == "flags":
        marked = "k.f0 != 0"
    elif plan.marks == "predicate":
        forms = {"row": plan.keys, "scalar": plan.scalars}
        pointers = ", ".join(f"{word(forms[kind][i])}*" for kind, i in plan.order)
        lines.append(f'extern "C" __device__ void op_keep(u8*, {pointers});')
        given = [f"&{'k' if kind == 'row' else 's'}.f{i}" for kind, i in plan.order]
        nulls = "".join(f" && !k.n{i}" for i, n in enumerate(plan.key_nulls) if n.masked)
        lines.append(
            "__device__ __forceinline__ bool keeps(const Params& p, Key k) { u8 r; Scalars s = p.scalars; "
            f"op_keep(&r, {', '.join(given)}); return r{nulls}; }}"
        )
        marked = "keeps(p, k)"
    else:
        differs = " || ".join(
            f"!same_keys{_comparison(d)}(a.f{i}, b.f{i}, {f'a.n{i}, b.n{i}' if n.masked else '0, 0'})"
            for i, (d, n) in enumerate(zip(plan.keys, plan.key_nulls, strict=True))
        )
        lines.append('#include "keys.cuh"')
    return [
        *lines,
        f"__device__ __forceinline__ bool is_marked(const Params& p, const Key& k) {{ return {marked}; }}",
        f"__device__ __forceinline__ bool differs(const Key& a, const Key& b) {{ return {differs}; }}",
    ]


def _comparison(dtype: np.dtype) -> str:
    return "_as_floats" if dtype.kind in "fc" else ""
