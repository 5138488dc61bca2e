"""What all operations share: `operation`, `plans`, `groups`, `segment_groups`, `sorted_groups`, `columnwise`, `carry`.

Read them in this order, and `flat_frame` last. No operation lives here: see the other folders.
"""
