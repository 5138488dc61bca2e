"""The options of operations as texts, to compare a state with the stream that goes on from it."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from enum import Enum
from types import FunctionType
from typing import Any

import numpy as np

from ...frames.registry import is_frame, schema_of
from ...kernels import Operator


def described(value: Any) -> str:
    """Return the options of an operation as a text that is the same in every process.

    The text has the name of an operator and the numbers that its functions close over, and the name of a function.
    """
    if isinstance(value, Operator):
        numbers = [x.item() for each in value.code.values for x in each]
        return value.name + (f" {numbers}" if numbers else "")
    if isinstance(value, FunctionType):
        return value.__qualname__
    if is_frame(value) and hasattr(value, "ndim"):
        return described(schema_of(value)) if hasattr(value, "iloc") else str(value.dtype)
    if is_dataclass(value) and not isinstance(value, type):
        shown = [(f.name, getattr(value, f.name)) for f in fields(value) if f.repr and f.compare]
        parts = [f"{name}={described(one)}" for name, one in shown]
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(described, value))})"
    if isinstance(value, dict):
        pairs = [f"{described(key)}: {described(one)}" for key, one in value.items()]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OV":
        # the repr of a long array leaves items out
        return f"{value.dtype} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, np.generic):
        return repr(value.item())
    text = str(value) if isinstance(value, (np.dtype, Enum)) else repr(value)
    return type(value).__name__ if " at 0x" in text else text
