"""Operations on the columns of a frame, one a module, one theme a folder; nothing here knows of graphs.

Read ``core/`` first: `core.operation` says what an operation is, `core.groups` how rows lie in groups. Then ``scan/``.
`kept` lists what files of states may hold of operations.
"""
