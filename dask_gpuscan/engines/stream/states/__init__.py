"""The states of a stream's operations: they are written to files, checked when they are read, and joined.

Read `state` first. `state_files` is the file format, `values` its contents, and `records` checks them.
"""
