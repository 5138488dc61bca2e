"""Scans that start anew after some rows: the rows from one reset to the next are groups, which are adjacent."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from ...engines.run import engine_of, meta_of, methods_of, run
from ...frames.registry import names_of, unused_name
from ...ops.core.columnwise import NamedCarry, without_name
from ...ops.core.operation import Part
from ...ops.scan.fused.plan import entitled
from ...ops.scan.inputs import PlainColumn
from ...ops.scan.segments import CountSegments
from .inputs import input_of, with_rows_told

NUMBER = "segment"
"""Name of the numbers of segments."""


def in_segments(
    obj: Any,
    reset: Any,
    ask: Callable[[Any], Any],
    local_dict: Mapping[str, Any] | None = None,
    groups: Any = None,
) -> Any:
    """Return what `ask` returns for the groups of rows from one reset to the next.

    Parameters
    ----------
    obj : Series or DataFrame
    reset : name, str, function or Series of bool
        What is true in the last row of a group.
    ask : callable
        Takes the groups.
    local_dict : mapping, optional
        Variables of a text.
    groups : GroupBy, optional
        Groups of the same rows, each of which has segments of its own.

    Raises
    ------
    TypeError, ValueError
        For a `reset` that is not boolean, names what is not there, or does not have the rows of the frame.
    """
    meta, frame = meta_of(obj), obj
    unnamed = meta.ndim == 1 and meta.name is None
    if meta.ndim == 1:
        frame = obj.to_frame(name="value" if unnamed else meta.name)
    names = names_of(meta_of(frame))
    chosen: Any = names[0] if meta.ndim == 1 else names
    if groups is not None and meta.ndim == 2:
        columns = groups._columns()
        chosen = columns[0] if groups._as_series else columns
    frame, flag = with_rows_told(frame, reset, "reset")
    if not isinstance(flag, PlainColumn):
        with entitled("reset"):
            flag = input_of(reset, names, meta.ndim, local_dict)
    part = Part(NUMBER, flag.columns, CountSegments(flag))
    keys: list[Hashable] = []
    clustered, dropna = True, False
    if groups is None:
        numbers = run(frame, NamedCarry("segments", (part,), as_series=True))
    else:
        keys, clustered, dropna = list(groups._by.columns), groups._clustered, groups._dropna
        numbers = groups._of(frame)._scan("segments", [part], True)
    number = unused_name(NUMBER, [str(name) for name in names_of(meta_of(frame))])
    frame = engine_of(frame).with_column(frame, numbers, number)
    keys.append(names_of(meta_of(frame))[-1])  # a tuple among columns of several levels
    answer = ask(methods_of(frame).groupby(keys, clustered=clustered, dropna=dropna)[chosen])
    answered = meta_of(answer)
    if unnamed and answered.ndim == 1 and answered.name == chosen:
        return engine_of(answer).map_partitions(answer, without_name)
    return answer
