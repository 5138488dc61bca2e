"""What all primitives on the CPU share: no primitive belongs here.

Read `engine`, the tile loop with its look-back, then `visitors`, what it asks of a primitive, then `steps`, `elements`
and `memory`, what visitors are made of, and at last `launch`, which compiles, starts threads and calls, as many as
`limits` allows. `shared` has functions that are compiled once for all operators, and `packing` the instruction that
moves selected elements.
"""
