"""Folds: a function of a state and a row goes through rows in order, which no operator can do for it.

The function is compiled by Numba for the dtypes of the columns. Groups have a state each, by their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .bounded_cache import BoundedCache
from .compiler.frozen_functions import freeze, rebuild
from .compiler.function_fingerprint import fingerprint
from .compiler.late import numba
from .late_dataclass import dataclass
from .messages import shown
from .operators.inference import reason_of

Form = tuple[np.dtype, ...]

NUMBERS = (bool, int, float, np.number, np.bool_)


class Forms(NamedTuple):
    """The dtypes of the fields of states and of answers, and whether an answer is a number rather than a tuple."""

    state: Form
    answer: Form
    is_number: bool


@dataclass(frozen=True, eq=False)
class Step:
    """A function ``(state, *row) -> (state, answer)``, and the first state; equal if both have the same content."""

    function: Callable[..., Any]
    initial: Any
    code: str
    """A digest of the function, and of what it uses."""

    @classmethod
    def of(cls, function: Any, initial: Any) -> Step:
        """Make a step; raises a TypeError for what is no function, and no state."""
        function = getattr(function, "py_func", function)  # of one that Numba has compiled
        if not hasattr(function, "__code__"):
            raise TypeError(f"step must be a function of Python, found {shown(function)}")
        fields = initial if isinstance(initial, tuple) else (initial,)
        if not fields or not all(isinstance(field, NUMBERS) for field in fields):
            raise TypeError(
                f"initial must be a number or a flat tuple of numbers, found {shown(initial)}"
            )
        if any(isinstance(field, int) and not -(2**63) <= field < 2**63 for field in fields):
            raise ValueError(f"initial must have integers of 64 bits, found {shown(initial)}")
        frozen = freeze(function)
        return cls(frozen, initial, fingerprint(frozen))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Step) and other.__dask_tokenize__() == self.__dask_tokenize__()

    def __hash__(self) -> int:
        return hash(self.code)

    def __dask_tokenize__(self) -> tuple[str, str]:
        return self.code, repr(self.initial)

    @property
    def fields(self) -> tuple[Any, ...]:
        """The fields of the first state."""
        return self.initial if isinstance(self.initial, tuple) else (self.initial,)

    def forms(self, inputs: Form) -> Forms:
        """Return the dtypes of states and answers for columns of these dtypes; raises a TypeError if there are none."""
        return self._compiled(inputs)[0]

    def _compiled(self, inputs: Form) -> tuple[Forms, Any]:
        kinds = isinstance(self.initial, tuple), *map(type, self.fields)
        key = self.code, kinds, inputs
        return _COMPILED.get(key) or _COMPILED.store(key, _compile(self, inputs))

    def run(
        self,
        columns: Sequence[Any],
        states: Sequence[Any],
        codes: Any = None,
        skipped: Any = None,
    ) -> list[Any]:
        """Go through rows, and return an array for each field of the answers.

        Parameters
        ----------
        columns : sequence of arrays
            The fields of the rows.
        states : sequence of arrays
            For each field of the state, that of each group; it is changed.
        codes : array of int, optional
            The group of each row; by default all are of the first.
        skipped : array of bool, optional
            Which rows have no answer and leave the state as it is.
        """
        forms, loop = self._compiled(tuple([column.dtype for column in columns]))
        count = len(columns[0])
        answers = [(np.empty if skipped is None else np.zeros)(count, d) for d in forms.answer]
        none = np.empty(0, np.bool_)
        codes = np.empty(0, np.int64) if codes is None else codes.astype(np.int64, copy=False)
        loop(codes, none if skipped is None else skipped, *columns, *states, *answers)
        return answers


_COMPILED: BoundedCache[Any, tuple[Forms, Any]] = BoundedCache()


def _compile(step: Step, inputs: Form) -> tuple[Forms, Any]:
    """Compile a step for columns of these dtypes, and the loop over rows that calls it."""
    name, types = f"step {step.function.__name__}", numba.core.types
    compiled = rebuild(step.function, partial(numba.njit, boundscheck=True))
    row = [numba.from_dtype(dtype) for dtype in inputs]
    state = [numba.typeof(field) for field in step.fields]
    is_tuple = isinstance(step.initial, tuple)
    for _ in range(4):
        taken = types.Tuple(tuple(state)) if is_tuple else state[0]
        try:
            compiled.compile((taken, *row))
        except ImportError:  # of the compiler
            raise
        except Exception as error:
            raise TypeError(
                f"{name}: Numba cannot compile it for the state {taken} and a row of "
                f"{', '.join(map(str, row))}: {reason_of(error)}"
            ) from error
        found = compiled.overloads[(taken, *row)].signature.return_type
        if not isinstance(found, types.BaseTuple) or len(found) != 2:
            raise TypeError(f"{name} must return a pair, (state, answer), found {found}")
        after = _fields(found[0])
        if len(after) != len(state) or isinstance(found[0], types.BaseTuple) != is_tuple:
            raise TypeError(
                f"{name} must return a state like initial={step.initial}, found {found[0]}"
            )
        dtypes = [_dtype(name, "the state", field) for field in after]
        wider = [
            np.result_type(_dtype(name, "the state", a), b)
            for a, b in zip(state, dtypes, strict=True)
        ]
        wide = [numba.from_dtype(dtype) for dtype in wider]
        if wide == state:
            break
        state = wide
    else:
        raise TypeError(f"{name}: the type of the state grows with every row, last {found[0]}")
    answer = tuple([_dtype(name, "the answer", field) for field in _fields(found[1])])
    forms = Forms(tuple(wider), answer, not isinstance(found[1], types.BaseTuple))
    return forms, _loop(compiled, len(row), len(state), is_tuple, len(answer), forms.is_number)


def _fields(kind: Any) -> list[Any]:
    return list(kind) if isinstance(kind, numba.core.types.BaseTuple) else [kind]


def _dtype(name: str, what: str, kind: Any) -> np.dtype:
    """Return the dtype of a number."""
    kind = numba.core.types.unliteral(kind)
    if not isinstance(kind, (numba.core.types.Number, numba.core.types.Boolean)):
        raise TypeError(f"{name}: {what} must be a number or a flat tuple of numbers, found {kind}")
    return np.dtype(str(kind).replace("boolean", "bool"))


def _loop(step: Any, row: int, state: int, is_tuple: bool, answer: int, is_number: bool) -> Any:
    """Compile the loop over rows for so many fields of rows, states and answers."""
    x, s, y = (
        [f"{letter}{i}" for i in range(n)]
        for letter, n in zip("xsy", (row, state, answer), strict=True)
    )

    def pack(items: list[str], is_one: bool) -> str:
        return items[0] if is_one else f"({', '.join(items)},)"

    def at(arrays: list[str], place: str) -> list[str]:
        return [f"{array}[{place}]" for array in arrays]

    call = f"step(state, {', '.join(at(x, 'i'))})"
    answers = pack(at(y, "i"), is_number)
    source = f"""
def loop(codes, skipped, {", ".join([*x, *s, *y])}):
    skips = len(skipped) > 0
    if len(codes):
        for i in range(len(x0)):
            if skips and skipped[i]:
                continue
            g = codes[i]
            state = {pack(at(s, "g"), not is_tuple)}
            {pack(at(s, "g"), not is_tuple)}, {answers} = {call}
    else:
        state = {pack(at(s, "0"), not is_tuple)}
        for i in range(len(x0)):
            if skips and skipped[i]:
                continue
            {pack([f"t{i}" for i in range(state)], not is_tuple)}, {answers} = {call}
            {pack(at(s, "0"), not is_tuple)} = {pack([f"t{i}" for i in range(state)], not is_tuple)}
            state = {pack(at(s, "0"), not is_tuple)}
"""
    made: dict[str, Any] = {"step": step}
    exec(source, made)  # it has counts of fields, and no text of a user's
    return numba.njit(made["loop"], nogil=True)
