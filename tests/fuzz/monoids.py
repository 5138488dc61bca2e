"""Families of monoids with parameters at random, most of which do not commute: exact in Python and when compiled."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dask_gpuscan import Operator, operator


@dataclass(frozen=True)
class Monoid:
    """An operator and its functions as Python has them."""

    name: str
    identity: Any
    combine: Callable[[Any, Any], Any]
    lift: Callable[..., Any]
    lower: Callable[[Any], Any]
    parameters: dict[str, int]

    @property
    def operator(self) -> Operator:
        """The operator, of the same functions."""
        return operator(
            self.combine, identity=self.identity, lift=self.lift, lower=self.lower, name=self.name
        )


def affine(p: int, c: int, d: int) -> Monoid:
    """Maps x -> a x + b modulo a prime."""
    return Monoid(
        "affine",
        (1, 0),
        lambda s, t: (s[0] * t[0] % p, (s[1] * t[0] + t[1]) % p),
        lambda x: ((x + c) % p, (x * d + 1) % p),
        lambda s: s[0] + s[1],
        {"p": p, "c": c, "d": d},
    )


def matrices(p: int, c: int) -> Monoid:
    """Matrices of 2 by 2 modulo a number."""
    return Monoid(
        "matrices",
        (1, 0, 0, 1),
        lambda s, t: (
            (s[0] * t[0] + s[1] * t[2]) % p,
            (s[0] * t[1] + s[1] * t[3]) % p,
            (s[2] * t[0] + s[3] * t[2]) % p,
            (s[2] * t[1] + s[3] * t[3]) % p,
        ),
        lambda x: (x % p, (x + c) % p, 1, c % p),
        lambda s: s[0] + 3 * s[1] + 5 * s[2] + 7 * s[3],
        {"p": p, "c": c},
    )


def max_plus(c: int, d: int) -> Monoid:
    """Maps y -> max(y + a, b)."""
    return Monoid(
        "max_plus",
        (0, -(10**12)),
        lambda s, t: (s[0] + t[0], max(s[1] + t[0], t[1])),
        lambda x: (x - c, d),
        lambda s: max(s[0], s[1]),
        {"c": c, "d": d},
    )


def clamps(low: int, high: int) -> Monoid:
    """Maps y -> min(max(y + a, low), high)."""
    return Monoid(
        "clamps",
        (0, -(10**12), 10**12),
        lambda s, t: (
            s[0] + t[0],
            min(max(s[1] + t[0], t[1]), t[2]),
            min(max(s[2] + t[0], t[1]), t[2]),
        ),
        lambda x: (x, low, high),
        lambda s: min(max(s[0], s[1]), s[2]),
        {"low": low, "high": high},
    )


def texts(most: int, base: int) -> Monoid:
    """The last letters of texts, packed in an integer behind their number."""
    return Monoid(
        "texts",
        (0, 0),
        lambda s, t: (
            min(s[0] + t[0], most),
            (s[1] * base ** t[0] + t[1]) % base**most,
        ),
        lambda x: (1, x % base),
        lambda s: s[1] * 8 + s[0],
        {"most": most, "base": base},
    )


def automata(table: int, start: int) -> Monoid:
    """Maps of four states to themselves, by a table at random of what each of four letters does."""
    return Monoid(
        "automata",
        0b11_10_01_00,
        lambda f, g: (
            ((g >> (2 * (f & 3))) & 3)
            | (((g >> (2 * ((f >> 2) & 3))) & 3) << 2)
            | (((g >> (2 * ((f >> 4) & 3))) & 3) << 4)
            | (((g >> (2 * ((f >> 6) & 3))) & 3) << 6)
        ),
        lambda x: (table >> (8 * (x & 3))) & 255,
        lambda f: (f >> (2 * start)) & 3,
        {"table": table, "start": start},
    )


def brackets(m: int) -> Monoid:
    """Brackets that have no partner: closing and opening ones."""
    return Monoid(
        "brackets",
        (0, 0),
        lambda s, t: (s[0] + max(t[0] - s[1], 0), t[1] + max(s[1] - t[0], 0)),
        lambda x: (1 if x % m == 0 else 0, 1 if x % m == 1 else 0),
        lambda s: 100_000 * s[0] + s[1],
        {"m": m},
    )


def firsts(m: int) -> Monoid:
    """The largest value so far, the first of equal ones, with the value that came with it."""
    return Monoid(
        "firsts",
        (-(10**12), 0),
        lambda s, t: t if t[0] > s[0] else s,
        lambda x: (x % m, x),
        lambda s: s[1],
        {"m": m},
    )


SMALL = st.integers(0, 8)
FAMILIES: dict[str, st.SearchStrategy[Monoid]] = {
    "affine": st.builds(affine, st.sampled_from((2, 3, 7, 65_521, 2**31 - 1)), SMALL, SMALL),
    "max_plus": st.builds(max_plus, SMALL, SMALL),
    "automata": st.builds(automata, st.integers(0, 2**32 - 1), st.integers(0, 3)),
    "texts": st.builds(texts, st.integers(1, 7), st.sampled_from((2, 10, 256))),
    "matrices": st.builds(matrices, st.sampled_from((2, 5, 10_007)), SMALL),
    "clamps": st.builds(clamps, st.integers(-4, 0), st.integers(0, 19)),
    "brackets": st.builds(brackets, st.integers(2, 5)),
    "firsts": st.builds(firsts, st.integers(1, 5)),
}
"""By name."""


def scanned(
    monoid: Monoid, items: Any, valid: Any, exclusive: bool, reverse: bool, state: Any
) -> tuple[list[int], Any]:
    """Return what a loop writes for each element, and the state behind the last."""
    out = np.zeros(len(items), np.int64)
    for i in range(len(items))[:: -1 if reverse else 1]:
        after = monoid.combine(state, monoid.lift(int(items[i]))) if valid[i] else state
        out[i] = monoid.lower(state if exclusive else after)
        state = after
    return out.tolist(), state
