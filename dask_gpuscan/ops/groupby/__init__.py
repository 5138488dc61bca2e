"""Group-by: the specification of one, the choice of a way, and the three ways.

Statistics are rows of ``statistics/table``; scans are in ``scan/`` and windows in ``windows/``, in groups or not. Read
`spec` and `strategy`, then the ways: `adjacent`, `hashed`, `whole_groups`; streams go on by `hashed_scan`, and from
many keys by `by_key`. Columns are reduced by `reduce`,
`library_reduction`, `decimals` and `sorted_values`; `top_rows` and `value_counts` are reductions of their own.
"""
