"""Records which kernels some calls ask for: ``python record.py FILE NAME ...``."""

import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import cloudpickle
from calls import CALLS, call

from dask_gpuscan.kernels.compiler import pack

Asked = dict[str, tuple[str, str, tuple[Any, ...]]]
"""For each name in the pack the module and the name of a function, and the types of its arguments."""


def record(names: Iterable[str]) -> Asked:
    """Run calls, and return what they ask for."""
    asked: Asked = {}

    def find(function: Any, arguments: tuple[Any, ...]) -> None:
        plain, name = function.py_func, pack.name_of(function, arguments)
        if name is not None:
            asked[name] = plain.__module__, plain.__qualname__, arguments

    pack.find = find  # type: ignore[assignment]
    warnings.simplefilter("ignore")
    for name in names:
        try:
            call(*CALLS[name])
        except Exception as error:  # no method takes every dtype
            print(f"{name}: {str(error)[:100]}".partition("\n")[0], file=sys.stderr)
    return asked


def load(path: Path) -> Asked:
    """Read what was recorded."""
    return cloudpickle.loads(path.read_bytes())  # type: ignore[no-any-return]


def function_of(module: str, name: str) -> Any:
    """Return the function of a kernel."""
    return getattr(import_module(module), name)


if __name__ == "__main__":
    found = record(sys.argv[2:])
    Path(sys.argv[1]).write_bytes(cloudpickle.dumps(found))
