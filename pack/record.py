"""Records which kernels some calls ask for: ``python record.py FILE NAME ...``."""

import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import cloudpickle
from calls import CALLS, call

from dask_gpuscan.kernels.compiler import functions, pack
from dask_gpuscan.kernels.operators import inference

Asked = dict[str, tuple[str, str, tuple[Any, ...]]]
"""For each name in the pack the module and the name of a function, and the types of its arguments."""

Answers = dict[str, str]
"""For each name the format of the answer of a function that is asked for its type alone."""


def record(names: Iterable[str]) -> tuple[Asked, Answers]:
    """Run calls, and return what they ask for."""
    asked: Asked = {}
    answers: Answers = {}

    def find(function: Any, arguments: tuple[Any, ...]) -> None:
        plain, name = function.py_func, pack.name_of(function, arguments)
        if name is not None:
            asked[name] = plain.__module__, plain.__qualname__, arguments

    def answer_of(function: Any, arguments: tuple[Any, ...], ask: Any) -> Any:
        answer, name = (
            functions.answer_of(function, arguments, ask),
            pack.name_of(function, arguments),
        )
        if name is not None:
            answers[name] = pack.form_of(answer)
        return answer

    pack.find = find  # type: ignore[assignment]
    inference.answer_of = answer_of  # type: ignore[assignment]
    warnings.simplefilter("ignore")
    for name in names:
        try:
            call(*CALLS[name])
        except Exception as error:  # no method takes every dtype
            print(f"{name}: {str(error)[:100]}".partition("\n")[0], file=sys.stderr)
    return asked, answers


def load(path: Path) -> tuple[Asked, Answers]:
    """Read what was recorded."""
    return cloudpickle.loads(path.read_bytes())  # type: ignore[no-any-return]


def function_of(module: str, name: str) -> Any:
    """Return the function of a kernel."""
    return getattr(import_module(module), name)


if __name__ == "__main__":
    found = record(sys.argv[2:])
    Path(sys.argv[1]).write_bytes(cloudpickle.dumps(found))
