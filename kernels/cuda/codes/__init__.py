"""Scans and reductions of groups of rows in any order, by the codes of their groups.

Read `by_code`, which plans, then `code_pass`, its kernels, then by_code.cuh. `factorize` makes codes without gaps, of
codes and of words. Rows of adjacent groups are reduced `by_key`, in `columns`.
"""
