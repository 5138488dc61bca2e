"""Pieces of partitions as rows of bytes, which Dask shuffles to disk or between workers: see `shuffle`."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ...ops.sort.pieces import Join, PartitionSlices
from .compat import Blockwise
from .expressions import ExprMixin

TARGET, ORIGIN, PIECE = "_partitions", "origin", "piece"
"""The columns of pieces as rows that Dask shuffles; the first has the name that Dask uses."""


def packed_rows(pieces: Iterable[tuple[int, PartitionSlices]], origin: int) -> pd.DataFrame:
    """Return pieces, and the numbers of the new partitions, as rows; they were cut from the one numbered `origin`."""
    filled = {number: pickle.dumps(piece, pickle.HIGHEST_PROTOCOL) for number, piece in pieces}
    # pandas itself would make all bytes as long as the longest
    packed = pd.arrays.ArrowExtensionArray(pa.array(list(filled.values()), pa.large_binary()))
    targets = np.array(list(filled), np.int64)
    return pd.DataFrame({TARGET: targets, ORIGIN: np.full_like(targets, origin), PIECE: packed})


class Unpacked(ExprMixin, Blockwise):  # type: ignore[misc]
    """New partitions, each joined from its rows of pieces."""

    _parameters = ("frame", "join", "like")
    _label = "join"

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("like")

    @staticmethod
    def operation(rows: pd.DataFrame, join: Join, like: Any) -> Any:
        origins = rows[ORIGIN].to_numpy()
        in_order = np.argsort(origins)
        pieces = [pickle.loads(piece) for piece in rows[PIECE].array[in_order]]
        if not pieces:
            return join([PartitionSlices.of(like, [(0, 0)])], 0, [0])
        return join(pieces, 0, origins[in_order].tolist())


class Packed(ExprMixin):
    """Pieces as rows of a frame that Dask shuffles: target, origin, and the piece as bytes."""

    @functools.cached_property
    def _meta(self) -> pd.DataFrame:
        return packed_rows([], 0)
