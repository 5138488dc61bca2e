"""Every example in the docstrings and in the Markdown pages is run as it stands.

A fenced block in a page under the comment ``<!-- only with dask X.Y.Z -->`` shows what that version
of Dask answers; it is run with that version alone. Tabs of cuDF are run on a GPU.
"""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import dask
import pytest

import dask_gpuscan
from dask_gpuscan.kernels.operators import trial
from helpers.backends import has_cuda
from helpers.pages import PAGES, ROOT

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

# In a checkout without links, dask_gpuscan.kernels lies in another folder: a walk of the package misses it.
PREFIXES = ("dask_gpuscan", "dask_gpuscan.kernels")


@pytest.fixture(autouse=True)
def plain_dask() -> None:
    """Take the place of the fixture for all tests: examples run with Dask as users find it."""
    trial._tried.clear()  # an operator of another test may have been tried on other elements


def _modules() -> list[str]:
    names = set(PREFIXES)
    for prefix in PREFIXES:
        path = importlib.import_module(prefix).__path__[:1]
        names.update(m.name for m in pkgutil.walk_packages(path, prefix + "."))
    # The modules that import CuPy and cuDF have no examples: what they do is shown where it is called.
    on_gpus = ("dask_gpuscan.kernels.cuda", "dask_gpuscan.frames.cudf")
    return sorted(n for n in names if not n.startswith(on_gpus))


def _run(test: doctest.DocTest) -> None:
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


@pytest.mark.parametrize("name", _modules())
def test_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__):
        _run(test)


TAB = re.compile(r"^:::\{tab-item\} cuDF\n.*?^:::$", re.MULTILINE | re.DOTALL)


def _examples(text: str) -> str:
    """Blank everything outside of the fenced examples, and tabs of cuDF, so that line numbers stay."""
    text = TAB.sub(lambda tab: "\n" * tab[0].count("\n"), text)
    lines = text.splitlines()
    kept = [""] * len(lines)
    run, fenced, version = True, False, None
    for number, line in enumerate(lines):
        comment = re.fullmatch(r"<!-- only with dask (\S+) -->", line.strip())
        if comment:
            version = comment[1]
        elif line.lstrip().startswith("```"):
            fenced = not fenced
            run = fenced and version in (None, dask.__version__)
            version = None
        elif fenced and run:
            kept[number] = line
    return "\n".join(kept) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages(page: Path) -> None:
    name = str(page.relative_to(ROOT))
    text = _examples(page.read_text(encoding="utf-8"))
    _run(doctest.DocTestParser().get_doctest(text, {}, name, str(page), 0))


TABS = {page.name: tab for page in PAGES for tab in TAB.findall(page.read_text(encoding="utf-8"))}


@pytest.mark.gpu
@pytest.mark.skipif(not has_cuda(), reason="needs a GPU")
@pytest.mark.parametrize("page", TABS)
def test_tabs_of_cudf(page: str) -> None:
    found = doctest.DocTestParser().get_doctest(TABS[page].rpartition("```")[0], {}, page, None, 0)
    assert len(found.examples) > 3
    _run(found)


def test_every_public_name_has_an_example() -> None:
    for name in dask_gpuscan.__all__:
        public = getattr(dask_gpuscan, name)
        if callable(public):
            assert ">>>" in (public.__doc__ or ""), f"dask_gpuscan.{name} has no example"
