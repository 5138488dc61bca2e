"""Tells Dask how much memory objects of cuDF take, which it does not know where nothing imports dask_cudf.

Without it a partition on a GPU counts as a few bytes, so the scheduler moves it to another GPU as it likes. Dask
calls `register` while it is imported (the entry point group ``dask.sizeof``), on workers too; a module within
dask_gpuscan would import the package then, which would put ``.gpuscan`` on frames that nobody has asked it for, and
look for names of Dask that are not there yet. So this one stands alone, and must never import anything but cuDF, once
that has been imported.
"""

from typing import Any


def register(sizeof: Any) -> None:
    """Have `register_cudf` called when Dask first asks for the size of an object of cuDF.

    Parameters
    ----------
    sizeof : dask.utils.Dispatch
    """
    if "cudf" not in sizeof._lazy:
        sizeof.register_lazy("cudf", lambda: register_cudf(sizeof))


def register_cudf(sizeof: Any) -> None:
    """Register the sizes of cuDF's frames, series and indexes, except where dask_cudf or others have done so.

    Parameters
    ----------
    sizeof : dask.utils.Dispatch
    """
    import cudf

    unknown = sizeof.dispatch(object)  # also remembered for what was asked for before
    index = getattr(cudf, "BaseIndex", cudf.Index)  # which cuDF had until 25.08
    for kind, size in (
        (cudf.DataFrame, _size_of_frame),
        (cudf.Series, _size_of_column),
        (index, _size_of_column),
    ):
        if sizeof._lookup.get(kind, unknown) is unknown:
            sizeof.register(kind, size)


def _size_of_column(column: Any) -> int:
    return int(column.memory_usage(deep=True))


def _size_of_frame(frame: Any) -> int:
    columns = sum(column.memory_usage(index=False, deep=True) for _, column in frame.items())
    return int(columns + frame.index.memory_usage(deep=True))
