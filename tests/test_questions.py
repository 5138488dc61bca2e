"""Every answer of docs/questions.md is that of SQL in DuckDB, or of a loop, for each library and any partitions."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "tools"))  # whose scripts are no package

import questions  # noqa: E402

duckdb = pytest.importorskip("duckdb")
EVERY = [question for of_theme in questions.QUESTIONS.values() for question in of_theme]


def reference(question: questions.Question, tables: dict[str, Any]) -> list[Any]:
    if callable(question.reference):
        rows = {name: questions.rows_of(table) for name, table in tables.items()}
        return question.reference(
            {
                name: [dict(zip(tables[name], row, strict=True)) for row in found]
                for name, found in rows.items()
            }
        )
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, pa.Table.from_pandas(table, preserve_index=False))
        found = connection.execute(question.reference).fetchall()
    return [row if len(row) > 1 else row[0] for row in found]


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, float) and found is not None:
        return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)
    return bool(found == wanted)


def of_library(library: str, tables: dict[str, Any]) -> dict[str, Any]:
    if library == "polars":
        polars = pytest.importorskip("polars")
        return {name: polars.from_pandas(table) for name, table in tables.items()}
    if library == "dask":
        return {name: dd.from_pandas(table, npartitions=3) for name, table in tables.items()}
    return tables


@pytest.mark.parametrize("library", ["pandas", "dask", "polars"])
@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.text)
def test_answers(question: questions.Question, library: str) -> None:
    if library in question.without:
        pytest.skip(f"the call is another on {library}")
    for tables in (questions.tables(), questions.random_tables(80, seed=3)):
        wanted = reference(question, tables)
        found = questions.rows_of(questions.answer(question, of_library(library, tables)))
        assert len(found) == len(wanted)
        assert all(map(same, found, wanted)), (found, wanted)


def test_the_page_shows_the_answers() -> None:
    shown = questions.PAGE.read_text(encoding="utf-8")
    assert shown == questions.page(), "run docs/tools/questions.py"
