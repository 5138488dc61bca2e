"""Scans and reductions of NumPy arrays along an axis; those by key and by code are in `columns`.

Read `scan`, then `digit_sums`, which it takes for reproducible sums.
"""
