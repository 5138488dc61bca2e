"""Kernels that came with the package as machine code: a *pack*, one library for each level of processors.

`make pack` writes it. The name of a kernel, made of its function and the types of its arguments, is the same in every
version of Python and Numba. An operator's functions are identified by their place in the package and by what they
capture; users' operators have no such name. A pack is used only with the sources that it was made from.
"""

import ctypes
import hashlib
import json
import logging
import platform
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any
from zipfile import ZipFile

import numpy as np

from ..late_dataclass import dataclass
from . import archives
from . import argument_types as types
from .frozen_functions import named_globals

FOLDER = Path(__file__).with_name("packed")
"""The folder of the pack, if there is one."""

INDEX = "pack.json"
"""The file with the pack's system, the digest of its sources, and the digest of each other file."""

ANSWERS = "answers.json"
"""The file with the types of functions' answers, a format for each name."""

ENGINES = "engines.zip"
"""The archive of engines, into which operators are linked (forms.py); only for the Numba version that made it."""

CALL = "call.abi3.so"
"""The module that calls kernels (call.c); Windows takes any ending."""

KINDS: dict[str, types.Type] = {"N": types.none} | {
    letter: types.Number(np.dtype(np.dtype(letter).name)) for letter in "?bhiqBHIQfd"
}
"""The types of the letters in formats, which are C types with the same number of bits on all systems."""

LETTERS = {kind.name: letter for letter, kind in KINDS.items()}

_V2 = "sse3 ssse3 sse4.1 sse4.2 popcnt cx16"
_V3 = f"{_V2} avx avx2 bmi bmi2 f16c fma lzcnt movbe"
LEVELS: dict[str, str] = {
    "x86-64-v4": f"{_V3} avx512f avx512bw avx512cd avx512dq avx512vl",
    "x86-64-v3": _V3,
    "x86-64-v2": _V2,
    "generic": "",
}
"""Levels of processors, the best first, with LLVM's names of their features; those other than x86-64 have the last."""


@dataclass(frozen=True)
class Kernel:
    """A compiled function: its caller, the type of its answer, and its address, if it is called by address."""

    entry_point: Any
    answer: types.Type
    address: int = 0


@lru_cache(maxsize=4096)
def find(function: Any, arguments: tuple[Any, ...]) -> Kernel | None:
    """Return the kernel of a function for arguments of these types, if it is in the pack."""
    asked = _asked(function, arguments)
    if asked is None:
        return None
    name, library, module, _ = asked
    try:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    except AttributeError:
        return None
    form = ctypes.c_char.in_dll(library, f"{name}_form")
    takes, _, gives = ctypes.string_at(ctypes.byref(form)).decode().partition(" ")
    if not gives:  # called by compiled code
        return Kernel(None, types.int64, address or 0)
    return Kernel(module.kernel(address, takes, gives, np.ndarray), _type_of(gives))


def answer(function: Any, arguments: tuple[Any, ...]) -> types.Type | None:
    """Return the type of a function's answer, if it is in the pack, with or without machine code."""
    asked = _asked(function, arguments)
    form = None if asked is None else asked[3][ANSWERS].get(asked[0])
    return None if form is None else _type_of(form)


def engine(name: str, compilers: str) -> bytes | None:
    """Return an engine of the pack, if there is one that was made by these compilers."""
    archive = _engines()
    made_by = "" if archive is None else archive.comment.decode()
    return archives.entry(archive, name) if made_by == compilers else None


def _asked(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the name of a kernel and the answer of `_opened`; None without a pack, or if it has no name in packs."""
    opened = _opened()
    name = None if opened is None else name_of(function, arguments)
    return None if name is None else (name, *opened)


def form_of(kind: Any) -> str:
    """Return the format of an answer of a type, which `answer` reads.

    Examples
    --------
    >>> form_of(types.float64), form_of(types.Tuple((types.float64, types.boolean)))
    ('d', '(d?)')
    """
    if isinstance(kind, types.Tuple):
        return f"({''.join(map(form_of, kind))})"
    return LETTERS[kind.name]


def _type_of(form: str) -> types.Type:
    """Return the type of an answer with a format: none, a number or a flat tuple of numbers."""
    fields = tuple([KINDS[letter] for letter in form.strip("()")])
    return types.Tuple(fields) if form[0] == "(" else fields[0]


# --- the library ------------------------------------------------------------------------------------------------------


def system() -> str:
    """Return the system and the architecture that machine code is for."""
    return f"{sys.platform} {platform.machine().lower()}"


def digest(content: bytes) -> str:
    """Return the digest of a file's content."""
    return hashlib.sha256(content).hexdigest()


@lru_cache(maxsize=1)
def _opened() -> Any:
    """Return the library for this processor, the caller of its kernels, and the index; None without a pack."""
    try:
        if not FOLDER.joinpath(INDEX).exists():
            return None
        return _open(json.loads(FOLDER.joinpath(INDEX).read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, ImportError) as error:
        _pass_over(error)
    return None


def _pass_over(why: Exception) -> None:
    logging.getLogger(__name__).warning(
        "the compiled kernels in %s are passed over: %s", FOLDER, why
    )


@lru_cache(maxsize=1)
def _engines() -> ZipFile | None:
    """Return the archive of engines."""
    opened = _opened()
    if opened is None or ENGINES not in opened[2]["files"]:
        return None
    try:
        return archives.opened(_checked(ENGINES, opened[2]["files"]))
    except (OSError, ValueError, ImportError) as error:
        _pass_over(error)
        return None


def _open(index: Any) -> Any:
    if index["system"] != system():
        raise ValueError(f"they are for {index['system']}, and this is {system()}")
    if index["sources"] != sources(Path(__file__).parents[1]):
        raise ValueError("they are of other sources")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise ValueError("this Python has no stable ABI")
    module = _call_module(index["files"])
    level = _level(index["files"], module.level())
    index[ANSWERS] = json.loads(_checked(ANSWERS, index["files"]).read_bytes())
    return ctypes.CDLL(str(_checked(level, index["files"]))), module, index


def _checked(name: str, files: dict[str, str]) -> Path:
    """Check the digest of a file, and return its path."""
    if digest((FOLDER / name).read_bytes()) != files[name]:
        raise ValueError(f"{name} is damaged")
    return FOLDER / name


def _call_module(files: dict[str, str]) -> Any:
    loader = ExtensionFileLoader("call", str(_checked(CALL, files)))
    module = module_from_spec(spec_from_loader("call", loader))  # type: ignore[arg-type]
    loader.exec_module(module)
    return module


def _level(files: dict[str, str], best: int) -> str:
    """Return the library for the best level of x86-64 up to this one, or for another architecture."""
    for level in LEVELS:
        number = int(level[-1]) if level[0] == "x" else 0
        if library_of(level) in files and number <= best:
            return library_of(level)
    raise ValueError("none is for this processor")


def library_of(level: str) -> str:
    """Return the name of the library for a level of processors."""
    return f"{level}.so"  # names need an ending on Windows


def sources(folder: Path) -> str:
    """Return a digest of all modules that CPU kernels may be made from, except operators in `ops`."""
    found = hashlib.sha256()
    rooms = ("*.py", "compiler/*.py", "operators/*.py", "cpu/**/*.py")
    for path in sorted(path for room in rooms for path in folder.glob(room)):
        found.update(path.read_bytes())
    return found.hexdigest()


# --- names of kernels -------------------------------------------------------------------------------------------------


class Foreign(Exception):
    """Raised for content that has no name in packs."""


def name_of(function: Any, arguments: tuple[Any, ...]) -> str | None:
    """Return the name of a kernel in packs; None if it uses functions of other packages or users."""
    plain = function.py_func
    try:
        content = plain.__module__, plain.__qualname__, [kind.name for kind in arguments]
    except Foreign:
        return None
    return f"k{digest(repr(content).encode())[:24]}"


def is_of_package(function: Any) -> bool:
    """Return whether a function belongs to the package: tests ensure that no number alone chooses a branch in it."""
    try:
        return bool(_file(function.__code__.co_filename))
    except Foreign:
        return False


def content_name(*content: Any) -> str:
    """Return a name for functions of the package and the values that they capture.

    Raises
    ------
    Foreign
        If a function is a user's, or captures a value without such a name.
    """
    return digest("\0".join(_content(content, ())).encode())


def _content(value: Any, within: tuple[Any, ...]) -> Iterator[str]:
    """Yield strings that distinguish `value` from any other content; `within` breaks recursion."""
    value = getattr(value, "py_func", value)
    if isinstance(value, FunctionType):
        if value in within:
            yield f"recursive {within.index(value)}"
            return
        yield from _place(value.__code__)
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        named = sorted(named_globals(value), key=lambda one: one[0])
        for each in (value.__defaults__, value.__kwdefaults__, *cells, *named):
            yield from _content(each, (*within, value))
    elif isinstance(value, tuple):
        yield f"tuple {len(value)}"
        for each in value:
            yield from _content(each, within)
    elif isinstance(value, (np.ndarray, np.generic)):
        yield f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, (type, BuiltinFunctionType, np.ufunc, ModuleType)):
        yield f"{getattr(value, '__module__', '')} {value.__name__}"
    elif value is None or isinstance(value, (bool, int, float, complex, str)):
        yield f"{type(value).__name__} {value!r}"
    else:
        raise Foreign(value)


_WRITTEN = "<dask_gpuscan wrote "


def written(text: str, mode: str = "eval") -> CodeType:
    """Compile Python code that the package has generated: its functions are identified by the text."""
    return compile(text, f"{_WRITTEN}{text}>", mode)


def _place(code: CodeType) -> Iterator[str]:
    """Yield the place of a function's code in the package; of written code, also of functions that it defines."""
    yield f"{code.co_qualname} {code.co_firstlineno} {code.co_varnames[: code.co_argcount]}"
    if code.co_filename.startswith(_WRITTEN):
        yield code.co_filename
        for each in code.co_consts:
            if isinstance(each, CodeType):
                yield from _place(each)
    else:
        yield _file(code.co_filename)


@lru_cache(maxsize=1024)
def _file(name: str) -> str:
    """Return the name of a file of the package and a digest of its content."""
    path = Path(name)
    for root in (
        Path(__file__).parents[1],
        Path(sys.modules["dask_gpuscan"].__file__ or "").parent,
    ):
        if path.is_relative_to(root):
            try:
                return f"{path.relative_to(root).as_posix()} {digest(path.read_bytes())}"
            except OSError:  # the package has no sources, or is in an archive
                break
    raise Foreign(name)
