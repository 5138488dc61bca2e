"""Where answers of streams go: Arrow, polars, a file of Parquet, directories that go on, and tables with transactions.

Of a directory, read `manifest` first, which says what it holds. `directory` changes that in one step, `directory_start`
checks what is there, and `directory_sink` writes a stream to it. `commits` does the same for tables.
"""
