"""Inventories of the documentation of Python, NumPy and SciPy, for a build offline.

`docs/inventories/NAME.txt` lists what our pages refer to, one object a line: its name,
its role in Sphinx's Python domain, and its page below the project's address, where `$`
stands for the name. `write` turns the lists into the files that intersphinx reads.

    python docs/inventories.py

lists NumPy's and SciPy's again, from the names that both they and olympus have.
"""

import importlib
import inspect
import zlib
from pathlib import Path

import reference_pages

_LISTS = Path(__file__).resolve().parent / "inventories"
ADDRESSES = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
}
_HEADER = """# Sphinx inventory version 2
# Project: {}
# Version:
# The remainder of this file is compressed using zlib.
"""


def names():
    """Every name that is listed."""
    return {line.split()[0] for name in ADDRESSES for line in _lines(name)}


def write(folder):
    """Writes the inventories; what `intersphinx_mapping` is to be."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, address in ADDRESSES.items():
        entries = []
        for line in _lines(project):
            name, role, page = line.split()
            entries.append(f"{name} py:{role} 1 {page.replace('$', name)} -\n")
        file = folder / f"{project}.inv"
        body = zlib.compress("".join(entries).encode())
        file.write_bytes(_HEADER.format(project).encode() + body)
        mapping[project] = (address, str(file))
    return mapping


def _lines(project):
    text = (_LISTS / f"{project}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _list(project):
    """Lines for the objects of NumPy or SciPy that have a namesake in olympus."""
    theirs = {reference_pages.namesake(name) for name in reference_pages.object_texts()}
    for name in sorted(filter(None, theirs)):
        if name.startswith(f"{project}."):
            home, _, attribute = name.rpartition(".")
            thing = getattr(importlib.import_module(home), attribute)
            role = "class" if inspect.isclass(thing) else "function"
            yield f"{name} {role} {_page(thing)}"


def _page(thing):
    """NumPy's scalar types have one page, other things one each."""
    is_scalar_type = inspect.isclass(thing) and any(
        base.__name__ == "generic" for base in thing.__mro__
    )
    return f"reference/{'arrays.scalars' if is_scalar_type else 'generated/$'}.html#$"


if __name__ == "__main__":
    for listed in ("numpy", "scipy"):
        text = "\n".join(_list(listed)) + "\n"
        (_LISTS / f"{listed}.txt").write_text(text, encoding="utf-8")
