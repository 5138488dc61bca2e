"""Write digests of the answers of all methods, or compare them with those of another processor or system.

    python -m helpers.answers answers.json            # on one machine
    python -m helpers.answers answers.json --compare  # on another one: names the methods with other bits

The calls are those of `fuzz.schedules`.
"""

import argparse
import hashlib
import json
import sys
from importlib import import_module
from pathlib import Path


def digests() -> dict[str, str]:
    """Return a digest of the answer of each method on a frame."""
    schedules, harm = import_module("fuzz.schedules"), import_module("faults.harm")
    dask = import_module("dask")
    dask.config.set({"scheduler": "sync", "dataframe.shuffle.method": "tasks"})
    found = dict[str, str]()
    for name, (call, make) in schedules.METHODS.items():
        answer = harm.bits(dask.compute(call(dask.compute(make([]))[0])))
        found[name] = hashlib.sha256(repr(answer).encode()).hexdigest()
    return found


def main() -> int:
    """Write the file, or compare answers with it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--compare", action="store_true")
    given = parser.parse_args()
    found = digests()
    if not given.compare:
        given.file.write_text(json.dumps(found, indent=1))
        return 0
    other = json.loads(given.file.read_text())
    differ = [name for name in found.keys() | other.keys() if found.get(name) != other.get(name)]
    print(f"{len(found)} methods, {len(differ)} with other bits", *sorted(differ), sep="\n")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
