"""Kernels that come as machine code: small packs are built, used, and passed over where they are not to be believed."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from zipfile import ZipFile

import numpy as np
import pytest

import dask_gpuscan
from dask_gpuscan.kernels.compiler import argument_types as types
from dask_gpuscan.kernels.compiler import pack
from dask_gpuscan.kernels.compiler.forms import COMPILERS
from helpers import aarch64
from helpers.programs import run

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "pack" / "build.py"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

HERE = pack.system().replace(" ", "-")
LEVEL = "x86-64-v2" if HERE.endswith(("x86_64", "amd64")) else "generic"

CALLS = r"^Gpuscan.(cumsum (float64|int32)|scan\(larger\) float64) 5000 adjacent"
"""Calls that the small packs are of."""

ANSWERS = f"""
import hashlib, json, logging, pathlib, pickle, sys, warnings
sys.path.append({str(BUILD.parent)!r})
from dask_gpuscan.kernels.compiler import pack
folder, *names = GIVEN
pack.FOLDER = pathlib.Path(folder)
heard, said = [], []
lists = {{"dask_gpuscan": heard, pack.__name__: said}}
keep = logging.Handler()
keep.emit = lambda record: lists.get(record.name, []).append(record.getMessage())
logging.getLogger("dask_gpuscan").addHandler(keep)
logging.getLogger("dask_gpuscan").setLevel("INFO")
from calls import CALLS, frame
answers = {{}}
warnings.simplefilter("ignore")
for name in names:
    method, *of = CALLS[name]
    try:
        answer = method(frame(*of))
    except Exception as error:  # no method takes every dtype
        answer = repr(error)
    parts = answer if isinstance(answer, tuple) else (answer,)
    answers[name] = [hashlib.sha256(pickle.dumps(part)).hexdigest() for part in parts]
print(json.dumps([answers, heard, said]))
"""
NAMES = ("Gpuscan.cumsum float64 5000 adjacent", "Gpuscan.cumsum int32 5000 adjacent")


def answers(
    folder: Path, cache: Path, *names: str
) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Call methods in a new process, and return digests of their answers, what it compiled and what it logged."""
    (line,) = run(program(folder, *names), DASK_GPUSCAN_CACHE=str(cache))
    found, heard, said = json.loads(line)
    return found, heard, said


def program(folder: Path, *names: str) -> str:
    """Return a program that calls methods, with the pack of a folder."""
    return ANSWERS.replace("GIVEN", repr([str(folder), *(names or NAMES)]))


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of small packs of all systems."""
    if find_spec("ziglang") is None:
        pytest.skip("no ziglang")
    folder = tmp_path_factory.mktemp("packs") / "packed"
    given = ("--only", CALLS, "--levels", "x86-64-v2", "--jobs", "1", "--systems", "all")
    line = [sys.executable, BUILD, *given, "--out", folder]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="module")
def packed(packs: Path) -> Path:
    """The folder of a small pack for this system."""
    return packs / HERE


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The answers of kernels that Numba compiles."""
    folder = tmp_path_factory.mktemp("without")
    found, heard, said = answers(folder, folder / "cache")
    assert heard
    assert said == []  # there need not be a pack
    return found


def test_calls_of_a_pack_compile_nothing_and_have_the_same_bits(
    packed: Path, compiled: dict[str, list[str]], tmp_path: Path
) -> None:
    assert answers(packed, tmp_path / "cache") == (compiled, [], [])
    assert not tmp_path.joinpath("cache").exists()


def test_processes_that_start_at_once_compile_nothing(
    packed: Path, compiled: dict[str, list[str]], tmp_path: Path
) -> None:
    """Nor does it matter that nothing can be kept."""
    tmp_path.joinpath("file").touch()
    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(lambda _: answers(packed, tmp_path / "file" / "cache"), range(32)))
    assert found == [(compiled, [], [])] * 32


LIGHT = """
import pathlib, sys
import numpy as np, pandas as pd, dask_gpuscan
from dask_gpuscan.kernels.compiler import pack
pack.FOLDER = pathlib.Path(FOLDER)
for dtype in ("float64", "int32"):
    frame = pd.DataFrame({"x": np.arange(5000).astype(dtype)})
    frame.gpuscan.cumsum()
print([name for name in ("numba", "llvmlite", "dask", "polars") if name in sys.modules])
"""


def test_calls_of_a_pack_import_no_compiler(packed: Path, tmp_path: Path) -> None:
    program = LIGHT.replace("FOLDER)", f"{str(packed)!r})")
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True,
        env=os.environ | {"DASK_GPUSCAN_CACHE": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.split("\n")[0] == "[]"


def test_other_calls_are_compiled(packed: Path, tmp_path: Path) -> None:
    _, heard, said = answers(packed, tmp_path, "Gpuscan.cummin float32 5000 adjacent")
    assert heard
    assert said == []


OWN = """
import numpy as np, pandas as pd, dask_gpuscan, pathlib
from dask_gpuscan.kernels.compiler import forms, pack
pack.FOLDER = pathlib.Path(FOLDER)
made, engine_of = [], forms._engine_of
forms._engine_of = lambda *given: [made.append(given), engine_of(*given)][1]
least = dask_gpuscan.operator(lambda a, b: b if b < a else a, identity=np.inf)
x = pd.Series(np.random.default_rng(0).standard_normal(5000))
assert x.gpuscan.scan(least).equals(x.cummin())
assert x.astype("float32").gpuscan.scan(dask_gpuscan.operator(
    lambda a, b: a if a > b else b, identity=np.float32("-inf"))).equals(x.astype("float32").cummax())
print(len(made))
"""


def engines_made(packed: Path, cache: Path) -> int:
    """Count the engines that two operators of a user's take."""
    (line,) = run(OWN.replace("FOLDER)", f"{str(packed)!r})"), DASK_GPUSCAN_CACHE=str(cache))
    return int(line)


def test_operators_are_linked_into_engines_of_the_pack(packed: Path, tmp_path: Path) -> None:
    assert engines_made(packed, tmp_path / "cache") == 0
    copy = tmp_path / "copy"
    shutil.copytree(packed, copy)
    with ZipFile(copy / pack.ENGINES, "a") as engines:
        engines.comment = b"another Numba"
    index = json.loads(copy.joinpath(pack.INDEX).read_text())
    index["files"][pack.ENGINES] = pack.digest(copy.joinpath(pack.ENGINES).read_bytes())
    copy.joinpath(pack.INDEX).write_text(json.dumps(index))
    assert engines_made(copy, tmp_path / "another cache") == 1


@pytest.mark.parametrize("how", ["damaged", "no lzma"])
def test_engines_that_cannot_be_read_are_passed_over(
    how: str, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    copy = tmp_path / "packed"
    shutil.copytree(packed, copy)
    monkeypatch.setattr(pack, "FOLDER", copy)
    with ZipFile(copy / pack.ENGINES) as engines:
        (name, *_) = engines.namelist()
    if how == "damaged":
        copy.joinpath(pack.ENGINES).write_bytes(b"PK")
    else:
        monkeypatch.setitem(sys.modules, "lzma", None)
    kept = (pack._opened, pack._engines)
    for each in kept:
        each.cache_clear()
    try:
        assert [pack.engine(name, COMPILERS) for _ in range(2)] == [None, None]
        assert pack._opened() is not None
        (message,) = [each.getMessage() for each in caplog.records]
        assert ("lzma" if how == "no lzma" else "damaged") in message
    finally:
        for each in kept:
            each.cache_clear()


def damage(packed: Path, how: str) -> None:
    """Make a pack one that is not to be believed."""
    index = json.loads(packed.joinpath(pack.INDEX).read_text())
    if how == "truncated":
        library = packed / pack.library_of(LEVEL)
        library.write_bytes(library.read_bytes()[: library.stat().st_size // 2])
    elif how == "changed":
        content = bytearray(packed.joinpath(pack.CALL).read_bytes())
        content[len(content) // 2] ^= 1
        packed.joinpath(pack.CALL).write_bytes(content)
    elif how == "missing":
        packed.joinpath(pack.CALL).unlink()
    elif how == "no index":
        packed.joinpath(pack.INDEX).write_text("{")
        return
    elif how == "other answers":
        text = packed.joinpath(pack.ANSWERS).read_text()
        packed.joinpath(pack.ANSWERS).write_text(text.replace('"d"', '"f"'))
    else:
        index |= {how: "others"} if how != "files" else {"files": {}}
    packed.joinpath(pack.INDEX).write_text(json.dumps(index))


@pytest.mark.parametrize(
    "how",
    [
        "truncated",
        "changed",
        "missing",
        "no index",
        "other answers",
        "sources",
        "system",
        "files",
        "free-threaded",
        "not to be looked at",
    ],
)
def test_a_pack_that_is_not_to_be_believed_is_passed_over(
    how: str, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    copy = tmp_path / "packed"
    shutil.copytree(packed, copy)
    monkeypatch.setattr(pack, "FOLDER", copy)
    pack._opened.cache_clear()
    if how == "free-threaded":  # a Python without a stable ABI
        monkeypatch.setattr(pack.sysconfig, "get_config_var", {"Py_GIL_DISABLED": 1}.get)
    elif how == "not to be looked at":

        def refuse(path: Path) -> bool:
            raise PermissionError(path)

        monkeypatch.setattr(Path, "exists", refuse)
    else:
        damage(copy, how)
    try:
        assert pack._opened() is None
        assert pack._opened() is None
        (message,) = [each.getMessage() for each in caplog.records]
        assert message.startswith(f"the compiled kernels in {copy} are passed over")
    finally:
        pack._opened.cache_clear()


@pytest.mark.parametrize("name", [name for name in pack.LETTERS if name != "none"])
def test_formats_are_the_same_on_all_systems_and_give_numpy_s_own_dtypes(name: str) -> None:
    form = pack.form_of(types.Number(np.dtype(name)))
    assert np.dtype(form) == np.dtype(name)
    assert form not in "lL"  # which have 32 bits on Windows
    assert pack._type_of(form).dtype is np.dtype(name)


def test_the_library_is_the_best_for_a_processor() -> None:
    files = {pack.library_of(level): "" for level in ("x86-64-v2", "x86-64-v3")}
    chosen = [pack._level(files, best) for best in (2, 3, 4)]
    assert chosen == ["x86-64-v2.so", "x86-64-v3.so", "x86-64-v3.so"]
    assert pack._level({"generic.so": ""}, 0) == "generic.so"
    with pytest.raises(ValueError, match="none is for this processor"):
        pack._level(files, 1)


FORMATS = {
    "linux-x86_64": (rb"\x7fELF.{14}\x3e\0", r"lib[cm]\.so\.6"),
    "linux-aarch64": (rb"\x7fELF.{14}\xb7\0", r"lib[cm]\.so\.6"),
    "darwin-arm64": (rb"\xcf\xfa\xed\xfe\x0c\0\0\x01", "/usr/lib/libSystem.B.dylib"),
    "darwin-x86_64": (rb"\xcf\xfa\xed\xfe\x07\0\0\x01", "/usr/lib/libSystem.B.dylib"),
    "win32-amd64": (
        rb"MZ.{118}PE\0\0\x64\x86",
        r"KERNEL32.dll|python3.dll|api-ms-win-crt-[\w-]+.dll",
    ),
}
"""How the files of a system begin, and what libraries they may ask for."""

ASKED, KERNEL = rb"[\w/.-]+\.(?:dll|dylib|so\.\d+)\b", rb"[\0_](k[0-9a-f]{24}(?:_form)?)(?=\0)"


@pytest.mark.parametrize("system", FORMATS)
def test_files_of_each_system_have_its_format_and_the_same_kernels(
    system: str, packs: Path
) -> None:
    index = json.loads(packs.joinpath(system, pack.INDEX).read_text())
    assert index["system"] == system.replace("-", " ")
    assert {path.name for path in packs.joinpath(system).iterdir()} == {*index["files"], pack.INDEX}
    of_this = json.loads(packs.joinpath(HERE, pack.INDEX).read_text())
    assert index["files"][pack.ANSWERS] == of_this["files"][pack.ANSWERS]
    begin, asked = FORMATS[system]
    for name, digest in index["files"].items():
        content = packs.joinpath(system, name).read_bytes()
        assert pack.digest(content) == digest
        if not name.endswith(".so"):
            continue
        assert re.match(begin, content, re.DOTALL)
        libraries = {each.decode() for each in re.findall(ASKED, content)}
        assert [each for each in libraries if not re.fullmatch(asked, each)] == []
        kernels = set(re.findall(KERNEL, content))
        assert len(kernels) == (0 if name == pack.CALL else 4)


def test_calls_of_a_pack_for_arm_have_the_same_bits(
    packs: Path, compiled: dict[str, list[str]], tmp_path: Path
) -> None:
    python = aarch64.command()
    if python is None:
        pytest.skip("no Python for ARM that QEMU runs: make aarch64")
    line = subprocess.check_output(
        [*python, "-c", program(packs / "linux-aarch64")], text=True,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{aarch64.FOLDER / 'site'}", "DASK_GPUSCAN_CACHE": str(tmp_path)},
    )  # fmt: skip
    assert json.loads(line) == [compiled, [], []]


def test_a_user_s_operator_has_no_name_in_packs() -> None:
    ours = dask_gpuscan.add.code.functions["combine"]
    assert pack.content_name(ours) == pack.content_name(ours)
    with pytest.raises(pack.Foreign):
        pack.content_name(lambda a, b: a + b)


def test_functions_of_the_package_whose_source_is_not_there_have_no_name_in_packs() -> None:
    function = dask_gpuscan.add.code.functions["combine"]
    gone = str(Path(pack.__file__).with_name("gone.py"))
    function = type(function)(function.__code__.replace(co_filename=gone), {})
    with pytest.raises(pack.Foreign):
        pack.content_name(function)


def test_names_tell_what_functions_capture() -> None:
    from dask_gpuscan.kernels.operators.built_in import affine

    ours = affine.code.functions["combine"]
    names = {pack.content_name(ours, captured) for captured in (1, 1.0, True, (1,), None, "1")}
    assert len(names) == 6


@pytest.mark.parametrize("folder", ["kernels", "dask_gpuscan/ops"])
def test_a_name_a_line_and_parameters_tell_functions_apart(folder: str) -> None:
    """A pack knows a function of the package by them."""
    for path in ROOT.joinpath(folder).rglob("*.py"):
        codes: dict[tuple[str, ...], bytes] = {}
        for code in _codes(compile(path.read_text(), path.name, "exec")):
            place = tuple(pack._place(code.replace(co_filename=pack.__file__)))
            assert codes.setdefault(place, code.co_code) == code.co_code, f"{path}: {place[1]}"


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if not each.co_name.endswith(("comp>", "expr>")):
                yield each
            yield from _codes(each)


USUAL = r"^(Gpuscan|GroupBy|Rolling|Ewm)\.\w+ (float64|int64)\?? \d+ adjacent$"


def test_usual_calls_compile_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ROOT / "build" / "packed" / HERE
    index = folder / pack.INDEX
    of = json.loads(index.read_text())["sources"] if index.exists() else ""
    if of != pack.sources(ROOT / "kernels"):
        pytest.skip("no pack of these sources was built: make pack")
    monkeypatch.syspath_prepend(BUILD.parent)
    names = [name for name in import_module("calls").CALLS if re.search(USUAL, name)]
    assert len(names) > 100
    _, heard, said = answers(folder, tmp_path, *names)
    of_users = import_module("support_calls").LARGEST.name
    assert [line for line in heard if of_users not in line] == []
    assert said == []
