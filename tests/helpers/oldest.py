"""Print the oldest versions that pyproject.toml allows, as requirements for `make test-oldest`.

    python tests/helpers/oldest.py

prints ``name==version`` for each lower bound of the dependencies and of the extra ``examples``. Other packages that
tests need do not concern users, and are installed in their newest versions.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]

BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\w.]+)")


def oldest(requirements: list[str]) -> Iterator[str]:
    """Yield the oldest version of each requirement that has a lower bound."""
    for requirement in requirements:
        bound = BOUND.match(requirement)
        if bound:
            yield f"{bound['name']}=={bound['version']}"


if __name__ == "__main__":
    requirements = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["examples"]
    print(*dict.fromkeys(oldest(requirements)))
