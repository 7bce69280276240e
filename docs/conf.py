"""Sphinx settings; `make docs` builds with warnings as errors."""

from importlib.metadata import version as installed_version

project = "Partwise"
author = "The Partwise developers"
copyright = "the Partwise developers"
release = installed_version("partwise")
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build", "generated/partwise.rst"]
templates_path = ["_templates"]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc says them in words
# The templates list methods themselves, without what scikit-learn adds.
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"Partwise {release}"
html_copy_source = False
