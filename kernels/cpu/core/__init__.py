"""The parts that all primitives on the CPU share; no primitive belongs here.

Read `engine`, the tile loop with its look-back, then `visitors`, the functions of a primitive that it calls, then
`steps`, `elements` and `memory`, the parts of visitors, and at last `launch`, which compiles, starts as many threads
as `limits` allows, and calls. `shared` has functions that are compiled once for all operators, and `packing` the
instruction that moves selected elements.
"""
