"""Operators: associative combinations with an identity over a small state, and facts about them.

No array is scanned here. Read `operator`, then `built_in`, `segments`, `product`, `compensated` and `reproducible`,
which are operators; then `signature`, the dtypes of states and answers, `inference`, which asks Numba for them, and
`calls` of operators in compiled code. `associativity` and `trial` look for operators that break the laws; `numerics`
has steps that each kind of processor takes in its own way.
"""
