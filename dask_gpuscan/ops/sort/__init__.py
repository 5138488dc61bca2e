"""Rows in order, and their ranks. How partitions exchange rows is for the engines to know.

Read `sort` and `rank`, which work on one frame; then `pieces`, by which a partition is cut for others, and
`rank_partitions`, which ranks rows over partitions. `monotonic` asks whether values are in order.
"""
