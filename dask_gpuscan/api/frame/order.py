"""The properties of ``.gpuscan`` that tell whether rows are in order, of series and of indexes."""

from __future__ import annotations

from typing import Any, Generic

from ...engines.run import meta_of, run
from ...kernels.messages import shown
from ...ops.sort.monotonic import Monotonic
from ..types import ScalarT


class OrderMethods(Generic[ScalarT]):
    """The part of `Gpuscan`, and of what an index has, that tells whether values are in order."""

    _obj: Any

    @property
    def is_monotonic_increasing(self) -> ScalarT:
        """Whether values never decrease, over partition borders too.

        For a Series or an Index; a bool, or for a Dask collection a lazy scalar. False if there is a null.
        Partitions hand on whether they are in order, and their first and last value.

        Raises
        ------
        TypeError
            For a DataFrame, and for values that have no order.

        See Also
        --------
        Gpuscan.groupby : With ``clustered="check"``, whether equal keys are adjacent.

        Examples
        --------
        >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
        >>> x = pd.Series([1, 2, 2, 1])
        >>> dd.from_pandas(x, npartitions=2).gpuscan.is_monotonic_increasing.compute()
        False
        >>> x.index.gpuscan.is_monotonic_increasing
        True
        """
        return self._is_monotonic(Monotonic())

    @property
    def is_monotonic_decreasing(self) -> ScalarT:
        """Whether values never increase; as `is_monotonic_increasing`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([3, 2, 2]).gpuscan.is_monotonic_decreasing
        True
        """
        return self._is_monotonic(Monotonic(decreasing=True))

    def _is_monotonic(self, question: Monotonic) -> Any:
        if meta_of(self._obj).ndim != 1:
            raise TypeError("is_monotonic needs a Series or an Index; choose a column first")
        return run(self._obj, question)


class GpuscanIndex(OrderMethods[ScalarT]):
    """The ``.gpuscan`` of a pandas, cuDF or Dask Index.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> pd.Index([3, 1]).gpuscan.is_monotonic_decreasing
    True
    """

    def __init__(self, obj: Any) -> None:
        self._obj = obj.to_series()

    def __repr__(self) -> str:
        return "<gpuscan of an Index>"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"gpuscan of an Index has is_monotonic_increasing and is_monotonic_decreasing, not {shown(name)}; "
            f"for other methods take to_series() or to_frame() of the Index"
        )
