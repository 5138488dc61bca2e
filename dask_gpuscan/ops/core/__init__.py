"""What all operations share: `operation`, `plans`, `groups`, `sorted_groups`, `columnwise`, `carry`, and `flat_frame`.

Read them in this order. No operation lives here: see the other folders.
"""
