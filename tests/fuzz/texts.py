"""Texts of predicates: grown from a grammar, garbled, and of any characters."""

from collections.abc import Callable

from .choices import Choices

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
        *[
            "number sign number in [ some ]",
            "flag == flag",
            "flag != True",
            "p == flag",
            "p != True",
        ],
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


def grown(choices: Choices, word: str, left: int) -> list[str]:
    """Return words of the grammar that a word may stand for, of about as many levels as are left."""
    if word not in PARTS:
        return [word]
    most = len(PARTS[word]) if left > 0 else FIRST.get(word)
    chosen = choices.pick(PARTS[word][:most]).split(" ")
    return [leaf for part in chosen for leaf in grown(choices, part, left - 1)]


GARBAGE = (
    *(
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        ":",
        ";",
        "'",
        '"',
        "`",
        "\\",
        "\0",
        "\n",
        "#",
        "@",
        "$",
        "^",
        "!",
        "=",
    ),
    *(
        "<<",
        ":=",
        "->",
        "**",
        "//",
        "&&",
        "in",
        "not",
        "is",
        "if",
        "else",
        "lambda",
        "None",
        "await",
        "True",
    ),
    *(
        "'x'",
        ". isnull ( )",
        ". str . lower ( )",
        "dt . year",
        "startswith ( 'x' , na = True )",
        "@a",
        "f'{a}'",
    ),
    *(
        "b'x'",
        "1j",
        "9" * 400,
        "1e400",
        "0x" + "f" * 99,
        "()",
        "[ 1 ]",
        "s",
        "flag",
        "ﬀ",
        "class",
        "\ud800",
    ),
    *(
        "'\\ud800'",
        "* 1000000000",
        "** 99999999",
        "- " * 120,
        "( " * 120,
        "< 4 " * 300,
        "'a' + s",
        "'\\N{DIGIT ONE}'",
    ),
    *(
        "__import__('os')",
        "a.__class__",
        "().__class__.__mro__",
        "exec('1')",
        "open('x')",
        "''' '''",
        "r'\\'",
        "u'x'",
    ),
    *(
        "{a}",
        "a[0]",
        "print(a)",
        "yield a",
        "(a := 1)",
        "*a",
        "**a",
        "...",
        "1 if a else 2",
        "[x for x in a]",
        "é",
        "²",
    ),
)
"""What is put into texts."""


def garbled(choices: Choices) -> str:
    """Return a text with a few words dropped, doubled, moved or put in."""
    words = grown(choices, "truth", 4)
    for _ in range(choices.between(1, 3)):
        at = choices.below(len(words) + 1)
        put = [choices.pick([*GARBAGE, *words]) for _ in range(choices.below(3))]
        words[at : at + choices.below(2)] = put
    return choices.pick((" ", " ", "")).join(words)


def bitten(choices: Choices) -> str:
    """Return a text with a few characters dropped, doubled, replaced or put in."""
    text = " ".join(grown(choices, "truth", 3))
    for _ in range(choices.between(1, 4)):
        at = choices.below(len(text) + 1)
        put = "".join(character(choices) for _ in range(choices.below(3)))
        text = text[:at] + put + text[at + choices.below(3) :]
    return text


def character(choices: Choices) -> str:
    """Draw a character: one that means something, mostly."""
    if choices.one_in(6):
        return chr(choices.below(0x110000))
    return choices.pick("()[]{}'\"`,.:;@#\\&|~=<>!+-*/% \t\n\r\f\0abinpqs019_eExX")


def characters(choices: Choices) -> str:
    """Return a text of any characters."""
    return "".join(choices.many(lambda: character(choices), 40))


WAYS: tuple[Callable[[Choices], str], ...] = (
    lambda choices: " ".join(grown(choices, "truth", choices.pick((2, 4, 6)))),
    garbled,
    bitten,
    characters,
)
