"""Scans and reductions of CuPy arrays along an axis; those by key and by code are in `columns` and `codes`.

Read `scan`, which plans, then `scan_pass`, the kernel, then scan_tile.cuh and a schedule, such as scan_pipelined.cuh.
`sequential_product` has the operators that compute products of floating-point numbers.
"""
