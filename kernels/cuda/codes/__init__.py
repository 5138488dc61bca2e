"""Scans and reductions of groups of rows in any order, by the codes of their groups.

Read `by_code`, which plans, then `code_pass`, its kernels, then by_code.cuh. `factorize` makes codes without gaps from
codes or words. Groups of adjacent rows are reduced by `columns.by_key`.
"""
