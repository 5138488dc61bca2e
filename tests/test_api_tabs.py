"""The examples of the API's pages have the same calls for each library, and the answers that stand below them."""

import doctest
import re
from pathlib import Path

import pytest

from helpers.backends import has_cuda

FOLDER = Path(__file__).parent.parent / "docs" / "api"
TAB = re.compile(r"^:::\{tab-item\} (\w+)\n.*?```pycon\n(.*?)```", re.MULTILINE | re.DOTALL)

TABS = [
    pytest.param(
        code,
        id=f"{page.stem}-{library}",
        marks=[pytest.mark.gpu, pytest.mark.skipif(not has_cuda(), reason="needs a GPU")]
        if library == "cuDF"
        else [],
    )
    for page in sorted(FOLDER.glob("*.md"))
    for library, code in TAB.findall(page.read_text())
]


@pytest.mark.parametrize("code", TABS)
def test_examples_have_these_answers(code):
    test = doctest.DocTestParser().get_doctest(code, {}, "tab", None, None)
    printed = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert tried > 3
    assert not failed, "".join(printed)


def test_each_page_has_each_library():
    assert len(TABS) == 12
