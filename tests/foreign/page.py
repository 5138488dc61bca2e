"""The page README.md, written from what is kept of the runs."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

HEAD = """\
# Tests of other libraries, with our methods in the place of theirs

pandas, Dask, cuDF and CuPy have tests of their own methods. `make foreign` runs those of the methods that dask-gpuscan has too, and
each call of such a method is answered by dask-gpuscan. The run writes this page and `results.json`, which keeps the tests that differ
and why. It fails if a test fails, if one differs that did not before, or if fewer pass than before.

```
make foreign                                        # every library that is there; writes this page
make foreign PYTEST="pandas --theme rank -k ties"   # some tests: of a library, of a theme, and what pytest takes; writes nothing
make foreign PYTEST="--accept"                      # writes this page whatever differs and passes, such as of another version
```

pandas' frames are given to our methods in three ways: whole, and as Dask collections with partitions of one row or of three
rows, with empty ones between, whose answers are computed. (A longer frame has 12 such partitions, at its ends, and one of the rows
between.) Dask's tests bring their own partitions. Only tests that pass and have called our methods are counted.

cuDF's and CuPy's tests are run where there is a GPU. Their packages hold no tests: the variables `CUDF_CHECKOUT` and
`CUPY_CHECKOUT` name checkouts at the tags of the installed versions (of the folders `python/cudf/cudf/tests` and `tests`).

```
git clone --depth 1 --branch v26.10.00 https://github.com/rapidsai/cudf
git clone --depth 1 --branch v14.0.0 https://github.com/cupy/cupy
make foreign CUDF_CHECKOUT=$PWD/cudf CUPY_CHECKOUT=$PWD/cupy
```
"""

Results = dict[str, dict[str, Any]]
"""By library and cut: the version, and the themes with their counts."""


def totals(run: dict[str, Any]) -> tuple[int, int]:
    """Return how many tests of a run pass, and how many differ."""
    themes = run["themes"].values()
    return sum(t["passed"] for t in themes), sum(_reasons(themes).values())


def _reasons(themes: Iterable[dict[str, Any]]) -> Counter[str]:
    return Counter(
        {
            reason: sum(
                sum(theme["differs"].get(reason, {}).values()) for theme in themes
            )
            for reason in {r for theme in themes for r in theme["differs"]}
        }
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines) + "\n"


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def page(results: Results) -> str:
    """Return the page."""
    runs = [(name, cut, run) for name, cuts in results.items() for cut, run in cuts.items()]
    summary = _table(
        ("tests of", "version", "frames", "pass", "known differences"),
        [(name, run["version"], cut, *totals(run)) for name, cut, run in runs],
    )
    return "\n".join([HEAD, "## Results", "", summary, *(_library(*run) for run in runs)])


def _library(name: str, cut: str, run: dict[str, Any]) -> str:
    themes = run["themes"]
    found = _table(
        ("theme", "pass", "known differences"),
        [
            (theme, counts["passed"], sum(_reasons([counts]).values()))
            for theme, counts in themes.items()
        ],
    )
    reasons = _table(
        ("tests", "differ because"),
        sorted(((n, reason) for reason, n in _reasons(themes.values()).items()), reverse=True),
    )
    return f"### {name}, frames {cut}\n\n{found}\n{reasons}"
