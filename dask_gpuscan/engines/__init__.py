"""Engines, which run operations: `eager` on one frame in memory, `dask/` on a collection, `stream/` on batches.

Read `run` first: it chooses the engine, and lists what an engine must do. An engine knows the kinds of operations
(`ops.core.carry`), and no column; only `run` and `dask/` know Dask.
"""
