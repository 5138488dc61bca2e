"""Several scans in one pass. Read `plan`, then `operator`, which makes one operator of several, and `scan`."""
