"""The CUDA source of scans and reductions: what is generated from types and options, then the engine."""

from ..built_in import facts_of
from ..reproducible import HIGHEST, LOWEST, NOTHING, ORIGIN, WIDTH
from .plan import Capability
from .scan_pass import ScanPass
from .source import (
    constants_source,
    exclusive_bits,
    include,
    numbers_source,
    operator_source,
    words_of,
)
from .tuning import (
    GROUP_WORDS,
    PANEL_BLOCKS,
    RAKE_CHAINS,
    RESIDENT_WARPS,
    SWIZZLE_FROM,
    WIDE_BATCH,
    WIDE_GROUP_WORDS,
    WINDOW,
    lookbacks_for,
)

NULLS = ("none", "in band", "bits", "bytes")
"""Where missing items are told, in the order of the enumeration in scan_tile.cuh."""


def scan_source(each: ScanPass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a scan. Each step of `relief` leaves more registers to a thread."""
    of, tile, words = each.operator, each.tile, each.words
    wide, pipelined = words > 2, schedule == "pipelined"
    constants = {
        "INPUTS": len(of.inputs),
        "OUTPUTS": len(of.outputs),
        "VN": tile.vector,
        "ROWS": tile.rows,
        "WARPS": tile.warps,
        "STAGES": each.stages(capability),
        "GROUP_WORDS": (WIDE_GROUP_WORDS if wide and pipelined else GROUP_WORDS) >> relief,
        "AGGREGATORS": each.aggregators,
        "LOOKBACKS": lookbacks_for(words),
        "WINDOW": WINDOW,
        "BATCH": max(1, (WIDE_BATCH if wide else WINDOW) >> relief),
        "RESIDENT": max(1, RESIDENT_WARPS // tile.warps >> relief),
        "RAKES": each.rakes,
        "RAKE_CHAINS": RAKE_CHAINS,
        "KEEPS_LANES": each.keeps_lanes(schedule),
        "SWIZZLE": pipelined and (each.rakes or len(of.inputs) >= SWIZZLE_FROM),
        "STREAM": schedule == "classic",
        "NULLS": NULLS.index(each.nulls),
        "EXCLUSIVE": exclusive_bits(each.exclusive, len(of.outputs)),
        "REVERSE": each.reverse,
        "MARK_NULLS": each.mark_nulls,
        "WRITE": each.write,
        "FOLLOWS": of.follow is not None,
        "DIGITS": each.adds_digits,
        "DIGITS_OF_FINITE": facts_of(of.op).skips_infinite,
        "DIGIT_WIDTH": WIDTH,
        "DIGIT_ORIGIN": ORIGIN,
        "LOWEST_BIN": LOWEST,
        "HIGHEST_BIN": HIGHEST,
    }
    if schedule == "strided":
        panel = each.panel
        constants |= {"VN": panel.vector, "WARPS": panel.warps, "DEPTH": panel.depth}
        constants["RESIDENT"] = max(1, PANEL_BLOCKS >> relief)
    if schedule == "rows":  # no number of blocks is asked for, or one
        constants["RESIDENT"] = int(relief > 0)
    visitor = each.visitor
    lines = include("words", "int128") + constants_source(constants)
    lines += numbers_source(of) + operator_source(of)
    if facts_of(of.op).adds_digits:
        lines.append(
            f"template <> constexpr int FIRST_DIGIT<State> = {len(of.state) - len(NOTHING)};"
        )
    lines += words_of([(f"s.f{i}", dtype) for i, dtype in enumerate(of.state)])
    lines += include("states", visitor.source, "lookback", f"{visitor.engine}_{schedule}")
    return "\n".join([*lines, ""])
