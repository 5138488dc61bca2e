"""What ``rolling``, ``expanding``, ``ewm`` and ``resample`` return, of frames and of groups.

`arguments` checks, `windows` holds the rows that windows are made of, `statistics` has one method a statistic. Which
rows are in a window is not known here.
"""
