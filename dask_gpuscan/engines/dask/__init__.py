"""The engine of Dask: expressions and layers, which know no columns.

Read `lookback` first: partitions look back at earlier ones, or both ways. `tree_reduce` reduces all partitions to one,
and `shuffle` moves rows. `engine` implements `..run.Engine`, and only `compat` imports private names of Dask.
"""
