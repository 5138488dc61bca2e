"""Numba's compiler and the cache of its machine code; no other folder uses Numba's private names.

Nothing here knows an operator or an array. Read `jit`, which compiles, then `cache`, which holds machine code on disk
under the `function_fingerprint` of all that a kernel reaches, then `frozen_functions`, which copies functions of users,
and `closure_constants`, which makes functions that differ in captured numbers share machine code. `pack` finds kernels
that came compiled with the package, some in `archives`, and call.c calls them. `numba_internals` has the private names
that other folders use.
Each compilation goes through `compiling`, which orders compilers and forks and reports to the listeners of `listening`.
"""
