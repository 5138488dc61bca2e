"""The engine of Dask: expressions and layers, which know no columns.

Read `lookback` first: partitions that look back at those before them, or both ways. `tree_reduce` reduces all to one,
`shuffle` moves rows, which `packed` makes bytes of. `engine` implements `..run.Engine`, and `compat` alone imports
private names of Dask.
"""
