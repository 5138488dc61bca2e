"""Helpers for tests of several rooms, such as backends, strategies and versions, and programs that `make` runs."""
