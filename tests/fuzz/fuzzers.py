"""The fuzzers that there are."""

from .frames import FRAMES
from .predicates import PREDICATES

FUZZERS = {fuzzer.name: fuzzer for fuzzer in (FRAMES, PREDICATES)}
"""By name."""
