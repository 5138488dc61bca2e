"""What is said of other libraries is measured: kinds of differences are told apart."""

import pandas as pd
import pytest

from .others import LIBRARIES, kind, main, on_dask, on_pandas

FRAME = pd.DataFrame({"k": [2, 1, 2, 1], "x": [0.1, 0.7, 1.9, 2.6], "t": pd.date_range("2026", periods=4)})  # fmt: skip
CUTS = [[1], [2]]


@pytest.mark.parametrize(
    ("ask", "text", "expected"),
    [
        (on_pandas, "f['x'].rolling(2).max() # before: 1", "same bits"),
        (on_pandas, "f['x'].cumsum() # before: 0", "other answers"),
        (on_pandas, "f['missing'] # before: 0", "refused"),
        (on_pandas, "f['x'].iloc[[2]] # before: 0", "refused"),
        (on_pandas, "f['x'] if len(f) < 3 else f['missing'] # before: 0", "raises"),
        (on_pandas, "f[::-1] # before: 0", "other order"),
        (on_pandas, "f['x'] * (1 + 1e-15 * len(f)) # before: 0", "rounding"),
        (on_dask, "f['x'].gpuscan.cumsum(reproducible=True)", "same bits"),
        (on_dask, "t['x'].rolling('48h').max()", "same bits"),
    ],
)
def test_kinds_of_differences(ask, text, expected):
    assert kind(ask, text, FRAME, CUTS) == expected


def test_the_command(capsys):
    assert main(["pandas, in chunks", "--cases", "2", "--methods", "rolling max"]) == 0
    assert "rolling maximum: same bits 2" in capsys.readouterr().out
    main(["dask-gpuscan", "--cases", "2", "--methods", "reproducible"])
    told = capsys.readouterr().out.splitlines()[2:]
    assert len(told) == 5
    assert all(line.endswith("same bits 2") for line in told)


def test_libraries_have_the_same_names_for_what_they_compute():
    _, _, ours = LIBRARIES["dask-gpuscan"]
    for library, (_, _, texts) in LIBRARIES.items():
        assert not texts.keys() - ours.keys() - {"sum", "variance"}, library
