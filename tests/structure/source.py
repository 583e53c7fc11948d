"""The package's files as syntax trees, for the tests of its structure."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

import olympus

PACKAGE = Path(olympus.__file__).parent
SOURCE = PACKAGE / "_src"


def module_name(path):
    parts = ("olympus", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree(path):
    """A file's tree, parsed without searches for garbage among all trees before it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    finally:
        if was_enabled:
            gc.enable()


def source_files():
    return sorted(SOURCE.rglob("*.py"))


def public_modules():
    """Public files: every file of the package outside _src, private ones left out."""
    return sorted(
        path
        for path in PACKAGE.rglob("*.py")
        if SOURCE not in path.parents
        and (path.stem == "__init__" or not path.stem.startswith("_"))
    )


@cache
def imports(path):
    """(import node, inside a function?, under TYPE_CHECKING?) for each of a file."""
    return tuple(_imports(tree(path), False, False))


def _imports(node, in_function, for_types):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, in_function, for_types
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _imports(child, True, for_types)
        elif isinstance(child, ast.If) and _asks_for_types(child.test):
            yield from _imports(child, in_function, True)
        elif not isinstance(child, ast.expr):  # expressions hold none
            yield from _imports(child, in_function, for_types)


def _asks_for_types(test):
    name = getattr(test, "id", None) or getattr(test, "attr", "")
    return name.endswith("TYPE_CHECKING")  # also where it is imported as a private name


def imported_modules(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""]
