"""Running something when a module is imported, without importing it."""

import importlib
import importlib.util
import sys

import pandas as pd
import pytest

from dask_gpuscan.api.accessors import Late
from dask_gpuscan.api.lazy_import import when_imported


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a module that nobody has imported."""
    name = f"late_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def test_called_once_when_the_module_comes(module):
    calls = []
    finders = len(sys.meta_path)
    when_imported(module, lambda: calls.append(sys.modules[module].value))
    assert importlib.util.find_spec(module) is not None  # to look for it is not to import it
    assert not calls
    imported = importlib.import_module(module)
    assert calls == [1]
    assert imported.__loader__ is imported.__spec__.loader
    assert "late" not in type(imported.__loader__).__module__
    importlib.reload(imported)
    assert calls == [1]
    assert len(sys.meta_path) == finders


def test_called_at_once_if_it_is_there(module):
    importlib.import_module(module)
    calls = []
    when_imported(module, lambda: calls.append(1))
    assert calls == [1]


def test_a_module_that_is_missing_stays_missing():
    when_imported("no_such_module_anywhere", lambda: pytest.fail("called"))
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_module_anywhere")
    sys.meta_path.pop(0)


def test_a_module_that_fails_to_import_can_be_tried_again(module, tmp_path):
    path = tmp_path / f"{module}.py"
    path.write_text("raise RuntimeError('not yet')\n")
    calls = []
    when_imported(module, lambda: calls.append(1))
    with pytest.raises(RuntimeError, match="not yet"):
        importlib.import_module(module)
    assert not calls
    path.write_text("value = 2  # another length than before\n")
    importlib.invalidate_caches()
    assert importlib.import_module(module).value == 2
    assert calls == [1]


def test_an_accessor_that_cannot_be_imported_says_why(module, tmp_path, monkeypatch):
    (tmp_path / f"{module}.py").write_text("import math\nmath.no_such_name\n")
    found = vars(pd.Series)["gpuscan"]
    monkeypatch.setattr(pd.Series, "gpuscan", type(found)("gpuscan", Late(module, "Accessor")))
    with pytest.raises(ImportError, match="'math' has no attribute 'no_such_name'"):
        pd.Series([1]).gpuscan  # noqa: B018
