"""Primitives without a kernel for CuPy arrays, as nothing needs one: each raises a TypeError."""

from collections.abc import Callable
from typing import Any


def _refused(name: str, instead: str = "") -> Callable[..., Any]:
    def refuse(*arguments: Any, **options: Any) -> Any:
        raise TypeError(f"{name} takes NumPy arrays{instead}")

    return refuse


are_floats = _refused("are_floats")
arrange = _refused("arrange_by_code", "; sort others by their codes")
count_distinct = _refused("count_distinct", "; sort the segments of others")
hash_codes = _refused("hash_codes", "; use factorize_words for others")
hash_texts = _refused("hash_texts", "; cuDF numbers the keys of its columns")
rolling_by_code = _refused("rolling_by_code", "; bring rows of CuPy arrays together by key")
subtract = _refused("subtract")
take_texts = _refused("take_texts", "; cuDF takes rows of its columns of strings")
text_words = _refused("text_words", "; cuDF sorts its columns of strings")
