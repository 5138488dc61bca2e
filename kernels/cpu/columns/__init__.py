"""Work on several columns at once, on NumPy arrays: selected rows, and reductions and scans by key and by code.

Read `selection`, which rows are selected, then `compact`, which moves them, then `by_key` and `by_code`. Modules that
end in `_visitors` hold what Numba compiles. Windows and sorts do not belong here.
"""
