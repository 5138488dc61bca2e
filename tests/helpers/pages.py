"""The pages with examples, and their examples as modules for type checkers."""

import ast
import doctest
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "docs/guide", "docs/api")
PAGES = [ROOT / "README.md", *(page for f in FOLDERS for page in sorted(ROOT.glob(f"{f}/*.md")))]

BLOCK = re.compile(r"^ *```(?:python|pycon)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)

PREAMBLE = "from dask_gpuscan import on as _on; "

# Pages leave out types, and reuse a name for a value of another type.
SETTINGS = """
# mypy: allow-untyped-defs, allow-untyped-calls, allow-redefinition
# pyright: standard, reportMissingImports=false, reportMissingModuleSource=false
"""


def write_modules(folder: Path) -> None:
    """Write a module for each page, with each line of code at its line number in the page.

    ``x.gpuscan`` is written as ``on(x)``, as an accessor cannot be added to stubs of other libraries. Examples that
    raise an error are left out.
    """
    for page in PAGES:
        source = _on_for_accessors(_examples(page.read_text(encoding="utf-8")))
        name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
        (folder / f"{name}.py").write_text(PREAMBLE + source + SETTINGS, encoding="utf-8")


def _examples(text: str) -> str:
    lines = [""] * text.count("\n")
    for block in BLOCK.finditer(text):
        first, code = text.count("\n", 0, block.start(1)), textwrap.dedent(block[1])
        if ">>>" not in code:
            found = [(0, code)]
        else:
            examples = doctest.DocTestParser().get_examples(code)
            found = [(each.lineno, each.source) for each in examples if each.exc_msg is None]
        for number, source in found:
            written = source.splitlines()
            lines[first + number : first + number + len(written)] = written
    return "\n".join(lines)


def _on_for_accessors(source: str) -> str:
    """Replace each ``x.gpuscan`` by ``on(x)``."""
    lines = source.encode().split(b"\n")
    edits = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr == "gpuscan":
            end, begin = node.end_col_offset or 0, node.col_offset
            edits += [
                ((node.end_lineno or 0) - 1, end - len(".gpuscan"), end, b")"),
                (node.lineno - 1, begin, begin, b"_on("),
            ]
    for number, begin, end, new in sorted(edits, reverse=True):
        lines[number] = lines[number][:begin] + new + lines[number][end:]
    return b"\n".join(lines).decode()
