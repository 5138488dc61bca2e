"""Methods of pandas that are absent: an AttributeError names a substitute that is there."""

import re

import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan.api.absent import PEERS, SUBSTITUTES
from helpers.strategies import partitioned

df = pd.DataFrame(
    {"k": ["a", "b"], "x": [1.0, 2.0]}, index=pd.date_range("2026-01-01", periods=2, freq="h")
)


@pytest.fixture(params=["pandas", "dask"])
def owners(request):
    it = (df if request.param == "pandas" else partitioned(df, [0.5])).gpuscan
    return {
        "gpuscan": it,
        "groupby": it.groupby("k"),
        "rolling": it.rolling(2),
        "expanding": it.expanding(),
        "ewm": it.ewm(com=1),
        "resample": it.resample("D"),
        "groupby.resample": it.groupby("k").resample("D"),
    }


@pytest.mark.parametrize("kind", SUBSTITUTES)
def test_substitutes_are_named_and_are_there(owners, kind):
    there = {name for owner in owners.values() for name in dir(owner)}
    for name, substitute in SUBSTITUTES[kind].items():
        with pytest.raises(AttributeError, match=f"{kind} has no {name}; use ") as caught:
            getattr(owners[kind], name)
        assert substitute in str(caught.value)
        called = re.match(r"(dask_gpuscan\.)?\w+(?=\()", substitute)
        assert called is None or called[0].startswith("dask_gpuscan.") or called[0] in there


@pytest.mark.parametrize("kind", PEERS)
def test_what_pandas_has_and_what_nobody_has(owners, kind):
    names = {name for peer in PEERS[kind] for name in dir(peer) if not name.startswith("_")}
    for name in names - SUBSTITUTES[kind].keys() - set(dir(owners[kind])):
        with pytest.raises(
            AttributeError, match=rf"{kind} has no {name}; use .* of the frame itself"
        ):
            getattr(owners[kind], name)
    with pytest.raises(AttributeError, match=rf"{kind} has .*method.* 'zzz'$"):
        _ = owners[kind].zzz
    assert not hasattr(owners[kind], "_zzz")


def test_groups_and_windows_are_not_iterable(owners):
    numbered = df.set_axis([0, 1], axis=1).gpuscan
    table = dask_gpuscan.on(pa.table({"k": [1, 2]})).groupby("k")
    groups = [owner for kind, owner in owners.items() if kind != "gpuscan"]
    for each in (*groups, numbered.groupby(0), numbered.rolling(2), table):
        with pytest.raises(TypeError, match=r"cannot be iterated; iterate over the frame itself"):
            iter(each)
