"""Work on several columns at once: selected rows, and reductions and scans by key, all by one pass over columns.

Read `selection`, `compact` and `by_key`, which make passes; `column_pass`, what a pass is, and `columns_source`, its
source; `columns`, which launches it; then columns_tile.cuh and the visitors. Scans of lines are in `scan`.
"""
