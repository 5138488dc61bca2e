"""``.gpuscan`` of xarray's objects: `accessor`, its `methods`, the `walk` over variables, and their `groups`.

Importing this package does not import xarray.
"""
