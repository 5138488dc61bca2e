"""Chains of methods on rows that are cut twice at random: no cut changes the answer.

No other library is asked. Answers for the whole frame, for two partitionings and for a stream have the same bits where
docs/guide/semantics.md says so; a stream that waits for no rows has those of the same partitions in any case.
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import dask_gpuscan
from helpers.backends import same
from helpers.strategies import partitioned_at

from . import drawn
from .frames import ERRORS

GROUPS = "f.gpuscan.groupby({by})"
WINDOWS = "f['{any}'].gpuscan.{window}"

LINKS = (
    "f.assign({any}=f['{any}'].gpuscan.{fill})",
    "f.assign({any}=f['{any}'].gpuscan.shift({periods}))",
    "f.assign({sum}=f['{sum}'].gpuscan.cumsum({scan}))",
    "f.assign(x=f['x'].gpuscan.cumsum({scan}, reproducible=True))",
    "f.assign({ordered}=f['{ordered}'].gpuscan.{extreme}({scan}))",
    "f.assign({number}=f['{number}'].gpuscan.diff({periods}))",
    "f.assign(b=f['b'].gpuscan.{of_bool}())",
    "f.assign(n=f.gpuscan.row_number())",
    "f.assign(x=f['{ordered}'].gpuscan.rank({rank}))",
    "f.assign(x=f['{number}'].gpuscan.{window}.{picked}())",
    "f.assign(x=f['x'].gpuscan.{window}.{added}(reproducible=True))",
    f"f.assign({{any}}={GROUPS}['{{any}}'].{{fill}})",
    f"f.assign({{any}}={GROUPS}['{{any}}'].shift({{periods}}))",
    f"f.assign({{sum}}={GROUPS}['{{sum}}'].cumsum())",
    f"f.assign(x={GROUPS}['x'].cumsum(reproducible=True))",
    f"f.assign({{number}}={GROUPS}['{{number}}'].{{extreme}}())",
    f"f.assign(n={GROUPS}.{{numbers}}())",
    f"f.assign(x={GROUPS}['{{number}}'].{{window}}.{{picked}}())",
    f"f.assign(x={GROUPS}['x'].{{window}}.{{added}}(reproducible=True))",
    f"f.assign(x={GROUPS}['{{number}}'].rank({{rank}}))",
    "f.gpuscan.filter({predicate})",
    "f.gpuscan.filter(f['b'].gpuscan.{of_bool}())",
    "f.gpuscan.unique_consecutive({by_name}, keep={keep})",
    "f.gpuscan.drop_duplicates({by_name}, keep={keep})",
    "f.gpuscan.sort_values(['c', '{ordered}'], ascending={flags})",
    "f.gpuscan.reset_index(drop=True)",
    "f.assign({any}=f['{any}'].gpuscan.interpolate('pad', max_gap=1))",
    f"f.assign({{any}}={GROUPS}['{{any}}'].ffill('3h', on='t'))",
    "f.assign(x=f['{any}'].gpuscan.fill_age())",
    "f.assign({sum}=f['{sum}'].gpuscan.increase())",
    f"f.assign({{sum}}={GROUPS}['{{sum}}'].increase())",
    "f.assign(x=f.gpuscan.fold(lambda s, x: (s + 1, s), 'x', initial=0.0))",
    f"f.assign(x={GROUPS}.fold(lambda s, x: (s + 1, s), 'x', initial=0.0))",
    "f.assign({any}=f.gpuscan.order_by('{ordered}')['{any}'].{fill})",
    "f.assign({any}=f.gpuscan.order_by('{ordered}').groupby('c')['{any}'].shift())",
    "f.gpuscan.keep_apart('90min', 't', {by_name})",
    "f.gpuscan.latest({by_name}, by='{ordered}')",
)
"""Methods whose answers have the same columns and the same bits for any cut."""

EXACT = (
    f"{GROUPS}['{{any}}'].{{reduction}}()",
    f"{GROUPS}['{{sum}}'].sum()",
    f"{GROUPS}['x'].{{added}}(reproducible=True)",
    f"{GROUPS}['{{number}}'].{{of_group}}()",
    f"{GROUPS}['{{any}}'].{{some}}",
    f"{GROUPS}.size()",
    "f[['{any}', 'c']].gpuscan.rle()",
    "f['{any}'].gpuscan.value_counts()",
    "f.gpuscan.{top}({count}, '{number}')",
    "f.gpuscan.sessionize('t', gap='90min', by='c')",
    "f.gpuscan.sessions('t', gap='90min', by={by_name})",
    "f[['t', '{any}']].gpuscan.resample('{rule}', on='t')['{any}'].{of_bucket}()",
    "f[['t', '{any}']].gpuscan.resample('{rule}', on='t', closed='{side}')['{any}'].{at_edges}()",
    "f[['t', '{number}']].gpuscan.rolling('3h', on='t').{picked}()",
    "f['{ordered}'].gpuscan.is_monotonic_increasing",
)
"""What ends a chain, with answers of the same bits for any cut."""

ROUNDED = (
    "f['x'].gpuscan.cumsum({scan})",
    "f['x'].gpuscan.cumprod({scan})",
    "f['{number}'].gpuscan.{window}.{statistic}()",
    "f['{number}'].gpuscan.ewm(alpha=0.3).{decayed}()",
    "f['x'].gpuscan.interpolate()",
    "f['x'].gpuscan.pct_change({periods})",
    f"{GROUPS}['x'].cumsum()",
    f"{GROUPS}['{{number}}'].{{statistic}}()",
    f"{GROUPS}['{{number}}'].{{window}}.{{statistic}}()",
    f"{GROUPS}['{{number}}'].ewm(alpha=0.3).mean()",
    "f[['t', '{number}']].gpuscan.resample('2h', on='t')['{number}'].{statistic}()",
    "f[['t', 'x']].gpuscan.resample('{rule}', on='t', closed='{side}')['x'].interpolate({method})",
    "f[['t', '{number}']].gpuscan.rolling('3h', on='t').{statistic}()",
)
"""What ends a chain, with sums of floats: equal up to rounding."""

WORDS: dict[str, Sequence[str]] = {
    "any": ("x", "n", "i", "s", "b"),
    "number": ("x", "n", "i"),
    "ordered": ("x", "n", "i", "s"),
    "sum": ("n", "i"),
    "by": ("'c'", "'c', clustered=True", "'k'", "'k', dropna=False", "['c', 'k']"),
    "by_name": ("'c'", "'k'", "['c', 'k']"),
    "fill": ("ffill()", "bfill()", "ffill(limit=1)", "bfill(limit=2)"),
    "periods": ("1", "-1", "2", "-3"),
    "scan": ("", "skipna=False", "reverse=True", "exclusive=True"),
    "extreme": ("cummax", "cummin"),
    "of_bool": ("cumany", "cumall"),
    "rank": ("", "method='min'", "method='first'", "method='dense'", "method='max', pct=True"),
    "window": ("rolling(3, min_periods=1)", "rolling(2)", "expanding()", "rolling(4, center=True)"),
    "picked": ("max", "min", "count", "median"),
    "added": ("sum", "mean"),
    "numbers": ("cumcount", "row_number"),
    "predicate": ("'x > 0'", "'n < 2 or x < 1'", "'i != 1'", "lambda n: n % 2 == 0"),
    "keep": ("'first'", "'last'"),
    "flags": ("True", "False", "[True, False]"),
    "reduction": ("min", "max", "first", "last", "count", "nunique"),
    "of_group": ("min", "max", "median"),
    "of_bucket": ("first", "last", "count"),
    "at_edges": ("ffill", "bfill", "asfreq"),
    "rule": ("2h", "7h", "D", "ME"),
    "side": ("left", "right"),
    "method": ("", "'time'", "limit=1", "'pad'"),
    "some": ("head(2)", "tail(1)", "nth(1)", "nth(-1)"),
    "top": ("nlargest", "nsmallest"),
    "count": ("1", "3"),
    "statistic": ("sum", "mean", "var", "std"),
    "decayed": ("mean", "var"),
}
"""What stands for the words in braces; the first of each is the simplest."""

WAITS = re.compile(r"\(-|bfill|center=True")
"""What streams answer later than the rows come."""

TAME = (0.0, -0.0, 1.0, 0.1, -0.3, 2.5, 1 / 3)
WILD = (*TAME, 1e16, -1e16, 3e-5, np.inf, -np.inf)
TYPES = {
    "k": ("int64", "str", "Int64", "float64", "category"),
    "x": ("float64", "float32", "Float64", "double[pyarrow]"),
    "n": ("int64", "int8", "uint64"),
    "i": ("Int64", "int64[pyarrow]"),
    "s": ("str", "string[pyarrow]"),
}


@dataclass(frozen=True, repr=False)
class CutCase(drawn.Shown):
    """A chain of methods on a frame that is cut in two ways."""

    frame: pd.DataFrame
    chain: list[str]
    exact: bool
    cuts: list[list[int]]

    def __repr__(self) -> str:
        steps = "\n".join(f"f = {step}" for step in self.chain)
        return f"f = {drawn.shown(self.frame)}\n{steps}\ncut at {self.cuts[0]} and {self.cuts[1]}"

    def check(self) -> str:
        """Compare the answers of all cuts."""
        metas = list[Any]()
        one = self._told(partitioned_at(self.frame, self.cuts[0]), metas)
        two = self._told(partitioned_at(self.frame, self.cuts[1]))
        whole = self._told(self.frame, typed_as=metas)
        bounds = [0, *self.cuts[0], len(self.frame)]
        batches = [self.frame.iloc[a:b] for a, b in pairwise(bounds)]
        stream = self._told(dask_gpuscan.stream(batches))
        if all(isinstance(answer, Exception) for answer in (whole, one, two)):
            return "refused"
        if isinstance(whole, OverflowError):  # of a column that the last step leaves out
            chains = [self.chain[:n] for n in range(1, len(self.chain))]
            parts = partitioned_at(self.frame, self.cuts[0])
            steps = [replace(self, chain=chain)._told(parts) for chain in chains]
            assert any(isinstance(step, OverflowError) for step in steps), repr(whole)
            return "refused"
        for answer in (whole, one, two):
            if isinstance(answer, Exception):
                raise answer
        if re.search(r"\['\w+'\]\.(max|min)\(\)$", self.chain[-1]):  # of groups, by pandas
            self._compare("whole and cut", *map(_without_signs_of_zeros, (whole, one)))
        else:
            self._compare("whole and cut", whole, one)
        self._compare("two cuts", two, one)
        if isinstance(stream, NotImplementedError):
            return f"{self._kind}, no stream"
        if isinstance(stream, Exception):
            raise stream
        if WAITS.search(";".join(self.chain)):  # for rows, so that its batches are cut elsewhere
            self._compare("stream and collection", stream, one)
        else:
            assert held(stream) == held(one), f"stream and collection: other bits\n{stream}\n{one}"
        return f"{self._kind}, and a stream"

    @property
    def _kind(self) -> str:
        return "same bits" if self.exact else "same but for rounding"

    def _compare(self, what: str, left: Any, right: Any) -> None:
        if self.exact:
            assert held(left) == held(right), f"{what}: other bits\n{left}\n{right}"
        else:
            rtol, atol = (1e-5, 1e-6) if self.frame["x"].dtype == "float32" else (1e-9, 1e-9)
            same(left, right, rtol, atol)

    def _told(self, f: Any, metas: list[Any] | None = None, typed_as: Sequence[Any] = ()) -> Any:
        """Return the answer, or the error; the empty answers of the steps, if asked, are added to `metas`."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                for step, like in zip_longest(self.chain, typed_as):
                    f = eval(step, {"f": f})
                    if metas is not None:
                        metas.append(getattr(f, "_meta", None))
                    f = _typed(f, like)
                return f.compute() if hasattr(f, "compute") else f
            except ERRORS as error:
                return error


def held(answer: Any) -> Any:
    """Return what an answer holds to the last bit; all NaN are one."""
    if isinstance(answer, pd.DataFrame):
        columns = [held(answer.iloc[:, at]) for at in range(answer.shape[1])]
        return [list(answer.columns), held(answer.index), columns]
    if isinstance(answer, pd.Series):
        return [answer.name, held(answer.index), held(answer.array)]
    if isinstance(answer, pd.MultiIndex):
        return [held(answer.get_level_values(at)) for at in range(answer.nlevels)]
    dtype = str(getattr(answer, "dtype", type(answer)))
    if isinstance(answer, pd.Categorical | pd.CategoricalIndex):
        return [dtype, list(answer.codes)]
    null = pd.isna(answer)
    values = np.where(null, None, np.asarray(answer, dtype=object))
    return [dtype, repr(values.tolist()), np.asarray(null).tolist()]


def _typed(answer: Any, like: Any) -> Any:
    """Return the answer for a whole frame in the dtypes of that for partitions, which is known before the values."""
    if not isinstance(like, pd.DataFrame | pd.Series):
        return answer
    if answer.index.nlevels == 1:
        answer = answer.set_axis(answer.index.astype(like.index.dtype))
    return answer.astype(like.dtypes.to_dict() if like.ndim == 2 else like.dtype)


def _without_signs_of_zeros(answer: Any) -> Any:
    return answer + 0.0 if answer.dtype.kind == "f" else answer


@st.composite
def rows(
    draw: Any, values: Sequence[float], types: Mapping[str, Sequence[str]] = TYPES
) -> pd.DataFrame:
    """Draw a frame: equal values of `c` are adjacent, and `t` ascends."""
    count = draw(drawn.LENGTHS)
    dtypes = {name: draw(st.sampled_from(some)) for name, some in types.items()} | {"b": "bool"}
    columns = {n: draw(drawn.columns(d, count)) for n, d in dtypes.items() if n != "x"}
    numbers = values[: draw(st.integers(2, len(values)))]
    nulls = draw(st.sampled_from((0, 1, 3)))
    x = st.sampled_from([*numbers] * (6 - nulls) + [None] * (nulls * len(numbers)))
    c = draw(drawn.lists(st.integers(0, 1), count))
    hours = draw(drawn.lists(st.sampled_from((1, 0, 2, 5)), count))
    columns |= {
        "c": np.cumsum(c, dtype="i8"),
        "x": pd.Series(draw(drawn.lists(x, count)), dtype=dtypes["x"]).array,
        "t": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.cumsum(hours, dtype="i8"), unit="h"),
    }
    return pd.DataFrame(columns, draw(drawn.labels(count)))[[*"ckxnibst"]]


def _step(draw: Any, texts: Sequence[str], before: Sequence[str]) -> str:
    """Draw a step of a chain; after a sort, times do not ascend."""
    if any("sort_values" in text for text in before):
        texts = [text for text in texts if "'t'" not in text]
    text = draw(st.sampled_from(texts))
    words = dict.fromkeys(re.findall(r"{(\w+)}", text))
    given = {word: draw(st.sampled_from(WORDS[word])) for word in words}
    return re.sub(r"\(, ", "(", text.format(**given))


@st.composite
def _cases(draw: Any) -> CutCase:
    chain = list[str]()
    for _ in range(draw(st.integers(0, 2))):
        chain.append(_step(draw, LINKS, chain))
    exact = draw(st.sampled_from((True, True, False)))
    chain.append(_step(draw, (*EXACT, *LINKS) if exact else ROUNDED, chain))
    frame = draw(rows(WILD if exact else TAME))
    return CutCase(frame, chain, exact, [draw(drawn.cuts(len(frame))) for _ in range(2)])


CUTS = _cases()
"""A chain of one to three methods, a frame, and two cuts."""
