"""What the operations of a stream have seen, as values that are written to files, checked when read, and joined.

Read `state` first. `state_files` is the container and `values` what stands in it; `records` says what must fit.
"""
