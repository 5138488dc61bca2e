"""Texts of predicates at random: a short refusal, or the rows that a plain interpreter chooses; never anything else.

While a text is read and computed, Python tells whatever it parses or compiles: the text with placeholders for names and
strings, which is never run, strings that the text holds, and functions that consist of nothing but parameters and
operators.
"""

import keyword
import re
import sys
import time
import tracemalloc
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from dask_gpuscan.ops.predicates import text as predicate_text
from dask_gpuscan.ops.predicates.text import Expression
from helpers import predicate_frame
from helpers.strategies import partitioned_at

from .drawn import one_in
from .rows import UnknownError, by_python
from .texts import GROWN, OTHERS

FRAME = predicate_frame.FRAME.assign(
    n=pd.array([1, None, 2, -3, None, 5], "Int64"),
    p=pd.array([True, None, False, None, True, False], "boolean"),
    q=pd.array([None, 0.5, 2.0, -1.0, 3.0, None], "Float64"),
    i=pd.array([1, None, 3, None, -2, 5], "int64[pyarrow]"),
)
NULLABLE = ("n", "p", "q", "i")
ROWS = [
    {str(k): None if k in NULLABLE and pd.isna(v) else v for k, v in row.items()}
    for row in FRAME.astype(dict.fromkeys(NULLABLE, object)).to_dict("records")
]

SECONDS = 2.0
"""For one text, whatever it is."""
BYTES = 64 * 2**20
"""Likewise."""
MEASURED = 200
"""One text in so many has its memory measured, and is tried on partitions too, as both take long."""

_FUNCTION = re.compile(r"lambda [cn0-9, ]+: (?:[()&|<>=!+*/ -]|\bnot\b|\b[cn][0-9]+\b)+")
_STRING = re.compile(r"\s*[rRuU]?(?:'(?:[^'\\\r\n]|\\.)*'|\"(?:[^\"\\\r\n]|\\.)*\")", re.DOTALL)
_TOKENS = (r"_[0-9]+", r"[0-9][0-9A-Za-z_]*", r"[0-9][0-9_]*\.[0-9_]*", *keyword.kwlist)
_TEXT = re.compile(rf"(?:[-+*/%~^&|<>=!()\[\]{{}},.: ]|\b(?:{'|'.join(_TOKENS)})(?!\w))*", re.ASCII)
_NEVER = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect")


REFUSALS = {
    "mod not implemented": "Arrow has no remainders",
    "Could not convert 'x'": "Arrow compares with values of one type only",
}
"""What the library does not compute, by its words, and why."""


class Watch:
    """Knows what Python does while it watches (PEP 578: hooks stay until the process ends)."""

    added = False
    on = False
    wrong: str | None = None

    @classmethod
    def add(cls) -> None:
        """Watch from now on, once."""
        if not cls.added:
            cls.added = True
            chosen(
                "a == b or n < 1"
            )  # dataclasses compile their methods when these are called first
            sys.addaudithook(cls._hook)

    @classmethod
    def _hook(cls, event: str, args: tuple[Any, ...]) -> None:
        if not cls.on or event not in ("compile", "exec", *_NEVER):
            return
        if event == "exec":
            if args[0].co_filename == "<predicate>":
                cls.wrong = "runs a text"
            return
        if event != "compile":
            cls.wrong = f"{event}{args!r}"
            return
        source, filename = args
        text = source.decode(errors="replace") if isinstance(source, bytes) else source
        if (
            text is None or Path(str(filename)).is_absolute()
        ):  # a tree that was read, a module of a library
            return
        if not any(known.fullmatch(text) for known in (_FUNCTION, _STRING, _TEXT)):
            cls.wrong = f"compiles {text!r}"


@dataclass(frozen=True)
class TextCase:
    """A text of a predicate."""

    text: str
    is_grown: bool
    """Whether it follows the grammar, so that there is an answer."""
    measured: bool = False

    def check(self) -> str:
        """Compare the rows with those of the interpreter, and see that refusals are short."""
        Watch.add()
        if self.measured:
            self._measure()
        found, seconds = self._timed()
        if seconds >= SECONDS:  # a machine that was paused meanwhile is not paused twice
            found, seconds = self._timed()
        assert seconds < SECONDS, "takes too long"
        if isinstance(found, Exception):
            assert len(str(found)) < 400, "a long message"
            if not self.is_grown:
                return "refused"
        try:
            expected = by_python(self.text, ROWS)
        except UnknownError:
            return "not compared"
        except (SyntaxError, TypeError, KeyError, ValueError, RecursionError, MemoryError):
            assert isinstance(found, Exception), f"{found}, where Python has no answer"
            return "refused"
        if isinstance(found, Exception):
            why = next((why for words, why in REFUSALS.items() if words in str(found)), None)
            if why is None and "names no column" not in str(found):
                raise found
            return why or "refused"
        assert found == expected, f"{found}, and {expected} by rows"
        return "as rows"

    def _timed(self) -> tuple[list[int] | Exception, float]:
        begin = time.thread_time()
        return self._watched(), time.thread_time() - begin

    def _watched(self) -> list[int] | Exception:
        Watch.on, Watch.wrong = True, None
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return chosen(self.text)
        except (ValueError, TypeError) as error:
            return error
        finally:
            Watch.on = False
            assert Watch.wrong is None, Watch.wrong

    def _measure(self) -> None:
        """Ask partitions too, which refuse what whole frames do, and see how much memory is taken."""
        tracemalloc.start()
        try:
            with mock.patch.object(predicate_text, "_FUSED", 0):  # a kernel would take a second
                lazy = partitioned_at(FRAME, [3]).gpuscan.filter(self.text).compute()
            found: Any = lazy.index.tolist()
        except (ValueError, TypeError) as error:
            found = error
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < BYTES, f"takes {peak} bytes"
        whole = self._watched()
        assert type(found) is type(whole), f"{found} of partitions, {whole} of the whole"
        assert isinstance(whole, Exception) or found == whole, (
            f"{found} of partitions, {whole} of the whole"
        )


def chosen(text: str) -> list[int]:
    """Return the rows that a text chooses by columns, and by the function that would be compiled if there is one."""
    expression = Expression(text)
    expression.check(list(FRAME))
    named = {name: FRAME[name] for name in expression.columns}
    kept = expression.evaluate(named)
    if getattr(kept, "dtype", None) not in (bool, "boolean", "bool[pyarrow]"):
        raise TypeError("no truths")
    found: list[int] = np.flatnonzero(kept.fillna(False).to_numpy(bool)).tolist()
    dtypes = {name: getattr(c.dtype, "numpy_dtype", c.dtype) for name, c in named.items()}
    nulls = any(name in NULLABLE for name in named)
    if not all(isinstance(d, np.dtype) for d in dtypes.values()) or (
        nulls and {"b", "i"} & {*named}
    ):
        return found  # to pandas NaN beside nulls is null, and to Arrow also where it is a literal
    fused = expression.function(dtypes, nulls)
    if fused is not None:
        function, numbers = fused
        rows = [tuple(row[name] for name in named) for row in ROWS]
        called = [i for i, row in enumerate(rows) if None not in row and function(*row, *numbers)]
        assert called == found, f"{found} by columns, {called} by a function"
    return found


PREDICATES = st.builds(TextCase, GROWN, st.just(True), one_in(MEASURED)) | st.builds(
    TextCase, OTHERS, st.just(False), one_in(MEASURED)
)
