"""Compiling ahead: what fills the cache of kernels before there is data, by several processes."""

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
"""Characters of the progress bar."""


def precompile(
    methods: str | Sequence[str | Operator] = "common",
    dtypes: str | Sequence[Any] = ("float64", "int64"),
    backends: str | Sequence[str] | None = None,
    *,
    processes: int | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Compile kernels ahead of their first use, and keep them in the cache on disk.

    Each method is called on rows that are made up, eight to a million, of a frame and of a Dask collection, with nulls
    and without; on a thousand texts at most. Kernels that are in the cache already are left as they are. Use it when a
    container is built, as the user that it runs as, or before a cluster's first job: entries are found by content, so
    the folder may be copied to other machines with the same versions of the packages and, of GPUs, the same compute
    capability.

    Parameters
    ----------
    methods : "common", or list of str and Operator
        Methods of ``.gpuscan``, such as ``"cumsum"``, ``"rolling.mean"``, ``"groupby.sum"``, and operators, whose scans
        are compiled, of groups too. ``"common"`` stands for the most usual methods.
    dtypes : dtype or list of dtypes
        Of the column that methods are called of. Keys of groups are int64.
    backends : list of "cpu" and "cuda", optional
        Whether kernels of pandas are compiled or those of cuDF, for the current GPU. By default both where cuDF is
        installed, else those of pandas.
    processes : int, optional
        How many processes compile, by default one a core and 16 at most; with 0, the caller's own.
    progress : bool
        Whether a bar is drawn on a terminal.

    Returns
    -------
    pandas.DataFrame
        One row a method, dtype and backend: how many ``kernels`` were compiled, the ``seconds`` it took, and what was
        said if the method was ``refused``, as ``rolling.mean`` is of strings.

    Raises
    ------
    TypeError
        If a method is neither a name nor an operator, or a dtype is none.
    ValueError
        If there is no such method or backend; for operators of several inputs.
    ImportError
        If ``"cuda"`` is asked for and cuDF is missing.

    See Also
    --------
    precompile_plugin : the same on every worker of a cluster.
    ProgressBar : says what is compiled while a computation runs.

    Examples
    --------
    >>> import dask_gpuscan
    >>> done = dask_gpuscan.precompile(["cumsum"], dtypes=["float64"], backends="cpu", processes=0)
    >>> done[["method", "dtype", "backend", "refused"]].to_dict("records")
    [{'method': 'cumsum', 'dtype': 'float64', 'backend': 'cpu', 'refused': ''}]

    When a container is built, one line does it: ``RUN python -c "import dask_gpuscan; dask_gpuscan.precompile()"``.
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
    """Return a plugin that compiles kernels ahead on each worker of a Dask cluster, those that come later too.

    Workers take the requests each in an order of its own and find what others have compiled: those that share a cache
    share the work. A worker runs tasks when it has compiled everything.

    Parameters
    ----------
    methods, dtypes
        As of `precompile`.
    backends : list of "cpu" and "cuda"
        Whether kernels of pandas are compiled or those of cuDF, for each worker's GPU.

    Returns
    -------
    distributed.WorkerPlugin
        To be handed to ``client.register_plugin``, which waits for the workers that are there.

    Raises
    ------
    TypeError, ValueError
        As `precompile`.
    ImportError
        If ``distributed`` is missing.

    See Also
    --------
    precompile : the same on one machine.
    cluster_options : what a cluster of GPUs is started with.

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
    """Return one request for each method, dtype and backend; raises as `precompile`."""
    asked = COMMON if isinstance(methods, str) and methods == "common" else _listed(methods)
    for method in asked:
        check_method(method)
    names = [_dtype_name(dtype) for dtype in _listed(dtypes)]
    for name, found in (("methods", asked), ("dtypes", names), ("backends", backends)):
        if not found:
            raise ValueError(f"{name} must name one at least, found none")
    for backend in backends:
        check_choice("backends", backend, list(BACKENDS))
    # neighbours are worked on at the same time, and different methods share the fewest kernels
    return [Request(m, d, b) for b, d, m in product(backends, names, asked)]


def _listed(given: Any) -> list[Any]:
    if isinstance(given, (list, tuple, set, frozenset)):
        return list({one if isinstance(one, Hashable) else id(one): one for one in given}.values())
    return [given]


def _dtype_name(dtype: Any) -> str:
    try:
        if dtype is not None:  # which NumPy takes for float64
            return str(pd.api.types.pandas_dtype(dtype))
    except (TypeError, ValueError):
        pass
    raise TypeError(f"dtypes must be dtypes such as 'float64', found {dtype!r}")


MOST = 16
"""Processes that compile by default at most: on a GPU each of them takes memory."""


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
    """Hand on what is done, and draw how much of all it is."""
    draws = draws and sys.stderr.isatty()
    for number, (i, outcome) in enumerate(outcomes, 1):
        if draws:
            bar = "#" * (WIDTH * number // len(requests))
            ending = "\n" if number == len(requests) else ""
            line = f"[{bar:{WIDTH}}] | {number} of {len(requests)} | {requests[i].title}"
            print(f"\r{line:100.100}", end=ending, file=sys.stderr, flush=True)
        yield i, outcome
