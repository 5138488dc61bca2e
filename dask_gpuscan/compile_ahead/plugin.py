"""A plugin with which each worker of a cluster compiles ahead, when it starts or when the plugin is registered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

from distributed import WorkerPlugin

from .calls import Request
from .processes import compile_all


class PrecompilePlugin(WorkerPlugin):  # type: ignore[misc]
    """Compiles requests on every worker.

    Parameters
    ----------
    requests : list of Request
    """

    name = "dask-gpuscan-precompile"
    idempotent = True

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests

    async def setup(self, worker: Any) -> None:
        """Compile in a random order of this worker, so that workers with a common cache share the work."""
        order = Random(worker.address).sample(self._requests, len(self._requests))
        await asyncio.to_thread(lambda: list(compile_all(order, 0)))
