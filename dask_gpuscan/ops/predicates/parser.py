"""Reading predicates: from a text to tokens, and from tokens to a checked tree.

The grammar is the part of Python's that chooses rows, with ``&`` and ``|`` for ``and`` and ``or`` and names in
backquotes; whatever is outside of it is refused here. Names are those written, never normalised as Python's are.
Work grows with the length of the text and no faster. This module must never know columns.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .members import ACCEPTED, ACCESSORS, MEMBERS
from .tree import COMPARISONS, DEEPEST, LONGEST, WIDEST, Node, at, is_small, node_of, quoted

_ACCEPTED = "comparisons, + - * / // % **, and, or, not, &, |, ~, columns, literals and @variables"

_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _UNARY, _POWER = range(8)
"""How tightly operators bind, as in Python."""

_LEVELS = {
    "or": _OR,
    "and": _AND,
    **dict.fromkeys(COMPARISONS, _COMPARE),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "//", "%"), _PRODUCT),
    "**": _POWER,
}
_SAME = {"&": "and", "|": "or"}
_VALUES = ("literal", "variable")
"""Kinds of the nodes that are values, and that lists and arguments are made of."""

_WORDS = ("and", "or", "not", "in", "True", "False")

_FOREIGN_OPERANDS = {
    "[": "List or ListComp",
    "{": "Dict or Set",
    "lambda": "Lambda, Call",
    "None": "Constant",
    "await": "Await",
    "*": "Starred",
}
"""What Python would call an operand that begins so."""

_FOREIGN_OPERATORS = {
    ".": "Attribute",
    "[": "Subscript",
    "(": "Call",
    ":=": "NamedExpr",
    "=": "an assignment, == compares",
    "is": "Compare",
    "if": "IfExp",
    "for": "GeneratorExp",
}
"""What Python would call that in which these follow an operand."""

_TOKEN = re.compile(
    r"""
    (?P<blank> [ \t\r\n\f]++)
  | (?P<string> [bBfFrRtTuU]{0,2} (?: '(?:[^'\\\r\n]|\\.)*+' | "(?:[^"\\\r\n]|\\.)*+" ))
  | (?P<name> [A-Za-z_\x80-\U0010ffff] [0-9A-Za-z_\x80-\U0010ffff]*+)
  | ` (?P<quoted> [^`]++) `
  | (?P<float> (?: [0-9][0-9_]*+\.[0-9_]*+ | \.[0-9][0-9_]*+ ) (?: [eE][-+]?[0-9_]++ )?+
             | [0-9][0-9_]*+ [eE][-+]?[0-9_]++ )
  | (?P<integer> [0-9][0-9A-Za-z_]*+)
  | (?P<operator> \*\* | // | [<>=!]= | := | (?s:.))
    """,
    re.VERBOSE,
)
"""Anything that is nothing else is an operator of one character. No pattern is tried twice at the same place."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    stop: int


def _tokens(text: str) -> Iterator[_Token]:
    """Read one token after the other, keywords as operators; nothing after a quote without its partner."""
    for found in _TOKEN.finditer(text):
        kind = str(found.lastgroup)
        if kind == "name" and keyword.iskeyword(found[0]):
            yield _Token("operator", found[0], *found.span())
        elif kind != "blank":
            yield _Token(kind, found[kind], *found.span())
        if kind == "operator" and found[0] in "'\"`":
            break
    yield _Token("end", "", len(text), len(text))


class Parsed(NamedTuple):
    """A text that has been read."""

    tree: Node
    columns: tuple[str, ...]
    """Names, in the order of their first appearance."""
    variables: tuple[str, ...]
    """Names, likewise."""


def parse(text: str) -> Parsed:
    """Return the tree of a text, and the names of its columns and variables.

    Raises
    ------
    ValueError
        If the text is no expression, or holds anything but what is accepted.

    Examples
    --------
    >>> tree, columns, variables = parse("delay > 2 * @least and `carrier code` != code")
    >>> columns, variables, tree.value, [comparison.value for comparison in tree.operands]
    (('delay', 'carrier code', 'code'), ('least',), 'and', [('>',), ('!=',)])
    """
    if len(text) > LONGEST:
        raise ValueError(f"predicate must be at most {LONGEST} characters, found {len(text)}")
    surrogate = re.search("[\ud800-\udfff]", text)
    if surrogate:
        raise ValueError(f"predicate {quoted(text)} holds a lone surrogate at {surrogate.start()}")
    parser = _Parser(text)
    try:
        tree = parser.whole()
    except RecursionError:  # the caller stands deep already
        raise ValueError(f"predicate {quoted(text)} is nested too deeply") from None
    if not parser.names:
        raise ValueError(f"predicate {quoted(text)} names no column")
    return Parsed(tree, tuple(parser.names), tuple(parser.variables))


class _Parser:
    """Precedence climbing (Pratt, *Top down operator precedence*, 1973)."""

    def __init__(self, text: str):
        self.text = text
        self.coming = _tokens(text)
        self.stop = 0  # of what has been read
        self.token = next(self.coming)
        self.following = next(self.coming, self.token)
        self.depth = 0
        self.names: dict[str, None] = {}
        self.variables: dict[str, None] = {}

    def whole(self) -> Node:
        tree = self.expression(_OR)
        if self.token.kind != "end":
            raise self.refusal(_FOREIGN_OPERATORS, "an operator")
        return tree

    def advance(self) -> None:
        self.stop = self.token.stop
        self.token = self.following
        self.following = next(self.coming, self.token)

    def sign(self) -> str:
        """The operator that comes next, if one does."""
        if self.token.kind != "operator":
            return ""
        if self.token.text == "not" and self.following[:2] == ("operator", "in"):
            return "not in"
        return _SAME.get(self.token.text, self.token.text)

    def take_sign(self) -> str:
        sign = self.sign()
        if sign == "not in":
            self.advance()
        self.advance()
        return sign

    def expression(self, least: int) -> Node:
        """Read operands and the operators between them that bind at `least` so tightly."""
        start = self.token.start
        node = self.operand(least)
        while (level := _LEVELS.get(self.sign(), -1)) >= least:
            node = self.operation(node, level, start)
        return node

    def nested(self, least: int) -> Node:
        """Read an expression one level deeper."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(f"predicate is nested deeper than {DEEPEST} levels")
        node = self.expression(least)
        self.depth -= 1
        return node

    def operation(self, left: Node, level: int, start: int) -> Node:
        """Read operators of one level and their right operands."""
        if level == _COMPARE:
            return self.chain(left, start)
        operands = [left]
        sign = self.take_sign()
        if level in (_OR, _AND):
            operands.append(self.expression(level + 1))
            while self.sign() == sign:
                self.take_sign()
                operands.append(self.expression(level + 1))
            return self.node("boolean", sign, operands, start)
        operands.append(self.nested(_UNARY) if level == _POWER else self.expression(level + 1))
        return self.node("arithmetic", sign, operands, start)

    def chain(self, left: Node, start: int) -> Node:
        """Read comparisons, each of which takes the right operand of the one before as its left one."""
        signs: list[str] = []
        operands = [left]
        while self.sign() in COMPARISONS:
            signs.append(self.take_sign())
            if signs[-1] not in ("in", "not in"):
                operands.append(self.expression(_SUM))
                continue
            operands.append(self.members())
            if _LEVELS.get(self.sign(), -1) >= _COMPARE:  # to Python, an operand is the list
                raise self.error(
                    f"has {self.sign()!r} after the list of {signs[-1]!r}; "
                    "write two comparisons, with 'and' between them"
                )
        return self.node("chain", tuple(signs), operands, start)

    def members(self) -> Node:
        """Read the list on the right of ``in``."""
        start = self.token.start
        if self.sign() == "@":
            name = self.variable().value
            return Node("list variable", name)
        closing = {"[": "]", "(": ")"}.get(self.take_sign(), "no list")
        nodes = []
        comma = closing == "]"  # without one, parentheses around a literal are no list
        while closing != "no list" and self.sign() != closing:
            nodes.append(self.nested(_OR))
            if self.sign() != ",":
                break
            comma = True
            self.take_sign()
        closed = self.take_sign() == closing and (comma or not nodes)
        if not closed or any(node.kind not in _VALUES for node in nodes):
            found = quoted(self.text[start : self.stop])
            raise self.error(f"has {found} after 'in', which takes a list of literals")
        if all(node.kind == "literal" for node in nodes):
            return Node("literal", [node.value for node in nodes])
        return Node("list", (), tuple(nodes))

    def variable(self) -> Node:
        """Read an ``@`` and the name behind it."""
        self.advance()
        kind, name, start, _ = self.token
        if kind != "name" or start != self.stop or not name.isidentifier():
            raise self.error(f"has @ at {self.stop - 1} without the name of a variable behind it")
        self.advance()
        self.variables[name] = None
        return Node("variable", name, (), quoted(f"@{name}"))

    def operand(self, least: int) -> Node:
        """Read an operand, and what follows it after dots."""
        start = self.token.start
        node = self.atom(least)
        while self.sign() == ".":
            node = self.member(node, start)
        return node

    def member(self, of: Node, start: int) -> Node:
        """Read a dot, the name behind it, and arguments."""
        dot = self.token.start
        path = self.dotted()
        if of.kind == "variable":
            raise self.error(f"holds .{path} of {at(of.value)} at {dot}; give it a name of its own")
        if path in ACCESSORS and self.sign() == ".":
            path = f"{path}.{self.dotted()}"
        if path not in MEMBERS:
            raise self.error(
                f"holds {quoted(f'.{path}')} (Attribute) at {dot}, accepted after a dot are {ACCEPTED}"
            )
        operands, keywords = [of], {}
        if MEMBERS[path].parameters is not None:
            if self.sign() != "(":
                raise self.error(f"has {quoted(f'.{path}')} at {dot} without its parentheses")
            self.advance()
            while self.sign() != ")":
                if self.token.kind == "name" and self.following[:2] == ("operator", "="):
                    keyword_ = self.token.text
                    self.advance()
                    self.advance()
                    keywords[keyword_] = self.argument(("literal",)).value
                else:
                    operands.append(self.argument(_VALUES))
                if self.sign() == ",":
                    self.advance()
                elif self.sign() != ")":
                    raise self.refusal(_FOREIGN_OPERATORS, "a comma or a parenthesis")
            self.advance()
        return self.node("member", (path, tuple(keywords.items())), operands, start)

    def dotted(self) -> str:
        """Read a dot and the name behind it."""
        self.advance()
        if self.token.kind != "name":
            raise self.refusal({}, "a name")
        name = self.token.text
        self.advance()
        return name

    def argument(self, kinds: tuple[str, ...]) -> Node:
        """Read a literal, or a variable if they are among the kinds."""
        start = self.token.start
        node = self.nested(_OR)
        if node.kind not in kinds:
            found = quoted(self.text[start : self.stop])
            raise self.error(f"has {found} between parentheses, which take literals")
        return node

    def atom(self, least: int) -> Node:
        """Read a name, a literal, what stands in parentheses, or a sign and its operand."""
        token = self.token
        match token.kind, token.text:
            case "operator", "@":
                return self.variable()
            case (("name" | "quoted"), name) if token.kind == "quoted" or name.isidentifier():
                self.advance()
                self.names[name] = None
                return Node("column", name, (), quoted(name))
            case "string", text if "f" in text[:2].lower().partition(text[-1])[0]:
                raise self.foreign(token, "JoinedStr")
            case (("string" | "integer" | "float"), _):
                self.advance()
                return self.literal(token)
            case "operator", ("True" | "False") as word:
                self.advance()
                return Node("literal", word == "True", (), word)
            case "operator", "(":
                self.advance()
                node = self.nested(_OR)
                if self.sign() != ")":
                    raise self.refusal(_FOREIGN_OPERATORS, "an operator")
                self.advance()
                return node
            case "operator", ("not" | "-" | "+" | "~") as sign if sign != "not" or least <= _NOT:
                self.advance()
                operand = self.nested(_NOT if sign == "not" else _UNARY)
                return self.node("unary", sign, [operand], token.start)
        raise self.refusal(_FOREIGN_OPERANDS, "an operand")

    def literal(self, token: _Token) -> Node:
        try:
            value = _READ[token.kind](token.text)
        except (ValueError, SyntaxError):
            raise self.foreign(token, "Constant") from None
        if not is_small(value):
            raise self.error(f"holds an integer of more than {WIDEST} bits")
        return Node("literal", value, (), quoted(token.text))

    def node(self, kind: str, value: Any, operands: list[Node], start: int) -> Node:
        return node_of(kind, value, operands, quoted(self.text[start : self.stop]))

    # --- what is refused -----------------------------------------------------------------------------

    def error(self, problem: str) -> ValueError:
        return ValueError(f"predicate {quoted(self.text)} {problem}")

    def foreign(self, token: _Token, what: str) -> ValueError:
        return self.error(
            f"holds {quoted(token.text)} ({what}) at {token.start}, accepted are {_ACCEPTED}; "
            "for anything else give a boolean Series or a function"
        )

    def refusal(self, foreign: dict[str, str], wanted: str) -> ValueError:
        """The error for the next token, where something else is wanted."""
        token = self.token
        match token.kind, token.text:
            case "operator", text if text in foreign:
                return self.foreign(token, foreign[text])
            case "operator", "`":
                return self.error(f"has a backquote without its partner at {token.start}")
            case "operator", "'" | '"':
                return self.error(f"has a string without its end at {token.start}")
            case "operator", text if keyword.iskeyword(text) and text not in _WORDS:
                return self.foreign(token, "a keyword; a column of this name takes backquotes")
            case "name", text if not text.isidentifier():
                return self.foreign(token, "no name; a column of this name takes backquotes")
        found = quoted(token.text) if token.text else "its end"
        return self.error(f"is no expression: found {found} at {token.start}, not {wanted}")


def _string(text: str) -> str:
    prefix = text.partition(text[-1])[0]
    if prefix.lower() not in ("", "r", "u"):
        raise ValueError
    return str(ast.literal_eval(text))


_READ: dict[str, Callable[[str], Any]] = {
    "string": _string,
    "integer": lambda text: int(text, 0),
    "float": float,
}
