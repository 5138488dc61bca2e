"""``.gpuscan`` of polars and of Arrow tables: `tables` reads them as frames and makes answers tables again.

Nothing here computes: `accessor` calls the methods of frames. A further library's tables are a `Kind` in `tables`.
"""
