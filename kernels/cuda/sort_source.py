"""The CUDA source of the passes of sorting: constants and the types of keys, values and positions."""

from ..options import RANKS
from .plan import Capability
from .sort_pass import (
    CountPass,
    DigitPass,
    KeyCode,
    MovePass,
    PlacePass,
    RankPass,
    SearchPass,
    TiesPass,
)
from .source import constants_source, include
from .tuning import DIGIT_BATCH, SWEEP_ITEMS, SWEEP_THREADS

SortPass = CountPass | TiesPass | RankPass | SearchPass | MovePass | PlacePass | DigitPass


def sort_source(each: SortPass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a pass. Each step of `relief` leaves more registers to a thread."""
    threads, rows = SWEEP_THREADS, SWEEP_ITEMS
    constants: dict[str, int]
    if isinstance(each, MovePass | PlacePass):
        types = [f"using Key = {_word(each.size)};", f"using Position = {_word(each.position)};"]
        constants = {"PUTS": each.puts} if isinstance(each, MovePass) else {}
    else:
        types = [f"using Key = {_word(each.code.size)};"]
        constants = _code_constants(each.code)
    if isinstance(each, RankPass):
        constants["METHOD"] = tuple(RANKS).index(each.method)
    if isinstance(each, SearchPass):
        constants["RIGHT"] = each.right
    if isinstance(each, CountPass):
        threads, rows, copies, resident = each.shape
        constants |= {"DIGITS": each.code.size, "COPIES": copies, "RESIDENT": resident}
    if isinstance(each, DigitPass):
        threads, rows, resident = each.shape
        types += [
            f"using Value = {_word(each.value or 1)};",
            f"using Written = {_word(8 if each.widens else each.value or 1)};",
            f"using Count = {'u64' if each.wide else 'u32'};",
        ]
        constants |= {
            "VALUES": each.value > 0,
            "POSITIONS": each.positions,
            "WRITES_KEYS": each.writes_keys,
            "BATCH": DIGIT_BATCH,
            "RESIDENT": max(1, resident - relief),
        }
    if isinstance(each, PlacePass):
        rows = each.tile // threads
    constants |= {"THREADS": threads, "ITEMS": rows, "TILE": threads * rows}
    lines = include("words") + constants_source(constants) + types
    if not isinstance(each, MovePass | PlacePass):
        size = each.code.size
        lines.append(
            f"constexpr {_word(size)} INFINITE = {each.code.infinite}u{'ll' * (size == 8)};"
        )
        lines += include("sort_code", *["merge_path"] * isinstance(each, SearchPass))
    return "\n".join([*lines, *include(each.visitor.source), ""])


def _code_constants(code: KeyCode) -> dict[str, int]:
    kinds = {"SIGNED": "signed", "TIMES": "times", "FLOATS": "floats"}
    return {name: int(code.kind == kind) for name, kind in kinds.items()} | {
        "DESCENDING": code.descending,
        "NULLS_FIRST": code.nulls_first,
    }


def _word(size: int) -> str:
    return "c128" if size == 16 else f"u{8 * size}"
