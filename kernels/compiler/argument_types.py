"""The types of kernels' arguments and answers: they name kernels in packs, and become Numba's types for compilation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .late import internals, numba


@dataclass(frozen=True)
class Type:
    """A type, equal to types of the same content."""

    @property
    def name(self) -> str:
        """The name of the type, in messages and in packs."""
        return str(self.numba)

    @property
    def numba(self) -> Any:
        """Numba's own type."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Nothing(Type):
    """The type of None."""

    name = "none"

    @property
    def numba(self) -> Any:
        return numba.types.none


@dataclass(frozen=True)
class Number(Type):
    """The type of numbers, or flags, of a NumPy dtype."""

    dtype: np.dtype

    @property
    def name(self) -> str:
        return self.dtype.name

    @property
    def numba(self) -> Any:
        return numba.from_dtype(self.dtype)


@dataclass(frozen=True)
class Array(Type):
    """The type of arrays of numbers; with the layout "A" they may have any strides."""

    number: Number
    ndim: int
    layout: str
    readonly: bool = False

    @property
    def name(self) -> str:
        access = "readonly " if self.readonly else ""
        return f"array({access}{self.number}, {self.ndim}d, {self.layout})"

    @property
    def numba(self) -> Any:
        return numba.types.Array(self.number.numba, self.ndim, self.layout, readonly=self.readonly)


@dataclass(frozen=True)
class Tuple(Type):
    """The type of tuples, or of the named tuples of a class."""

    fields: tuple[Type, ...]
    record: type | None = None

    @property
    def name(self) -> str:
        called = "" if self.record is None else self.record.__name__
        return f"{called}({', '.join([each.name for each in self.fields])})"

    @property
    def numba(self) -> Any:
        return numba.types.BaseTuple.from_types(to_numba(self.fields), self.record)

    def __iter__(self) -> Iterator[Type]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


@dataclass(frozen=True)
class Other(Type):
    """A type that only Numba has: a user's function may return it, but no kernel takes it."""

    made: Any

    @property
    def numba(self) -> Any:
        return self.made


none = Nothing()
boolean, int64, uint32, uint64, float64 = (
    Number(np.dtype(name)) for name in ("bool", "int64", "uint32", "uint64", "float64")
)


def record_type(kind: type, **fields: Type) -> Tuple:
    """Return the type of a named tuple with fields of these types."""
    return Tuple(tuple([fields[name] for name in kind._fields]), kind)  # type: ignore[attr-defined]


def type_of(value: Any) -> Type:
    """Return the type of a number, or of a tuple of numbers, in compiled code."""
    if isinstance(value, tuple):
        return Tuple(tuple(map(type_of, value)))
    return Number(np.asarray(value).dtype)


def to_numba(types: Iterable[Type]) -> tuple[Any, ...]:
    """Return Numba's own types."""
    return tuple([each.numba for each in types])


def from_numba(made: Any) -> Type:
    """Return the type for one of Numba's types."""
    made = numba.types.unliteral(made)
    if isinstance(made, numba.types.BaseTuple):
        return Tuple(tuple(map(from_numba, made)), getattr(made, "instance_class", None))
    if isinstance(made, (numba.types.Number, numba.types.Boolean)):
        return Number(internals.as_dtype(made))
    return none if isinstance(made, numba.types.NoneType) else Other(made)
