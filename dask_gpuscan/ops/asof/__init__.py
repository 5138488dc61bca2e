"""As-of merges. Other joins do not live here.

Read `columns`, which says where each column of the answer comes from, then `asof`, which matches the rows of two
pieces.
"""
