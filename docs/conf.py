"""Sphinx settings."""

import functools
import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent)]
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

import inventories  # noqa: E402  the path is set above
import reference_pages  # noqa: E402

project = "olympus"
author = "the olympus authors"
copyright = author
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_design",
]
exclude_patterns = ["_build", "jupyter_execute"]
html_theme = "pydata_sphinx_theme"
html_title = "olympus"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": [], "reference/objects/*": []}
# Nothing is loaded from elsewhere, so pages read from disk look the same.
html_static_path = ["_static"]
html_css_files = ["olympus.css"]

# Pages are run at each build, since what they show depends on the library and not on
# their text alone; a cell that fails unasked stops the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_render_markdown_format = "myst"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# `x` in docstrings is code.
default_role = "code"

# Other projects' pages are known by lists in the repository: a build needs no network.
intersphinx_mapping = inventories.write(
    Path(__file__).resolve().parent / "_build" / "inventories"
)

napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = ["Source"]
autodoc_member_order = "alphabetical"
autodoc_typehints = "signature"
autodoc_type_aliases = {
    **{name: name for name in ("ArrayLike", "DTypeLike", "PyTree", "Shape")},
    "Arrays": "Sequence[ArrayLike]",
    "Axes": "int | Sequence[int] | None",
    "Axis": "int | None",
    "Indices": "ArrayLike",
    "IndexMode": "str | GatherScatterMode",
    "KeyArray": "Array",
    "Matrices": "ArrayLike",
    "OptionalArray": "ArrayLike | None",
    "Padding": "str | Sequence[tuple[int, int]]",
    "Placement": "Device | Sharding | None",
}
# A class that stands on several pages is the same class on each.
suppress_warnings = ["ref.python"]

# -- the reference: a page for each public module and each object ----------------------

_REFERENCE = Path(__file__).resolve().parent / "reference"


def _write_reference(app):
    _write_pages(_REFERENCE, reference_pages.page_texts())
    _write_pages(_REFERENCE / "objects", reference_pages.object_texts())


def _write_pages(folder, texts):
    """Writes the pages that are new or changed, and removes those that are gone."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("olympus*.md"):
        if old.stem not in texts:
            old.unlink()
    for name, text in texts.items():
        file = folder / f"{name}.md"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def _to_restructured_text(app, what, name, thing, options, lines):
    """Docstrings write `Array`s, `[*shape, n]`, |x| and x_ as they are."""
    if not _is_ours(thing):
        return
    lines[:] = _with_field_of_results(lines)
    for i, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        parts = re.split(
            r"(`[^`]+`)", line.replace("*args, **kwargs:", "args, kwargs:")
        )
        parts[::2] = [re.sub(r"([*|]|_\b)", r"\\\1", part) for part in parts[::2]]
        lines[i] = re.sub(r"(`[^`]+`)(?=\w)", r"\1\\ ", "".join(parts))


def _with_field_of_results(lines):
    """The section "Returns" as a field: its text is no type, whatever has a colon."""
    if "Returns:" not in lines:
        return lines
    start = lines.index("Returns:")
    end = start + 1
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    text = " ".join(line.strip() for line in lines[start + 1 : end])
    return [*lines[:start], f":returns: {text}", *lines[end:]]


def _with_names_of_types(app, what, name, thing, options, signature, result):
    """Names of types within others, as in `Shape | None`, without autodoc's wrapper."""
    strip = functools.partial(re.sub, r"TypeAliasForwardRef\('([^']*)'\)", r"\1")
    return signature and strip(signature), result and strip(result)


def _is_ours(thing):
    return (getattr(thing, "__module__", None) or "olympus").startswith("olympus")


def _skip_others(app, what, name, thing, skip, options):
    """NumPy's classes are documented by NumPy."""
    return True if what == "module" and not _is_ours(thing) else None


def setup(app):
    app.connect("autodoc-process-docstring", _to_restructured_text, priority=400)
    app.connect("autodoc-process-signature", _with_names_of_types)
    app.connect("autodoc-skip-member", _skip_others)
    app.connect("builder-inited", _write_reference)
