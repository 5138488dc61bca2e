"""What streams read: files in order, with the identities by which they are known again, tables, and all other batches.

Read `fragments` first: what a file is known by, and how files that are there differ from those that were seen.
`listing` finds the files of paths, and `files` reads them. `batches` opens what a user gives, and `source` is what a
pass goes over.
"""
