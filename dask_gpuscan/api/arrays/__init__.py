"""Functions of arrays: NumPy's, CuPy's and Dask's; frames and tables are handed to their accessors.

Start with `scans`; `axis` does one axis of one array, at once or lazily.
"""
