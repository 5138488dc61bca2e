"""Sphinx configuration: `make docs` builds with warnings as errors."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import draw_lookback  # noqa: E402
import plot_benchmarks  # noqa: E402

import dask_gpuscan  # noqa: E402

draw_lookback.main(HERE / "_drawn")
plot_benchmarks.main(HERE / "_drawn")

project = "dask-gpuscan"
copyright = "2026, the dask-gpuscan developers"
release = version = dask_gpuscan.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "myst_parser",
    "numpydoc",
]
exclude_patterns = ["_build", "_drawn"]
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it better
default_role = "py:obj"  # `cumsum` in a docstring is a link to it
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "dask-gpuscan"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_sidebars = {"**": []}
html_theme_options = {
    "show_prev_next": True,
    "show_toc_level": 2,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
}
