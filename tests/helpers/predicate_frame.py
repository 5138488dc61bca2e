"""The frame for tests of predicates: numbers, flags, texts, a name with a space, and two names that look alike."""

import numpy as np
import pandas as pd

from helpers.versions import STRING

FRAME = pd.DataFrame(
    {
        "a": [1, 5, -3, 0, 7, 2],
        "b": [0.5, np.nan, 2.0, -1.0, np.inf, 2.0],
        "flag": [True, False, True, True, False, False],
        "odd name": [3, 1, 4, 1, 5, -9],
        "fi": [1, 2, 3, 4, 5, 6],
        "ﬁ": [6, 5, 4, 3, 2, 1],
        "s": pd.Series(["x", "y", None, "x", "z", "y"], dtype=STRING),
    }
)
