"""The outputs of streams: Arrow, polars, a Parquet file, directories that later runs add to, and tables.

For directories, read `manifest` first: it lists the files. `directory` changes the files in one step, `directory_start`
checks them before a run, and `directory_sink` writes a stream. `commits` does the same for tables.
"""
