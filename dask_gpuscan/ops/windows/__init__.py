"""Windows, and operations that look at the rows around each row. Their statistics live in ``statistics/``.

Read `rolling`, which says which rows a window has, then `expanding`, which scans all rows so far. `halo`,
`surroundings` and `group_surroundings` bring the rows of neighbouring partitions, for `rolling`, `shift` and
`order_statistics`; `interpolate` fills nulls from both sides. Windows of times and decimals are computed with integers:
`exact`, `exact_expanding`.
"""
