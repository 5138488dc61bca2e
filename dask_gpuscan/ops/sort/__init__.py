"""Rows in order, and their ranks. How partitions exchange rows is for the engines to know.

Read `sort` and `rank`, which work on one frame; then `pieces`, which cuts a partition for others, and
`rank_partitions`, which ranks rows over partitions. `monotonic` checks whether values are in order.
"""
