"""The fuzzers that there are."""

from .arrow import ARROW
from .frames import FRAMES
from .operators import OPERATORS
from .predicates import PREDICATES

FUZZERS = {fuzzer.name: fuzzer for fuzzer in (ARROW, FRAMES, OPERATORS, PREDICATES)}
"""By name."""
