"""Sorting of CuPy arrays, rows by position, and questions to sorted arrays.

Read `sort`, which makes keys words, then `radix_sort`, which plans the passes, then `sort_pass`, the passes, then
sort_digit.cuh. `permute` takes and puts rows. `partition` brings rows together by leading bits of codes, and back.
"""
