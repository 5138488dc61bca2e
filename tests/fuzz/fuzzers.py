"""The fuzzers that there are."""

from typing import Any

from hypothesis.strategies import SearchStrategy

from .arguments import ARGUMENTS
from .arrow import ARROW
from .cuts import CUTS
from .edges import EDGES_OF_KERNELS
from .files import FILES
from .frames import FRAMES
from .operators import OPERATORS
from .peers import PEERS
from .predicates import PREDICATES
from .schedules import SCHEDULES

FUZZERS: dict[str, SearchStrategy[Any]] = {
    "arguments": ARGUMENTS,
    "arrow": ARROW,
    "cuts": CUTS,
    "edges": EDGES_OF_KERNELS,
    "files": FILES,
    "frames": FRAMES,
    "operators": OPERATORS,
    "peers": PEERS,
    "predicates": PREDICATES,
    "schedules": SCHEDULES,
}
"""What draws the cases of each."""
