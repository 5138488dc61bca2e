"""Cubins that come in a wheel: they are found by name, and passed over where they are not to be believed."""

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels import BUILT_IN, signature
from dask_gpuscan.kernels.compiler import archives
from dask_gpuscan.kernels.cuda.core import build, packed
from dask_gpuscan.kernels.cuda.core.plan import typed
from dask_gpuscan.kernels.cuda.scan.scan_pass import ScanPass
from dask_gpuscan.kernels.cuda.sort.sort_pass import MovePass
from dask_gpuscan.ops.statistics import windows

sys.path.append(str(Path(__file__).parents[3] / "pack"))

cubins = pytest.importorskip("cubins")

ARCHITECTURE, CAPABILITY = "sm_80", (8, 0)


def scan_of(op, dtype="f8"):
    """The pass of a scan, as it is compiled."""
    each = ScanPass(
        typed(op, signature(op, [np.dtype(dtype)])),
        "none",
        exclusive=False,
        reverse=False,
        mark_nulls=False,
        write=True,
    )
    return build.as_bits(each)


KEPT = (MovePass(4, 4, False), scan_of(windows.MIN))


def name_of(each):
    return build.pack_name(each, "classic", CAPABILITY)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """An archive of two kernels."""
    path = tmp_path_factory.mktemp("cubins") / f"{ARCHITECTURE}{packed.ENDING}"
    with ThreadPoolExecutor(1) as one:
        cubins.write(path, {name_of(each): (each, "classic") for each in KEPT}, one)
    return path


@pytest.fixture
def heard(archive, tmp_path, monkeypatch, caplog):
    """What is logged of a copy of the archive, which stands in ``tmp_path``."""
    tmp_path.joinpath(archive.name).write_bytes(archive.read_bytes())
    monkeypatch.setattr(packed, "folder", lambda: tmp_path)
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path / "cache"))
    for each in (packed._opened, packed._pass_over):
        each.cache_clear()
    yield lambda: [record.getMessage() for record in caplog.records]
    packed._opened.cache_clear()


def compiled(tmp_path):
    """How many cubins were compiled."""
    return len(list(tmp_path.glob("cache/*.cubin")))


def test_what_is_packed_is_not_compiled(heard, archive, tmp_path):
    for each in KEPT:
        code = build.cubin(each, "classic", CAPABILITY)
        assert code == ZipFile(archive).read(name_of(each))
        assert code[:4] == b"\x7fELF"
    assert compiled(tmp_path) == 0
    assert heard() == []


def test_other_kernels_and_architectures_are_compiled(heard, tmp_path):
    build.cubin(MovePass(8, 4, False), "classic", CAPABILITY)
    build.cubin(KEPT[0], "classic", (9, 0))
    assert compiled(tmp_path) == 2
    assert heard() == []


def test_machine_code_that_the_driver_refuses_is_compiled(heard, tmp_path):
    code = build.cubin(KEPT[0], "classic", CAPABILITY, fresh=True)
    assert code[:4] == b"\x7fELF"
    assert compiled(tmp_path) == 1


@pytest.mark.parametrize("how", ["changed", "truncated", "of other sources", "no archive", "empty"])
def test_archives_that_are_not_to_be_believed_are_passed_over(heard, tmp_path, how):
    (path,) = tmp_path.glob(f"*{packed.ENDING}")
    content = bytearray(path.read_bytes())
    if how == "changed":  # one byte of each entry
        for entry in ZipFile(path).infolist():
            content[entry.header_offset + 100 + entry.compress_size // 2] ^= 1
        path.write_bytes(content)
    elif how == "of other sources":
        with ZipFile(path, "a") as archive:
            archive.comment = b"others"
    else:
        path.write_bytes({"truncated": content[:-100], "no archive": b"PK" * 50, "empty": b""}[how])
    assert build.cubin(KEPT[0], "classic", CAPABILITY)[:4] == b"\x7fELF"
    assert build.cubin(MovePass(8, 4, False), "classic", CAPABILITY)[:4] == b"\x7fELF"
    assert compiled(tmp_path) == 2
    (line,) = heard()
    assert "passed over" in line


def test_of_an_archive_with_any_byte_changed_entries_are_whole_or_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "folder", lambda: tmp_path)
    path = tmp_path / f"{ARCHITECTURE}{packed.ENDING}"
    codes = {f"kernel{k}": random.Random(k).randbytes(99) for k in range(2)}
    archives.write(path, codes, "sources")
    content = path.read_bytes()
    found = set()
    for at, flips in product(range(len(content)), (1, 8, 128, 255)):
        path.write_bytes(content[:at] + bytes([content[at] ^ flips]) + content[at + 1 :])
        packed._opened.cache_clear()
        found |= {(name, packed.read(name, ARCHITECTURE, "sources")) for name in codes}
    packed._opened.cache_clear()
    assert found == {*codes.items(), *((name, None) for name in codes)}


def test_a_python_without_lzma_compiles(heard, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lzma", None)
    assert build.cubin(KEPT[0], "classic", CAPABILITY)[:4] == b"\x7fELF"
    assert compiled(tmp_path) == 1
    (line,) = heard()
    assert "lzma" in line


def test_names_tell_kernels_apart():
    others = [
        scan_of(windows.MAX),
        scan_of(windows.MIN, "f4"),
        scan_of(BUILT_IN["add"]),
        MovePass(8, 4, False),
    ]
    assert len({name_of(each) for each in [*KEPT, *others]}) == len(KEPT) + len(others)


def test_a_user_s_operator_has_no_name():
    own = operator(lambda a, b: a if a > b else b, identity=-np.inf)
    assert name_of(scan_of(own)) is None


def test_the_wheel_holds_the_archives(archive, tmp_path):
    package = tmp_path / packed.PACKAGE
    package.mkdir()
    package.joinpath("__init__.py").touch()
    package.joinpath(archive.name).write_bytes(archive.read_bytes())
    cubins.wheel(tmp_path, tmp_path / "out")
    (made,) = tmp_path.glob("out/*.whl")
    assert made.name.endswith("-py3-none-any.whl")
    assert ZipFile(made).read(f"{packed.PACKAGE}/{archive.name}") == archive.read_bytes()
