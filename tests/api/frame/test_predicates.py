"""Predicates written as text, whatever is written: the rows that Python would choose one by one, or a short refusal."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.asked import computed
from helpers.predicate_frame import FRAME as frame
from helpers.strategies import partitioned
from helpers.versions import STRING

objects = pd.DataFrame(
    {
        "words": pd.Series(["a", "b", None], dtype=object),
        "lists": pd.Series([[1], [2], [3]], dtype=object),
        "big": pd.Series([10**30, 2, 3], dtype=object),
        "exact": pd.Series([Decimal("1.5"), None, Decimal(3)], dtype=object),
        "spans": pd.Series([pd.Timedelta(1, "s"), pd.NaT, pd.Timedelta(5, "s")], dtype=object),
        "s": pd.Series(["a", "b", None], dtype="str"),
        "text": pd.Series(["a", "b", None], dtype="string[pyarrow]"),
        "arrow": pd.Series(["a", "b", None], dtype=pd.ArrowDtype(pa.string())),
        "bytes": pd.Series([b"a", b"b", None], dtype=pd.ArrowDtype(pa.binary())),
        "sparse": pd.arrays.SparseArray(["a", "b", "a"]),
        "n": [1, 2, 3],
    }
)


def rows(chosen):
    return chosen.index.tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 < a in [1, 5, 7]", [1, 4]),
        ("a < 2 in [2, 3]", [0, 2, 3]),
        ("(a in [1, 7]) == flag", [0, 1, 5]),
        ("1 in [1, 2] and a > 5", [4]),
        ("1 + 1 in [3] or 'x' in ['x'] and a > 5", [4]),
        ("a not in [0 - 3, 2 ** 3 - 1] and not a in (1,)", [1, 3, 5]),
        ("a in [1]or a == 0x7or a == .5or a == 2and not flag", [0, 4, 5]),
        ("fi > 4", [4, 5]),
        ("ﬁ > 4", [0, 1]),
        ("`ﬁ` > `fi`", [0, 1, 2]),
        ("a > 1_0 - 0x4 and b <= 1e999\nor\tb == 2.\r", [2, 4, 5]),
        ("s == r'\\x' or s == u'z' or s == '\\x78'", [0, 3, 4]),
        ("-a ** 2 < -2 ** -1 * 50", [4]),
        ("~(a > 1) & b < 1 | s == 'z'", [0, 3, 4]),
        ("a < 99999999999999999999 and a > 1" + "0" * 60 + " - 1" + "0" * 60, [0, 1, 4, 5]),
        ("(" * 90 + "a" + ")" * 90 + " > " + "- " * 90 + "4", [1, 4]),
    ],
)
def test_what_a_text_means(text, expected):
    assert rows(frame.gpuscan.filter(text)) == expected
    assert rows(partitioned(frame, [0.5]).gpuscan.filter(text).compute()) == expected


def test_names_are_exactly_those_written():
    names = [
        "ª",
        "\uff58",
        "\U0001d428\U0001d42b",
        "e\u0301",
        "é",
        "_column_0_",
        "print",
        "match",
        "naïve",
    ]
    odd = [" ", "a ", "class", "x²", "'", '"', "#\n\0", "ﬀ", "&", "x\u00a0", "\ufeffx", "0"]
    whole = pd.DataFrame([range(len(names + odd))] * 2, columns=names + odd)
    for i, name in enumerate(names):
        assert len(whole.gpuscan.filter(f"{name} == {i}")) == 2
    for i, name in enumerate(names + odd):
        assert len(whole.gpuscan.filter(f"`{name}` == {i}")) == 2
    plain = pd.DataFrame({"fi": [1], "a": [1], "x": [1], "or": [1]})
    for text in ("ﬁ > 0", "`ﬁ` > 0", "ª > 0", "\uff58 > 0", "`x ` > 0", "\U0001d428\U0001d42b > 0"):
        with pytest.raises(ValueError, match="is not a column"):
            plain.gpuscan.filter(text)
    for text in ("x² > 0", "x\u00a0> 0", "\ufeffx > 0", "class > 0"):
        with pytest.raises(ValueError, match="backquotes"):
            plain.gpuscan.filter(text)


REFUSED = {
    "a in [1, 2] == fi": "after the list of 'in'",
    "a in [1] in [1]": "after the list of 'in'",
    "0 < a not in [1] < 3": "after the list of 'not in'",
    "a in [1] == fi in [1]": "after the list of 'in'",
    "a in [1] // 2": "list of literals",
    "a in (1, 2) + 1": "list of literals",
    "a in [1] ** 2 == 1": "after the list of 'in'",
    "a in [1, fi]": "list of literals",
    "a in (1)": "list of literals",
    "a in [1 2]": "found '1' at 6, where two operands follow each other",
    "a in [1": r"'\[' was never closed",
    "| flag": "found '[|]' at 0, an operator where an operand is expected",
    "(a = 1)": "found '=' at 3, an assignment; == compares",
    "a >= 1 and (fi = 2)": "found '=' at 15, an assignment; == compares",
    "(a > 1 fi)": "found 'a' at 1, where two operands follow each other",
    "a > 1 fi": "found 'fi' at 6, an operand where an operator is expected",
    "flag &": "found its end at 6, where an operand is missing",
    "flag if a": "found 'flag' at 0, accepted are",
    "a in": "found its end at 4",
    "a not in": "found its end at 8",
    "a in " + "-" * 400 + "1": "list of literals",
    "1 in [1, 2]": "names no column",
    "s == ('a' + 'b') * 1000000000": "write its value",
    "s == ('%' + '2000000000d') % 5": "write its value",
    "3 ** 99999999 > a": "write its value",
    "10 ** 100 > a": "write its value",
    "(-1) ** 0.5 > a": "write its value",
    "(2 < 3) + (1 < 2) ** 9 ** 9 ** 9 > a": "write its value",
    "1 / 0 > a": "division by zero",
    "10.0 ** 400 > a": "out of range",
    "'a' < 1 or flag": "not supported",
    "not 5 or flag": "boolean operand",
    "a << " + "-" * 500 + "1": "BinOp",
    "a < " + "-" * 5_000 + "1": "nested too deeply",
    "not " * 300 + "flag": "nested deeper",
    "2 ** " * 300 + "1 > a": "write its value",
    "(" * 19_000: "too many nested parentheses",
    "`" * 19_999: "backquote",
    "`a` > 1 or `" * 1_500: "backquote",
    "'" + "\\'" * 9_999: "string without its end",
    "'\"`" * 6_000: "no expression|nested too deeply",
    "s == 'x": "string without its end",
    "s == 'x\ny'": "string without its end",
    "s == '''x'''": "no expression",
    "s == 'x' 'y'": "no expression",
    "s == '\\x'": "Constant",
    "s == '\0'": "Constant",
    "s == b'x'": "a string with the prefix b",
    "s == F'{" + "(" * 9_999 + "}'": "a string with the prefix F",
    "a > 1\0": "no expression",
    "a == '\ud800'": "lone surrogate",
    "`\ud800` > 1": "lone surrogate",
    "a > " + "9" * 5_000: "256 bits",
    "a > 0x" + "f" * 5_000: "256 bits",
    "a > 007": "found '007' at 4, leading zeros",
    "a > 1__0": "found '1__0' at 4, invalid decimal literal",
    "a > 1if flag else 2": "IfExp",
    "a == 0andﬁ == 1": "found 'andﬁ' at 6",
    "a" * 19_990 + " > 1": "is not a column",
    "`" + "\U0010ffff" * 19_990 + "` > 1": "is not a column",
    "await a": "Await",
    "*a": r"found '\*' at 0",
    "a = 1": "== compares",
    "a, flag": "Tuple",
    "a > 1; flag": "no expression",
    "a > 1 # note": "no expression",
    "a == not flag": "no expression",
    "a && flag": "no expression",
    "": "no expression",
}


@pytest.mark.parametrize("text", [pytest.param(t, id=ascii(t[:40])) for t in REFUSED])
def test_refused(text):
    for whole in (frame, partitioned(frame, [0.5])):
        with pytest.raises(ValueError, match=REFUSED[text]) as refusal:
            whole.gpuscan.filter(text)
        assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("column", ["words", "lists", "s", "text", "arrow", "bytes", "sparse"])
def test_elements_are_never_repeated_nor_formatted(column):
    lazy = partitioned(objects, [0.5])
    for template in (
        "{0} * 1000000000",
        "1000000000 * {0}",
        "n * {0}",
        "({0} + {0}) * n",
        "{0} % 5",
    ):
        text = f"{template.format(column)} == {column}"
        for run in (objects.gpuscan.filter, lambda text: lazy.gpuscan.filter(text).compute()):
            with pytest.raises(TypeError, match="predicate") as refusal:
                run(text)
            assert len(str(refusal.value)) < 400


def test_powers_of_objects_are_refused_when_they_are_built():
    for text in ("big ** 99999999 > 1", "99999999 ** big > 1", "exact ** n > 1"):
        for whole in (objects, partitioned(objects, [0.5])):
            with pytest.raises(TypeError, match="takes columns of numbers, found dtype object"):
                whole.gpuscan.filter(text)


def test_arithmetic_of_numbers_among_objects():
    for text, expected in [
        ("big * 2 > 4", [0, 2]),
        ("exact * 2 == 3", [0]),
        ("exact % 2 == 1 or big // 2 == 1", [1, 2]),
        ("spans * 3 > spans + spans", [0, 2]),
        ("words + 'c' == 'ac'", [0]),
        ("'c' + text + 'd' == 'cbd'", [1]),
    ]:
        assert rows(objects.gpuscan.filter(text)) == expected
        assert rows(partitioned(objects, [0.5]).gpuscan.filter(text).compute()) == expected


def test_what_a_library_cannot_compute_is_a_short_type_error():
    long = pd.DataFrame(
        {
            "a": [1],
            "w": pd.Series(["w" * 5_000], dtype=STRING),
            "I": pd.array([1], "int64[pyarrow]"),
        }
    )
    for text in (
        "a + w == 1",
        "a ** -1 > 1",
        "a + 99999999999999999999 > 1",
        "I * 9223372036854775807 * 2 > 1",
        "w == '\\ud800'",
        "w in ['\\ud800']",
        "w > 1",
        "a > 1 or 5",
    ):
        for whole in (long, partitioned(long, [])):
            with pytest.raises(TypeError, match="predicate") as refusal:
                whole.gpuscan.filter(text)
            assert len(str(refusal.value)) < 400


def test_many_terms():
    whole = pd.DataFrame({"x": np.arange(4_000)})
    terms = [f"x == {2 * i}" for i in range(1_500)]
    text = " or ".join(terms)
    for chosen in (
        whole.gpuscan.filter(text),
        partitioned(whole, [0.5]).gpuscan.filter(text).compute(),
    ):
        assert chosen["x"].tolist() == list(range(0, 3_000, 2))
    chain = "x" + " < 4" * 3_000
    assert whole.gpuscan.filter(chain).empty


# --- truths of several kinds ---------------------------------------------------------------------------


def test_truths_with_nulls_of_several_kinds_are_joined():
    # pandas raises: "boolean value of NA is ambiguous"
    mixed = pd.DataFrame(
        {
            "p": pd.array([True, None, False, True], "boolean"),
            "i": pd.array([1, 1, None, None], "int64[pyarrow]"),
            "n": pd.array([None, 0, 1, 5], "Int64"),
            "s": pd.Series(["x", None, "y", "x"], dtype="string[pyarrow]"),
        }
    )
    for text, expected in [
        ("p and i == 1", [0]),
        ("i == 1 or p", [0, 1, 3]),
        ("not p & i == 1 or s == 'y'", [2]),
        ("n < i < 3", [1]),
        ("n > 0 > i or s == 'x'", [0, 3]),
    ]:
        assert rows(mixed.gpuscan.filter(text)) == expected
        assert rows(partitioned(mixed, [0.5]).gpuscan.filter(text).compute()) == expected


# --- any text ----------------------------------------------------------------------------------------


@given(text=st.text(max_size=40))
def test_any_characters(text):
    with pytest.raises((ValueError, TypeError)) as refusal:
        frame.gpuscan.filter(text)
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("a > @{}", {}),
        ("a in @{}", {"{}": [object()]}),
        ("a > @{}", {"{}": object()}),
        ("a > @{}", {"{}": [1]}),
        ("@{}.b", {}),
        ("a.isnull({}=True)", {}),
        ("s.str.contains('y', na='{}')", {}),
    ],
)
def test_messages_are_short_whatever_is_long(text, variables):
    long = "n" * 5_000
    given = dict.fromkeys([long], *variables.values()) if variables else {}
    with pytest.raises((ValueError, TypeError), match="nnn") as refusal:
        frame.gpuscan.filter(text.format(long), local_dict=given)
    assert len(str(refusal.value)) < 400


ARROW_ROWS = pd.DataFrame(
    {
        "i": pd.Series([1, 2, 3], dtype="int64[pyarrow]"),
        "u": pd.Series([2**63 + 1, 3, 5], dtype="uint64[pyarrow]"),
        "n": pd.Series([None, 1, 2], dtype="int8[pyarrow]"),
        "t": pd.Series(pd.to_datetime(["2020-01-01"] * 3), dtype="timestamp[us][pyarrow]"),
        "z": pd.Series(pd.to_datetime(["2020-01-01"] * 3, utc=True), dtype="timestamp[us, UTC][pyarrow]"),
        "d": pd.Series(pd.to_timedelta(["2h"] * 3), dtype="duration[us][pyarrow]"),
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("i % 2 == 1", [1, 3]),
        ("n % 2 == 1", [2]),
        ("u % 3 == 2", [3]),
        ("u > 9223372036854775808", [1]),
        ("u > i", [1, 2, 3]),
        ("u in [3, -1]", [2]),
        ("u not in [3, -1]", [1, 3]),
        ("i < 10**30", [1, 2, 3]),
        ("t > '2019-12-31' and z > '2019-12-31'", [1, 2, 3]),
        ("'2020-01-02' < t or d < '1h'", []),
    ],
)
def test_numbers_and_times_of_arrow(text, kept):
    for each in (ARROW_ROWS, partitioned(ARROW_ROWS, [0.5])):
        assert computed(each.gpuscan.filter(text)["i"]).tolist() == kept
