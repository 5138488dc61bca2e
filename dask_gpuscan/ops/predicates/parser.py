"""Reading predicates: Python parses a text, and what its tree holds is checked and becomes a tree of ours.

The grammar is the part of Python's that chooses rows, with ``&`` and ``|`` for ``and`` and ``or``, names in backquotes
and variables, ``@name``. Python sees placeholders for names and strings: names are those written, never normalised as
Python's are. Nothing is compiled. This module must never know columns.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from .members import ACCEPTED, ACCESSORS, MEMBERS
from .tree import LONGEST, OPERATORS, WIDEST, Node, at, is_small, node_of, quoted

_ACCEPTED = (
    "accepted are comparisons, + - * / // % **, and, or, not, &, |, ~, columns, literals and @variables; "
    "for anything else give a boolean Series or a function"
)

_TOKEN = re.compile(
    r"""
    (?P<string> (?P<prefix> [bBfFrRtTuU]{0,2} ) (?: '(?:[^'\\\r\n]|\\.)*+' | "(?:[^"\\\r\n]|\\.)*+" ))
  | (?P<name> [A-Za-z_\x80-\U0010ffff] [0-9A-Za-z_\x80-\U0010ffff]*+)
  | ` (?P<quoted> [^`]++) `
  | @ (?P<variable> [A-Za-z_\x80-\U0010ffff] [0-9A-Za-z_\x80-\U0010ffff]*+) (?P<member> \s*+\.\s*+\w*+ )?+
  | (?P<number> 0 (?: [xX][0-9a-fA-F_]++ | [oO][0-7_]++ | [bB][01_]++ )
              | [0-9][0-9_]*+ (?:\.[0-9_]*+)?+ (?:[eE][-+]?[0-9_]++)?+ [jJ]?+ )
  | (?P<blank> [ \t\r\n\f]++)
  | (?P<operator> [-+*/%~^&|<>=!()[\]{},.:])
  | (?P<foreign> (?s:.))
    """,
    re.VERBOSE,
)
"""No pattern is tried twice at the same place."""

_TOO_WIDE = f"holds an integer of more than {WIDEST} bits"

_OF_USE = re.compile("never closed|unmatched|does not match|literal|leading zeros|too many")
"""Messages of Python that are true of predicates, too."""

_ESCAPE = re.compile(r"""\\(?:(?P<large>[4-7][0-7]{2})|(?P<known>[\\'"0-7abfnrtvxNuU]))?""")
"""What follows a backslash in a string; an octal number that is no byte is large."""

_ASSIGNMENT = re.compile("(?<![=<>!])=(?!=)")

_PUNCTUATION = frozenset("()[]{},") | {""}

_WRITTEN = {"&": " and ", "|": " or "}

_BACKQUOTES = "no name; a column of this name takes backquotes"
_REASONS = {
    **dict.fromkeys(set(keyword.kwlist) - {"and", "or", "not", "in", "True", "False"}, _BACKQUOTES),
    "=": "an assignment; == compares",
    "`": "a backquote without its partner",
    "'": "a string without its end",
    '"': "a string without its end",
    "@": "without the name of a variable behind it",
}
"""Why these stand where Python expects something else."""


class Parsed:
    """A text that Python has parsed; one with variables is checked when these have values.

    Parameters
    ----------
    text : str

    Attributes
    ----------
    columns, variables : tuple of str
        Names, in the order of their first appearance.
    tree : Node, optional
        Of a text without variables.

    Raises
    ------
    ValueError
        If the text is no expression, or as `bound` if it has no variables.

    Examples
    --------
    >>> parsed = Parsed("delay > 2 * @least and `carrier code` != code")
    >>> parsed.columns, parsed.variables
    (('delay', 'carrier code', 'code'), ('least',))
    """

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise ValueError(f"predicate must be at most {LONGEST} characters, found {len(text)}")
        self.text = text
        surrogate = re.search("[\ud800-\udfff]", text)
        if surrogate:
            raise self.error(f"holds a lone surrogate at {surrogate.start()}")
        self.placeholders: dict[str, re.Match[str]] = {}
        self._tokens: list[re.Match[str]] = []  # for each character that Python sees
        self._parsed = self._parse("".join(map(self._write, _TOKEN.finditer(text))))
        names = {node.id for node in ast.walk(self._parsed) if isinstance(node, ast.Name)}
        named = [token for word, token in self.placeholders.items() if word in names]
        columns = (token["name"] or token["quoted"] for token in named)
        self.columns = tuple(dict.fromkeys(filter(None, columns)))
        self.variables = tuple(dict.fromkeys(filter(None, (token["variable"] for token in named))))
        self.tree: Node | None = None
        if not self.variables:
            self.tree = self.bound({})
            # they take more memory than the tree
            del self._parsed, self._tokens, self.placeholders

    def bound(self, values: Mapping[str, Any]) -> Node:
        """Return the tree of the text, with the values of its variables.

        Raises
        ------
        TypeError
            For a list where one value is needed, and the other way around.
        ValueError
            If the text names no column, or holds what is not accepted or cannot be computed with these values.

        Examples
        --------
        >>> tree = Parsed("x > @low + 1 or x in [2, 3]").bound({"low": 3})
        >>> [operand.value for comparison in tree.operands for operand in comparison.operands]
        ['x', 4, 'x', [2, 3]]
        """
        try:
            tree = _Reader(self, values).node(self._parsed)
        except RecursionError:  # the caller stands deep already
            raise self.error("is nested too deeply") from None
        if not self.columns:
            raise self.error("names no column")
        return tree

    def _write(self, token: re.Match[str]) -> str:
        """Return a token as Python shall see it."""
        kind, place = str(token.lastgroup), token.start()
        word = token[kind]
        if kind == "foreign":
            raise self._refusal(word, place)
        if kind == "name" and not word.isidentifier():
            raise self._refusal(word, place, _BACKQUOTES)
        if kind == "member":
            found = f"{word} of {at(token['variable'])} at {token.start(kind)}"
            raise self.error(f"holds {found}; give it a name of its own")
        if kind == "blank":
            word = " " if self._tokens else ""
        elif kind == "operator":
            word = _WRITTEN.get(word, word) if self._tokens else _WRITTEN.get(word, word).lstrip()
        elif kind == "name" and keyword.iskeyword(word):
            word = f" {word}" if self._tokens else word
        elif kind != "number":
            self.placeholders[f"_{place}"] = token
            word = f" _{place} " if self._tokens else f"_{place} "
        self._tokens += [token] * len(word)
        return word

    def _parse(self, source: str) -> ast.expr:
        try:
            return ast.parse(source, "<predicate>", "eval").body
        except SyntaxError as error:
            if error.msg.startswith("Exceeds the limit"):
                raise self.error(_TOO_WIDE) from None
            place = (error.offset or len(source) + 1) - 1
            raise self._unexpected(error.msg, source, place) from None
        except (RecursionError, MemoryError):  # of the parser, whose stack is bounded
            raise self.error("is nested too deeply") from None

    def _unexpected(self, message: str, source: str, place: int) -> ValueError:
        """Return the error for a place in what Python sees, with its message where that is of use here, too."""
        if "meant '=='" in message and (sign := _ASSIGNMENT.search(source, place)):
            place = sign.start()
        if place >= len(source):
            return self._refusal("", len(self.text), "where an operand is missing")
        token = self._tokens[place]
        if _OF_USE.search(message):
            reason = message
        elif "forgot a comma" in message:
            reason = "where two operands follow each other"
        elif "'else'" in message or token[0].strip() in _PUNCTUATION | {*keyword.kwlist}:
            reason = _ACCEPTED
        elif token.lastgroup == "operator":
            reason = "an operator where an operand is expected"
        else:
            reason = "an operand where an operator is expected"
        return self._refusal(token[0], token.start(), reason)

    def source(self, node: ast.expr) -> str:
        """Show how a node is written."""
        assert node.end_col_offset is not None
        stop = self._tokens[node.end_col_offset - 1].end()
        return quoted(self.text[self._tokens[node.col_offset].start() : stop])

    def error(self, problem: str) -> ValueError:
        return ValueError(f"predicate {quoted(self.text)} {problem}")

    def foreign(self, node: ast.expr, what: str = "", accepted: str = _ACCEPTED) -> ValueError:
        """Return the error for a node that is not accepted."""
        start = self._tokens[node.col_offset].start()
        what = what or type(node).__name__
        return self.error(f"holds {self.source(node)} ({what}) at {start}, {accepted}")

    def _refusal(self, word: str, place: int, reason: str = _ACCEPTED) -> ValueError:
        """Return the error for a place where Python expects something else."""
        found = f"{quoted(word) if word else 'its end'} at {place}"
        return self.error(f"is no expression: found {found}, {_REASONS.get(word, reason)}")


def _without_warning(escape: re.Match[str]) -> str:
    """Write an escape that Python warns of as one with the same value."""
    if escape["large"]:
        return f"\\u{int(escape['large'], 8):04x}"
    return escape[0] if escape["known"] else r"\\"


class _Reader(NamedTuple):
    """Makes nodes of those of Python's that are accepted."""

    parsed: Parsed
    values: Mapping[str, Any]

    def node(self, of: ast.expr) -> Node:
        match of:
            case ast.Name():
                return self.named(of)
            case ast.Constant(value=bool() | int() | float() as value):
                if not is_small(value):
                    raise self.parsed.error(_TOO_WIDE)
                return Node("literal", value, (), self.parsed.source(of))
            case ast.UnaryOp():
                return self.operation("unary", type(of.op), of, [of.operand])
            case ast.BinOp() if type(of.op) in OPERATORS:
                return self.operation("arithmetic", type(of.op), of, [of.left, of.right])
            case ast.BoolOp():
                return self.operation("boolean", type(of.op), of, of.values)
            case ast.Compare() if all(type(sign) in OPERATORS for sign in of.ops):
                return self.chain(of)
            case ast.Call(func=ast.Attribute() as member):
                return self.member(of, member, of)
            case ast.Attribute():
                return self.member(of, of, None)
        raise self.parsed.foreign(of)

    def operation(self, kind: str, sign: Any, of: ast.expr, operands: list[ast.expr]) -> Node:
        return node_of(kind, sign, [self.node(each) for each in operands], self.parsed.source(of))

    def named(self, of: ast.Name) -> Node:
        """Return a column, or the literal that a string or a variable stands for."""
        token = self.parsed.placeholders[of.id]
        if token["string"]:
            if token["prefix"].lower() not in ("", "r", "u"):
                raise self.parsed.foreign(of, f"a string with the prefix {token['prefix']}")
            try:
                raw = token["prefix"].lower() == "r"
                text = token[0] if raw else _ESCAPE.sub(_without_warning, token[0])
                return Node("literal", ast.literal_eval(text), (), quoted(token[0]))
            except (SyntaxError, ValueError):  # for what follows a backslash
                raise self.parsed.foreign(of, "Constant") from None
        name = token[str(token.lastgroup)]
        if not token["variable"]:
            return Node("column", name, (), quoted(name))
        value = self.values[name]
        if isinstance(value, tuple):
            raise TypeError(f"{at(name)} is a list, where the predicate takes one value")
        return Node("literal", value, (), quoted(token[0]))

    def chain(self, of: ast.Compare) -> Node:
        """Return comparisons, each of which takes the right operand of the one before as its left one."""
        signs = tuple(map(type, of.ops))
        for sign, following in pairwise(signs):
            if sign in (ast.In, ast.NotIn):
                raise self.parsed.error(
                    f"has {OPERATORS[following][0]!r} after the list of {OPERATORS[sign][0]!r}; "
                    "write two comparisons, with 'and' between them"
                )
        *operands, last = of.left, *of.comparators
        nodes = [self.node(each) for each in operands]
        nodes.append(self.listed(last) if signs[-1] in (ast.In, ast.NotIn) else self.node(last))
        return node_of("chain", signs, nodes, self.parsed.source(of))

    def listed(self, of: ast.expr) -> Node:
        """Return the list on the right of ``in``."""
        variable = isinstance(of, ast.Name) and self.parsed.placeholders[of.id]["variable"]
        if variable:
            value = self.values[variable]
            if not isinstance(value, tuple):
                raise TypeError(
                    f"{at(variable)} is a {type(value).__name__}, where the predicate takes a list"
                )
            return Node("literal", list(value))
        if isinstance(of, (ast.List, ast.Tuple)):
            nodes = [self.node(each) for each in of.elts]
            if all(node.kind == "literal" for node in nodes):
                return Node("literal", [node.value for node in nodes])
        found = self.parsed.source(of)
        raise self.parsed.error(f"has {found} after 'in', which takes a list of literals")

    def member(self, of: ast.expr, last: ast.Attribute, call: ast.Call | None) -> Node:
        """Return what follows a column after a dot, and its arguments."""
        words, column = self.parsed.placeholders, last.value
        path = words[last.attr][0]
        if isinstance(column, ast.Attribute) and words[column.attr][0] in ACCESSORS:
            path, column = f"{words[column.attr][0]}.{path}", column.value
        if path not in MEMBERS:
            raise self.parsed.foreign(last, accepted=f"accepted after a dot are {ACCEPTED}")
        called = MEMBERS[path].parameters is not None
        if called and call is None:
            raise self.parsed.error(f"has {self.parsed.source(of)} without its parentheses")
        given = call.keywords if call else []
        if (call and not called) or any(each.arg is None for each in given):
            raise self.parsed.foreign(of)
        keywords = tuple((words[str(k.arg)][0], self.argument(k.value).value) for k in given)
        names = [name for name, _ in keywords]
        if twice := [name for name in names if names.count(name) > 1]:
            raise self.parsed.error(f"has {self.parsed.source(of)}, which gives {twice[0]} twice")
        operands = [self.node(column), *map(self.argument, call.args if call else [])]
        return node_of("member", (path, keywords), operands, self.parsed.source(of))

    def argument(self, of: ast.expr) -> Node:
        node = self.node(of)
        if node.kind != "literal":
            found = self.parsed.source(of)
            raise self.parsed.error(f"has {found} between parentheses, which take literals")
        return node
