"""The engine of Dask: expressions and layers, which know no column.

Read `lookback` first: partitions that look back at those before them, or both ways. `tree_reduce` makes one of all,
`shuffle` moves rows. `engine` lists what `..run` asks for, and `compat` alone imports private names of Dask.
"""
