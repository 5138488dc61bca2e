"""Calls of the map in SQL for DuckDB, over tables that also have the number of each row, `i`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SO_FAR = "over (order by i rows unbounded preceding)"


def _rows(expression: str, table: str = "f") -> str:
    """Return the query of an expression for each row."""
    return f"select {expression} from {table} order by i"


def _window(function: str) -> str:
    """Return the query of a window of 100 rows, null where there are fewer."""
    frame = "over (order by i rows 99 preceding)"
    return _rows(f"case when i >= 99 then {function}(x) {frame} end")


def _group(expression: str) -> Callable[[str, str], str]:
    """Return the query of a reduction by a key, in the order of its values."""
    return lambda table, key: f'select {expression} from {table} group by "{key}" order by "{key}"'


def _scan(expression: str, frame: str = "") -> Callable[[str, str], str]:
    """Return the query of an expression for each row, within its group."""
    return lambda table, key: _rows(
        f'{expression} over (partition by "{key}" order by i {frame})', table
    )


CALLS = {
    "cumsum": _rows(f"sum(x) {SO_FAR}"),
    "cummax": _rows(f"max(x) {SO_FAR}"),
    "ffill": _rows(f"last_value(y ignore nulls) {SO_FAR}"),
    "bfill": _rows(
        "first_value(y ignore nulls) over (order by i rows between current row and unbounded following)"
    ),
    "shift": _rows("lag(x, 7) over (order by i)"),
    "diff": _rows("x - lag(x) over (order by i)"),
    "expanding.mean": _rows(f"avg(x) {SO_FAR}"),
    "rolling(100).sum": _window("sum"),
    "rolling(100).std": _window("stddev_samp"),
    "rolling(100).max": _window("max"),
    "rolling(100).median": _window("median"),
    "filter": "select * from f where x > 0",
    "sort_values, one key": "select * from f order by k, i",
    "sort_values, two keys": "select * from f order by g, x, i",
    "sort_values of a Series": "select x from f order by x",
    "rank": _rows("rank() over (order by x) + (count(*) over (partition by x) - 1) / 2"),
    "nlargest(100)": "select * from f order by x desc limit 100",
    "drop_duplicates": "select k from f group by k order by min(i)",
    "value_counts": "select count(*) as n from f group by k order by n desc",
    'resample("1h").sum': "select sum(x) from f group by time_bucket(interval 1 hour, t) "
    "order by time_bucket(interval 1 hour, t)",
    "merge_asof": "select v from f asof left join third on f.t >= third.t order by f.i",
    "sort_values, texts": 'select * from w order by "w10^3", i',
}

GROUPS = {
    "sum": _group("sum(x)"),
    "mean": _group("avg(x)"),
    "std": _group("stddev_samp(x)"),
    "max": _group("max(x)"),
    "median": _group("median(x)"),
    "nunique": _group("count(distinct x)"),
    "cumsum": _scan("sum(x)", "rows unbounded preceding"),
    "ffill": _scan("last_value(y ignore nulls)", "rows unbounded preceding"),
    "shift": _scan("lag(x)"),
}


def query(name: str) -> str | None:
    """Return the SQL of a call of the map; None if DuckDB has none."""
    method, _, keys = name.partition(", ")
    kind, _, method = method.partition(" ")
    if kind not in ("group", "clustered"):
        return CALLS.get(name)
    letter = "s" if kind == "clustered" else "w" if keys.endswith("texts") else "k"
    made = GROUPS.get(method)
    return None if made is None else made("w" if letter == "w" else "f", letter + keys.split()[0])


def connect(tables: dict[str, Any], cores: int) -> Callable[[str], Callable[[], Any]] | None:
    """Return a function that makes a call from the name of a query over Arrow tables, or None without DuckDB."""
    try:
        import duckdb
    except ImportError:
        return None
    connection = duckdb.connect(config={"threads": cores})
    for name, table in tables.items():
        connection.register("given", table)
        connection.execute(
            f"create table {name} as select row_number() over () - 1 as i, * from given"
        )

    def call(sql: str) -> Any:
        found = connection.sql(sql).to_arrow_table()
        return found.select(["x"]) if sql.startswith("select *") else found

    return lambda sql: lambda: call(sql)
