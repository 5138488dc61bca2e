"""What ``rolling``, ``expanding``, ``ewm`` and ``resample`` return, of frames and of groups.

`arguments` checks, `windows` says what they are of, `statistics` has one method a statistic. Which rows are in a
window is not known here.
"""
