"""Engines run operations: `eager` on one frame in memory, `dask/` on a collection, `stream/` on batches.

Read `run` first: it chooses the engine, and lists the functions of an engine. An engine knows the kinds of operations
(`ops.core.carry`), but no columns; only `run` and `dask/` know Dask.
"""
