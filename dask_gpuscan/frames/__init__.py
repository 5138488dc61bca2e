"""Dataframe libraries: what each must answer, and the answers of pandas and cuDF. Nothing is computed here.

Read `types` first, then `protocol` (the questions), `registry` (which library a frame belongs to), `keys` (key columns)
and `pandas/` (one library's answers); `cudf/` has modules alike. `messages` words errors.
"""
