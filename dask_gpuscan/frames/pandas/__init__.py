"""pandas, as a library of frames."""

from .library import PANDAS

__all__ = ["PANDAS"]
