"""As-of merges over partitions: rows of the right side go to partitions of the left side.

The first and the last key of each partition decide which rows of the right side go to which partition of the left. By
the look-back over partitions, a partition also gets the nearest right row of each key from before it or after it.
"""

from __future__ import annotations

import functools
from typing import Any

import dask.dataframe as dd
from dask.task_spec import List, Task, TaskRef

from ...ops.asof.asof import AsOf, Bounds, bounds, cut, ends, matched
from ...ops.asof.columns import LEFT, RIGHT, AsOfSide
from .compat import Expr, FrameBase, Projection, determine_column_projection, new_collection
from .expressions import ExprMixin, SeparateKeyRead, input_of, partition_of, read_separately
from .lookback import Aggregate, Key, MatchingSummary, combined, prefixes
from .packed import Packed, packed_rows
from .shuffle import JoinRows, SplitPieces, brought_together


class AsOfMerge(ExprMixin, Expr):  # type: ignore[misc]
    """The rows of the left side with their matches; `left_keys` and `right_keys` have only the ordered columns."""

    _parameters = ("left", "right", "left_keys", "right_keys", "question")
    _label = "merge-asof"

    @property
    def question(self) -> Any:
        """The specification of the merge, which is an operand and not a column."""
        return self.operand("question")

    @functools.cached_property
    def _meta(self) -> Any:
        return self.question.merged(self.left._meta, self.right._meta)

    def _divisions(self) -> Any:
        divisions = self.left.divisions
        return divisions if self.question.plan.keeps_index else (None,) * len(divisions)

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        if not isinstance(parent, Projection):
            return None
        question = self.question
        sides = [(self.left, LEFT, question.left), (self.right, RIGHT, question.right)]
        if any(len(set(e.columns)) < len(e.columns) for e in (self, self.left, self.right)):
            return None
        asked = determine_column_projection(self, parent, dependents)
        plan = question.plan.chosen(asked if isinstance(asked, list) else [asked])
        frames = []
        for frame, name, side in sides:
            kept = plan.needed(frame.columns, name, side)
            plan = plan.renumbered(name, kept)
            frames.append(
                frame
                if len(kept) == len(frame.columns)
                else frame[[frame.columns[i] for i in kept]]
            )
        if plan == question.plan:
            return None
        keys = [self.operand("left_keys"), self.operand("right_keys")]
        narrow = AsOfMerge(*frames, *keys, question.with_plan(plan))
        return type(parent)(narrow, *parent.operands[1:])

    def _lower(self) -> Any:
        left, right, question = self.left, self.right, self.question
        keys = [
            _keys(frame, self.operand(name))
            for frame, name in ((left, "left_keys"), (right, "right_keys"))
        ]
        found = Found(*keys, question)
        pieces = brought_together(
            RightPieces, PackedRightPieces, [right, found, question], JoinRows(), left.npartitions
        )
        return Matched(left, pieces, found, question, self._meta)


def _keys(frame: Any, keys: Any) -> Any:
    """Return the expression from which the keys of a side are read, with the partitions of the frame."""
    reading = keys.reading if isinstance(keys, SeparateKeyRead) else frame
    # if few columns are read, Dask may join several partitions
    return reading if reading.npartitions == frame.npartitions else frame


class Found(ExprMixin, Expr):  # type: ignore[misc]
    """One partition that says which rows of the right side go to which partition of the left side."""

    _parameters = ("left_keys", "right_keys", "question")
    _label = "bounds"
    _meta = None

    def _divisions(self) -> tuple[None, None]:
        return (None, None)

    def _layer(self) -> dict[Key, Task]:
        question, graph = self.operand("question"), {}
        sides: list[Any] = []
        for keys, side in ((self.left_keys, question.left), (self.right_keys, question.right)):
            names = [(f"ends-{side.name}-{self._name}", i) for i in range(keys.npartitions)]
            for i, name in enumerate(names):
                graph[name] = Task(name, ends, input_of(keys, i), side, i)
            sides.append(List(*map(TaskRef, names)))
        key = (self._name, 0)
        graph[key] = Task(key, bounds, *sides, question.direction)
        return graph


class RightPieces(SplitPieces):
    """The partitions of the right side, cut into one piece for each partition of the left side."""

    operation = staticmethod(cut)


def _cut_packed(frame: Any, question: AsOf, found: Bounds, number: int) -> Any:
    return packed_rows(cut(frame, question, found, number).filled(), number)


class PackedRightPieces(Packed, RightPieces):
    """The same pieces, as rows of a frame that Dask shuffles."""

    operation = staticmethod(_cut_packed)


class Matched(ExprMixin, Expr):  # type: ignore[misc]
    """The rows of the left side with their matches, given the right rows that go to each partition."""

    _parameters = ("left", "pieces", "found", "question", "like")
    _label = "match-asof"

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("like")

    def _divisions(self) -> Any:
        divisions = self.left.divisions
        return divisions if self.operand("question").plan.keeps_index else (None,) * len(divisions)

    def _layer(self) -> dict[Key, Any]:
        question, name, count = self.operand("question"), self._name, self.left.npartitions
        pieces = [partition_of(self.pieces, i) for i in range(count)]
        found = partition_of(self.found, 0)
        graph: dict[Key, Any] = {}
        around: list[list[list[Any]]] = [[[]] * count, [[]] * count]
        for forward in question.ways:
            step = -1 if forward else 1
            label = f"{'after' if forward else 'before'}-{name}"
            outside = MatchingSummary(question.outside(forward))
            around[forward] = prefixes(label, pieces[::step], outside, graph)[::step]
        for i in range(count):
            sides = [List(*given[i]) for given in around]
            key, left = (name, i), input_of(self.left, i)
            graph[key] = Task(key, _match, question, left, pieces[i], *sides, found, i)
        return graph


def _match(
    question: AsOf,
    left: Any,
    right: Any,
    before: list[Aggregate],
    after: list[Aggregate],
    found: Bounds,
    number: int,
) -> Any:
    around = []
    for forward, given in enumerate((before, after)):
        outside = MatchingSummary(question.outside(bool(forward)))
        one = combined(outside, given)
        around.append(None if one is None else one.inner)
    return matched(question, left, right, around, found, number)


def merge_asof(left: Any, right: Any, question: AsOf) -> Any:
    """Return each row of the left side with its match."""
    frames = [side.expr for side in (left, right)]
    keys = [
        read_separately(_of_keys(*pair))
        for pair in zip(frames, (question.left, question.right), strict=True)
    ]
    alone = [one if isinstance(one, SeparateKeyRead) else None for one in keys]
    return new_collection(AsOfMerge(*frames, *alone, question.over_partitions()))


def _of_keys(frame: Any, side: AsOfSide) -> Any:
    return frame[[] if side.is_index else [side.on]]


def collection(side: Any, keeps_index: bool) -> Any:
    """Return a side as a collection; Dask may convert the strings of a frame, as in `from_pandas`."""
    if isinstance(side, FrameBase):
        return side
    if not keeps_index and len(side):
        # Dask refuses labels of several levels, and null labels of strings and times
        side = side.reset_index(drop=True)
    return dd.from_pandas(side, npartitions=1, sort=False)
