"""What a compaction kernel is for, how large its tiles are, and the part of its CUDA source that depends on it.

A plan names the columns that a tile has in shared memory: keys (or what a predicate reads), values of an operator,
masks of both, and arrays that are moved. As in `source`, data are bits and no text of a user's gets into CUDA source.
This module must never see an array, compile or launch anything.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..operators import Operator
from .source import Form, Variant, _function, _struct, state_dtype, state_words, word
from .tuning import WIDE_BATCH, WINDOW

TILE_BYTES = {
    "select": 36 << 10,
    "scan": 36 << 10,
    "unique": 52 << 10,
    "reduce": 68 << 10,
    "run_lengths": 68 << 10,
}
"""Bytes of a tile's columns at most, on GPUs of SHARED_BYTES; on others, the fewest of them.

One warp looks back for all tiles of a block, in about 1.4 microseconds a tile, which bounds what writes little: with
larger tiles there is less of it. Where a tile stays in its stage until it is written, more stages are better. Times
as fast as CUB on an H200, 2^28 rows (benchmarks/results/tuning_h200.json), with 36, 52 and 68 KiB:

| run lengths, runs of 500 / 2 | 1.60 / 1.01 | 2.19 / 1.00 | 2.37 / 0.99 |
| first rows of runs of 500 / 2 | 1.51 / 0.78 | 1.70 / 0.67 | 1.70 / 0.58 |
| sums of runs of 500 / 2 | 1.30 / 1.03 | 1.83 / 0.94 | 1.96 / 0.80 |
| 1 % / 50 % of int32 selected | 1.35 / 1.27 | 1.45 / 1.04 | |
"""

SMALL_BYTES = min(TILE_BYTES.values())

CUTS = ((16, 8), (16, 6), (16, 4), (16, 2), (16, 1), (8, 1), (4, 1), (2, 1))
"""Warps of a tile, and rows of 128 items a warp."""

WIDE_STATE, WIDE_WARPS = 8, 8
"""Bytes of an operator's state from which on a tile has fewer warps, so that a thread has more registers."""

LISTED_ROWS = 4
"""Rows of marked items that a warp lists at the same time, of 256 bytes each."""

SHARED_BYTES = {90: 222 << 10, 100: 222 << 10, 103: 222 << 10, 110: 222 << 10}
"""Shared memory of a block of the pipelined schedule, by compute capability; else 96 KiB."""

STAGES_AT_MOST, STAGES_AT_LEAST = 8, 2
"""Stages of a block of the pipelined schedule."""

DEPTH, DEPTH_AT_LEAST = 6, 2
"""Tiles of a block that may wait for their prefix; fewer where that leaves too few stages."""

COUNTS: dict[str, np.dtype] = {"pipelined": np.dtype(np.uint32), "classic": np.dtype(np.int64)}
"""The type of counts in the state of a tile. The pipelined schedule folds 1024 tiles at most before it adds them to
what comes before, which has 8 bytes; the classic one publishes what comes before as well."""


def sized(plan: "Plan", capability: tuple[int, int]) -> "Plan":
    """Return the plan with tiles of the size that suits a GPU of this compute capability."""
    if 10 * capability[0] + capability[1] not in SHARED_BYTES or plan.visitor == "heads":
        return plan
    if plan.by is not None:
        kind = "reduce" if plan.reduces else "scan"
    elif plan.visitor == "compact":
        kind = "unique" if plan.marks == "runs" else "select"
    else:
        kind = plan.visitor
    return replace(plan, tile_bytes=TILE_BYTES[kind])


def batch_for(words: int) -> int:
    """Return how many blocks of 32 tiles a look-back warp asks for at once, for states of so many words."""
    return WINDOW if words <= 2 else WINDOW // 2 if words <= 4 else WIDE_BATCH


@dataclass(frozen=True)
class Nullness:
    """Where missing elements of a column are told: "none", "in band", "bits" or "bytes", and by which bit."""

    kind: str = "none"
    null: int = 0

    @property
    def masked(self) -> bool:
        """Whether a mask is read."""
        return self.kind in ("bits", "bytes")


@dataclass(frozen=True)
class Moved:
    """An array that is moved: from which column, from its own memory (-1), or the rows' positions (-2)."""

    dtype: np.dtype
    column: int


@dataclass(frozen=True)
class Plan:
    """What one compiled kernel is for.

    `order` tells a predicate's parameters: ("row", its key) or ("scalar", which).
    `marks` is "flags", "predicate" or "runs"; `visitor` is "compact", "run_lengths", "by_key" or "heads", and `by` the
    operator of "by_key" with the identity of its states.
    """

    visitor: str
    marks: str
    keys: Form
    key_nulls: tuple[Nullness, ...]
    scalars: Form = ()
    predicate: Operator | None = None
    order: tuple[tuple[str, int], ...] = ()
    last: bool = False
    moved: tuple[Moved, ...] = ()
    staged: Form = ()
    split: bool = False
    in_place: bool = False
    by: Variant | None = None
    identity: Any = field(default=None, compare=False)
    value_nulls: Nullness = Nullness()
    reduces: bool = False
    starts: bool = False
    tile_bytes: int = SMALL_BYTES

    @cached_property
    def key(self) -> str:
        """What tells the plan from others in the cache of cubins, beside its source."""
        tokens = [op.token for op in (self.predicate, self.by and self.by.op) if op]
        band = [n.kind == "in band" for n in self.key_nulls]
        identity = None if self.by is None else repr(self.identity)
        forms = None if self.by is None else (self.by.inputs, self.by.state, self.by.outputs)
        return repr((tokens, self.keys, band, self.scalars, self.order, identity, forms))

    @property
    def values(self) -> Form:
        """The dtypes of an operator's inputs."""
        return self.by.inputs if self.by else ()

    @property
    def masks(self) -> list[Nullness]:
        """The masks that are read: those of keys, then that of the values."""
        return [n for n in (*self.key_nulls, self.value_nulls) if n.masked]

    @property
    def columns(self) -> int:
        """Columns in shared memory: keys, values, masks, moved arrays."""
        return len(self.keys) + len(self.values) + len(self.masks) + len(self.staged)

    @property
    def outputs(self) -> int:
        """Arrays that are written, at least one."""
        return max(1, len(self.by.outputs) if self.by else len(self.moved))

    @property
    def reverse(self) -> bool:
        """Whether items are taken from the last to the first."""
        return self.by is not None and self.last

    @cached_property
    def cut(self) -> tuple[int, int]:
        """Warps of a tile, and rows a warp."""
        sizes = [d.itemsize for d in (*self.keys, *self.values, *self.staged)]
        width = sum(sizes) + sum(1 if n.kind == "bytes" else 1 / 8 for n in self.masks)
        wide = self.by is not None and sum(d.itemsize for d in self.by.state) > WIDE_STATE
        cuts = [c for c in CUTS if c[0] <= WIDE_WARPS or not wide]
        fit = [c for c in cuts if 128 * c[0] * c[1] * width <= self.tile_bytes]
        return fit[0] if fit else cuts[-1]

    @property
    def tile(self) -> int:
        """Items a tile."""
        return 128 * self.cut[0] * self.cut[1]

    @cached_property
    def stage(self) -> int:
        """Bytes of a tile in shared memory, as columns.cuh lays it out."""
        data = [(self.tile + 1) * d.itemsize for d in (*self.keys, *self.values, *self.staged)]
        data += [(self.tile // 8 + 2) if n.kind == "bits" else self.tile + 1 for n in self.masks]
        return sum(-(-(size + 32) // 128) * 128 for size in data)

    @property
    def listed_rows(self) -> int:
        """Rows of a segment that are listed at the same time."""
        return min(LISTED_ROWS, self.cut[1])

    @property
    def lists(self) -> int:
        """Bytes of the lists of marked items."""
        listing = self.visitor in ("compact", "run_lengths")
        return 256 * self.listed_rows * self.cut[0] if listing else 0

    @property
    def kept(self) -> int:
        """Bytes of what warps keep of a tile that waits, as `_kept` lays it out."""
        fields = [np.dtype(np.uint32)]
        fields += [m.dtype for m in self.moved if m.column >= 0]
        form = [(f"f{i}", d) for i, d in enumerate(fields)]
        if self.by:
            form.append(("open", state_dtype(self.by.state)))
        return 32 * self.cut[0] * np.dtype(form, align=True).itemsize

    def depth(self, capability: tuple[int, int]) -> int:
        """Return how many tiles of a block may wait for their prefix."""
        depths = range(DEPTH, DEPTH_AT_LEAST, -1)
        fit = (d for d in depths if self._stages(d, capability) >= STAGES_AT_LEAST)
        return next(fit, DEPTH_AT_LEAST)

    def shared(self, schedule: str, capability: tuple[int, int]) -> int:
        """Return the bytes of dynamic shared memory of a block."""
        if schedule == "classic":
            return self.stage + self.kept + self.lists
        return (
            self.stages(capability) * self.stage + self.depth(capability) * self.kept + self.lists
        )

    def stages(self, capability: tuple[int, int]) -> int:
        """Return how many stages the pipelined schedule has; less than STAGES_AT_LEAST are too few."""
        return self._stages(self.depth(capability), capability)

    def _stages(self, depth: int, capability: tuple[int, int]) -> int:
        room = SHARED_BYTES.get(10 * capability[0] + capability[1], 96 << 10)
        slot = 96 + 4 * self.columns + prefix_dtype_of(self).itemsize
        slot += 2 * self.cut[0] * state_dtype_of(self, "pipelined").itemsize
        room -= self.lists + depth * self.kept + (depth + 1) * slot
        return min(STAGES_AT_MOST, room // (self.stage + slot))


def prefix_dtype_of(plan: Plan) -> np.dtype:
    """Return the structured dtype with the memory layout of the C++ struct `Prefix`."""
    return _state_dtype(plan, np.dtype(np.int64))


def state_dtype_of(plan: Plan, schedule: str) -> np.dtype:
    """Return the structured dtype with the memory layout of the C++ struct `State`."""
    return _state_dtype(plan, COUNTS[schedule])


def _state_dtype(plan: Plan, count: np.dtype) -> np.dtype:
    fields = [("marked", count)]
    if plan.visitor == "run_lengths":
        fields.append(("open", count))
    if plan.by is not None:
        fields.append(("open", state_dtype(plan.by.state)))
    return np.dtype(fields, align=True)


def state_words_of(plan: Plan, schedule: str) -> int:
    """Return the four-byte words of a state, as they are published."""
    counts = 2 if plan.visitor == "run_lengths" else 1
    words = counts * COUNTS[schedule].itemsize // 4
    return words + (state_words(plan.by.state) if plan.by else 0)


def scalars_dtype_of(plan: Plan) -> np.dtype:
    """Return the structured dtype of a predicate's scalars."""
    fields = [(f"f{i}", dtype) for i, dtype in enumerate(plan.scalars)]
    return np.dtype(fields or [("none", np.dtype(np.int64))], align=True)


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
    lines = []
    if plan.by is not None:
        inputs, state, outputs = plan.by.inputs, plan.by.state, plan.by.outputs
        lines.append("namespace op {")
        lines += _struct("Element", inputs, "In")
        lines += _struct("State", state, None)
        lines += _struct("Output", outputs, "Out")
        lines += _function("combine", state, [state] * 2, "State", ["State", "State"])
        lines += _function("lift", state, [inputs], "State", ["Element"])
        lines += _function("lower", outputs, [state], "Output", ["State"])
        lines += _function("identity", state, [], "State", [])
        lines += _function("null_output", outputs, [], "Output", [])
        flag = (np.dtype(np.uint8),)
        lines += _function("missing", flag, [inputs], "Missing", ["Element"])
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
        *_words(plan, schedule),
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


def _words(plan: Plan, schedule: str) -> list[str]:
    """A state as words of four bytes, without padding: what is shuffled between lanes and published."""
    parts: list[tuple[str, np.dtype]] = [("s.marked", COUNTS[schedule])]
    if plan.visitor == "run_lengths":
        parts.append(("s.open", COUNTS[schedule]))
    if plan.by is not None:
        parts += [(f"s.open.f{i}", dtype) for i, dtype in enumerate(plan.by.state)]
    first, to, back = 0, "", ""
    for name, dtype in parts:
        to += f"to_words({name}, w.word + {first}); "
        back += f"from_words(w.word + {first}, {name}); "
        first += max(1, dtype.itemsize // 4)
    return [
        f"constexpr int STATE_WORDS = {first};",
        "struct StateWords { u32 word[STATE_WORDS]; };",
        f"__device__ __forceinline__ StateWords words_of(const State& s) {{ StateWords w; {to}return w; }}",
        f"__device__ __forceinline__ State state_of(const StateWords& w) {{ State s; {back}return s; }}",
    ]


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
