"""Texts of predicates: grown from a grammar, garbled, and of any characters."""

from typing import Any

from hypothesis import strategies as st

from .drawn import one_of

LITERALS = ("0", "1", "2", "3", "5", "0.5", "1e3", "0x4", "1_0", ".25", "True", "1e999")
PARTS = {
    "truth": [
        *["compared"] * 4,
        *["truth and truth", "truth or truth", "truth & truth", "truth | truth"],
        *["not truth", "~ ( truth )", "( truth )", "~ flag", "flag", "s == 'x'", "s != 'y'"],
        *["p", "~ p", "not p"],
    ],
    "compared": [
        *["number sign number"] * 4,
        *["number sign number sign number", "number in [ some ]", "number not in ( 1 , some )"],
        *["number sign number in [ some ]", "flag == flag", "flag != True"],
        *["p == flag", "p != True"],
        *["name . isnull ( )", "( name + number ) . notna ( )", "s . isna ( )"],
        *["s . str . startswith ( 'x' )", "s.str.contains('y', regex=False)"],
    ],
    "number": [
        *["name"] * 5,
        *["literal", "literal", "- number", "( number )", "number ** 2"],
        *["number + number", "number - number", "number * number"],
        *["number / number", "number // literal", "number % literal"],
    ],
    "some": ["3 , 7", "2 , 0.5", "- 3", "1 + 1 , 5 ,", "2 , 'x'"],
    "name": ["a", "b", "fi", "ﬁ", "`odd name`", "`a`", "n", "q", "i"],
    "literal": [*LITERALS],
    "sign": ["==", "!=", "<", "<=", ">", ">="],
}
"""What each word may stand for."""

FIRST = {"truth": 4, "compared": 4, "number": 6}
"""How many of these do not grow."""


def _grown(draw: Any, word: str, left: int) -> list[str]:
    """Draw words of the grammar that a word may stand for, of about as many levels as are left."""
    if word not in PARTS:
        return [word]
    most = len(PARTS[word]) if left > 0 else FIRST.get(word)
    parts = draw(st.sampled_from(tuple(PARTS[word][:most]))).split(" ")
    return [leaf for part in parts for leaf in _grown(draw, part, left - 1)]


@st.composite
def truths(draw: Any, left: int) -> list[str]:
    """Draw the words of a truth."""
    return _grown(draw, "truth", left)


GROWN = st.sampled_from((2, 4, 6)).flatmap(truths).map(" ".join)
"""Texts of the grammar."""

GARBAGE = (
    *("(", ")", "[", "]", ",", ".", ":", ";", "'", '"', "`", "\\", "\x00", "\n", "#", "@", "$"),
    *("^", "!", "=", "<<", ":=", "->", "**", "//", "&&", "in", "not", "is", "if", "else"),
    *("lambda", "None", "await", "True", "'x'", ". isnull ( )", ". str . lower ( )"),
    *("dt . year", "startswith ( 'x' , na = True )", "@a", "f'{a}'", "b'x'", "1j", "9" * 400),
    *("1e400", "0x" + "f" * 99, "()", "[ 1 ]", "s", "flag", "ﬀ", "class", "\ud800"),
    *("'\\ud800'", "* 1000000000", "** 99999999", "- " * 120, "( " * 120, "< 4 " * 300),
    *("'a' + s", "'\\N{DIGIT ONE}'", "__import__('os')", "a.__class__", "().__class__.__mro__"),
    *("exec('1')", "open('x')", "''' '''", "r'\\'", "u'x'", "{a}", "a[0]", "print(a)"),
    *("yield a", "(a := 1)", "*a", "**a", "...", "1 if a else 2", "[x for x in a]", "é", "²"),
)
"""What is put into texts."""
CHARACTERS = one_of(
    *[st.sampled_from("()[]{}'\"`,.:;@#\\&|~=<>!+-*/% \t\n\r\f\0abinpqs019_eExX")] * 5,
    st.integers(0, 0x10FFFF).map(chr),
)
"""Those that mean something, mostly."""


@st.composite
def edited(draw: Any, parts: list[str], put: st.SearchStrategy[str]) -> list[str]:
    """Draw parts of which a few are dropped, doubled, replaced or put in."""
    for _ in range(draw(st.integers(1, 4))):
        at, dropped = draw(st.integers(0, len(parts))), draw(st.integers(0, 2))
        parts[at : at + dropped] = draw(st.lists(put | st.sampled_from(parts or [""]), max_size=2))
    return parts


GARBLED = truths(4).flatmap(lambda parts: edited(parts, st.sampled_from(GARBAGE)))
BITTEN = truths(3).flatmap(lambda parts: edited([*" ".join(parts)], CHARACTERS))
OTHERS = one_of(
    st.builds(str.join, st.sampled_from((" ", " ", "")), GARBLED),
    BITTEN.map("".join),
    st.lists(CHARACTERS, max_size=40).map("".join),
)
"""Texts that may follow no grammar."""
