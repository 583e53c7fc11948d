"""Sphinx settings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

project = "olympus"
author = "the olympus authors"
copyright = author
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build", "jupyter_execute"]
html_theme = "alabaster"
html_theme_options = {
    "description": "Transformations of array programs, compiled by XLA",
    "fixed_sidebar": True,
    "page_width": "72em",
}

# Pages are run when they are built; a cell that fails unasked stops the build.
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = ["Source"]
autodoc_member_order = "alphabetical"
autodoc_typehints = "none"
