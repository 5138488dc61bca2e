"""Dataclasses that get their methods on first use, as a process uses few of the package's 300 classes.

Generating the methods of a class takes 0.7 ms.
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..forks import writing

_WRITTEN = (
    "__init__", "__repr__", "__eq__", "__hash__", "__dataclass_fields__", "__dataclass_params__", "__match_args__",
)  # fmt: skip

_OPTIONS = "init", "repr", "eq", "unsafe_hash", "frozen", "match_args", "kw_only"
"""The supported options; order would need methods at once, and slots another class."""


class _Late:
    """A placeholder for a method of a dataclass; the first use of one generates all missing methods."""

    def __init__(self, name: str, write: Callable[[], None]) -> None:
        self.name, self.write = name, write

    def __get__(self, found: Any, owner: type) -> Any:
        self.write()
        return getattr(owner if found is None else found, self.name)


def _late(cls: Any, options: dict[str, Any]) -> Any:
    own = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
    late = [name for name in _WRITTEN if name not in own]

    def write() -> None:
        """Write methods for a class like this one: other threads may use this one meanwhile."""
        with writing:
            if type(vars(cls).get(late[-1])) is not _Late:
                return
            content = {**own, "__qualname__": cls.__qualname__}
            like = dataclasses.dataclass(**options)(type(cls)(cls.__name__, cls.__bases__, content))
            made = vars(like)
            for name in own.keys() - made.keys():  # a field without a default
                delattr(cls, name)
            for name in (own.keys() & made.keys()) - set(_FROZEN):
                if made[name] is not own[name]:
                    setattr(cls, name, made[name])
            for name in late:
                if name in made:
                    setattr(cls, name, made[name])
                else:
                    delattr(cls, name)

    for name in late:
        setattr(cls, name, _Late(name, write))
    if options.get("frozen"):
        for name, method in zip(_FROZEN, _frozen(cls), strict=True):
            method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    return cls


_FROZEN = ("__setattr__", "__delattr__")


def _frozen(cls: Any) -> tuple[Any, Any]:
    """Return the methods that forbid changes of fields."""

    def check(found: Any, name: str, what: str) -> None:
        if type(found) is cls or name in cls.__dataclass_fields__:
            raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")

    def set_(self: Any, name: str, value: Any) -> None:
        check(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        check(self, name, "delete")
        super(cls, self).__delattr__(name)

    return set_, delete


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(**options: Any) -> Any:
        """Make a class a dataclass, as `dataclasses.dataclass` does.

        Raises
        ------
        TypeError
            For an option that this one does not take.
        """
        for name in options:
            if name not in _OPTIONS:
                raise TypeError(
                    f"dataclass takes the options {', '.join(_OPTIONS)} here, found {name}; "
                    f"dataclasses.dataclass takes others"
                )
        return lambda cls: _late(cls, options)
