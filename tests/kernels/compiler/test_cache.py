"""Compiled kernels on disk: found again, made anew where damaged, done without where nothing can be kept."""

import ast
import errno
import itertools
import os
import random
import shutil
import stat
import tempfile
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels import reduce
from dask_gpuscan.kernels.compiler import cache as kernel_cache
from dask_gpuscan.kernels.compiler import jit
from dask_gpuscan.kernels.compiler.function_fingerprint import fingerprint
from dask_gpuscan.kernels.compiler.functions import cached_njit, njit, overloaded
from dask_gpuscan.kernels.cpu.core import engine
from helpers.programs import run

USE = """
import numpy as np, dask_gpuscan
print(dask_gpuscan.cumsum(np.arange(5)).tolist())
from dask_gpuscan.kernels.cpu.core.engine import walk_lines
print(sum(walk_lines.made.stats.cache_hits.values()), sum(walk_lines.made.stats.cache_misses.values()))
"""
MADE, FOUND = ["[0, 1, 3, 6, 10]", "0 1"], ["[0, 1, 3, 6, 10]", "1 0"]


def use(folder: Path, program: str = USE) -> list[str]:
    return run(program, DASK_GPUSCAN_CACHE=str(folder))


def damaged(entry: bytes, chance: random.Random) -> bytes:
    """Cut an entry anywhere, or flip a bit of it."""
    at = chance.randrange(len(entry))
    if chance.random() < 0.5:
        return entry[:at]
    return entry[:at] + bytes([entry[at] ^ 1 << chance.randrange(8)]) + entry[at + 1 :]


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A folder with the kernels of `USE`."""
    folder = tmp_path_factory.mktemp("home") / "below" / "kept"
    elsewhere = folder.parent / "numba"
    told = f"from numba.core import config\nconfig.CACHE_DIR = {str(elsewhere)!r}\n"
    assert use(folder, told + USE) == MADE
    assert not elsewhere.exists()
    return folder


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty folder, or none yet, for this process."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(folder))
    return folder


def test_kernels_are_found_again_in_a_folder_that_is_private(kept):
    assert use(kept) == FOUND
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    entries = list(kept.iterdir())
    assert len(entries) > 1
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in entries} == {0o600}


def test_damaged_kernels_are_made_anew(kept, tmp_path):
    folder, chance = tmp_path / "kept", random.Random(2)
    shutil.copytree(kept, folder)
    for entry in folder.iterdir():
        entry.write_bytes(damaged(entry.read_bytes(), chance))
    assert use(folder) == MADE
    assert use(folder) == FOUND


def test_nothing_is_made_of_damaged_entries(kept, tmp_path, monkeypatch):
    folder, chance = tmp_path / "kept", random.Random(3)
    shutil.copytree(kept, folder)
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(folder))
    for entry in folder.iterdir():
        whole = entry.read_bytes()
        assert kernel_cache.read(entry.name) == whole[32:]
        for _ in range(100):
            entry.write_bytes(damaged(whole, chance))
            assert kernel_cache.read(entry.name) is None


def test_files_that_were_mixed_up_are_made_anew(kept, tmp_path):
    """That of another kernel is whole, and still not the one that is looked for."""
    folder = tmp_path / "kept"
    shutil.copytree(kept, folder)
    entries = sorted(folder.iterdir())
    contents = [entry.read_bytes() for entry in entries]
    for entry, content in zip(entries, contents[1:] + contents[:1], strict=True):
        entry.write_bytes(content)
    assert use(folder) == MADE


def add_one(x):
    return x + 1


def times_two(x):
    return x * 2


def entry_of(function, kind) -> str:
    """Compile a function, and return the key under which it is kept."""
    compiled = cached_njit(function).made
    compiled.compile((kind,))
    return compiled._cache.key((kind,))


def test_whole_entries_that_are_not_the_kernel_are_made_anew(cache):
    key, other = entry_of(add_one, numba.int64), entry_of(times_two, numba.float64)
    for content in (b"", b"no pickle", b"\x80\x04\x95", kernel_cache.read(other)):
        kernel_cache.write(key, content)
        compiled = cached_njit(add_one).made
        assert compiled(numba.int64(3)) == 4
        assert sum(compiled.stats.cache_misses.values()) == 1
        again = cached_njit(add_one).made
        assert again(numba.int64(3)) == 4
        assert sum(again.stats.cache_hits.values()) == 1


def test_addresses_of_a_process_are_not_kept(cache):
    table = np.arange(200_000)  # too large to be written into the code
    compiled = cached_njit(lambda i: table[i]).made
    assert compiled(7) == 7
    assert not cache.exists()


ALLOCATING = """
import numpy as np, pandas as pd, dask_gpuscan
from dask_gpuscan import operator

def larger(a, b):
    both = np.empty(2)
    both[0], both[1] = a, b
    return max(both[0], both[1])

mine = operator(larger, identity=-np.inf)
x = pd.Series([3.0, 1.0, 2.0])
print(WHAT)
"""


@pytest.mark.parametrize(
    ("what", "answer"),
    [
        ("x.gpuscan.rolling(2).rank().tolist()", "[nan, 1.0, 2.0]"),
        ("x.gpuscan.scan(mine).tolist()", "[3.0, 3.0, 3.0]"),
    ],
)
def test_kernels_that_make_arrays_are_found_where_nothing_is_compiled(tmp_path, what, answer):
    for _ in range(2):
        assert use(tmp_path, ALLOCATING.replace("WHAT", what)) == [answer]


# --- what an entry is found by --------------------------------------------------------------------

BY_KEY = """
import numpy as np
from dask_gpuscan.kernels import BUILT_IN, reduce_by_key
from dask_gpuscan.kernels.compiler import jit
from dask_gpuscan.kernels.cpu.core import engine
from dask_gpuscan.kernels.cpu.columns import selection_visitors as selection
EDIT
for dtype in DTYPES:
    print(reduce_by_key(BUILT_IN["add"], np.array([1, 1, 2], dtype), np.arange(3))[1].tolist())
for function in (engine.walk_tiles, selection.flag_differing, selection.flag_runs, selection.list_rows):
    stats = function.made.stats
    print(function.__name__, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def by_key(folder: Path, dtypes: str, edit: str = "") -> list[str]:
    """Reduce by keys of some dtypes; return the answers, and how often each function was found and compiled."""
    return use(folder, BY_KEY.replace("DTYPES", dtypes).replace("EDIT", edit))


def test_shared_functions_are_compiled_for_the_keys_that_are_met_and_found_by_what_they_use(
    tmp_path,
):
    answer = "[1, 2]"
    made = ["walk_tiles 0 1", "flag_differing 0 1", "flag_runs 0 1", "list_rows 0 1"]
    assert by_key(tmp_path, "['f4']") == [answer, *made]
    more = ["walk_tiles 1 0", "flag_differing 1 1", "flag_runs 1 0", "list_rows 1 0"]
    assert by_key(tmp_path, "['i8', 'f4']") == [answer, answer, *more]  # at other addresses
    found = ["walk_tiles 1 0", "flag_differing 1 0", "flag_runs 1 0", "list_rows 1 0"]
    assert by_key(tmp_path, "['f4']") == [answer, *found]
    edit = "engine.PATIENCE += 1; selection._COUNTS = selection._COUNTS.astype(np.int32)"
    found[0], found[3] = "walk_tiles 0 1", "list_rows 0 1"
    assert by_key(tmp_path, "['f4']", edit) == [answer, *found]


def test_an_entry_is_found_by_function_types_processor_and_configuration(monkeypatch):
    targets = [("x86_64", "haswell", ""), ("x86_64", "haswell", "+avx512f")]
    kinds = [(numba.int64,), (numba.float64,), (numba.int64, numba.int64)]
    functions = [cached_njit(add_one).made, cached_njit(times_two).made]
    keys = set()
    for target, checks in itertools.product(targets, (None, 1)):
        monkeypatch.setattr(jit, "processor", lambda target=target: target)
        monkeypatch.setattr(numba.config, "BOUNDSCHECK", checks)
        keys |= {f._cache.key(sig) for f in functions for sig in kinds}
    assert len(keys) == 24


CONFIGURED = """
import dask_gpuscan, numpy as np
greatest = dask_gpuscan.operator(lambda a, b: a if a > b else b, identity=-np.inf)
print(dask_gpuscan.cumsum(np.arange(3.0)).tolist(), dask_gpuscan.scan(np.array([1.0, 0.0]), greatest).tolist())
"""


def test_kernels_do_the_same_whatever_numba_s_environment_variables_ask_for(tmp_path):
    variables = {"NUMBA_DEBUGINFO": "1", "NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "1"}
    found = run(CONFIGURED, DASK_GPUSCAN_CACHE=str(tmp_path), **variables)
    assert found == ["[0.0, 1.0, 3.0] [1.0, 1.0]"]


MODULE = """
from typing import NamedTuple
import numpy as np
from dask_gpuscan.kernels.compiler.functions import ALLOCATING, OPTIONS, cached_njit, intrinsic, njit, overloaded
from dask_gpuscan.kernels.compiler.late import numba

SIZE, TABLE, OTHER = 8, np.arange(3), 5

def zero():
    return 0

@intrinsic
def nothing(typing_context, x):
    def codegen(context, builder, signature, args):
        return context.get_constant(numba.types.int64, zero())
    return numba.types.int64(x), codegen

def chosen(x):
    raise NotImplementedError

@overloaded(chosen)
def _chosen(x):
    if isinstance(x, numba.types.Float):
        return lambda x: x + 0.5
    return lambda x: x

def made(factor):
    @njit
    def helper(x):
        return x * factor + SIZE
    return helper

helper = made(3)

@njit
def observe(work):
    return work.x + 1

class Work(NamedTuple):
    x: int

Work.visitor = observe

@cached_njit
def kernel(work, x):
    'Compute.'
    return helper(x) + TABLE[1] + nothing(x) + chosen(x)

@cached_njit
def another(x):
    return x + OTHER
"""


def key_in(text: str) -> str:
    """Return the key of the kernel of a module."""
    module: dict[str, Any] = {"__name__": "module"}
    exec(compile(text, "module.py", "exec"), module)
    work = numba.types.NamedTuple([numba.int64], module["Work"])
    return module["kernel"].made._cache.key((work, numba.int64))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SIZE, TABLE", "# a comment\n\nSIZE, TABLE"),
        ("Compute.", "Compute it."),
        ("return x + OTHER", "return x - OTHER"),
        ("np.arange(3), 5", "np.arange(3), 6"),
        ("def zero", "def unused():\n    return 1\n\ndef zero"),
    ],
)
def test_edits_that_do_not_reach_a_kernel_keep_its_key(old, new):
    assert old in MODULE
    assert key_in(MODULE.replace(old, new)) == key_in(MODULE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("TABLE[1] +", "TABLE[1] -"),
        ("x * factor", "x + factor"),
        ("made(3)", "made(4)"),
        ("made(3)", "made(3.0)"),
        ("OTHER = 8", "OTHER = 9"),
        ("np.arange(3)", "np.arange(3, dtype='i4')"),
        ("np.arange(3)", "np.arange(1, 4)"),
        ("zero():\n    return 0", "zero():\n    return 1"),
        ("numba.types.int64, zero()", "numba.types.int64, 1 + zero()"),
        ("x + 0.5", "x + 0.25"),
        ("work.x + 1", "work.x + 2"),
        ("@cached_njit\ndef kernel", "@(lambda f: cached_njit(f, ALLOCATING))\ndef kernel"),
        ("@njit\n    def", "@(lambda f: njit(f, {**OPTIONS, 'fastmath': True}))\n    def"),
    ],
)
def test_edits_of_what_a_kernel_reaches_change_its_key(old, new):
    assert old in MODULE
    assert key_in(MODULE.replace(old, new)) != key_in(MODULE)


KERNELS = """
import pkgutil, sys
from importlib import import_module
from dask_gpuscan.kernels import cpu
from dask_gpuscan.kernels.compiler.function_fingerprint import fingerprint
from dask_gpuscan.kernels.compiler.functions import Function

def fingerprints():
    for module in pkgutil.walk_packages(cpu.__path__, cpu.__name__ + "."):
        import_module(module.name)
    for name, module in sorted(sys.modules.items()):
        if name.startswith("dask_gpuscan.kernels."):
            for title, value in vars(module).items():
                if isinstance(value, Function) and hasattr(value.made, "_cache"):
                    yield f"{name}.{title} {fingerprint(value)}"
"""


def test_kernels_have_the_same_fingerprints_in_another_process_and_after_use(tmp_path):
    assert reduce(operator(lambda a, b: a + b, identity=0), np.arange(4)) == 6
    namespace: dict[str, Any] = {}
    exec(KERNELS, namespace)
    own = list(namespace["fingerprints"]())
    assert len(own) > 60
    assert use(tmp_path, f"{KERNELS}\nprint(*fingerprints(), sep='\\n')") == own


def test_kernels_that_are_defined_later_change_no_key():
    before = fingerprint(engine.walk_tiles.made)

    def stand_in(x):
        raise NotImplementedError

    overloaded(stand_in)(lambda x: lambda x: x)
    cached_njit(lambda carries: carries, carries="states")
    assert fingerprint(engine.walk_tiles.made) == before


REGISTERING = {
    "overload",
    "overload_method",
    "overload_attribute",
    "type_callable",
    "lower_builtin",
}


def test_what_is_registered_with_numba_is_found_by_keys():
    """`overloaded` tells a function what is compiled in its place; of other ways Numba alone would know."""
    root = Path(kernel_cache.__file__).parents[1]
    for path in [*root.glob("*.py"), *root.glob("operators/*.py"), *root.glob("cpu/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not REGISTERING & {each.name for each in node.names}, path


# --- folders --------------------------------------------------------------------------------------


def unkept(caplog, why: str, place: Path | None = None) -> None:
    """Nothing is kept, and the log says why, once, and so does what is told to those who wait."""
    caplog.clear()
    for _ in range(2):
        kernel_cache.write("key", b"content")
    assert kernel_cache.read("key") is None
    said = f"not kept{f' in {place}' if place else ''}: {why}. Choose another folder by DASK_GPUSCAN_CACHE"
    assert caplog.messages == [f"compiled kernels are {said}"]
    assert kernel_cache.fate() == said


def test_one_variable_chooses_the_folder_and_home_is_the_last_resort(monkeypatch, caplog):
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", "/some/where")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    monkeypatch.setenv("HOME", "/home/me")
    assert kernel_cache.folder() == Path("/some/where")
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", "~/where")
    assert kernel_cache.folder() == Path("/home/me/where")
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", "~nobody-has-this-name/where")
    assert kernel_cache.folder() is None
    monkeypatch.delenv("DASK_GPUSCAN_CACHE")
    assert kernel_cache.folder() == Path("/caches/dask-gpuscan")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert kernel_cache.folder() == Path("/home/me/.cache/dask-gpuscan")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert kernel_cache.folder() == Path("/home/me/.cache/dask-gpuscan")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # of a user without a home
    assert kernel_cache.folder() is None
    kernel_cache._warn.cache_clear()
    unkept(caplog, "there is no home folder")


def compiles() -> None:
    assert cached_njit(add_one).made(3) == 4


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("step", ["mkdir", "open", "replace"])
def test_what_cannot_be_written_is_not_kept(cache, monkeypatch, caplog, number, step):
    def fail(*arguments, **options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, step, fail)
    kernel_cache.write("key", b"content")
    assert kernel_cache.read("key") is None
    assert caplog.messages == [
        f"compiled kernels are not kept in {cache}: {os.strerror(number)}. Choose another folder by DASK_GPUSCAN_CACHE"
    ]
    monkeypatch.undo()
    assert not cache.exists() or not list(cache.iterdir())


FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # what is longer fails when half of it is written
"""


def test_a_kernel_that_is_half_written_is_not_kept(tmp_path):
    pytest.importorskip("resource")
    assert use(tmp_path, FULL + USE) == MADE
    assert {entry.suffix for entry in tmp_path.iterdir()} <= {".type"}  # which fits


def test_kernels_are_found_in_a_folder_that_cannot_be_written_to(kept):
    kept.chmod(0o500)
    try:
        assert use(kept) == FOUND
    finally:
        kept.chmod(0o700)


def test_processes_at_once_make_and_find_whole_kernels(tmp_path):
    with ThreadPool(2) as pool:
        answers = pool.map(lambda _: use(tmp_path), range(2))
    assert all(answer in (MADE, FOUND) for answer in answers)
    assert not list(tmp_path.glob(".new-*"))
    assert use(tmp_path) == FOUND


PLACES = {"file": errno.ENOTDIR, "file/below": errno.ENOTDIR, "loop": errno.ENOTDIR}
PLACES |= {"/proc/kernels": errno.ENOENT} if os.path.isdir("/proc/self") else {}


@pytest.mark.parametrize("place", PLACES)
def test_where_no_folder_can_be_nothing_is_kept(tmp_path, monkeypatch, caplog, place):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path / place))
    unkept(caplog, os.strerror(PLACES[place]), tmp_path / place)
    compiles()
    assert (tmp_path / "file").read_text() == "mine"


def test_on_a_read_only_file_system_nothing_is_kept(cache, monkeypatch, caplog):
    cache.mkdir(0o700)

    def fail(*arguments, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(cache / "some"))

    monkeypatch.setattr(tempfile, "mkstemp", fail)
    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    unkept(caplog, os.strerror(errno.EROFS), cache)


def test_where_all_is_well_nothing_is_said(cache, caplog):
    assert kernel_cache.fate() == f"kept in {cache} for later calls"
    kernel_cache.write("key", b"content")
    assert kernel_cache.read("key") == b"content"
    assert not caplog.messages
    assert [entry.name for entry in cache.iterdir()] == ["key"]


def refused(cache: Path, caplog) -> None:
    """Nothing is read from the folder, nothing is written into it, and its user is told why, once."""
    before = [(entry.name, entry.stat().st_mtime_ns) for entry in cache.iterdir()]
    caplog.clear()
    assert kernel_cache.read("key") is None
    kernel_cache.write("key", b"other")
    assert [(entry.name, entry.stat().st_mtime_ns) for entry in cache.iterdir()] == before
    said = f"not kept in {cache}: it belongs to another user, or others can write into it"
    assert caplog.text.count(f"compiled kernels are {said}") == 1
    assert kernel_cache.fate().startswith(said)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners")
@pytest.mark.parametrize("mode", [0o770, 0o702, 0o1777])
def test_a_folder_into_which_others_can_write_is_not_used(cache, caplog, mode):
    kernel_cache.write("key", b"content")
    cache.chmod(mode)
    refused(cache, caplog)
    cache.chmod(0o755)  # in which others see names, and cannot read what is in the files
    assert kernel_cache.read("key") == b"content"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners")
def test_a_folder_of_another_user_is_not_used(cache, caplog, monkeypatch):
    kernel_cache.write("key", b"content")
    assert kernel_cache.read("key") == b"content"
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    refused(cache, caplog)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_a_link_of_another_user_is_not_followed(cache, caplog, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir(0o700)
    cache.symlink_to(mine)
    kernel_cache.write("key", b"content")
    assert kernel_cache.read("key") == b"content"
    os.lchown(cache, 12345, 12345)
    refused(cache, caplog)


def test_what_was_read_longest_ago_goes_beyond_the_limit(cache, monkeypatch):
    monkeypatch.setattr(kernel_cache, "LIMIT", 100_000)
    cache.mkdir(0o700)
    (cache / "notes.txt").write_bytes(bytes(200_000))
    (cache / ".new-left").write_bytes(bytes(50_000))
    os.utime(cache / ".new-left", (0, 0))
    used = f"{0:064x}.cpu"
    for k in range(200):
        kernel_cache.write(f"{k:064x}.cpu", bytes(1_000))
        os.utime(cache / f"{k:064x}.cpu", (k, k))
        os.utime(cache / used, (1_000, 1_000))
    left = {entry.name for entry in cache.iterdir()}
    assert {used, f"{199:064x}.cpu", "notes.txt"} < left
    assert not {".new-left", f"{1:064x}.cpu"} & left
    assert sum(1032 for name in left if name.endswith(".cpu")) < 150_000


KEY = "0" * 64 + ".kind"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
@pytest.mark.parametrize("kind", ["writable", "pipe", "link", "folder"])
def test_entries_that_others_may_have_made_are_not_read(cache, tmp_path, kind):
    kernel_cache.write(KEY, b"content")
    assert kernel_cache.read(KEY) == b"content"
    entry = cache / KEY
    if kind == "writable":
        entry.chmod(0o666)
    else:
        elsewhere = entry.rename(tmp_path / "elsewhere")
        if kind == "pipe":
            os.mkfifo(entry)
        elif kind == "link":
            entry.symlink_to(elsewhere)
        else:
            entry.mkdir()
    assert kernel_cache.read(KEY) is None


def test_no_machine_code_is_made_of_what_only_compiled_code_calls(cache):
    inner = njit(lambda x: x * 3)
    outer = cached_njit(lambda x: inner(x) + 1).made
    inner.made.compile((numba.int64,))
    (made,) = inner.made.overloads.values()
    engine = made.library.codegen._engine
    assert not engine.is_symbol_defined(made.fndesc.llvm_func_name)
    assert outer(5) == 16
    (called,) = outer.overloads.values()
    assert engine.is_symbol_defined(called.fndesc.llvm_func_name)


def test_what_takes_arguments_apart_is_not_optimised(cache):
    outer = cached_njit(lambda x: x * 5).made
    assert outer(3) == 15
    (made,) = outer.overloads.values()
    module = made.library._final_module
    options = {f.name: b" ".join(f.attributes) for f in module.functions if not f.is_declaration}
    (wrapper,) = [name for name in options if name.startswith("_ZN7cpython")]
    assert b"optnone" in options[wrapper]
    assert b"optnone" not in options[made.fndesc.llvm_func_name]
