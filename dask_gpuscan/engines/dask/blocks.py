"""Graphs over blocks of Dask arrays: carries, blocks with their halos, and elements at given places.

The computations are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from dask.array.core import Array, concatenate3, unify_chunks
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from dask.task_spec import GraphNode, List, Task, TaskRef
from dask.tokenize import tokenize

from ...ops.core.carry import Carry
from .lookback import tasks

WHOLE = slice(None)


class Piece(NamedTuple):
    """Elements of a block along an axis, or elements outside the array."""

    block: int
    """The number of the block; -1 for elements outside the array."""
    places: Any
    """The places of the elements: `WHOLE`, a slice or an array."""
    size: int


def over_blocks(
    arrays: Sequence[Array], carry: Carry, axis: int, meta: Any, beside: Array | None = None
) -> Array:
    """Apply a carry to the blocks of Dask arrays along an axis.

    Parameters
    ----------
    arrays : sequence of dask.array.Array
        Arrays of one shape; the carry gets the blocks of several arrays as a list.
    carry : Carry
    axis : int
    meta : array
        An empty array of the result's type and number of dimensions.
    beside : dask.array.Array, optional
        An array with an item for each place along the axis; the carry gets its block last.
    """
    indices = tuple(range(arrays[0].ndim))
    along = [] if beside is None else [beside, (axis,)]
    _, arrays = unify_chunks(*(part for array in arrays for part in (array, indices)), *along)
    name, held = f"{carry.label}-{tokenize(carry, *arrays)}", all(map(_was_persisted, arrays))
    blocks = list(arrays[0].numblocks)
    count, blocks[axis] = blocks[axis], 1
    graph: dict[Any, Any] = {}
    for first in product(*map(range, blocks)):
        line = [(*first[:axis], i, *first[axis + 1 :]) for i in range(count)]
        inputs = [_block(arrays, at, axis) for at in line]
        outputs = [(name, *at) for at in line]
        graph |= tasks(name, inputs, outputs, carry, suffix=first, held=held)
    layers = HighLevelGraph.from_collections(name, graph, dependencies=arrays)
    return Array(layers, name, arrays[0].chunks, meta=meta, dtype=meta.dtype)


def _was_persisted(array: Array) -> bool:
    """Return whether the blocks of an array were persisted, so that they stay in memory."""
    layer = array.dask.layers[array.name]
    return isinstance(layer, MaterializedLayer) and not any(
        isinstance(block, (GraphNode, tuple)) for block in layer.values()
    )


def _block(arrays: Sequence[Array], at: tuple[int, ...], axis: int) -> Any:
    places = [at if array.ndim == len(at) else (at[axis],) for array in arrays]
    refs = [TaskRef((array.name, *place)) for array, place in zip(arrays, places, strict=True)]
    return refs[0] if len(refs) == 1 else List(*refs)


def with_halos(
    x: Array,
    halos: Mapping[int, int],
    edges: Callable[[int, int], np.ndarray],
    outside: Any,
    apply: Callable[[Any], Any],
    label: str,
    meta: Any,
) -> Array:
    """Apply a function to each block of a Dask array, joined with the elements around it.

    Parameters
    ----------
    x : dask.array.Array
        An array of known shape.
    halos : dict of int to int
        The number of elements on each side, by axis; blocks may be shorter.
    edges : callable
        Returns, given a halo and the length of an axis, the places of the elements before the first and after the last
        one; -1 for `outside`.
    outside : scalar
        The value of elements outside the array.
    apply : callable
        Returns an array with the shape of the block without its halos.
    label : str
        The beginning of the keys.
    meta : array
        An empty array of the result's type and number of dimensions.
    """
    name = f"{label}-{tokenize(x, apply, outside)}"
    pieces: list[list[list[Piece]]] = [
        _pieces(sizes, halos[axis], edges(halos[axis], sum(sizes)))
        if axis in halos
        else [[Piece(i, WHOLE, size)] for i, size in enumerate(sizes)]
        for axis, sizes in enumerate(x.chunks)
    ]
    graph: dict[Any, Any] = {}
    for at in product(*map(range, x.numblocks)):
        around = [of[i] for of, i in zip(pieces, at, strict=True)]
        nested = _nested(x, (f"halo-{name}", *at), around, (), outside, graph)
        graph[name, *at] = Task((name, *at), _applied, apply, nested)
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[x])
    return Array(layers, name, x.chunks, meta=meta, dtype=meta.dtype)


def _pieces(sizes: Sequence[int], halo: int, edges: np.ndarray) -> list[list[Piece]]:
    """Return for each block along an axis the pieces of the block and its halos."""
    starts = np.cumsum([0, *sizes])
    length = int(starts[-1])

    def between(begin: int, end: int) -> list[Piece]:
        places = np.arange(begin, end)
        beyond = (places < 0) | (places >= length)
        places[beyond] = edges[np.where(places < 0, places, places - length)[beyond] + halo]
        blocks = np.searchsorted(starts, places, "right") - 1
        cuts = np.flatnonzero(np.diff(blocks)) + 1
        runs = zip(np.split(blocks, cuts), np.split(places, cuts), strict=True)
        return [_piece(int(block[0]), at - starts[block[0]]) for block, at in runs if len(at)]

    return [
        [
            *between(starts[i] - halo, starts[i]),
            Piece(i, WHOLE, size),
            *between(starts[i + 1], starts[i + 1] + halo),
        ]
        for i, size in enumerate(sizes)
    ]


def _piece(block: int, places: np.ndarray) -> Piece:
    ascend = block >= 0 and (np.diff(places) == 1).all()
    chosen = slice(int(places[0]), int(places[-1]) + 1) if ascend else places
    return Piece(block, chosen, len(places))


def _nested(
    x: Array,
    key: tuple[Any, ...],
    around: list[list[Piece]],
    chosen: tuple[Piece, ...],
    outside: Any,
    graph: dict[Any, Any],
) -> Any:
    """Return references to the pieces of a block in lists nested by axis; add the tasks of pieces to the graph."""
    if len(chosen) < len(around):
        inner = enumerate(around[len(chosen)])
        return List(
            *(_nested(x, (*key, k), around, (*chosen, p), outside, graph) for k, p in inner)
        )
    block = TaskRef((x.name, *(p.block for p in chosen)))
    if all(p.places is WHOLE for p in chosen):
        return block
    if any(p.block < 0 for p in chosen):
        graph[key] = Task(key, _filled, x._meta, outside, tuple(p.size for p in chosen))
    else:
        graph[key] = Task(key, _taken, block, [p.places for p in chosen])
    return TaskRef(key)


def _filled(like: Any, value: Any, shape: tuple[int, ...]) -> Any:
    return np.full_like(like, value, shape=shape)


def _taken(block: Any, places: Sequence[Any]) -> Any:
    for axis, each in enumerate(places):
        at = each if isinstance(each, slice) else np.asarray(each, like=block)
        block = block[(*[WHOLE] * axis, at)]
    return block


def _applied(apply: Callable[[Any], Any], nested: Any) -> Any:
    return apply(concatenate3(nested))


def at_places(
    x: Array,
    axes: tuple[int, ...],
    places: np.ndarray,
    pick: Callable[[Any, np.ndarray], Any],
    finish: Callable[..., Any],
    count: int,
    label: str,
    meta: Any,
) -> Array:
    """Compute with elements of a Dask array at places along some axes, block by block along the others.

    Parameters
    ----------
    x : dask.array.Array
        An array of known shape along the axes.
    axes : tuple of int
    places : array of int
        The places, of shape (axes, places); negative ones are skipped.
    pick : callable
        Takes a block and places in it; returns the elements there, with the places as the last axis.
    finish : callable
        Takes places, the picked elements, an empty array of the result's type, and the shape of the block along the
        other axes; returns a block with one more axis.
    count : int
        The length of that axis.
    label : str
    meta : array
        An empty array of the result's type and number of dimensions.
    """
    name = f"{label}-{tokenize(x, axes, places, finish)}"
    others = [axis for axis in range(x.ndim) if axis not in axes]
    starts = [np.cumsum([0, *x.chunks[axis]]) for axis in axes]
    kept = np.flatnonzero((places >= 0).all(axis=0))
    found = [
        np.searchsorted(s, row, "right") - 1 for s, row in zip(starts, places[:, kept], strict=True)
    ]
    numbers = np.ravel_multi_index(found, [x.numblocks[axis] for axis in axes])
    order = np.argsort(numbers, kind="stable")
    rows = np.split(kept[order], np.flatnonzero(np.diff(numbers[order])) + 1) if len(kept) else []
    graph: dict[Any, Any] = {}
    for at in product(*(range(x.numblocks[axis]) for axis in others)):
        picked = []
        for i, each in enumerate(rows):
            block = dict(zip(others, at, strict=True))
            local = places[:, each].copy()
            for k, axis in enumerate(axes):
                block[axis] = int(np.searchsorted(starts[k], local[k, 0], "right")) - 1
                local[k] -= starts[k][block[axis]]
            key = (f"pick-{name}", *at, i)
            graph[key] = Task(
                key, pick, TaskRef((x.name, *(block[a] for a in range(x.ndim)))), local
            )
            picked.append(TaskRef(key))
        shape = tuple(x.chunks[axis][i] for axis, i in zip(others, at, strict=True))
        graph[name, *at, 0] = Task((name, *at, 0), finish, rows, List(*picked), meta, shape)
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[x])
    chunks = (*(x.chunks[axis] for axis in others), (count,))
    return Array(layers, name, chunks, meta=meta, dtype=meta.dtype)
