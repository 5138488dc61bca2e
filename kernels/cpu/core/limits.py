"""The memory and the cores that this process may use, as the system and its containers say."""

import os
import re
from functools import lru_cache
from math import ceil, inf
from pathlib import Path

_MEMORY = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files in which Linux says how much memory the processes of a container may use together."""

_TIME = (
    ("/sys/fs/cgroup/cpu.max",),
    ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)
"""Files in which it says for how long they may run together in a period, and the period, both in microseconds."""


def available() -> float:
    """Return the bytes of memory that could be used; infinity where the system does not say."""
    bounds = [_numbers(path, r"^(\d+)$") for path in _MEMORY]
    found = _numbers("/proc/meminfo", r"^(?:MemAvailable|SwapFree):\s*(\d+) kB$")
    if found:
        bounds.append([1024.0 * sum(found)])
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        bounds.append([float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))])
    return min((number for bound in bounds for number in bound), default=inf)


def cores() -> int:
    """Return how many cores may be used: a container on a machine of 64 may have the time of two."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    return allowed if _quota() >= allowed else max(ceil(_quota()), 1)


@lru_cache(maxsize=1)
def _quota() -> float:
    """Return how many cores' time the processes of a container have together; infinity where it is not limited."""
    bounds = []
    for files in _TIME:
        words = [word for path in files for word in _text(path).split()]
        if len(words) == 2 and all(map(str.isdigit, words)):  # else it is not limited: "max", or -1
            bounds.append(int(words[0]) / int(words[1]))
    return min(bounds, default=inf)


def _numbers(path: str, pattern: str) -> list[float]:
    return [float(number) for number in re.findall(pattern, _text(path), re.MULTILINE)]


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
