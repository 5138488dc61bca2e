"""The answers of cuDF. Only this folder uses private names of cuDF; its `library` is imported for an object of cuDF.

Read `library` (the object `CUDF`: frames, columns, nulls) with `layouts` (columns as arrays, without a copy) and
`bitmaps` first. The others answer for dtypes and labels (`schema`), equal keys and order (`keys`) and lists (`lists`);
`nan` counts NaN late, and `memory` warns of memory without a pool.
"""
