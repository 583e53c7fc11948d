"""The reference: the text of one page for each public page of olympus.

A page is made of the docstrings of its names. What differs from NumPy or SciPy is said
in the docstring of the function, in a paragraph that begins with "Differs from NumPy:"
or "Differs from SciPy:", and is collected at the head of the page.
"""

import importlib
import inspect
import re
import sys
import types
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent / "olympus"
_DIFFERENCE = re.compile(r"^Differs from (NumPy|SciPy): ", re.MULTILINE)

# Classes of errors have their places on the page that explains them.
_INDEXED_ELSEWHERE = {"olympus.errors"}


def page_names():
    """The names of the public pages, `olympus` first."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        parts = path.relative_to(_PACKAGE).with_suffix("").parts
        if any(part.startswith("_") and part != "__init__" for part in parts):
            continue
        yield ".".join(("olympus", *(part for part in parts if part != "__init__")))


def page_texts():
    """The text of each page, by the page's name."""
    homes = {}
    return {page: _text(page, homes) for page in sorted(page_names())}


def differences(docstring):
    """(library, text) of each paragraph that says what differs."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(docstring or "")):
        found = _DIFFERENCE.match(paragraph)
        if found:
            yield found[1], " ".join(paragraph[found.end() :].split())


def members(page):
    """The public names of a page and what they name."""
    module = importlib.import_module(page)
    for name in getattr(module, "__all__", None) or dir(module):
        if name.startswith("_") or name == "annotations":
            continue
        thing = getattr(module, name)
        if not inspect.ismodule(thing):
            yield name, thing


def _text(page, homes):
    elsewhere = _documented_before(page, homes)
    return "\n".join(
        [
            f"# {page}",
            "",
            *_differences(page),
            *_also_here(elsewhere),
            *_page_directive(page, elsewhere),
            *_objects(page),
        ]
    )


def _page_directive(page, elsewhere):
    options = ["members:"]
    if page == "olympus":
        options.append("imported-members:")
    if page in _INDEXED_ELSEWHERE:
        options.append("no-index:")
    if elsewhere:
        options.append(f"exclude-members: {', '.join(sorted(elsewhere))}")
    return _directive(f"automodule:: {page}", *options)


def _directive(head, *options, body=()):
    lines = [f".. {head}", *(f"   :{option}" for option in options)]
    if body:
        lines += ["", *(f"   {line}".rstrip() for line in body)]
    return ["```{eval-rst}", *lines, "```", ""]


def _objects(page):
    """What autodoc leaves out: objects that are called, values, classes of others."""
    called, primitives, others = [], [], []
    for name, thing in members(page):
        if inspect.isclass(thing) or inspect.isroutine(thing):
            ours = (thing.__module__ or "olympus").startswith("olympus")
            others += [] if ours else [name]
        elif name.endswith("_p"):
            primitives.append(name)
        elif _is_documented_callable(thing):
            called.append(name)
        else:
            others.append(name)
    lines = []
    for name in called:
        lines += _directive(f"autofunction:: {page}.{name}")
    for heading, names in (("Primitives", primitives), ("Values and types", others)):
        if names:
            lines += [f"## {heading}", "", ", ".join(f"`{n}`" for n in names) + ".", ""]
    return lines


def _is_documented_callable(thing):
    """Whether it is an object like `numpy.add`, and not the alias of a type."""
    alias = isinstance(thing, types.GenericAlias | types.UnionType)
    return callable(thing) and not alias and hasattr(thing, "__name__")


def _documented_before(page, homes):
    """The page's classes that an earlier page documents, with that page's name."""
    found = {}
    if page in _INDEXED_ELSEWHERE:
        return found
    for name, thing in members(page):
        if inspect.isclass(thing) and thing.__module__.startswith("olympus"):
            home = homes.setdefault(thing, page)
            if home != page:
                found[name] = home
    return found


def _also_here(elsewhere):
    if not elsewhere:
        return []
    names = [f"`{name}` (see {home})" for name, home in sorted(elsewhere.items())]
    return [f"Also on this page: {', '.join(names)}.", ""]


def _differences(page):
    things = [("Everything here", importlib.import_module(page))]
    things += [(f"`{name}`", thing) for name, thing in members(page)]
    rows = [
        f"{name}\n: {text}\n"
        for name, thing in things
        for _, text in differences(getattr(thing, "__doc__", None))
    ]
    if not rows:
        return []
    library = "SciPy" if page.startswith("olympus.scipy") else "NumPy"
    return [f"## Where this differs from {library}", "", *rows, "## Names", ""]


def names_left_out(build):
    """The public names that the built pages in the folder `build` do not show."""
    for page in page_names():
        text = (Path(build) / "reference" / f"{page}.html").read_text("utf-8")
        for name, _ in members(page):
            if f'<span class="pre">{name}</span>' not in text:
                yield f"{page}.{name}"


if __name__ == "__main__":
    left_out = list(names_left_out(sys.argv[1]))
    if left_out:
        sys.exit(f"docs: no reference for {', '.join(left_out)}")
