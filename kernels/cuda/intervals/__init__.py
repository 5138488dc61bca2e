"""Intervals of CuPy arrays: repeated, gathered, scattered and moved.

Read `intervals`, which plans, then `interval_pass`, its kernels, then interval_sums.cuh and intervals.cuh.
"""
