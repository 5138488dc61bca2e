"""Scans of columns, in groups or not. Windows and reductions live in other folders.

Read `kernel_scan` first: the options of a scan, and the most frequent one, with `plan` for its dtypes and `overflow`
for sums that do not fit. `column_scan` chooses the scan of a column by its dtype. `value_scan` is the base of
`host_scan` and `ranked_scan`. `operator_traits` holds facts about operators. `fill` and `row_number` are
operations of their own. ``fused/`` does several scans in one pass, of the `inputs` that texts and functions compute.
"""
