"""Windows of NumPy arrays: combinations and order statistics of the rows around each row, and shifted rows.

Read `rolling`, which chooses between the three walks of `window_walks`, then `order_statistics` and `sorted_windows`,
its way for short windows; then `shift`. Boxes of images are in `grids`.
"""
