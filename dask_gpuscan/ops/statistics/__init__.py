"""Statistics as data: the operators that compute them, and one table with a row for each.

Nothing here knows how rows lie in groups or windows. Read `table` first, then the operators: `groups` for groups,
`windows` for rolling and expanding windows, `ewm` and `ewm_pairs` for weighted ones. `inputs` reads columns for them.
"""
