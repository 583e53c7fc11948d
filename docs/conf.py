"""Sphinx settings."""

project = "olympus"
author = "the olympus authors"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build"]
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
html_theme = "alabaster"
