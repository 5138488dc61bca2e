"""The fuzzers that there are."""

from .frames import FRAMES
from .operators import OPERATORS
from .predicates import PREDICATES

FUZZERS = {fuzzer.name: fuzzer for fuzzer in (FRAMES, OPERATORS, PREDICATES)}
"""By name."""
