"""Operations on blocks of arrays, along one axis or on grids. Frames are not known here.

Read `nulls`, which treats NaN and NaT, then `scan`, `groups` for scans within groups, and `grids` for means and sums
of boxes.
"""
