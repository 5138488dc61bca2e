"""What all operations share, in this order: `operation`, `groups`, `columnwise`, `carry`, and `flat_frame`.

No operation lives here: see the other folders.
"""
