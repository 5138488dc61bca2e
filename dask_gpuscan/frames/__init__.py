"""Dataframe libraries: what each must answer, and the answers of pandas and cuDF. Nothing is computed here.

Read `types` first, then `protocol` (the questions), `registry` (which library a frame belongs to), `keys` (key columns
of rows), `key_values` (which values are the same key) and `pandas/` (one library's answers); `cudf/` has the same
modules. `messages` words errors.
"""
