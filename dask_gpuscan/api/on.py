"""`on`: what ``.gpuscan`` gives, by a function whose types checkers and editors know."""

# pandas is read as Any here, so that overloads look alike.
# mypy: disable-error-code="overload-cannot-match"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, overload

import dask.dataframe as dd
import pandas as pd

from .accessor import Gpuscan
from .order_methods import GpuscanIndex

if TYPE_CHECKING:
    from .object_types import CudfFrame, CudfSeries

    OnSeries: TypeAlias = Gpuscan[pd.Series, pd.Series, pd.DataFrame, bool]
    OnFrame: TypeAlias = Gpuscan[pd.DataFrame, pd.Series, pd.DataFrame, bool]
    OnDaskSeries: TypeAlias = Gpuscan[dd.Series, dd.Series, dd.DataFrame, dd.Scalar]
    OnDaskFrame: TypeAlias = Gpuscan[dd.DataFrame, dd.Series, dd.DataFrame, dd.Scalar]
    OnCudfSeries: TypeAlias = Gpuscan[CudfSeries, CudfSeries, CudfFrame, bool]
    OnCudfFrame: TypeAlias = Gpuscan[CudfFrame, CudfSeries, CudfFrame, bool]


@overload
def on(obj: dd.Series) -> OnDaskSeries: ...
@overload
def on(obj: dd.DataFrame) -> OnDaskFrame: ...
@overload
def on(obj: pd.Series) -> OnSeries: ...
@overload
def on(obj: pd.DataFrame) -> OnFrame: ...
@overload
def on(obj: CudfSeries) -> OnCudfSeries: ...
@overload
def on(obj: CudfFrame) -> OnCudfFrame: ...
def on(obj: Any) -> Any:
    """Return ``obj.gpuscan``, of a type that checkers and editors know.

    Accessors are put on classes of other libraries when this package is imported, so a checker cannot see them. It does
    see what this function returns, and the type of what every method returns: of pandas what pandas has, of Dask what
    Dask has.

    Parameters
    ----------
    obj : Series or DataFrame
        Of pandas, cuDF or Dask.

    Returns
    -------
    Gpuscan
        The same as ``obj.gpuscan``.

    Raises
    ------
    TypeError
        For any other object.

    See Also
    --------
    Gpuscan : The methods.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> df = pd.DataFrame({"x": [1, 2, 3]})
    >>> dask_gpuscan.on(df).cumsum()["x"].tolist()
    [1, 3, 6]
    """
    found = getattr(obj, "gpuscan", None) if hasattr(type(obj), "gpuscan") else None
    if not isinstance(found, Gpuscan):
        is_index = isinstance(found, GpuscanIndex)
        raise TypeError(
            f"obj must be a Series or DataFrame of pandas, cuDF or Dask, found {type(obj).__name__}"
            f"{'; take to_series() of it' if is_index else ''}"
        )
    return found
