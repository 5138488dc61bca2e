"""Kernels that come as machine code: a small pack is built, used, and passed over where it is not to be believed."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType
from zipfile import ZipFile

import pytest

import dask_gpuscan
from dask_gpuscan.kernels.compiler import pack
from helpers.programs import run

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "pack" / "build.py"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

COMPILER = os.environ.get("CC", "cc").split()[0]
LEVEL = "x86-64-v2" if pack.system().endswith(("x86_64", "amd64")) else "generic"

CALLS = r"^Gpuscan.(cumsum (float64|int32)|scan\(larger\) float64) 5000 adjacent"
"""Calls that the small pack is of."""

ANSWERS = f"""
import hashlib, json, logging, pathlib, pickle, sys, warnings
sys.path.append({str(BUILD.parent)!r})
from dask_gpuscan.kernels.compiler import compiling, pack
folder, *names = GIVEN
pack.FOLDER = pathlib.Path(folder)
heard, said = [], []
logging.getLogger(pack.__name__).addFilter(lambda record: said.append(record.getMessage()))
from calls import CALLS, frame
answers = {{}}
warnings.simplefilter("ignore")
for name in names:
    method, *of = CALLS[name]
    with compiling.listening(heard.append):
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
    program = ANSWERS.replace("GIVEN", repr([str(folder), *(names or NAMES)]))
    (line,) = run(program, DASK_GPUSCAN_CACHE=str(cache))
    found, heard, said = json.loads(line)
    return found, heard, said


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small pack."""
    if shutil.which(COMPILER) is None:
        pytest.skip(f"no C compiler {COMPILER}")
    folder = tmp_path_factory.mktemp("pack") / "packed"
    given = ("--only", CALLS, "--levels", LEVEL, "--jobs", "1", "--out", folder)
    subprocess.run([sys.executable, BUILD, *given], check=True, stdout=subprocess.DEVNULL)
    return folder


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
    else:
        index |= {how: "others"} if how != "files" else {"files": {}}
    packed.joinpath(pack.INDEX).write_text(json.dumps(index))


@pytest.mark.parametrize(
    "how", ["truncated", "changed", "missing", "no index", "sources", "system", "files"]
)
def test_a_pack_that_is_not_to_be_believed_is_passed_over(
    how: str, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    copy = tmp_path / "packed"
    shutil.copytree(packed, copy)
    monkeypatch.setattr(pack, "FOLDER", copy)
    pack._opened.cache_clear()
    damage(copy, how)
    try:
        assert pack._opened() is None
        assert pack._opened() is None
        (message,) = [each.getMessage() for each in caplog.records]
        assert message.startswith(f"the compiled kernels in {copy} are passed over")
    finally:
        pack._opened.cache_clear()


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
    folder = ROOT / "build" / "packed"
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
