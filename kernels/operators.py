"""The operator: an associative combination with identity over a small state; made by users, restarted, checked.

An operator is plain Python functions and constants: every backend compiles the same ones.
"""

# Numba reads the operators' functions.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from types import FunctionType
from typing import Any

import cloudpickle
import numpy as np

from .captured import Hoisted, hoist
from .messages import shown
from .user_functions import fingerprint, freeze

_NUMBERS = (bool, int, float, complex, np.number, np.bool_)

ROLES = ("combine", "lift", "lower")
"""The functions of an operator."""


@dataclass(frozen=True, eq=False)
class Code:
    """What is compiled of an operator: its functions, which may be None, and numbers that they take first.

    `token` tells it from the code of others; it is the same for all values of the numbers.
    """

    token: str
    functions: dict[str, Any]
    values: tuple[tuple[np.generic, ...], ...]
    """The numbers of each function, in the order of `ROLES`."""


def _code(parts: Sequence[Hoisted | None]) -> Code:
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
        ``lift(element, ...) -> state``, one parameter an input array. By default the element itself
        is the state.
    lower : callable, optional
        ``lower(state) -> element``, what a scan writes. By default the state itself.
    name : str, optional
        For messages and graph names.
    inputs : int, optional
        Number of input arrays; by default the number of parameters of `lift`, else the size of
        the identity.
    null_identity : bool, default False
        Whether what no element has been combined into is better a null than the identity, as for a minimum.
    in_order : bool, default False
        Whether floating-point states must be combined element by element, because states of many
        elements overflow where such a walk does not, as products do.
    check : bool, default False
        Whether a scan looks for a counter-example to associativity when it is built; see `operator`.

    Notes
    -----
    Functions are compiled by Numba: they may use arithmetic, comparisons, conditionals, ``math`` and
    helper functions of the same kind. They keep what they use as it is now. The token depends on their
    content alone, so that equal operators get equal graph names; those that differ in no more than the
    numbers that their functions capture share one compiled kernel (`code`; in `constant` they are
    constants).

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
    code: Code = field(init=False, repr=False)
    constant: Code = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for role, parameters in (("combine", 2), ("lift", None), ("lower", 1)):
            given = getattr(self, role)
            if given is not None:
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
        functions = [getattr(self, role) for role in ROLES]
        code = _code([None if f is None else hoist(f) for f in functions])
        constant = code
        if any(code.values):
            constant = _code([None if f is None else Hoisted(f) for f in functions])
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "constant", constant)

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
        Whether a scan by this operator, when it is built, combines the elements 1, 2 and 3 in every order and
        grouping, and refuses an operator that is not associative on them; of these, the elements are left out that
        the identity changes. False for an operator that is associative on the data that it is used on.

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
    check_associative : The same on samples of one's own.

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
            if not isinstance(state, _NUMBERS):
                raise TypeError(
                    f"identity must be a number or a flat tuple of numbers, found {shown(identity)}"
                )
    if not isinstance(check, (bool, np.bool_)):
        raise ValueError(f"check must be True or False, found {shown(check)}")
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a str or None, found {shown(name)}")
    called = name or str(getattr(combine, "__name__", "operator"))
    return Operator(combine, identity, lift, lower, called, check=bool(check))


def segmented(op: Operator) -> Operator:
    """Return the operator that restarts `op` wherever a head flag is true.

    Parameters
    ----------
    op : Operator
        Any operator. The new one takes one more input, first: the head flags.

    Returns
    -------
    Operator
        Its state is ``(head, *state of op)``.

    Notes
    -----
    The construction is that of Blelloch, *Prefix sums and their applications* (CMU-CS-90-190, 1.5):
    a scan within segments is a scan with a flag in its state.

    Examples
    --------
    >>> import dask_gpuscan, numpy as np
    >>> head = np.array([True, False, True, False])
    >>> dask_gpuscan.scan((head, np.array([1, 2, 3, 4])), segmented(dask_gpuscan.add))
    array([1, 3, 3, 7])
    """
    if not isinstance(op, Operator):
        raise TypeError(f"op must be an Operator, found {shown(op)}")
    base_combine, base_lift, base_lower = op.combine, op.lift, op.lower

    def identity(*dtypes: np.dtype) -> Any:
        inner = op.identity_for(*dtypes[1:])
        return (False, *inner) if isinstance(inner, tuple) else (False, inner)

    def combine_scalar(a, b):
        return b if b[0] else (a[0], base_combine(a[1], b[1]))

    def combine_tuple(a, b):
        return b if b[0] else (a[0], *base_combine(a[1:], b[1:]))

    # The form of the state follows from the form of the identity, whatever the dtype.
    is_tuple = isinstance(op.identity_for(*[np.dtype("f8")] * op.inputs), tuple)
    return Operator(
        combine_tuple if is_tuple else combine_scalar,
        identity,
        _segmented_lift(base_lift, op.inputs, is_tuple),
        _segmented_lower(base_lower, is_tuple),
        name=f"segmented({op.name})",
        inputs=op.inputs + 1,
        null_identity=op.null_identity,
        in_order=op.in_order,
    )


def _segmented_lift(base: Any, inputs: int, is_tuple: bool) -> Callable[..., Any]:
    elements = ", ".join(f"x{i}" for i in range(inputs))
    state = elements if base is None else f"{'*' * is_tuple}base({elements})"
    made: Callable[..., Any] = eval(f"lambda base: lambda head, {elements}: (head != 0, {state})")(
        base
    )
    return made


def _segmented_lower(base: Any, is_tuple: bool) -> Callable[..., Any]:
    def scalar(s):
        return s[1]

    def lowered_scalar(s):
        return base(s[1])

    def state(s):
        return s[1:]

    def lowered_state(s):
        return base(s[1:])

    if is_tuple:
        return state if base is None else lowered_state
    return scalar if base is None else lowered_scalar


def counter_example(
    op: Operator,
    combine: Callable[[Any, Any], Any],
    states: Sequence[Any],
    same: Callable[[Any, Any], bool],
) -> str | None:
    """Return what is said of the first three states for which it matters which two are combined first, if there are."""
    for a, b, c in product(states, repeat=3):
        one, other = combine(combine(a, b), c), combine(a, combine(b, c))
        if not same(one, other):
            x, y, z, left, right = (repr(_bare(state)) for state in (a, b, c, one, other))
            return (
                f"{op.name} is not associative: combine(combine({x}, {y}), {z}) is {left}, "
                f"combine({x}, combine({y}, {z})) is {right}"
            )
    return None


def _bare(state: Any) -> Any:
    """Return a state as numbers of Python."""
    if isinstance(state, tuple):
        return tuple(map(_bare, state))
    return state.item() if isinstance(state, np.generic) else state


def check_associative(op: Operator, samples: Sequence[Any], *, rtol: float = 1e-9) -> None:
    """Look for a counter-example to the laws that a scan relies on.

    Parameters
    ----------
    op : Operator
        The operator to check.
    samples : sequence
        Elements; for an operator of several inputs, tuples of elements. All triples are tried.
    rtol : float, default 1e-9
        Relative tolerance for floating-point states.

    Raises
    ------
    ValueError
        With the counter-example, if ``combine`` is not associative on the samples or the identity
        is none.

    Examples
    --------
    >>> check_associative(BUILT_IN["add"], [1, 2, 3])
    >>> check_associative(Operator(lambda a, b: a - b, 0, name="minus"), [1, 2, 3])
    Traceback (most recent call last):
        ...
    ValueError: minus is not associative: combine(combine(1, 1), 1) is -1, combine(1, combine(1, 1)) is 1
    """
    if not isinstance(op, Operator):
        raise TypeError(f"op must be an Operator, found {shown(op)}")
    if isinstance(rtol, bool) or not isinstance(rtol, (int, float, np.number)) or not rtol >= 0:
        raise ValueError(f"rtol must be a number that is not negative, found {shown(rtol)}")
    try:
        elements = [e if isinstance(e, tuple) else (e,) for e in samples]
    except TypeError:
        raise TypeError(f"samples must be a list of elements, found {shown(samples)}") from None
    if not all(isinstance(x, _NUMBERS) for element in elements for x in element):
        raise TypeError(f"samples must be numbers, or tuples of numbers, found {shown(samples)}")
    if any(len(e) != op.inputs for e in elements):
        raise ValueError(f"samples must be elements of {op.inputs} numbers for {op.name}")
    if not elements:
        raise ValueError("samples must hold at least one element")
    dtypes = [np.asarray(x).dtype for x in elements[0]]
    identity = op.identity_for(*dtypes)

    def lift(element: tuple[Any, ...]) -> Any:
        if op.lift is not None:
            return op.lift(*element)
        return element if op.inputs > 1 else element[0]

    def same(x: Any, y: Any) -> bool:
        return bool(np.all(np.isclose(x, y, rtol=float(rtol), atol=0, equal_nan=True)))

    states = [lift(e) for e in elements]
    found = counter_example(op, op.combine, states, same)
    if found:
        raise ValueError(found)
    for s in states:
        for left, right in ((identity, s), (s, identity)):
            if not same(op.combine(left, right), s):
                raise ValueError(
                    f"{op.name} has no identity {identity!r}: combine({left!r}, {right!r}) is "
                    f"{op.combine(left, right)!r}, not {s!r}"
                )
