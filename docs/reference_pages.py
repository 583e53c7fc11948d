"""The reference: a page for each public module, and one for each function and class.

A module's page has tables of its names, by the file that defines them, with the first
lines of their docstrings. What differs from NumPy or SciPy is said in the docstring of
the function, in a paragraph that begins with "Differs from NumPy:" or "Differs from
SciPy:", and is collected at the end of the module's page.
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

# A module of fewer names has one table.
_SMALL = 25


def page_names():
    """The names of the public pages, `olympus` first."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        parts = path.relative_to(_PACKAGE).with_suffix("").parts
        if any(part.startswith("_") and part != "__init__" for part in parts):
            continue
        yield ".".join(("olympus", *(part for part in parts if part != "__init__")))


def page_texts():
    """The text of each public module's page, by the module's name."""
    return {page: _text(page) for page in sorted(page_names())}


def object_texts():
    """The page's text of each function and class, by its name with its module's."""
    return {
        f"{home}.{name}": _object_text(f"{home}.{name}", thing)
        for page in page_names()
        if page not in _INDEXED_ELSEWHERE
        for name, thing in members(page)
        if _has_page(thing)
        for home in [home_of(page, name, thing)]
        if home == page
    }


def home_of(page, name, thing):
    """The public module on whose part of the reference an object is documented."""
    home = getattr(thing, "__module__", None) or page
    if home == page or home.startswith("olympus._src") or home not in set(page_names()):
        return page
    return home if getattr(sys.modules.get(home), name, None) is thing else page


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


def _text(page):
    own = page in _INDEXED_ELSEWHERE
    return "\n".join(
        [
            f"# {page}",
            "",
            *_directive(f"automodule:: {page}", *(["members:", "no-index:"] * own)),
            *([] if own else _tables(page)),
            *_values(page),
            *_differences(page),
        ]
    )


def _directive(head, *options):
    lines = [f".. {head}", *(f"   :{option}" for option in options)]
    return ["```{eval-rst}", *lines, "```", ""]


def _tables(page):
    """A table for each group of functions and classes: names with one line each."""
    groups = {}
    for name, thing in members(page):
        if _has_page(thing):
            groups.setdefault(_group(page, thing), []).append((name, thing))
    lines = []
    for title, things in sorted(groups.items()):
        heading = title if len(groups) > 1 else "Functions and classes"
        lines += [f"## {heading}", ""]
        lines += ["| Name | What it does |", "| --- | --- |"]
        lines += [_row(page, name, thing) for name, thing in sorted(things)]
        lines += [""]
    return lines


def _row(page, name, thing):
    home = home_of(page, name, thing)
    own = home not in _INDEXED_ELSEWHERE
    target = f"objects/{home}.{name}" if own else home
    return f"| [`{name}`]({target}.md) | {_summary(thing)} |"


def _summary(thing):
    first = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return " ".join(first.split()).replace("|", "\\|")


def _group(page, thing):
    """The group of an object: what the file that defines it is named for."""
    path = source_of(thing)
    if path is None or path.stem == "__init__" or len(list(members(page))) < _SMALL:
        return "Types"
    return path.stem.replace("_", " ").capitalize()


def source_of(thing):
    """The file that defines an object, or None."""
    function = inspect.unwrap(getattr(thing, "func", thing))  # a ufunc's
    code = getattr(function, "__code__", None)
    if code is not None:
        return Path(code.co_filename)
    try:
        return Path(inspect.getfile(thing))
    except TypeError:
        return None


def namesake(name):
    """The object of NumPy or SciPy that one of ours is named for, or None."""
    theirs = name.removeprefix("olympus.")
    if not theirs.startswith(("numpy.", "scipy.")):
        return None
    home, _, attribute = theirs.rpartition(".")
    try:
        thing = getattr(importlib.import_module(home), attribute, None)
    except ImportError:  # `scipy.stats.norm.cdf`: a method there, described with `norm`
        return home if _has_attribute(home) else None
    return theirs if callable(thing) else None


def _has_attribute(name):
    home, _, attribute = name.rpartition(".")
    return hasattr(importlib.import_module(home), attribute)


def _object_text(name, thing):
    path = source_of(thing)
    kind = "autoclass" if inspect.isclass(thing) else "autofunction"
    options = ["members:"] if inspect.isclass(thing) else []
    lines = ["---", "orphan: true", "---", "", f"# {name}", ""]
    lines += _directive(f"{kind}:: {name}", *options)
    theirs = namesake(name)
    if theirs:
        lines += [f"Corresponds to {{py:obj}}`{theirs}`.", ""]
    if path is not None and _PACKAGE in path.parents:
        lines += _source(path, thing)
    return "\n".join(lines)


def _source(path, thing):
    """Where an object is defined, and its code folded below."""
    file = path.relative_to(_PACKAGE.parent).as_posix()
    try:
        code, first = inspect.getsourcelines(inspect.unwrap(thing))
    except (OSError, TypeError):
        return [f"Defined in `{file}`.", ""]
    lines = f"{first}-{first + len(code) - 1}"
    return [
        f":::{{dropdown}} Defined in `{file}`, line {first}",
        f"```{{literalinclude}} /../{file}",
        ":language: python",
        f":lines: {lines}",
        ":lineno-match:",
        "```",
        ":::",
        "",
    ]


def _has_page(thing):
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return (thing.__module__ or "olympus").startswith("olympus")
    return _is_documented_callable(thing) and not _is_primitive(thing)


def _is_primitive(thing):
    return type(thing).__name__ == "Primitive"


def _values(page):
    """What has no page of its own: primitives, values, classes of others."""
    others = [(name, x) for name, x in members(page) if not _has_page(x)]
    primitives = [name for name, x in others if _is_primitive(x)]
    values = [name for name, x in others if not _is_primitive(x)]
    lines = []
    for heading, names in (("Primitives", primitives), ("Values and types", values)):
        if names:
            lines += [f"## {heading}", "", ", ".join(f"`{n}`" for n in names) + ".", ""]
    return lines


def _is_documented_callable(thing):
    """Whether it is an object like `numpy.add`, and not the alias of a type."""
    alias = isinstance(thing, types.GenericAlias | types.UnionType)
    return callable(thing) and not alias and hasattr(thing, "__name__")


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
    return [f"## Where this differs from {library}", "", *rows, ""]


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
