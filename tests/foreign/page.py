"""The page README.md, written from what is kept of the runs."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

HEAD = """\
# Tests of other libraries, with our methods in the place of theirs

pandas, Dask, cuDF and CuPy have tests of their own methods. `make foreign` runs those of the methods that dask-gpuscan
has too, and each call of such a method is answered by dask-gpuscan. The run writes this page and `results.json`, which
keeps the tests that differ and why. It fails if a test fails, if one differs that did not before, or if fewer pass than
before.

```
make foreign                                       # every library that is there; writes this page
make foreign PYTEST="pandas --theme rank -k ties"  # of a library, a theme, and what pytest takes; writes nothing
make foreign PYTEST=--accept                       # writes this page whatever differs, such as of another version
```

pandas' frames are given to our methods in three ways: whole, and as Dask collections with partitions of one row or of
three rows, with empty ones between, whose answers are computed. (A longer frame has 8 such partitions, at its ends, and
one of the rows between.) Dask's tests bring their own partitions. A test is counted as passed if it has called our
methods. Calls with arguments that ours do not have are left to the library. Answers of partitions that may be null
are cast to the library's integers and bool where it has these, as dtypes are known before values are.

cuDF's and CuPy's tests are run where there is a GPU. Their packages hold no tests: the variables `CUDF_CHECKOUT` and
`CUPY_CHECKOUT` name checkouts at the tags of the installed versions (the folders `python/cudf/cudf/tests` and `tests`
will do).

```
git clone --depth 1 --branch v26.10.02 https://github.com/rapidsai/cudf
git clone --depth 1 --branch v14.2.0 https://github.com/cupy/cupy
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
            reason: sum(sum(theme["differs"].get(reason, {}).values()) for theme in themes)
            for reason in {r for theme in themes for r in theme["differs"]}
        }
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines) + "\n"


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _runs(results: Results) -> list[tuple[str, str, dict[str, Any]]]:
    return [(name, cut, run) for name, cuts in results.items() for cut, run in cuts.items()]


def summary(results: Results) -> str:
    """Return the table of all runs."""
    return _table(
        ("tests of", "version", "frames", "pass", "known differences"),
        [(name, run["version"], cut, *totals(run)) for name, cut, run in _runs(results)],
    )


def page(results: Results) -> str:
    """Return the page."""
    runs = [_library(*run) for run in _runs(results)]
    return "\n".join([HEAD, "## Results", "", summary(results), *runs])


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
    left = Counter[str]()
    for counts in themes.values():
        left.update(counts["left"])
    calls = _table(("calls", "left to the library"), [(n, call) for call, n in left.most_common()])
    title = f"### {name}, frames {cut}" if cut != "whole" else f"### {name}"
    tables = [found, reasons, calls] if cut == "whole" else [found, reasons]
    return "\n".join([title, "", *tables])
