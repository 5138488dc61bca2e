"""Sorting of CuPy arrays, rows by position, and searches and ranks of sorted arrays.

Read `sort`, which turns keys into words, then `radix_sort`, which plans the passes, then `sort_pass`, the passes, then
sort_digit.cuh. `permute` takes and puts rows. `partition` groups rows by leading bits of codes, and restores their
order.
"""
