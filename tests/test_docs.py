"""The API reference lists whatever is public; figures, tables and file names of the docs are those of the files."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from matplotlib.figure import Figure

import dask_gpuscan
from dask_gpuscan import kernels
from dask_gpuscan.api.frame.list_accessor import ListAccessor
from dask_gpuscan.api.frame.order import GpuscanIndex
from dask_gpuscan.api.groupby.groupby import GroupBy
from dask_gpuscan.api.windows.expanding import Ewm, Expanding
from dask_gpuscan.api.windows.resample import Resampler
from dask_gpuscan.api.windows.rolling import Rolling
from dask_gpuscan.api.xarray.accessor import XarrayGpuscan, XarrayGroups
from helpers.samples import share

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "tools"))  # whose scripts are no package

import bench_records  # noqa: E402
import differences  # noqa: E402
import drawing  # noqa: E402
import headlines  # noqa: E402
import pictures  # noqa: E402
import plot_benchmarks  # noqa: E402
import support_matrix  # noqa: E402
import surface  # noqa: E402

PAGES = "\n".join(page.read_text() for page in ROOT.glob("docs/api/*.md"))
INSIDE = ("dask_gpuscan", "kernels", "tests")  # where a page may name a file without its folder
ALIASES = {"aggregate"}  # of agg, as in pandas
ON_OTHER_PAGES = {"Operator"}


@pytest.mark.parametrize(
    "owner",
    [
        dask_gpuscan.Gpuscan,
        GpuscanIndex,
        ListAccessor,
        GroupBy,
        Resampler,
        Rolling,
        Expanding,
        Ewm,
        XarrayGpuscan,
        XarrayGroups,
    ],
)
def test_methods(owner: type) -> None:
    listed = re.findall(rf"^   ~{owner.__name__}\.(\w+)$", PAGES, re.MULTILINE)
    public = {name for name in dir(owner) if not name.startswith("_")}
    assert len(listed) == len(set(listed))
    assert set(listed) == public - ALIASES


@pytest.mark.parametrize("module", [dask_gpuscan, kernels])
def test_functions(module: ModuleType) -> None:
    name = module.__name__
    blocks = re.findall(
        rf"currentmodule:: {re.escape(name)}\n\n\.\. autosummary::.*?\n\n(.*?)```", PAGES, re.DOTALL
    )
    listed = {line.strip() for block in blocks for line in block.splitlines() if "~" not in line}
    public = {
        each
        for each in module.__all__
        if inspect.isclass(getattr(module, each)) or inspect.isfunction(getattr(module, each))
    }
    missing = public - listed - {"Gpuscan"} - (ON_OTHER_PAGES if module is kernels else set())
    assert not missing
    assert not listed - set(module.__all__)


@pytest.mark.parametrize("file", ["cpu", "h200"])
def test_every_benchmark_has_a_name(file: str) -> None:
    for record in bench_records.load(file):
        bench_records.label(record)  # raises a KeyError
        if record.get("target"):
            bench_records.aim(record)


def test_all_benchmarks_are_drawn_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **options: path.touch())
    plot_benchmarks.write_sections(tmp_path)
    page = (ROOT / "docs" / "benchmarks-in-full.md").read_text(encoding="utf-8")
    written = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.md")}
    assert set(re.findall(r"{include} _drawn/(\S+)", page)) == set(written)
    for name, text in written.items():
        assert not re.search(r"\bNone\b|\bnan\b", text), name
        for picture in re.findall(r"\(_drawn/(\S+)\)", text):
            assert (tmp_path / picture).is_file()
            assert (tmp_path / picture.replace("-light", "-dark")).is_file()


def test_records_of_peers_that_were_stopped_and_of_no_known_limit() -> None:
    stopped = {
        "name": "scan_sum", "dtype": "int64", "n": 9, "ours_ms": 1.5, "limit_ms": None,
        "peer": "polars", "peer_ms": None, "ratio": None, "measured_stopped_after_s": 325,
    }  # fmt: skip
    done = stopped | {"peer": "cub", "peer_ms": 3.0, "ratio": 2.0, "limit_ms": 1.2}
    (both,) = bench_records.grouped([stopped, done], bench_records.label)
    assert (both.times, both.ratios, both.limit) == ({"ours": 1.5, "cub": 3.0}, {"cub": 2.0}, 1.2)
    (alone,) = bench_records.grouped([stopped], bench_records.label)
    assert alone.limit is None
    assert plot_benchmarks.table([both, alone], limited=True).splitlines()[2:] == [
        "| running sum, int64 | 9 | 1.50 ms | 80 % | polars | over 325 s |  |",
        "|  |  | 1.50 ms | 80 % | CUB | 3.00 ms | 2.00 |",
        "| running sum, int64 | 9 | 1.50 ms |  | polars | over 325 s |  |",
    ]


def test_speeds_on_the_page() -> None:
    text = headlines.PAGE.read_text(encoding="utf-8")
    assert headlines.BEGIN in text
    assert headlines.put_in(text) == text, "run docs/tools/pictures.py"


def test_pictures_show_the_results(tmp_path: Path) -> None:
    drawing.write(tmp_path, pictures.PICTURES)
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn == sorted(path.name for path in pictures.FOLDER.glob("*.svg"))
    for name in drawn:
        texts = [
            re.findall(r"<text[^>]*>([^<]*)</text>", (folder / name).read_text(encoding="utf-8"))
            for folder in (tmp_path, pictures.FOLDER)
        ]
        assert texts[0]
        assert texts[0] == texts[1], f"{name}: run docs/tools/pictures.py"


def test_the_map_shows_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    peers = importlib.import_module("peers")
    shown = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    assert shown == peers.page(), "run benchmarks/peers.py --page"


def test_speeds_in_readme() -> None:
    shown = headlines.in_readme()
    assert all(set(row) == {"pandas", "polars", "Dask", "cuDF"} for row in shown.values())
    picture = (pictures.FOLDER / "speeds-light.svg").read_text(encoding="utf-8")
    for title, row in shown.items():
        for text in (title, *map(headlines.times, row.values())):
            assert f">{text}</text>" in picture, "run docs/tools/pictures.py"


def test_every_headline_is_recorded() -> None:
    for name in ("ON_CPUS", "ON_A_GPU", "OVER_PARTITIONS", "OF_MEMORY"):
        for headline in getattr(headlines, name):
            assert headline.records(), headline


def test_support_matrix_is_written_out() -> None:
    known = json.loads(support_matrix.TABLE.read_text())
    calls = {*support_matrix.CALLS, *support_matrix.ARRAY_CALLS, *support_matrix.CUBE_CALLS}
    assert set(known["cells"]) == calls, "run docs/tools/support_matrix.py"
    for page, made in support_matrix.PAGES.items():
        text = page.read_text(encoding="utf-8")
        assert support_matrix.BEGIN in text
        assert support_matrix.put_in(text, made(known)) == text, "run docs/tools/support_matrix.py"


def test_the_comparison_with_pandas_is_written_out() -> None:
    text, made = (
        surface.PAGE.read_text(encoding="utf-8"),
        surface.page(),
    )  # a KeyError: say why in WHY
    if text.splitlines()[2] != made.splitlines()[2]:
        pytest.skip("the page is that of another version of pandas")
    assert made == text, "run docs/tools/surface.py"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
@pytest.mark.filterwarnings("ignore")
def test_support_matrix_is_true(part: int) -> None:
    known = json.loads(support_matrix.TABLE.read_text())["cells"]
    names = share(known, 8)[part::2]  # kernels for each are compiled
    for name, cells in support_matrix.run(names)["cells"].items():
        assert cells == {library: known[name][library] for library in cells}, name


def test_differences_are_written_out() -> None:
    known = json.loads(differences.TABLE.read_text(encoding="utf-8"))
    text = differences.PAGE.read_text(encoding="utf-8")
    assert all(mark in text for mark in differences.MARKS)
    made = support_matrix.put_in(text, differences.made(known), differences.MARKS)
    assert made == text, "run docs/tools/differences.py"


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("library", differences.LIBRARIES)
def test_differences_are_true(library: str) -> None:
    known = json.loads(differences.TABLE.read_text(encoding="utf-8")).get(library)
    if not support_matrix.is_here(library):
        pytest.skip(f"{library} is not here")
    if known is None or known["version"] != support_matrix.version_of(library):
        pytest.skip(f"the table is that of another version of {library}")
    found = [list(row) for row in differences.LIBRARIES[library]()]
    assert found == known["rows"], "run docs/tools/differences.py"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/engine.md", "tests/README.md"])
def test_files_that_a_page_names_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    spans = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)
    names = [n.rstrip("/") for n in " ".join(spans).split() if re.search(r"/|\.(py|cuh)$", n)]
    folders = [ROOT, ROOT / "dask_gpuscan", (ROOT / page).parent]
    for name in names:
        if not name.startswith("."):
            found = any(any(each.glob(name)) for each in folders)
            inside = "/" not in name and any(any(ROOT.glob(f"{f}/**/{name}")) for f in INSIDE)
            assert found or inside, f"{page} names {name}"
