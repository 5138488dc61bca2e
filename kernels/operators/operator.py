"""The operator: an associative combination with identity over a small state.

An operator consists of plain Python functions and constants, which every backend compiles.
"""

# Numba reads the operators' functions.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from types import FunctionType
from typing import Any, TypeAlias

import cloudpickle
import numpy as np

from ..compiler.closure_constants import Extracted, extract_constants
from ..compiler.frozen_functions import freeze
from ..compiler.function_fingerprint import fingerprint
from ..late_dataclass import dataclass
from ..messages import shown

State: TypeAlias = Any
"""A number, or a tuple of numbers, in a function of an operator."""

Element: TypeAlias = Any
"""A number of an array, in a function of an operator."""

NUMBERS = (bool, int, float, complex, np.number, np.bool_)
"""The types of the numbers in states and elements."""

ROLES = ("combine", "lift", "lower")
"""The functions of an operator."""


@dataclass(frozen=True, eq=False)
class Code:
    """The compiled parts of an operator: functions, which may be None, and the numbers that are their first arguments.

    `token` identifies the functions and does not depend on the numbers.
    """

    token: str
    functions: dict[str, Any]
    values: tuple[tuple[np.generic, ...], ...]
    """The numbers of each function, in the order of `ROLES`."""


def _code(parts: Sequence[Extracted | None]) -> Code:
    functions = [None if part is None else part.function for part in parts]
    values = tuple(() if part is None else part.values for part in parts)
    dtypes = [[x.dtype.name for x in each] for each in values]
    token = fingerprint(*functions, str(dtypes))
    return Code(token, dict(zip(ROLES, functions, strict=True)), values)


@dataclass(frozen=True, eq=False)
class Operator:
    """An associative operator with identity over a fixed-size state (a monoid).

    Parameters
    ----------
    combine : callable
        ``combine(earlier, later) -> state``. Associative; need not commute. A state is a scalar or a
        flat tuple of scalars.
    identity : scalar, tuple or callable
        The state with ``combine(identity, s) == s == combine(s, identity)``; or a function that
        returns it for the dtypes of the inputs.
    lift : callable, optional
        ``lift(element, ...) -> state``, with a parameter for each input array. By default the element itself is the
        state.
    lower : callable, optional
        ``lower(state) -> element``, what a scan writes. By default the state itself.
    name : str, optional
        For messages and graph names.
    inputs : int, optional
        Number of input arrays; by default the number of parameters of `lift`, else the size of
        the identity.
    null_identity : bool, default False
        Whether the answer for no elements should be a null rather than the identity, as for a minimum.
    in_order : bool, default False
        Whether floating-point states must be combined element by element, because states of many elements may overflow
        when a scan in order does not, such as products.
    check : bool, default False
        Whether to look for counter-examples to associativity; see `operator`.

    Notes
    -----
    Functions are compiled by Numba: they may use arithmetic, comparisons, conditionals, ``math`` and
    helper functions of the same kind. They keep the values that they use now. The token depends only on their content,
    so that equal operators get equal graph names. Operators that differ only in the numbers that their functions
    capture share one compiled kernel (`code`; in `constant` the numbers are constants).

    Examples
    --------
    >>> op = Operator(lambda a, b: a + b, 0, name="plus")
    >>> op
    Operator('plus', inputs=1, identity=0)
    """

    combine: Callable[..., Any]
    identity: Any
    lift: Callable[..., Any] | None = None
    lower: Callable[..., Any] | None = None
    name: str = "operator"
    inputs: int = 0
    null_identity: bool = False
    in_order: bool = False
    check: bool = False
    token: str = field(init=False, repr=False, default="")

    def __post_init__(self) -> None:
        for role, parameters in (("combine", 2), ("lift", None), ("lower", 1)):
            given = getattr(self, role)
            if given is not None or role == "combine":
                plain = freeze(_plain(given, role, parameters))
                object.__setattr__(self, role, plain)
        if not self.inputs:
            inputs = 1
            if self.lift is not None:
                inputs = len(_required(self.lift))
            elif isinstance(self.identity, tuple):
                inputs = len(self.identity)
            object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "token", self.fingerprint())

    @property
    def code(self) -> Code:
        """The compiled parts, with numbers that functions capture as their parameters."""
        return self._kept("_code", extract_constants)

    @property
    def constant(self) -> Code:
        """The compiled parts, with all numbers as constants."""
        return self._kept("_constant", Extracted) if any(self.code.values) else self.code

    def _kept(self, name: str, extract: Callable[[Any], Extracted]) -> Code:
        # not `cached_property`, as a fork would not wait for its lock
        kept: dict[str, Any] = vars(self)
        if name not in kept:
            functions = [getattr(self, role) for role in ROLES]
            kept[name] = _code([None if f is None else extract(f) for f in functions])
        found: Code = kept[name]
        return found

    def fingerprint(self) -> str:
        """Return the token of the operator's content as it is now."""
        parts = (self.combine, self.identity, self.lift, self.lower, self.inputs)
        return fingerprint(*parts, self.null_identity, self.in_order)

    def identity_for(self, *dtypes: np.dtype) -> Any:
        """Return the identity for inputs of these dtypes: a scalar or a tuple."""
        return self.identity(*dtypes) if callable(self.identity) else self.identity

    def __repr__(self) -> str:
        identity = "<by dtype>" if callable(self.identity) else self.identity
        return f"Operator({self.name!r}, inputs={self.inputs}, identity={identity})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operator) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)

    def __dask_tokenize__(self) -> tuple[str, str]:
        return ("dask_gpuscan.Operator", self.token)

    @cached_property
    def _pickled(self) -> bytes:
        parts = (self.combine, self.identity, self.lift, self.lower, self.name, self.inputs)
        flags = (self.null_identity, self.in_order, self.check)
        pickled: bytes = cloudpickle.dumps((*parts, *flags))
        return pickled

    def __reduce__(self) -> Any:
        return (
            (_built_in, (self.name,))
            if BUILT_IN.get(self.name) is self
            else (_load, (self._pickled,))
        )


def _plain(function: Any, role: str, parameters: int | None) -> Any:
    """Return a function written in Python, also from under ``numba.njit``; refuse anything else."""
    function = getattr(function, "py_func", function)
    if not isinstance(function, FunctionType):
        raise TypeError(
            f"{role} must be a function written in Python (def or lambda), found {shown(function)}; "
            f"wrap it in a lambda"
        )
    if parameters is not None and len(_required(function)) != parameters:
        raise TypeError(
            f"{role} must take {parameters} parameter{'s' * (parameters > 1)}, found "
            f"{function.__name__}{inspect.signature(function)}"
        )
    return function


def _required(function: Any) -> list[Any]:
    """Parameters that a call must give."""
    parameters = inspect.signature(function).parameters.values()
    return [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]


BUILT_IN: dict[str, Operator] = {}
"""The built-in operators by name; `built_in` fills it."""


def _built_in(name: str) -> Operator:
    return BUILT_IN[name]


@lru_cache(maxsize=256)
def _load(pickled: bytes) -> Operator:
    return Operator(*cloudpickle.loads(pickled))


def operator(
    combine: Callable[..., Any],
    *,
    identity: Any,
    lift: Callable[..., Any] | None = None,
    lower: Callable[..., Any] | None = None,
    name: str | None = None,
    check: bool = True,
) -> Operator:
    """Make an operator from plain Python functions.

    Parameters
    ----------
    combine : callable
        ``combine(earlier, later) -> state``, associative.
    identity : scalar or tuple
        The state that changes nothing; its form (scalar or tuple) is the state's.
    lift : callable, optional
        ``lift(element) -> state``; with several parameters, it takes one element of each input.
    lower : callable, optional
        ``lower(state) -> element``.
    name : str, optional
        Default: the name of `combine`.
    check : bool, default True
        Whether a scan checks the operator. When the scan is built, the elements 1, 2 and 3 are combined in every order
        and grouping, except those that the identity changes; a difference is an error. Then up to 200 elements of the
        data are combined from left to right, from right to left and by halves, for the first 32 samples of a dtype and
        for samples out of their range: a difference beyond rounding is a ValueError that shows the three answers, and
        so is an element that the identity changes. Use False for an operator that is associative only on the data that
        it is used on.

    Returns
    -------
    Operator

    Raises
    ------
    TypeError
        If a function is not callable, or the identity is neither a number nor a flat tuple of numbers.
    ValueError
        If `check` is neither True nor False.

    See Also
    --------
    check_associative : The same on given samples.

    Examples
    --------
    The running position of the largest value so far:

    >>> import dask_gpuscan, numpy as np
    >>> argmax = dask_gpuscan.operator(
    ...     lambda a, b: b if b[0] > a[0] else a,
    ...     identity=(-np.inf, -1),
    ...     lift=lambda x, i: (x, i),
    ...     lower=lambda s: s[1],
    ... )
    >>> x = np.array([3.0, 5.0, 4.0, 7.0])
    >>> dask_gpuscan.scan((x, np.arange(4)), argmax)
    array([0, 1, 1, 3])
    """
    if not callable(identity):
        for state in identity if isinstance(identity, tuple) else (identity,):
            if not isinstance(state, NUMBERS):
                raise TypeError(
                    f"identity must be a number or a flat tuple of numbers, found {shown(identity)}"
                )
        if isinstance(identity, tuple) and len(identity) < 2:
            raise TypeError(
                f"identity must be a number or a tuple of two or more, found {shown(identity)}: a state of one number "
                f"is the number itself"
            )
    if not isinstance(check, (bool, np.bool_)):
        raise ValueError(f"check must be True or False, found {shown(check)}")
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a str or None, found {shown(name)}")
    called = name or str(getattr(combine, "__name__", "operator"))
    return Operator(combine, identity, lift, lower, called, check=bool(check))
