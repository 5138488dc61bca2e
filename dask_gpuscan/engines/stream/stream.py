"""The class `Stream`: rows that come in batches, and a chain of steps that one pass over the source runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ...frames.keys import is_name
from ...frames.messages import ColumnError, check_flags, column_title
from ...frames.registry import check_names, choose_columns, names_of
from ...kernels.messages import not_among, shown
from ...ops.predicates.filter import append_column
from .passes import Pass, begun, computed
from .row_methods import RowMethods, assigned
from .sinks.methods import WriteMethods
from .sources.source import Source, Start
from .states.state import State
from .steps import Each, EachWaiting, Input, Step

if TYPE_CHECKING:
    from ...api.accessor import Gpuscan


class Stream(RowMethods, WriteMethods):
    """Rows in batches that are read once and in order; the function `stream` makes one from a source.

    Operations on a stream return a stream. Nothing is read until a stream is iterated over, computed or written. Memory
    holds a few batches and the states of the operations.

    Parameters
    ----------
    source : Source
    meta : frame or series
        A frame of the stream's columns and dtypes without rows.
    step : Step, optional
        The computation; None for the batches of the source.
    inputs : sequence of Stream
        The inputs of the step.
    rows : object, optional
        A token for the rows: streams of the same rows share it.
    pace : object, optional
        A token for the rows that are answered after each batch: it differs if some wait for later rows.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> days = [pd.DataFrame({"sold": [4, 2]}), pd.DataFrame({"sold": [5, 1, 3]})]
    >>> rows = dask_gpuscan.stream(days)
    >>> totals = rows.assign(total=rows["sold"].gpuscan.cumsum())
    >>> for day in totals:
    ...     print(day.total.tolist())
    [4, 6]
    [11, 12, 15]
    """

    def __init__(
        self,
        source: Source,
        meta: Any,
        step: Step | None = None,
        inputs: Sequence[Stream] = (),
        rows: object = None,
        pace: object = None,
    ) -> None:
        self._source, self._meta = source, meta
        self._step, self._inputs = step, tuple(inputs)
        self._rows = object() if rows is None else rows
        self._pace = object() if pace is None else pace
        self._pass: Pass | None = None

    _accessor: ClassVar[Any]
    """The accessor that `register_accessor` has registered."""

    if TYPE_CHECKING:

        @property
        def gpuscan(self) -> Gpuscan[Stream, Any, Any, Any]:
            """The methods of frames."""

    @property
    def _frame_methods(self) -> Any:
        """The methods of the accessor, which answer with frames for every source."""
        return self._accessor(self)

    def written_by(
        self, answer: Callable[[str, Any], Any], methods: Callable[[Any], Any]
    ) -> Stream:
        """Return this stream with other `Format.answer` and `Format.methods`; no other stream may use its source."""
        self._source.format = replace(self._source.format, answer=answer, methods=methods)
        return self

    # --- what it looks like -----------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        """2 for a frame, 1 for a series."""
        return int(self._meta.ndim)

    @property
    def columns(self) -> Any:
        """The labels of the columns."""
        return self._meta.columns

    @columns.setter
    def columns(self, labels: Any) -> None:
        self.__dict__ = copy(self).map_batches(_labelled, labels).__dict__

    @property
    def name(self) -> Any:
        """The name of a series."""
        return self._meta.name

    @property
    def dtypes(self) -> Any:
        """The dtypes of the columns, or of a series."""
        return self._meta.dtypes

    @property
    def dtype(self) -> Any:
        """The dtype of a series."""
        return self._meta.dtype

    def __repr__(self) -> str:
        if self.ndim == 1:
            return f"<Stream of {column_title(self._meta)}, dtype {self.dtype}>"
        pairs = zip(names_of(self._meta), self.dtypes, strict=True)
        return f"<Stream of {', '.join(f'{name!r}: {dtype}' for name, dtype in pairs)}>"

    # --- rows by themselves -----------------------------------------------------------------------

    def __getitem__(self, names: Any) -> Stream:
        """Return the column of a name, the columns of a list of names, or the rows where a stream of bool is true."""
        if isinstance(names, Stream):
            rows: Any = self
            kept: Stream = rows._frame_methods.filter(names)
            return kept
        known = names_of(self._meta)
        check_names(known)
        for name in names if isinstance(names, list) else [names]:
            if self.ndim == 1 or not is_name(name) or name not in known:
                raise ColumnError(not_among(name, known))
        choose = choose_columns if isinstance(names, list) else operator.getitem
        return self.map_batches(choose, names)

    def map_batches(
        self,
        function: Callable[..., Any],
        *given: Any,
        keeps_rows: bool = True,
        label: str | None = None,
    ) -> Stream:
        """Apply a function to each batch; the function must treat each row independently of the others.

        Parameters
        ----------
        function : callable
        *given
            More arguments; the function gets the batches of those that are streams.
        keeps_rows : bool, default True
            Whether the function returns the same rows. The length of each batch is checked.
        label : str, optional
            The name in messages; by default that of the function.

        Raises
        ------
        TypeError
            If `function` is not callable or returns no frame or series, or if `label` is not a str.
        ValueError
            If an argument is a stream of other rows; during computation, if an answer has more or fewer rows.
        """
        if not callable(function):
            raise TypeError(f"function must be callable, found {shown(function)}")
        check_flags(keeps_rows=keeps_rows)
        if not (label is None or isinstance(label, str)):
            raise TypeError(f"label must be a str or None, found {shown(label)}")
        inputs, places = [self], list[Any]()
        for one in (self, *given):
            if isinstance(one, Stream) and all(one is not other for other in inputs):
                self.check_rows(one, "an operand")
                inputs.append(one)
            number = next((i for i, other in enumerate(inputs) if one is other), None)
            places.append(one if number is None else Input(number))
        _, *others = inputs
        waits = any(one._pace is not self._pace for one in others)
        step = (EachWaiting if waits else Each)(
            function, tuple(places), label or _name_of(function), keeps_rows
        )
        meta, _ = step.advance([one._meta for one in inputs], None, False)
        rows = self._rows if keeps_rows else None
        return self.then(step, meta, *others, rows=rows, waits=waits)

    def then(
        self, step: Step, meta: Any, *others: Stream, rows: object = None, waits: bool = False
    ) -> Stream:
        """Return the stream that a step computes from this stream and others; `waits` if rows wait for later ones."""
        pace = None if waits else self._pace
        return type(self)(self._source, meta, step, (self, *others), rows, pace)

    def beside(self, other: Stream) -> Stream:
        """Return this stream for reading it at the same time as `other`.

        If both have the same source, it is read without its state: the state of `other` has the one of this stream.
        """
        if self._source is not other._source or self._source.state is None:
            return self
        found = copy(self)
        found._source = self._source.again()
        return found

    def check_rows(self, other: Any, title: str) -> None:
        """Raise a TypeError or ValueError unless `other` is a stream of the same rows."""
        if not isinstance(other, Stream):
            raise TypeError(f"{title} of a stream must be a stream, found {shown(other)}")
        if other._rows is not self._rows:
            raise ValueError(
                f"{title} has other rows than its stream; make both of one stream, before rows are left out"
            )

    def origin(self) -> tuple[Stream, Hashable]:
        """Return the earliest stream that this series is a column of, and the name of the column there."""
        stream, name = self, None
        while isinstance(stream._step, Each):
            step = stream._step
            first, *given = [
                stream._inputs[g.number] if isinstance(g, Input) else g for g in step.given
            ]
            if stream.ndim == 1 and step.function is operator.getitem:
                stream, name = first, given[0]
            elif step.function is choose_columns or (
                step.function is assigned and given[0] != name
            ):
                stream = first
            elif step.function is append_column:
                column, new = given
                stream, name = (column, None) if new == name else (first, name)
            else:
                break
        return stream, name

    # --- passes -----------------------------------------------------------------------------------

    def begin(self, state: State | None = None, start: Start | None = None) -> Pass:
        """Return a new pass over the source; the property `state` is that of this pass from now on.

        Parameters
        ----------
        state : State, optional
            A state of this stream: the pass goes on after its rows. Default: the state that the source begins with.
        start : Start, optional
            The answer of `Source.start` for the state.
        """
        return begun([self], state, start)

    def __iter__(self) -> Iterator[Any]:
        """Yield the batches in the source's library."""
        write = self._source.format.write
        for (batch,) in self.begin():
            yield write(batch)

    def compute(self) -> Any:
        """Return all rows as one frame in the source's library.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> dask_gpuscan.stream([pd.Series([1, 2]), pd.Series([3])]).gpuscan.cumsum().compute().tolist()
        [1, 3, 6]
        """
        (found,) = computed([self])
        return found

    def to_dask(self) -> Any:
        """Return a stream over a Dask collection as a collection, whose partitions run in parallel.

        The answers go on from the state of the source and have the same bits as those of the stream. The state of the
        stream does not change: compute the stream itself to get a new state.

        Raises
        ------
        TypeError
            If the source is not a Dask collection.
        ValueError
            If the source was given with ``ends=False``.

        Examples
        --------
        >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
        >>> monday = dask_gpuscan.stream([pd.DataFrame({"sold": [4, 2]})]).gpuscan.cumsum()
        >>> monday.compute()["sold"].tolist()
        [4, 6]
        >>> tuesday = dd.from_pandas(pd.DataFrame({"sold": [5, 1, 3]}), npartitions=2)
        >>> rows = tuesday.gpuscan.resume(monday.state)
        >>> rows.gpuscan.cumsum().to_dask().compute()["sold"].tolist()
        [11, 12, 15]
        """
        collection = self._source.collection
        if not self._source.ends:
            raise ValueError(
                "a collection has no state to keep what is open in, so that ends must be True"
            )
        found: dict[Stream, Any] = {}
        # a separate pass, as the stream has seen nothing yet
        passing = Pass([self])
        seen = iter(passing.seen)
        for node in passing.nodes:
            if node._step is None:
                found[node] = collection
                continue
            inputs, before = [found[one] for one in node._inputs], next(seen)
            node._step.check_seen([one._meta for one in node._inputs], before)
            same = node._rows is node._inputs[0]._rows
            found[node] = node._step.on_collection(inputs, before, same)
        return found[self]

    @property
    def state(self) -> State:
        """The state after the last batch that was iterated over, computed or written.

        Raises
        ------
        ValueError
            If the stream was not read yet.
        """
        if self._pass is None:
            raise ValueError("stream has no state yet: compute it, or iterate over it, first")
        return self._pass.state


def register_accessor(name: str) -> Callable[[Any], Any]:
    """Return a decorator that puts an accessor on streams."""

    def decorate(accessor: Any) -> Any:
        setattr(Stream, name, property(lambda rows: rows._source.format.methods(accessor(rows))))
        Stream._accessor = accessor
        return accessor

    return decorate


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__).lstrip("_")


def _labelled(batch: Any, labels: Any) -> Any:
    renamed = batch.copy(deep=False)
    renamed.columns = labels
    return renamed
