"""Arrays to and from Arrow's run-end encoding, which stores each run as its value and its end.

Runs are found by the kernels; Arrow holds them. This module must never loop over elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ... import kernels
from ...engines.run import check_in_memory
from ...frames.keys import key_arrays
from ...frames.messages import first_line
from ...frames.pandas.library import PANDAS
from ...frames.pandas.native import one_array
from ...kernels.messages import shown


def run_end_encode(array: Any) -> pa.RunEndEncodedArray:
    """Return an array as Arrow's ``RunEndEncodedArray``.

    Parameters
    ----------
    array : array
        A NumPy array of one dimension, a pandas Series or anything that `pyarrow.array` takes. A null equals
        a null, and NaN equals NaN.

    Returns
    -------
    pyarrow.RunEndEncodedArray
        With run ends of 64 bits.

    Raises
    ------
    ValueError
        For an array of more than one dimension.
    TypeError
        For anything that is not an array, and for a Dask collection.

    See Also
    --------
    run_end_decode : The inverse.
    Gpuscan.rle : Runs of a frame, over partitions too.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> runs = dask_gpuscan.run_end_encode(np.array([7, 7, 8]))
    >>> runs.run_ends.to_pylist(), runs.values.to_pylist()
    ([2, 3], [7, 8])
    """
    check_in_memory("array", array, "compute it first, or take `.gpuscan.rle` of it")
    if getattr(array, "ndim", 1) != 1:
        raise ValueError(f"array must have one dimension, found {array.ndim}")
    try:
        whole = pa.chunked_array(array) if hasattr(array, "__arrow_c_stream__") else pa.array(array)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise TypeError(
            f"array must be what pyarrow makes an array of, found {shown(array)}: {first_line(error)}"
        ) from error
    if isinstance(whole, pa.ChunkedArray):
        whole = one_array(whole)
    series = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([whole])), copy=False)
    keys = key_arrays(PANDAS, [series])
    starts, lengths = kernels.run_length_encode(keys.arrays, nulls=keys.nulls)
    ends = pa.array(starts + lengths, pa.int64())
    return pa.RunEndEncodedArray.from_arrays(ends, whole.take(pa.array(starts)))


def run_end_decode(array: Any) -> pa.Array:
    """Return a ``RunEndEncodedArray`` as a plain Arrow array: the inverse of `run_end_encode`.

    Raises
    ------
    TypeError
        For any other object.
    MemoryError
        If the array would not fit into memory.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> runs = dask_gpuscan.run_end_encode(np.array([7, 7, 8]))
    >>> dask_gpuscan.run_end_decode(runs).to_pylist()
    [7, 7, 8]
    """
    if not isinstance(array, pa.RunEndEncodedArray):
        raise TypeError(f"array must be a pyarrow.RunEndEncodedArray, found {type(array).__name__}")
    # a slice shares the runs of the whole array: cut them to what it shows
    first, count = array.offset, len(array)
    ends = np.clip(np.asarray(array.run_ends, dtype=np.int64) - first, 0, count)
    lengths = np.diff(ends, prepend=0)
    width = array.values.nbytes // max(len(array.values), 1)
    (rows,) = kernels.run_length_decode(lengths, [np.arange(len(lengths))], beside=width)
    return array.values.take(pa.array(rows))
