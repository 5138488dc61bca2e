"""The answers of pandas. Only this folder knows how pandas keeps its columns.

Read `library` (the object `PANDAS`: frames, columns, index, nulls) with `layouts` (columns as arrays) first. The others
answer for dtypes (`schema`, `native`), fills, shifts and differences (`changes`), equal keys and order (`keys`,
`sortable`), Arrow's columns (`arrow`), lists (`lists`), strings, objects (`host_values`) and decimals (`decimals`).
"""
