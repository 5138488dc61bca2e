"""Records the kernels that calls need: ``python record.py FILE NAME ...``."""

import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle
from calls import CALLS, call

from dask_gpuscan.kernels.compiler import forms, functions, jit, pack
from dask_gpuscan.kernels.operators import inference


class Found(NamedTuple):
    """The kernels, answers and engines that calls need, by names in the pack."""

    asked: dict[str, tuple[str, str, tuple[Any, ...]]]
    """Kernels: the module and the name of a function, and the types of its arguments."""

    answers: dict[str, str]
    """The formats of answers, for functions that are needed only for the type of their answer."""

    engines: dict[str, bytes]
    """The engines of kernels that are in no pack."""


def record(names: Iterable[str]) -> Found:
    """Run calls, and return what they need."""
    found = Found({}, {}, {})
    foreign = False

    def find(function: Any, arguments: tuple[Any, ...]) -> None:
        nonlocal foreign
        plain, name = function.py_func, pack.name_of(function, arguments)
        foreign = name is None
        if name is not None:
            found.asked[name] = plain.__module__, plain.__qualname__, arguments

    def answer_of(function: Any, arguments: tuple[Any, ...], ask: Any) -> Any:
        answer = functions.answer_of(function, arguments, ask)
        name = pack.name_of(function, arguments)
        if name is not None:
            found.answers[name] = pack.form_of(answer)
        return answer

    def kept_engine(function: Any, arguments: tuple[Any, ...], key_of: Any) -> bytes:
        kept = of_forms(function, arguments, key_of)
        if foreign:
            found.engines[forms.engine_name(function, arguments)] = kept
        return kept

    def load_overload(*given: Any) -> Any:
        """Ignore kernels of users' operators in the cache, so that they are linked again, which needs their engines."""
        return None if foreign else of_cache(*given)

    of_forms, of_cache = forms.kept_engine, jit._KernelCache.load_overload
    pack.find = find  # type: ignore[assignment]
    inference.answer_of = answer_of  # type: ignore[assignment]
    forms.kept_engine = kept_engine
    jit._KernelCache.load_overload = load_overload  # type: ignore[method-assign]
    warnings.simplefilter("ignore")
    for name in names:
        try:
            call(*CALLS[name])
        except Exception as error:  # no method takes every dtype
            print(f"{name}: {str(error)[:100]}".partition("\n")[0], file=sys.stderr)
    return found


def load(path: Path) -> Found:
    """Read what was recorded."""
    return cloudpickle.loads(path.read_bytes())  # type: ignore[no-any-return]


def function_of(module: str, name: str) -> Any:
    """Return the function of a kernel."""
    return getattr(import_module(module), name)


if __name__ == "__main__":
    found = record(sys.argv[2:])
    Path(sys.argv[1]).write_bytes(cloudpickle.dumps(found))
