"""The fuzzers that there are."""

from .frames import FRAMES

FUZZERS = {fuzzer.name: fuzzer for fuzzer in (FRAMES,)}
"""By name."""
