"""cuDF, as a library of frames; imported when the first cuDF object is met."""

from .library import CUDF

__all__ = ["CUDF"]
