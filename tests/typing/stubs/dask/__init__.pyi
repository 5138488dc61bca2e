"""What Dask's functions return, in the place of what checkers guess: Dask says it has types, and gives none."""

from typing import Any

from . import config as config

def __getattr__(name: str) -> Any: ...
