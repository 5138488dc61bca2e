"""How fast the weights of exponentially weighted statistics decay, and where they end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Decay:
    """How fast weights decay.

    Parameters
    ----------
    alpha : float
        The share of the last value, of a row or of a half-life.
    adjust, ignore_na : bool
        As for `pandas.DataFrame.ewm`.
    halflife : float, optional
        In units of the times that are a second input; without, rows are evenly spaced.
    """

    alpha: float
    adjust: bool
    ignore_na: bool
    halflife: float | None = None

    @property
    def of_null(self) -> float:
        """The decay of a row that is null."""
        return 1.0 if self.ignore_na else 1.0 - self.alpha
