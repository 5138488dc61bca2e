"""What ``.gpuscan.groupby()`` returns: the methods of `GroupBy`, in a chain of base classes.

Nothing here knows how groups are found or reduced. Read `columns`, where a `GroupBySpec` is made and run, then
`reductions` and `scans`, then the classes that build on them, up to `groupby`.
"""
