"""The engine of streams: batches in order, each seen once, whose carries keep what they have seen as a state.

Read `steps` first: what is computed of one batch, given a state. `stream` chains steps, and `passes` runs them over a
source. Batches come from ``sources/``, ``states/`` are what is kept, and answers go to ``sinks/``. `engine` lists what
`..run` asks for.
"""
