"""Clusters whose workers are harmed."""

import dask
import pytest

from faults.harm import Harm
from helpers.clusters import local_client


@pytest.fixture(scope="module")
def client():
    """Three worker processes, each of which can be harmed, and comes back."""
    # Dask gives up a nanny whose worker is away for longer, also if one was killed again while it started
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        local_client(3) as found,
    ):
        found.register_plugin(Harm())
        yield found
