"""Extends plain Markdown pages, which are readable on a code host, with features of the site.

- The pages that a page of `CONTENTS` links to are below it in the site, in the same order.
- A picture ``name-light.svg`` has a variant ``name-dark.svg`` for the dark theme of the site.
- Inline code that names a public function, such as `dask_gpuscan.precompile`, links to its page.
- ``<!-- search: running total; dedupe -->`` adds words to the search index.
- ``<!-- code: days -->`` shows functions of the example.
"""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

import dask_gpuscan

CONTENTS = ("index", "guide/index")
EXAMPLE = "../examples/flights/questions.py"
LIGHT, DARK = "-light.svg", "-dark.svg"


def add_directives(app: Sphinx, page: str, source: list[str]) -> None:
    """Add the contents of a page, from the links in its table, its search words, and code."""
    text = source[0]
    if page in CONTENTS:
        linked = re.findall(r"(?m)^\|.*\]\((\S+)\.md\)", text)
        text += "\n```{toctree}\n:hidden:\n\n" + "\n".join(linked) + "\n```\n"

    def index(found: re.Match[str]) -> str:
        words = "\n".join(f"   ! single: {each.strip()}" for each in found[1].split(";"))
        return f"```{{eval-rst}}\n.. index::\n{words}\n```"

    def code(found: re.Match[str]) -> str:
        shown = (f"```{{literalinclude}} {EXAMPLE}\n:pyobject: {n}\n```" for n in found[1].split())
        return "\n\n".join(shown)

    text = re.sub(r"<!-- search: (.*?) -->", index, text, flags=re.DOTALL)
    source[0] = re.sub(r"<!-- code: (.*?) -->", code, text)


def add_dark_pictures(app: Sphinx, tree: nodes.document) -> None:
    """Show the dark picture in the dark theme."""
    for light in list(tree.findall(nodes.image)):
        if light["uri"].endswith(LIGHT):
            dark = light.deepcopy()
            dark["uri"] = light["uri"].removesuffix(LIGHT) + DARK
            light["classes"] += ["picture", "only-light"]
            dark["classes"] += ["picture", "only-dark"]
            light.parent.insert(light.parent.index(light) + 1, dark)


def link_names(app: Sphinx, tree: nodes.document) -> None:
    """Link inline code that is the name of a public function or class."""
    for code in list(tree.findall(nodes.literal)):
        name = code.astext().removeprefix("dask_gpuscan.")
        if name == code.astext() or name not in dask_gpuscan.__all__:
            continue
        if isinstance(code.parent, (nodes.reference, nodes.title, addnodes.pending_xref)):
            continue
        link = addnodes.pending_xref(
            "",
            code.deepcopy(),
            refdomain="py",
            reftype="obj",
            reftarget=code.astext(),
            refdoc=app.env.docname,
            refexplicit=True,
        )
        code.replace_self(link)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the build: dark pictures are added before Sphinx collects images."""
    app.connect("source-read", add_directives)
    app.connect("doctree-read", add_dark_pictures, priority=100)
    app.connect("doctree-read", link_names)
    return {"parallel_read_safe": True}
