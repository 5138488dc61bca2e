"""The sources of streams: files in order, tables, and other batches.

Read `fragments` first: it identifies files, and compares the present files with those that were read. `listing` finds
the files of paths, and `files` reads them. `batches` opens a user's source, and a pass reads a `source`.
"""
