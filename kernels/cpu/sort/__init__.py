"""Sorting of NumPy arrays, rows by position, and questions to sorted arrays.

Read `sort`, then `sort_codes`, which makes keys codes, then `radix_sort`, which orders them. `permute` takes and puts
rows; `sorted_values` ranks and searches. Groups and runs do not belong here.
"""
