"""Fills the cache of kernels before there is data, with several processes."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..api.arguments import check_choice, check_flags
from ..forks import importing
from ..kernels import Operator
from ..kernels.cpu.core.limits import cores
from ..kernels.scalars import is_integer
from .calls import BACKENDS, COMMON, Request, check_method
from .processes import Outcome, compile_all

if TYPE_CHECKING:
    from .plugin import PrecompilePlugin

WIDTH = 40
"""The width of the progress bar in characters."""


def precompile(
    methods: str | Sequence[str | Operator] = "common",
    dtypes: str | Sequence[Any] = ("float64", "int64"),
    backends: str | Sequence[str] | None = None,
    *,
    processes: int | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Compile kernels ahead of their first use, and keep them in the cache on disk.

    Each method is called on a frame and on a Dask collection of made-up rows, from eight to a million (at most a
    thousand texts), with and without nulls. Kernels in the cache are not compiled again. Use it when a container is
    built, as the user that the container runs as, or before the first job of a cluster. The cache may be copied to
    other machines with the same versions of the packages and, for GPUs, the same compute capability.

    Parameters
    ----------
    methods : "common", or list of str and Operator
        Methods of ``.gpuscan``, such as ``"cumsum"``, ``"rolling.mean"``, ``"groupby.sum"``, and operators for scans,
        also of groups. ``"common"`` stands for the most usual methods.
    dtypes : dtype or list of dtypes
        The dtypes of the column that methods are called on. Keys of groups are int64.
    backends : list of "cpu" and "cuda", optional
        Whether to compile kernels for pandas, or for cuDF on the current GPU. By default both if cuDF is installed,
        otherwise those for pandas.
    processes : int, optional
        The number of processes that compile; by default one for each core, at most 16; 0 for this process.
    progress : bool
        Whether to draw a progress bar on a terminal.

    Returns
    -------
    pandas.DataFrame
        A row for each method, dtype and backend: the number of ``kernels`` that were compiled, the ``seconds`` it took,
        and the error if the method was ``refused``, such as ``rolling.mean`` of strings.

    Raises
    ------
    TypeError
        If a method is neither a name nor an operator, or a dtype is not a dtype.
    ValueError
        If there is no such method or backend, or if an operator has several inputs.
    ImportError
        If ``"cuda"`` is asked for and cuDF is missing.

    See Also
    --------
    precompile_plugin : the same on every worker of a cluster.
    ProgressBar : shows what is being compiled while a computation runs.

    Examples
    --------
    >>> import dask_gpuscan
    >>> done = dask_gpuscan.precompile(["cumsum"], dtypes=["float64"], backends="cpu", processes=0)
    >>> done[["method", "dtype", "backend", "refused"]].to_dict("records")
    [{'method': 'cumsum', 'dtype': 'float64', 'backend': 'cpu', 'refused': ''}]

    One line for building a container: ``RUN python -c "import dask_gpuscan; dask_gpuscan.precompile()"``.
    """
    check_flags(progress=progress)
    has_cudf = find_spec("cudf") is not None
    where = list(BACKENDS)[: 1 + has_cudf] if backends is None else _listed(backends)
    requests = requests_for(methods, dtypes, where)
    if "cuda" in where and not has_cudf:
        raise ImportError("backends: 'cuda' needs cuDF from RAPIDS, which is not installed here")
    outcomes = dict(_drawn(compile_all(requests, _count(processes)), requests, progress))
    rows = [(*_named(request), *outcomes[i]) for i, request in enumerate(requests)]
    return pd.DataFrame(rows, columns=[*Request._fields, *Outcome._fields])


def precompile_plugin(
    methods: str | Sequence[str | Operator] = "common",
    dtypes: str | Sequence[Any] = ("float64", "int64"),
    backends: str | Sequence[str] = "cpu",
) -> PrecompilePlugin:
    """Return a plugin that compiles kernels ahead on each worker of a Dask cluster, also on those that start later.

    Each worker compiles in another order, so that workers with a common cache share the work. A worker runs tasks after
    it has compiled everything.

    Parameters
    ----------
    methods, dtypes
        As for `precompile`.
    backends : list of "cpu" and "cuda"
        Whether to compile kernels for pandas, or for cuDF on each worker's GPU.

    Returns
    -------
    distributed.WorkerPlugin
        A plugin for ``client.register_plugin``, which waits for the present workers.

    Raises
    ------
    TypeError, ValueError
        As for `precompile`.
    ImportError
        If ``distributed`` is missing.

    See Also
    --------
    precompile : the same on one machine.
    cluster_options : options to start a cluster of GPUs with.

    Examples
    --------
    >>> import dask_gpuscan
    >>> plugin = dask_gpuscan.precompile_plugin(["cumsum", "groupby.sum"], dtypes=["float64"])
    >>> client.register_plugin(plugin)  # doctest: +SKIP
    """
    with importing:
        from .plugin import PrecompilePlugin

    return PrecompilePlugin(requests_for(methods, dtypes, _listed(backends)))


def requests_for(methods: Any, dtypes: Any, backends: list[Any]) -> list[Request]:
    """Return a request for each method, dtype and backend; raises the errors of `precompile`."""
    asked = COMMON if isinstance(methods, str) and methods == "common" else _listed(methods)
    for method in asked:
        check_method(method)
    names = [_dtype_name(dtype) for dtype in _listed(dtypes)]
    for name, found in (("methods", asked), ("dtypes", names), ("backends", backends)):
        if not found:
            raise ValueError(f"{name} must name one at least, found none")
    for backend in backends:
        check_choice("backends", backend, list(BACKENDS))
    # neighbours are compiled at the same time, and different methods share the fewest kernels
    return [Request(m, d, b) for b, d, m in product(backends, names, asked)]


def _listed(given: Any) -> list[Any]:
    if isinstance(given, (list, tuple, set, frozenset)):
        return list({one if isinstance(one, Hashable) else id(one): one for one in given}.values())
    return [given]


def _dtype_name(dtype: Any) -> str:
    try:
        if dtype is not None:  # NumPy takes None for float64
            return str(pd.api.types.pandas_dtype(dtype))
    except (TypeError, ValueError):
        pass
    raise TypeError(f"dtypes must be dtypes such as 'float64', found {dtype!r}")


MOST = 16
"""The largest default number of processes: on a GPU, each of them takes memory."""


def _count(processes: Any) -> int:
    if processes is None:
        return min(cores(), MOST)
    if not is_integer(processes) or processes < 0:
        raise ValueError(f"processes must be a number of processes, 0 or more, found {processes!r}")
    return int(processes)


def _named(request: Request) -> tuple[str, str, str]:
    method = request.method
    return (method if isinstance(method, str) else method.name, request.dtype, request.backend)


def _drawn(
    outcomes: Iterable[tuple[int, Outcome]], requests: Sequence[Request], draws: bool
) -> Iterator[tuple[int, Outcome]]:
    """Yield the outcomes, and draw a progress bar."""
    draws = draws and sys.stderr.isatty()
    for number, (i, outcome) in enumerate(outcomes, 1):
        if draws:
            bar = "#" * (WIDTH * number // len(requests))
            ending = "\n" if number == len(requests) else ""
            line = f"[{bar:{WIDTH}}] | {number} of {len(requests)} | {requests[i].title}"
            print(f"\r{line:100.100}", end=ending, file=sys.stderr, flush=True)
        yield i, outcome
