"""Facts about operators for operations on columns: one row of traits each, found by what the operator computes.

Operators are equal if their functions are, so a user's own sum has the traits of the built-in one, whatever its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...kernels import BUILT_IN, Operator
from ...kernels.late_dataclass import dataclass
from ...kernels.operators.compensated import SUMS as GROUP_SUMS
from ...kernels.operators.reproducible import SIGNED
from .overflow import PRODUCTS, SUMS, Overflow

_MINIMUM, _MAXIMUM = BUILT_IN["minimum"], BUILT_IN["maximum"]

LARGEST_NUMBER = Operator(
    lambda a, b: a if (a > b) | (b != b) else b,
    _MAXIMUM.identity,
    name="maximum-but-nan",
    inputs=1,
    null_identity=True,
)
SMALLEST_NUMBER = Operator(
    lambda a, b: a if (a < b) | (b != b) else b,
    _MINIMUM.identity,
    name="minimum-but-nan",
    inputs=1,
    null_identity=True,
)


def _least_zero(dtype: np.dtype) -> Any:
    zero = -0.0 if dtype.kind in "fc" else 0
    return complex(zero, zero) if dtype.kind == "c" else zero


SIGNED_SUM = Operator(BUILT_IN["add"].combine, _least_zero, name="add", inputs=1)
"""Sums that begin with -0.0, as adding it changes no number."""

SIGNED_SUMS = (SIGNED_SUM, SIGNED)
"""All operators of such sums."""


REPRODUCIBLE_SUM = BUILT_IN["add_reproducible"]


@dataclass(frozen=True)
class OperatorTraits:
    """Facts about one operator."""

    library_method: str | None = None
    """The method of a dataframe library that scans by it."""
    statistic: str | None = None
    """The statistic of groups and windows that combines their rows by it."""
    over_nan: Operator | None = None
    """The operator for columns in which NaN is not null and an extreme passes over it, as in Arrow."""
    over_rows: Operator | None = None
    """The operator for floating-point rows in no groups, as in NumPy; in groups pandas begins with 0.0."""
    over_groups: tuple[Operator, Operator] | None = None
    """The operators for rows in groups: for answers of float64, with states of several fields, and of float32."""
    keeps_nan: bool = False
    """Whether a state stays NaN once an element was NaN."""
    answers_at_nulls: bool = False
    """Whether the answer at a null is the state rather than a null."""
    takes_times: bool = False
    """Whether it only chooses among elements, and so takes datetimes too."""
    extreme: int = 0
    """1 if it chooses the largest value, -1 if the smallest."""
    overflow: Overflow | None = None
    """How answers that leave an integer type are found; None if none does."""
    of_integers: Operator | None = None
    """The operator for other than floating-point answers, if the states of these have several fields."""


TRAITS: dict[str, OperatorTraits] = {
    BUILT_IN["add"].token: OperatorTraits(
        "cumsum", "sum", None, SIGNED_SUM, GROUP_SUMS, keeps_nan=True, overflow=SUMS
    ),
    REPRODUCIBLE_SUM.token: OperatorTraits(
        "cumsum", "sum", None, SIGNED, of_integers=BUILT_IN["add"]
    ),
    BUILT_IN["multiply"].token: OperatorTraits("cumprod", keeps_nan=True, overflow=PRODUCTS),
    _MAXIMUM.token: OperatorTraits("cummax", "max", LARGEST_NUMBER, keeps_nan=True, extreme=1),
    _MINIMUM.token: OperatorTraits("cummin", "min", SMALLEST_NUMBER, keeps_nan=True, extreme=-1),
    BUILT_IN["logical_any"].token: OperatorTraits(answers_at_nulls=True),
    BUILT_IN["logical_all"].token: OperatorTraits(answers_at_nulls=True),
    BUILT_IN["first"].token: OperatorTraits(statistic="first", takes_times=True),
    BUILT_IN["last"].token: OperatorTraits(statistic="last", takes_times=True),
}
"""The traits of operators, by their tokens; those of other operators are `PLAIN`."""

PLAIN = OperatorTraits()
"""The traits of any other operator."""


def traits_of(op: Operator) -> OperatorTraits:
    """Return the traits of an operator."""
    return TRAITS.get(op.token, PLAIN)


def operator_for(op: Operator, answer: np.dtype) -> Operator:
    """Return the operator that computes the answers of an operator in a dtype.

    Raises
    ------
    TypeError
        For complex numbers, if it has no form for them.

    Examples
    --------
    >>> operator_for(REPRODUCIBLE_SUM, np.dtype("i8")).name
    'add'
    """
    of_integers = traits_of(op).of_integers
    if of_integers is None or answer.kind == "f":
        return op
    if answer.kind == "c":
        raise TypeError(
            f"{op.name} is not defined for {answer}; sum the real and the imaginary part"
        )
    return of_integers


def operator_of(op: Operator, fields: Sequence[Any]) -> Operator:
    """Return the operator that is used for another one and has states of these fields."""
    of_integers = traits_of(op).of_integers
    return op if of_integers is None or len(fields) > 1 else of_integers


def operator_in_groups(op: Operator, answer: np.dtype) -> Operator:
    """Return the operator that computes the answers of an operator in a dtype within groups.

    Examples
    --------
    >>> [operator_in_groups(BUILT_IN["add"], np.dtype(d)).identity for d in ("f8", "f4", "i8")]
    [(0.0, -0.0), 0.0, 0]
    """
    found = traits_of(op).over_groups
    return op if found is None or answer.kind != "f" else found[answer.itemsize < 8]
