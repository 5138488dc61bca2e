"""Keys that are the same though their bytes differ: every method answers alike, however rows are cut."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from backends import same

NAN = float("nan")
DAY = pd.Timestamp("2026-01-01")
WORLD = pd.Timestamp("2026-01-01", tz="UTC")


def objects(*values):
    return pd.Series(np.fromiter(values, object, len(values)), dtype=object)


def of_arrow(array):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])))


def nans(*bits):
    return np.array(bits, np.uint64).view(np.float64)


KINDS = {
    "numbers": (
        objects(1, 2, 1.0, True, Fraction(2), np.float32(2), 3, np.int8(3), Decimal(3)),
        [0, 1, 0, 0, 1, 1, 2, 2, 2],
    ),
    "decimals": (
        objects(*map(Decimal, ("1", "2", "1.00", "1.0", "2.0", "3", "2.00", "3.0", "1.000"))),
        [0, 1, 0, 0, 1, 2, 1, 2, 0],
    ),
    "floats": (
        objects(0.0, -0.0, 1.5, np.float32(1.5), None, NAN, pd.NA, -0.0, np.float64("nan")),
        [0, 0, 1, 1, -1, -1, -1, 0, -1],
    ),
    "zeros of Arrow": (
        of_arrow(pa.array([0.0, -0.0, 1.0, -0.0, 0.0, 1.0, None, -0.0, None])),
        [0, 0, 1, 0, 0, 1, -1, 0, -1],
    ),
    "NaN of Arrow": (
        of_arrow(
            pa.concat_arrays(
                [
                    pa.array(nans(1 << 62, 0x7FF8 << 48, 0x7FF8_0000_0000_0001), from_pandas=False),
                    pa.array([None, 2.0], pa.float64()),
                    pa.array(nans(0xFFF8 << 48, 0x7FF9 << 48, 0x7FF8 << 48), from_pandas=False),
                    pa.array([None], pa.float64()),
                ]
            )
        ),
        [0, 1, 1, -1, 0, 1, 1, 1, -1],
    ),
    "complex": (
        pd.Series(
            [1, 1 - 0j, complex(0.0, -0.0), complex(-0.0), complex(NAN, 1), complex(1, NAN)]
            + [complex(NAN, NAN), -0j, 1]
        ),
        [0, 0, 1, 1, -1, -1, -1, 1, 0],
    ),
    "dictionary": (
        of_arrow(
            pa.DictionaryArray.from_arrays(
                pa.array([0, 1, 2, 3, None, 2, 4, 4, 3]), pa.array(["a", "a", None, "b", "b"])
            )
        ),
        [0, 0, -1, 1, -1, -1, 1, 1, 1],
    ),
    "dictionary without nulls": (
        of_arrow(
            pa.DictionaryArray.from_arrays(
                pa.array([0, 1, 2, 3, 2, 2, 4, 4, 3]), pa.array(["a", "a", None, "b", "b"])
            )
        ),
        [0, 0, -1, 1, -1, -1, 1, 1, 1],
    ),
    "dictionary of floats": (
        of_arrow(
            pa.DictionaryArray.from_arrays(
                pa.array([0, 1, 2, 0, 1, 2, 1, 0, 2], pa.int8()), pa.array([0.0, -0.0, 2.0])
            )
        ),
        [0, 0, 1, 0, 0, 1, 0, 0, 1],
    ),
    "instants": (
        objects(
            DAY,
            np.datetime64("2026-01-01"),
            datetime(2026, 1, 1),
            DAY + timedelta(1),
            np.datetime64("2026-01-02", "ns"),
            pd.NaT,
            datetime(2026, 1, 2),
            np.datetime64("NaT"),
            DAY,
        ),
        [0, 0, 0, 1, 1, -1, 1, -1, 0],
    ),
    "instants of zones": (
        objects(
            WORLD,
            WORLD.tz_convert("Asia/Tokyo"),
            datetime(2026, 1, 1, tzinfo=UTC),
            WORLD + timedelta(1),
            None,
            datetime(2026, 1, 2, tzinfo=UTC),
            (WORLD + timedelta(1)).tz_convert("Europe/Berlin"),
            WORLD.tz_convert("America/Lima"),
            WORLD,
        ),
        [0, 0, 0, 1, -1, 1, 1, 0, 0],
    ),
    "durations": (
        objects(
            pd.Timedelta(1, "s"),
            timedelta(seconds=1),
            np.timedelta64(1, "s"),
            np.timedelta64(2000, "ms"),
            pd.Timedelta(2, "s"),
            pd.NaT,
            timedelta(seconds=2),
            np.timedelta64(10**9, "ns"),
            timedelta(seconds=1),
        ),
        [0, 0, 0, 1, 1, -1, 1, 0, 0],
    ),
    "tuples": (
        objects(
            (1, NAN),
            (1.0, float("nan")),
            (np.int64(1), np.float64("nan")),
            (True, Decimal("NaN")),
            (2, pd.NA),
            (2, 5),
            (2.0, np.int8(5)),
            (np.float32(2), pd.NA),
            (1, np.float32("nan")),
        ),
        [0, 0, 0, 0, 1, 2, 2, 1, 0],
    ),
    "intervals": (
        pd.Series(
            pd.arrays.IntervalArray.from_tuples(
                [(-0.0, 1), (0.0, 1), (1, 2), (0.0, 1), NAN, (1, 2), (-0.0, 1), NAN, (1, 2)]
            )
        ),
        [0, 0, 1, 0, -1, 1, 0, -1, 1],
    ),
    "categories": (
        pd.Series(
            pd.Categorical.from_codes(
                [0, 1, 2, 0, 2, 1, -1, -1, 0], [(1, np.float64("nan")), (1, NAN), "a"]
            )
        ),
        [0, 0, 1, 0, 1, 0, -1, -1, 0],
    ),
    "longdouble": (
        pd.Series(np.array([1, 2, 1, -0.0, 0.0, NAN, 2, NAN, 1], np.longdouble)),
        [0, 1, 0, 2, 2, -1, 1, -1, 0],
    ),
}
"""Keys of each kind, and numbers of those that are the same, -1 for nulls."""
