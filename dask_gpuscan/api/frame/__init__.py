"""The methods of ``.gpuscan`` of frames and series, one theme a module, each a base class of the accessor.

Groups and windows have folders of their own. Start with `scans` and the module that it calls, `operator_scans`.
"""
