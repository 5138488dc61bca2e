"""`family`: methods of one signature, which is written once; each has words and an example of its own."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from types import FunctionType
from typing import Any, Generic, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Family(Generic[F]):
    """Makes the methods of a family; see `family`."""

    def __init__(self, function: F, example: str) -> None:
        self._function, self._example = function, cleandoc(example)

    def __call__(self, words: str, *shown: object) -> F:
        """Return a method, whose name is that of the class attribute which it becomes.

        Parameters
        ----------
        words : str
            Its docstring, but for the example.
        *shown : object
            What the example shows: texts, or objects as they are written.
        """
        words = cleandoc(words) if "\n" in words else words
        found: Any = _Member(self._function, words, self._example, shown)
        method: F = found
        return method


class _Member:
    """A method that waits for its name."""

    def __init__(self, function: Any, words: str, example: str, shown: tuple[object, ...]) -> None:
        self._given = function, words, example, shown

    def __set_name__(self, owner: type, name: str) -> None:
        function, words, example, shown = self._given
        code, path = function.__code__, f"{owner.__qualname__}.{name}"
        assert code.co_name in code.co_consts, "the function of a family hands on its own name"
        constants = tuple([name if one == code.co_name else one for one in code.co_consts])
        code = code.replace(co_name=name, co_qualname=path, co_consts=constants)
        rest = name, function.__defaults__, function.__closure__
        found: Any = FunctionType(code, function.__globals__, *rest)
        found.__kwdefaults__, found.__annotations__ = (
            function.__kwdefaults__,
            function.__annotations__,
        )
        found.__qualname__ = path
        example = example.format(*shown, name=name)
        found.__doc__ = f"{words}\n\nExamples\n--------\n{example}\n"
        setattr(owner, name, found)


def family(example: str) -> Callable[[F], Family[F]]:
    """Decorate what several methods do: a function that hands on its own name, in place of which each has another.

    Parameters
    ----------
    example : str
        That of each method, in which ``{name}`` is its name, and ``{0}`` and so on what it shows.

    Examples
    --------
    >>> class Greeter:
    ...     @family(">>> Greeter().{name}({0!r})")
    ...     def _greet(self, whom: str) -> str:
    ...         return f"{'_greet'} {whom}"
    ...
    ...     hello = _greet("Say hello.", "you")
    ...     bye = _greet("Say bye.", "all")
    >>> Greeter().hello("you"), Greeter().bye("all")
    ('hello you', 'bye all')
    """
    return lambda function: Family(function, example)
