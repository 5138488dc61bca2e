"""The fuzzers that there are."""

from .arguments import ARGUMENTS
from .arrow import ARROW
from .cuts import CUTS
from .edges import EDGES_OF_KERNELS
from .files import FILES
from .frames import FRAMES
from .operators import OPERATORS
from .predicates import PREDICATES
from .schedules import SCHEDULES

FUZZERS = {
    fuzzer.name: fuzzer
    for fuzzer in (
        ARGUMENTS,
        ARROW,
        CUTS,
        EDGES_OF_KERNELS,
        FILES,
        FRAMES,
        OPERATORS,
        PREDICATES,
        SCHEDULES,
    )
}
"""By name."""
