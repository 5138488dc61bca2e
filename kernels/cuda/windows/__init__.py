"""Windows of CuPy arrays: rolling statistics and shifted rows.

Read `rolling`, which plans, then `window_pass`, its kernels, then rolling.cuh; then `order_statistics` with
wavelet.cuh, and `sorted_windows`, for short windows, with sorted_windows.cuh and tile_windows.cuh; and `shift`. Boxes
of images are in `grids`.
"""
