"""The engine of streams: batches in order, each seen once, whose carries keep what they have seen as a state.

Read `steps` first: what is computed of one batch, given a state. `stream` chains steps, `passes` runs them over a
source, and `sources` opens what batches come from. `engine` lists what `..run` asks for.
"""
