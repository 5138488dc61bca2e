"""Dask's progress bar, followed by what is being compiled, or how far a stream was read."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from dask.diagnostics import ProgressBar as DaskProgressBar

from ..kernels.compiler.listening import listening

SHOWN = 70
"""The largest number of characters after the bar."""


class ProgressBar(DaskProgressBar):  # type: ignore[misc]
    """Dask's progress bar, which also shows when a kernel is compiled: about a second, once on each machine.

    For a stream it shows how many rows and bytes were read; for files and lists, also how many there are.

    Use it instead of :class:`dask.diagnostics.ProgressBar`, with the same arguments and Dask's schedulers of one
    process. On a cluster, ``client.forward_logging("dask_gpuscan", level="INFO")`` shows the same lines of workers.

    See Also
    --------
    precompile : compiles ahead.

    Examples
    --------
    >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
    >>> d = dd.from_pandas(pd.Series([1.0, 2.0, 3.0]), npartitions=2)
    >>> with dask_gpuscan.ProgressBar():  # doctest: +SKIP
    ...     total = d.gpuscan.cumsum().compute()
    [####################                    ] | 50% Completed | 1.20 s | compiling add of float64 for this CPU, once
    """

    def _start(self, dsk: Any) -> None:
        self._compiling, self._rows, self._said = "", "", 0
        self._listening: AbstractContextManager[None] = listening(self._hear)
        self._listening.__enter__()
        super()._start(dsk)

    def _pretask(self, key: Any, dsk: Any, state: Any) -> None:
        self._compiling, self._rows = "", state.get("rows", "")
        super()._pretask(key, dsk, state)

    def _finish(self, dsk: Any, state: Any, errored: bool) -> None:
        self._compiling = ""
        self._listening.__exit__(None, None, None)
        super()._finish(dsk, state, errored)

    def _hear(self, message: str) -> None:
        self._compiling = message

    def _draw_bar(self, frac: float, elapsed: float) -> None:
        super()._draw_bar(frac, elapsed)
        if self._file is not None:
            shown = self._compiling or self._rows
            said = f" | {shown}"[:SHOWN] if shown else ""
            self._file.write(said.ljust(self._said))
            self._file.flush()
            self._said = len(said)
