"""Predicates, and the filter that keeps the rows for which one is true. No text of a user is compiled here.

Read `tree`, then `parser`, which makes trees of texts, of the `members` that may follow a dot, and of the values of
variables, and `text`, which evaluates or compiles them. `function` checks predicates that are Python functions, and
`filter` applies both.
"""
