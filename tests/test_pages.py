"""README fits on a screen, and every page that it leads to is plain Markdown, with its pictures in the repository."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from helpers import oldest

ROOT = Path(__file__).parents[1]
HOST = oldest.PROJECT["urls"]["Source"]
PAGES = f"{HOST}/blob/main/"
RAW = f"{HOST}/main/".replace("github.com", "raw.githubusercontent.com")
SITE = oldest.PROJECT["urls"]["Documentation"]
MARKDOWN = MarkdownIt("commonmark").enable("table")


def tokens(page: Path) -> Iterator[Token]:
    """Yield what a code host makes of a page."""
    for token in MARKDOWN.parse(page.read_text(encoding="utf-8")):
        yield token
        yield from token.children or ()


def links(page: Path) -> list[str]:
    return [str(token.attrs["href"]) for token in tokens(page) if token.type == "link_open"]


def local(page: Path, target: str) -> Path | None:
    """Return the file of the repository that a link or a picture leads to."""
    for prefix in (PAGES, RAW):
        if target.startswith(prefix):
            return ROOT / target.removeprefix(prefix).partition("#")[0]
    if re.match(r"\w+:", target):
        return None
    path = target.partition("#")[0]
    return (page.parent / path).resolve() if path else page


def reached() -> list[Path]:
    """Return README and all Markdown pages that links lead to from there."""
    found = [ROOT / "README.md"]
    for page in found:
        targets = [local(page, link) for link in links(page)]
        found += [t for t in dict.fromkeys(targets) if t and t.suffix == ".md" and t not in found]
    return found


REACHED = reached()


def headings(page: Path) -> set[str]:
    """Return the anchors that code hosts make of headings."""
    after = list(tokens(page))
    texts = [
        "".join(c.content for c in after[i + 1].children or ())
        for i, token in enumerate(after)
        if token.type == "heading_open"
    ]
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


def test_readme_fits_on_a_screen() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 90
    start = "\n".join(lines[:16])
    assert f"pip install {oldest.PROJECT['name']}" in start
    assert "No GPU is needed" in start


def test_readme_leads_to_the_docs() -> None:
    assert {ROOT / "docs" / "install.md", ROOT / "docs" / "guide" / "index.md"} <= set(REACHED)
    assert len(REACHED) > 25


@pytest.mark.parametrize("page", REACHED, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_is_plain(page: Path) -> None:
    for token in tokens(page):
        if token.type in ("fence", "code_block"):
            assert not token.info.startswith("{"), f"directive {token.info}"
        elif token.type == "text":
            assert not re.search(r":::|\{[\w:]+\}$", token.content), token.content


@pytest.mark.parametrize("page", REACHED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_page_have_a_text_and_a_target(page: Path) -> None:
    found = list(tokens(page))
    for token, following in pairwise(found):
        if token.type == "link_open":
            target = str(token.attrs["href"])
            assert following.type != "link_close", f"nothing to click on for {target}"
            path = local(page, target)
            if path is not None:
                assert path.exists(), target
                if "#" in target and path.suffix == ".md":
                    assert target.partition("#")[2] in headings(path), target
            elif target.startswith(SITE):
                source = target.removeprefix(SITE).replace(".html", ".md") or "index.md"
                assert (ROOT / "docs" / source).exists(), target


@pytest.mark.parametrize("page", REACHED, ids=lambda page: str(page.relative_to(ROOT)))
def test_pictures_of_page_are_committed(page: Path) -> None:
    for token in tokens(page):
        sources = [token.attrs["src"]] if token.type == "image" else []
        if token.type.startswith("html"):
            sources = re.findall(r'(?:src|srcset)="(.*?)"', token.content)
        for source in sources:
            path = local(page, str(source))
            assert path is not None, f"{source} is not in the repository"
            listed = subprocess.run(
                ["git", "ls-files", "--error-unmatch", path], cwd=ROOT, capture_output=True
            )
            assert path.is_file(), source
            assert listed.returncode in (0, 128), f"{source} is not committed"
