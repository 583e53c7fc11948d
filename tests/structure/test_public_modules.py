"""Public modules: a docstring, explicit re-exports, no logic.

The linter keeps each __all__ sorted.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
import typing

import pytest

from structure import source

MODULES = {source.module_name(path): path for path in source.public_modules()}


@pytest.mark.parametrize("name", MODULES)
def test_module_has_a_docstring(name):
    assert importlib.import_module(name).__doc__


@pytest.mark.parametrize("name", MODULES)
def test_every_name_of_all_is_there_once(name):
    module = importlib.import_module(name)
    if name == "olympus":
        return  # the package's door has no __all__: most of its names load late
    listed = module.__all__
    assert len(set(listed)) == len(listed)
    missing = [entry for entry in listed if not hasattr(module, entry)]
    assert not missing


@pytest.mark.parametrize("name", MODULES)
def test_module_holds_no_logic(name):
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr)
    if name.count(".") == 0:
        return  # the package also finds its modules by module __getattr__
    body = source.tree(MODULES[name]).body
    lines = [
        node.lineno
        for node in body
        if not isinstance(node, allowed) and not _is_for_types(node)
    ]
    assert not lines, f"statements at lines {lines}"


@pytest.mark.parametrize("name", MODULES)
def test_module_waits_for_the_package_first(name):
    """Otherwise two threads that import both would each hold what the other needs."""
    if name in ("olympus", "olympus.version", "olympus.compat"):
        return  # these import nothing that a module of the package could be waiting for
    imports = [
        ast.unparse(node)
        for node in source.tree(MODULES[name]).body
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    ours = [line for line in imports if "olympus" in line]
    assert ours[0] == "import olympus as _olympus"


def _is_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "_TYPE_CHECKING"


def _late_modules():
    return [name for name in MODULES if hasattr(importlib.import_module(name), "_LATE")]


def _entry(alias):
    """What an import under `if _TYPE_CHECKING` is in the list of late names."""
    is_other = alias.asname not in (None, alias.name)
    return f"{alias.asname}={alias.name}" if is_other else alias.name


@pytest.mark.parametrize("name", _late_modules())
def test_what_is_loaded_late_is_what_type_checkers_are_told(name):
    blocks = [n for n in source.tree(MODULES[name]).body if _is_for_types(n)]
    told = {}
    for node in blocks[0].body:
        file = node.module.removeprefix("olympus._src.")
        told.setdefault(file, set()).update(map(_entry, node.names))
    paths = [module.rpartition(".") for module in MODULES]
    below = {child for parent, _, child in paths if parent == name}
    assert told.pop(name, set()) == below
    late = importlib.import_module(name)._LATE
    assert {file: set(names.split()) for file, names in late.items()} == told


@pytest.mark.parametrize("name", _late_modules())
def test_what_is_loaded_late_is_found_and_listed(name):
    module = importlib.import_module(name)
    for file, names in module._LATE.items():
        home = importlib.import_module(f"olympus._src.{file}")
        for entry in names.split():
            public, _, own = entry.partition("=")
            value = getattr(module, public)
            # A function may stand behind one that shortens its errors.
            wrapped = getattr(value, "__wrapped__", value)
            assert getattr(home, own or public) in (value, wrapped)
            assert public in dir(module)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        module.no_such_name  # noqa: B018


def _is_ours(thing):
    return (getattr(thing, "__module__", None) or "").startswith("olympus")


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_and_class_has_a_docstring(name):
    module = importlib.import_module(name)
    bare = [
        entry
        for entry in getattr(module, "__all__", None) or vars(module)
        if not entry.startswith("_")
        and callable(thing := getattr(module, entry))
        and _is_ours(thing)
        and not (getattr(thing, "__doc__", None) or "").strip()
    ]
    assert not bare


def _with_methods(name, thing):
    """A public function, or a class and its public methods, by their names."""
    yield name, thing
    for entry, member in vars(thing).items() if isinstance(thing, type) else ():
        member = getattr(member, "__func__", None) or getattr(member, "fget", member)
        is_public = not entry.startswith("_") or entry in ("__init__", "__call__")
        if is_public and inspect.isfunction(member):
            yield f"{name}.{entry}", member


@pytest.mark.parametrize("name", MODULES)
def test_annotations_of_every_public_name_can_be_read(name):
    module = importlib.import_module(name)
    unreadable = {}
    for entry in getattr(module, "__all__", None) or dir(module):
        thing = getattr(module, entry)
        is_definition = isinstance(thing, type) or inspect.isroutine(thing)
        if entry.startswith("_") or not is_definition or not _is_ours(thing):
            continue
        for place, definition in _with_methods(entry, thing):
            try:
                typing.get_type_hints(definition)
            except NameError as error:
                unreadable[place] = str(error)
    assert not unreadable


def test_annotations_are_read_in_any_order():
    """A reference to a name is kept once it is read; it was, by another module."""
    code = "import typing, olympus.ops; typing.get_type_hints(olympus.ops.segment_sum)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_annotations_of_a_named_tuple_are_read_in_its_own_file():
    from olympus.bundle import ExecutableInfo

    hints = typing.get_type_hints(ExecutableInfo)
    assert typing.get_type_hints(ExecutableInfo.__new__) == hints
    assert hints["platform"] is str
