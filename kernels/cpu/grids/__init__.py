"""Images and grids of NumPy arrays: `grids` has summed-area tables and means of boxes, and nothing else."""
