"""Predicates, and the filter that keeps the rows for which one is true. No text of a user becomes source here.

Read `tree`, then `parser`, which makes trees of text with the `members` that may follow a dot, and `text`, which
evaluates or compiles them and binds variables. `function` checks predicates that are Python functions, and `filter`
applies both.
"""
