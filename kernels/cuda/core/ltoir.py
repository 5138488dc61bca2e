"""Python functions as LTO-IR, compiled by numba-cuda or its successor numba-cuda-mlir.

numba-cuda-mlir takes the same functions and has the same ``cuda.compile``. It is used where numba-cuda is not
installed, or where the environment variable ``DASK_GPUSCAN_COMPILER`` names it (`requirements`). No other module
imports these packages.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from threading import RLock
from typing import Any

import numba
import numpy as np

from ....forks import importing
from .requirements import package

Function = Callable[..., Any]
Capability = tuple[int, int]


class Compiler(ABC):
    """A package that compiles functions of pointers to LTO-IR, without a GPU."""

    cuda: Any
    """Its module with what functions on a GPU can call: ``fma``, ``libdevice``, ``declare_device``."""
    types: Any

    @abstractmethod
    def device_function(self, function: Function, capability: Capability) -> Any:
        """Return an object that other functions compiled for `capability` can call."""

    @abstractmethod
    def from_dtype(self, dtype: np.dtype) -> Any:
        """Return the type of a NumPy dtype."""

    def ltoir(
        self, function: Function, pointers: list[np.dtype], name: str, capability: Capability
    ) -> bytes:
        """Return the LTO-IR of a function of pointers to elements of these dtypes; bools are pointed to as bytes.

        C code calls it as `name`. The package's error says why it cannot be compiled.
        """
        types = self.types
        elements = [types.uint8 if d.kind == "b" else self.from_dtype(d) for d in pointers]
        code, _ = self.cuda.compile(
            function,
            types.void(*map(types.CPointer, elements)),
            device=True,
            cc=capability,
            abi="c",
            abi_info={"abi_name": name},
            output="ltoir",
            forceinline=True,
        )
        return bytes(code)


class NumbaCuda(Compiler):
    """numba-cuda."""

    def __init__(self) -> None:
        with importing:
            from numba import cuda, types

        self.cuda, self.types = cuda, types

    def from_dtype(self, dtype: np.dtype) -> Any:
        """Return Numba's type of a dtype."""
        return numba.from_dtype(dtype)

    def device_function(self, function: Function, capability: Capability) -> Any:
        """Return a dispatcher for `capability`; that of ``cuda.jit(device=True)`` compiles for the current GPU."""
        with importing:
            from numba.cuda.compiler import compile_cuda

        dispatcher = self.cuda.jit(device=True)(function)

        def compile_device(arguments: Any, return_type: Any = None) -> Any:
            if arguments not in dispatcher.overloads:
                compiled = compile_cuda(
                    function,
                    return_type,
                    arguments,
                    forceinline=True,
                    nvvm_options={"opt": 3, "fastmath": False},
                    cc=capability,
                )
                dispatcher.overloads[arguments] = compiled
                compiled.target_context.insert_user_function(
                    compiled.entry_point, compiled.fndesc, [compiled.library]
                )
            return dispatcher.overloads[arguments]

        dispatcher.compile_device = compile_device
        return dispatcher


class NumbaCudaMlir(Compiler):
    """numba-cuda-mlir, which compiles for the compute capability that it has cached."""

    def __init__(self) -> None:
        with importing:
            from numba_cuda_mlir import cuda, tools, types
            from numba_cuda_mlir.numba_cuda.np.numpy_support import from_dtype

        self.cuda, self.types = cuda, types
        self._tools, self._from_dtype = tools, from_dtype
        self._one_at_a_time = RLock()
        _mend_not_equal()

    def from_dtype(self, dtype: np.dtype) -> Any:
        """Return the package's type of a dtype."""
        return self._from_dtype(dtype)

    def device_function(self, function: Function, capability: Capability) -> Any:
        """Return a dispatcher, which is compiled with the function that calls it."""
        return self.cuda.jit(device=True)(function)

    def ltoir(
        self, function: Function, pointers: list[np.dtype], name: str, capability: Capability
    ) -> bytes:
        """Return the LTO-IR, compiled while no other thread compiles for another GPU."""
        with self._one_at_a_time:
            believed = self._tools._cached_cc
            self._tools._cached_cc = capability
            try:
                return super().ltoir(function, pointers, name, capability)
            finally:
                self._tools._cached_cc = believed


def _mend_not_equal() -> None:
    """Let NaN differ from itself: numba-cuda-mlir 0.6 compiles ``!=`` of floats as ordered and not equal.

    Raises
    ------
    ImportError
        If the package does not keep its steps where 0.6 does, so that it cannot be corrected.
    """
    with importing:
        import numba_cuda_mlir

    try:
        with importing:
            from numba_cuda_mlir._mlir.dialects import arith
            from numba_cuda_mlir.lowering import math

        steps = math._operator_mapping()
        unordered = partial(arith.cmpf, arith.CmpFPredicate.UNE)
        steps[operator.ne] = replace(steps[operator.ne], float=unordered)
    except (AttributeError, ImportError, KeyError, TypeError) as error:
        raise ImportError(
            f"numba-cuda-mlir {numba_cuda_mlir.__version__} may compare NaN in another way than Python: "
            f"pip install 'dask-gpuscan[cuda13]', which brings numba-cuda"
        ) from error


BY_PACKAGE: dict[str, type[Compiler]] = {"numba_cuda": NumbaCuda, "numba_cuda_mlir": NumbaCudaMlir}


@lru_cache(maxsize=1)
def compiler() -> Compiler:
    """Return the compiler of Python functions."""
    return BY_PACKAGE[package()]()
