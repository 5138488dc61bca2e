"""Running joins of strings by their bytes: each answer is a piece of the strings of its group, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..frames.protocol import Column
from ..frames.registry import library_of
from .groups import INT64, Groups
from .host_scan import HostScan, chains, host_of
from .value_scan import Start


@dataclass(frozen=True)
class JoinScan(HostScan):
    """A scan of one column of strings, whose answers are joined before any is made."""

    def scanned(self, column: Column, valid: Any, shown: Any, groups: Groups, start: Start) -> Any:
        library = library_of(column)
        host, array = host_of(library), library.array(column)
        count, before = len(array), len(start.before)
        # the strings of each group, one group after the other: what it starts from, and those of its rows
        taken = [np.empty(0, INT64)]
        begin, end = np.empty(count, INT64), np.empty(count, INT64)
        at = 0
        initial = count + before + np.arange(len(start.initial))
        for group, way in chains(groups, count, before, start.of_one):
            rows = np.arange(count)[way]
            first = np.append(initial, np.arange(count + group, count + before)[:1])
            taken += [first, rows]
            begin[rows] = at
            at += len(first)
            end[rows] = np.arange(at, at + len(rows)) + (not self.options.exclusive)
            at += len(rows)
        strings = host.texts([array, start.before, start.initial], np.concatenate(taken))
        return host.pieces(
            strings, strings.offsets[begin], strings.offsets[end], ~shown, column.dtype
        )
