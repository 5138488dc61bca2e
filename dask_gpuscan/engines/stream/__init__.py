"""The engine of streams: batches are read once and in order, and carries keep a state between them.

Read `steps` first: it computes the answer for one batch from the batch and a state. `stream` chains steps, and `passes`
runs them over a source. ``sources/`` reads batches, ``states/`` keeps and saves states, and ``sinks/`` writes answers.
`engine` has the functions that `..run` calls.
"""
