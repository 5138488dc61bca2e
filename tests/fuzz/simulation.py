"""Runs a Dask graph on simulated workers, in one thread: a seed says what runs when and where, and what goes wrong.

Workers hold results, as those of Dask's distributed scheduler do. Tasks whose effects are not in their results cannot
be run so: those of shuffles through files, and of P2P shuffles.
"""

import pickle
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import cloudpickle
from dask._task_spec import GraphNode, convert_legacy_graph

WORKERS = 3
LOSSES = 4
"""At most, in one schedule: so it ends."""


@dataclass(frozen=True)
class Harms:
    """What a schedule does that a plain one does not."""

    any_order: bool = False
    """Of the tasks that can run, any is next; else the first of the graph."""
    late: bool = False
    """Tasks of some layers, such as aggregates, wait until no other can run."""
    moved: bool = False
    """Results are pickled on their way to another worker; there, half of them cannot be written to."""
    twice: bool = False
    """Some tasks run again, elsewhere or on the same inputs; either result may be used."""
    lost: bool = False
    """Workers lose all that they hold. It is made again, with all that it needs."""

    def __str__(self) -> str:
        return ", ".join(name for name, value in vars(self).items() if value) or "none"


class Simulation:
    """One schedule of a graph. What happens to a task does not depend on other harms: each can be left out."""

    def __init__(self, graph: Mapping[Any, Any], harms: Harms, seed: int) -> None:
        self.harms, self.seed = harms, seed
        nodes = convert_legacy_graph(graph)
        self.graph: dict[Any, GraphNode] = {key: nodes[key] for key in sorted(nodes, key=_order)}
        self.numbers = {key: number for number, key in enumerate(self.graph)}
        self.dependents: dict[Any, list[Any]] = {key: [] for key in self.graph}
        for key, node in self.graph.items():
            for dependency in node.dependencies:
                self.dependents[dependency].append(key)
        layers = dict.fromkeys(map(_layer, self.graph))
        waits = {layer: self._random("late", number) for number, layer in enumerate(layers)}
        self.turns = {
            key: (
                waits[_layer(key)] if harms.late else 0.0,
                self._random("any order", number) if harms.any_order else number,
            )
            for key, number in self.numbers.items()
        }
        """Of tasks that can run, the first is that of the lowest."""
        self.held: list[dict[Any, Any]] = [{} for _ in range(WORKERS)]
        self.losses = 0
        self.ran: list[tuple[Any, int]] = []
        """Tasks and their workers, in order."""
        self.runs: Counter[Any] = Counter()

    def results(self, keys: Iterable[Any]) -> list[Any]:
        """Run what some results need, and return them."""
        self.outputs = list(keys)
        self.needed = self._needed()
        while self.needed:
            key = self._next()
            self._run(key)
            if self.harms.twice and self._chance("twice", key) < 1 / 4:
                self._run(key)
            self.needed.discard(key)
            self._release(key)
            loses = self.harms.lost and self.losses < LOSSES
            if loses and self._chance("lost", key) < 1 / 12:
                self.losses += 1
                self.held[int(WORKERS * self._chance("loser", key))].clear()
                self.needed = self._needed()
        return [self._fetched(key, {}) for key in self.outputs]

    def _random(self, *what: Any) -> float:
        return Random(f"{self.seed} {what}").random()

    def _chance(self, what: str, key: Any) -> float:
        """Draw what happens when a task runs, each time that it does."""
        return self._random(what, self.numbers[key], self.runs[key])

    def _needed(self) -> set[Any]:
        """Return what is to be run."""
        found, left = set[Any](), [*self.outputs]
        while left:
            key = left.pop()
            if key not in found and not any(key in worker for worker in self.held):
                found.add(key)
                left += self.graph[key].dependencies
        return found

    def _next(self) -> Any:
        ready = (k for k in self.needed if self.needed.isdisjoint(self.graph[k].dependencies))
        return min(ready, key=self.turns.__getitem__)

    def _run(self, key: Any) -> None:
        self.runs[key] += 1
        at = int(WORKERS * self._chance("worker", key))
        self.ran.append((key, at))
        worker, node = self.held[at], self.graph[key]
        for dependency in node.dependencies:
            worker[dependency] = self._fetched(dependency, worker)
        worker[key] = node({name: worker[name] for name in node.dependencies})

    def _fetched(self, key: Any, worker: dict[Any, Any]) -> Any:
        """Return what a worker holds, or else another one."""
        if key in worker:
            return worker[key]
        holders = [other for other in self.held if key in other]
        value = holders[int(len(holders) * self._chance("holder", key))][key]
        return _moved(value, self._chance("moved", key) < 1 / 2) if self.harms.moved else value

    def _release(self, key: Any) -> None:
        """Drop what nothing needs any more, now that a task has run."""
        for each in (key, *self.graph[key].dependencies):
            if each not in self.outputs and self.needed.isdisjoint(self.dependents[each]):
                for worker in self.held:
                    worker.pop(each, None)


def _order(key: Any) -> tuple[str, str]:
    """Return by what keys are put in order: not first by digits that another version of Dask may change."""
    return re.sub(r"[0-9a-f]{32}", "", str(key)), str(key)


def _layer(key: Any) -> Any:
    return key[0] if isinstance(key, tuple) else key


def _moved(value: Any, can_be_written: bool) -> Any:
    """Return a result as another worker gets it: arrays lie in buffers, which may be read-only."""
    buffers: list[pickle.PickleBuffer] = []
    data = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    kind = bytearray if can_be_written else bytes
    return pickle.loads(data, buffers=[kind(buffer.raw()) for buffer in buffers])
