"""How much memory an answer may take, for answers whose size is in the data rather than in their inputs' sizes.

This module must never allocate anything.
"""

import os
import re
from pathlib import Path

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux tells what the processes of a container may use together."""


def available() -> float:
    """Return the bytes of memory that could be used; infinity where the system does not tell."""
    bounds = [_numbers(path, r"^(\d+)$") for path in _LIMITS]
    found = _numbers("/proc/meminfo", r"^(?:MemAvailable|SwapFree):\s*(\d+) kB$")
    if found:
        bounds.append([1024.0 * sum(found)])
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        bounds.append([float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))])
    return min((number for bound in bounds for number in bound), default=float("inf"))


def _numbers(path: str, pattern: str) -> list[float]:
    try:
        text = Path(path).read_text()
    except OSError:
        return []
    return [float(number) for number in re.findall(pattern, text, re.MULTILINE)]
