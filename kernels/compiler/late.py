"""Imports Numba and LLVM when something is compiled: a kernel in a pack needs neither."""

from types import ModuleType
from typing import Any

from ...forks import import_late


class Late:
    """A module that is imported when one of its attributes is read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    @property
    def module(self) -> ModuleType:
        """The module."""
        if self._module is None:
            try:
                self._module = import_late(self._name)
            except ModuleNotFoundError as error:
                raise ImportError(
                    f"this call is compiled by Numba, as no machine code for it came with dask-gpuscan: {error}; "
                    f"install it: pip install numba"
                ) from error
        return self._module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


class LateFunction:
    """A function that Numba makes callable from compiled code on first use."""

    @property
    def made(self) -> Any:
        """The object that Numba calls."""
        raise NotImplementedError


numba = Late("numba")
ir = Late("llvmlite.ir")
analysis = Late("numba.core.analysis")
cgutils = Late("numba.core.cgutils")
compiler = Late("numba.core.compiler")
numba_ir = Late("numba.core.ir")
forms = Late(f"{__package__}.forms")
internals = Late(f"{__package__}.numba_internals")
symbols = Late(f"{__package__}.symbols")
