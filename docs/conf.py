"""Sphinx configuration: `make docs` builds with warnings as errors."""

import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "tools"))

import plot_benchmarks  # noqa: E402

import dask_gpuscan  # noqa: E402

plot_benchmarks.write_sections(HERE / "_drawn")

project = "dask-gpuscan"
copyright = "2026, the dask-gpuscan developers"
release = version = dask_gpuscan.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "myst_parser",
    "numpydoc",
    "plain_pages",
    "see_also",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_drawn"]
templates_path = ["_templates"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it better
default_role = "py:obj"  # `cumsum` in a docstring is a link to it
add_module_names = False  # headings name the module
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def _answers(url: str) -> bool:
    """Return whether the names of another project's pages can be read."""
    try:
        with urlopen(f"{url}objects.inv", timeout=5):
            return True
    except (URLError, OSError):
        return False


# Names of other projects are links if their pages can be reached, and plain text in a build without a network.
_others = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "pandas": "https://pandas.pydata.org/docs/",
    "dask": "https://docs.dask.org/en/stable/",
    "cudf": "https://docs.rapids.ai/api/cudf/stable/",
    "pyarrow": "https://arrow.apache.org/docs/",
}
intersphinx_mapping = {name: (url, None) for name, url in _others.items() if _answers(url)}

copybutton_prompt_text = r">>> |\.\.\. |\$ "  # prompts and output are not copied
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "dask-gpuscan"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_search_scorer = str(HERE / "scorer.js")
html_sidebars = {path.stem: [] for path in HERE.glob("*.md")}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
}
