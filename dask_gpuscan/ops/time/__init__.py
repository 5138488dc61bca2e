"""Times of rows. Windows of time live in ``windows/``.

Read `time_column`, which reads times and their unit; then `sessions`, which finds gaps, and `buckets` with
`resample`, which number intervals and reduce them.
"""
