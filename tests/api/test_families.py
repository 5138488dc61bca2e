"""Methods that are written once for several names are methods as all others are."""

import inspect
import pickle

import pandas as pd
import pytest

import dask_gpuscan
from dask_gpuscan.api.family import family

DF = pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]})


@pytest.mark.parametrize("name", ["min", "std", "any", "cummax", "cumany", "nlargest"])
def test_methods_have_names_signatures_and_examples(name: str) -> None:
    method = getattr(DF.gpuscan.groupby("k")["x"], name)
    assert method.__name__ == method.__code__.co_name == name
    assert method.__qualname__.endswith(f".{name}")
    assert f".{name}(" in method.__doc__
    assert inspect.signature(method).return_annotation != inspect.Signature.empty


def test_methods_are_their_own() -> None:
    groups = dask_gpuscan.on(DF).groupby("k")["x"]
    assert groups.min().tolist() == [3, 5]
    assert groups.max().tolist() == [6, 5]
    again = pickle.loads(pickle.dumps(DF["x"].gpuscan.cummax))
    assert again().tolist() == [6, 6, 6]
    with pytest.raises(TypeError, match=r"min\(\) got an unexpected keyword"):
        groups.min(ddof=1)


def test_family_of_a_function_that_says_no_name() -> None:
    class Owner:
        @family("")
        def _says(self) -> str:
            return "nothing"

    with pytest.raises((AssertionError, RuntimeError)):

        class Wrong(Owner):
            hello = Owner._says("Say hello.")
