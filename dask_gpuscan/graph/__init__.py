"""Dask expressions and layers, which know no column."""
