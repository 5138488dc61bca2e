"""Compiling ahead on a cluster: each worker does it when it starts, or as soon as it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

from distributed import WorkerPlugin

from .calls import Request
from .processes import compile_all


class PrecompilePlugin(WorkerPlugin):  # type: ignore[misc]
    """Compiles what is requested, on every worker.

    Parameters
    ----------
    requests : list of Request
    """

    name = "dask-gpuscan-precompile"
    idempotent = True

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests

    async def setup(self, worker: Any) -> None:
        """Compile in an order of this worker's own, so that workers that share a cache share the work."""
        order = Random(worker.address).sample(self._requests, len(self._requests))
        await asyncio.to_thread(lambda: list(compile_all(order, 0)))
