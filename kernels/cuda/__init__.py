"""The CUDA backend: scan and reduce of CuPy arrays in one pass, by any operator.

The engine is CUDA C++ (*.cuh), an operator's functions are Python; `build` compiles and links them, `launch`
runs them. Importing this package imports CuPy and Numba-CUDA; nothing but a CuPy array may do so. It must
never import Dask, pandas or cuDF.
"""

from .launch import run, start

__all__ = ["run", "start"]
