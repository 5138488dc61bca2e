"""The pass of a narrow table: an element is a row of items, and its state a row of states.

So a table is scanned as one line, by the same kernels, and its columns are combined separately.
"""

from dataclasses import fields
from functools import cached_property

import numpy as np

from ...late_dataclass import dataclass
from ...operators.built_in import traits_of
from ..core.plan import Capability, state_dtype, state_words
from ..core.source import answer_source, operator_source, struct, words_of
from .scan_pass import ScanPass
from .tuning import (
    TABLE_AGGREGATORS,
    TABLE_LOOKBACKS,
    TABLE_WORDS,
    WIDE_TABLE_LOOKBACKS,
    Tile,
    table_tile_for,
)


@dataclass(frozen=True)
class TablePass(ScanPass):
    """A scan or reduction along the rows of tables of `across` columns, without missing items."""

    across: int  # type: ignore[misc]

    @cached_property
    def carry(self) -> np.dtype:
        """The operator's state of each column."""
        return np.dtype((state_dtype(self.operator.state), (self.across,)))

    @cached_property
    def words(self) -> int:
        """Four-byte words of a row of states."""
        return self.across * state_words(self.operator.state)

    @cached_property
    def tile(self) -> Tile:
        """How a tile is cut."""
        return table_tile_for(self.operator.inputs, self.operator.outputs, self.across)

    @property
    def row_vector(self) -> int:
        """How many rows of a short table a lane has."""
        return 1

    @property
    def rakes(self) -> bool:
        """True: rows of states are large."""
        return True

    @property
    def adds_digits(self) -> bool:
        """False: sums of digits are never scanned as rows."""
        return False

    @property
    def adds_bytes(self) -> bool:
        """False: columns are combined one by one."""
        return False

    @property
    def aggregators(self) -> int:
        """How many warps of the pipelined schedule reduce tiles that are scanned."""
        return TABLE_AGGREGATORS

    def lookbacks(self, capability: Capability) -> int:
        """Return how many warps of the pipelined schedule look back: no more than there are stages."""
        wanted = TABLE_LOOKBACKS if self.words < TABLE_WORDS else WIDE_TABLE_LOOKBACKS
        return min(wanted, self.stages(capability))

    def keeps_lanes(self, schedule: str) -> bool:
        """Return False: lanes reduce their rows again, and the memory holds more stages instead."""
        return False

    def functions_source(self) -> list[str]:
        """Declare the operator of rows, which combines them column by column; `column` has the operator of one item."""
        of, across = self.operator, self.across
        start = "__device__ __forceinline__"
        each = f"\n#pragma unroll\nfor (int j = 0; j < {across}; j++) "
        element = ", ".join(f"e.f{i}.of[j]" for i in range(len(of.inputs)))
        output = " ".join(f"y.f{i}.of[j] = one.f{i};" for i in range(len(of.outputs)))
        return [
            "namespace column {",
            *operator_source(of),
            *words_of([(f"s.f{i}", dtype) for i, dtype in enumerate(of.state)]),
            "}",
            f"template <class T> struct Row {{ T of[{across}]; }};",
            *struct("Element", of.inputs, "In", rows=True),
            *struct("Output", of.outputs, "Out", rows=True),
            f"struct State {{ column::State of[{across}]; }};",
            f"{start} State combine(const State& a, const State& b) {{ State s;{each}"
            "s.of[j] = column::combine(a.of[j], b.of[j]); return s; }",
            f"{start} State identity() {{ State s;{each}s.of[j] = column::identity(); return s; }}",
            f"{start} State lift(const Element& e) {{ State s;{each}"
            f"s.of[j] = column::lift({{{element}}}); return s; }}",
            f"{start} Output lower(const State& s) {{ Output y;{each}"
            f"{{ column::Output one = column::lower(s.of[j]); {output} }} return y; }}",
            f"{start} Output null_output() {{ Output y;{each}"
            f"{{ column::Output one = column::null_output(); {output} }} return y; }}",
            f"{start} bool is_missing(const Element&) {{ return false; }}",
            *answer_source(len(of.outputs)),
            f"constexpr int STATE_WORDS = {across} * column::STATE_WORDS;",
            "struct StateWords { u32 word[STATE_WORDS]; };",
            f"{start} StateWords words_of(const State& s) {{ StateWords w;{each}"
            "{ column::StateWords one = column::words_of(s.of[j]); "
            "memcpy(w.word + j * column::STATE_WORDS, one.word, sizeof(one)); } return w; }",
            f"{start} State state_of(const StateWords& w) {{ State s;{each}"
            "{ column::StateWords one; "
            "memcpy(one.word, w.word + j * column::STATE_WORDS, sizeof(one)); "
            "s.of[j] = column::state_of(one); } return s; }",
        ]


def table_of(each: ScanPass, inner: int) -> ScanPass:
    """Return the pass for `inner` lines side by side: a `TablePass` if a thread's registers can hold a row's states."""
    of = each.operator
    plain = each.nulls == "none" and not of.is_native and of.follow is None
    if plain and not traits_of(of.op).adds_digits and 1 < inner <= TABLE_WORDS // each.words:
        options = {field.name: getattr(each, field.name) for field in fields(each)}
        return TablePass(**options, across=inner)
    return each
