"""Images and grids: summed-area tables and means of boxes.

Read `grids`, which plans, then `grid_pass`, its kernels, then area_table.cuh, box_image.cuh and box_line.cuh.
"""
