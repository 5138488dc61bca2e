"""Windows of NumPy arrays: rows around each row that are combined, ordered or moved along.

Read `rolling`, which chooses between the three walks of `window_walks`, then `order_statistics` and
`sorted_windows`, its way for short windows; then `shift`. Boxes of images are in `grids`.
"""
