"""Every method of a column of objects that do not go together: an answer, or an error that names the column."""

import importlib
import sys
from pathlib import Path

import dask
import pandas as pd
import pytest

from dask_gpuscan import stream
from helpers.strategies import partitioned_at

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "tools"))
calls = importlib.import_module("support_calls")

VALUES = {
    "texts and numbers": [3, "a", 1, "b", 2.5, None, "b"],
    "anything": [3, "a", None, (1, 2), 2.5, object(), "b"],
    "each alone": [1, 2, "a", "b", "c", None, None],  # partitions answer, and cannot be joined
}
RECEIVERS = {
    "pandas": lambda frame: frame,
    "Dask": lambda frame: partitioned_at(frame, [2, 5]),
    "a stream": lambda frame: stream([frame[:2], frame[2:5], frame[5:]]),
}


def raised(call, frame):
    """Return the error of a call, or None for an answer."""
    try:
        with dask.config.set({"scheduler": "sync", "dataframe.convert-string": False}):
            found = call(frame)
            for one in found if isinstance(found, tuple) else (found,):
                if hasattr(one, "compute"):
                    one.compute()
    except Exception as error:
        return error
    return None


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("values", "receiver"),
    [
        *(("texts and numbers", receiver) for receiver in ("pandas", "Dask")),
        ("anything", "pandas"),
        *(("each alone", receiver) for receiver in ("Dask", "a stream")),
    ],
)
def test_errors_name_the_column(values, receiver):
    frame = calls.frame().assign(x=pd.Series(VALUES[values], dtype=object))
    frame["k"] = [1, 1, 1, 1, 1, 3, 3]
    wrong = []
    for full, call in calls.CALLS.items():
        name = full.partition(".")[2]
        error = raised(call, RECEIVERS[receiver](frame))
        if error is None or full.startswith("ListAccessor") or name in ("explode", "list"):
            continue
        if isinstance(error, NotImplementedError) and receiver == "a stream":
            continue
        text = str(error)
        named = "predicate 'x > 1" if name in ("filter", "partition") else "column 'x'"
        joins = receiver != "pandas" and "the series" in text  # values of parts, whose name is left
        if not isinstance(error, (TypeError, ValueError)) or not (named in text or joins):
            wrong.append(f"{full}: {error!r}")
    assert not wrong, "\n".join(wrong)
