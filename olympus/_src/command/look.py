"""`python -m olympus lens`: a page that shows what becomes of a function."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from typing import Any

from olympus._src.command.command import Command, Failure


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "call",
        metavar="MODULE:CALL",
        help="a module or a file and a call of its names, as in "
        "'train:step(params, batch)'",
    )
    parser.add_argument("-o", "--output", help="the file of the page")
    parser.add_argument(
        "--text", action="store_true", help="show a tree in the terminal, and no page"
    )
    parser.add_argument(
        "--diff",
        metavar="MODULE:CALL",
        help="compare with another call, as in 'train:new_step(params, batch)'",
    )


def _run(arguments: argparse.Namespace) -> int:
    view = _look(arguments.call)
    if arguments.diff is not None:
        view = view.diff(_look(arguments.diff))
    if arguments.text:
        view.show("terminal")
        return 0
    shell: Any = importlib.import_module("olympus._src.lens.shell")
    path = arguments.output or shell.file_name(view.name)
    view.save(path)
    print(path)
    return 0


def _look(words: str) -> Any:
    """The lens on a call, as in 'train:step(params)'."""
    module, separator, call = words.partition(":")
    if not separator or not call:
        raise Failure(
            f"requires MODULE:CALL, as in 'train:step(params)', got {words!r}"
        )
    names = vars(_load(module))
    calls: Any = importlib.import_module("olympus._src.lens.calls")
    try:
        return calls.look_at(call if "(" in call else f"{call}()", names)
    except (SyntaxError, ValueError, NameError) as error:
        raise Failure(f"{call}: {error}") from error


def _load(module: str) -> Any:
    """A module by its name, or by the path of its file."""
    if not module.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise Failure(f"no module {module!r} here; write train:step(x)") from error
    name = os.path.splitext(os.path.basename(module))[0]
    spec = importlib.util.spec_from_file_location(name, module)
    if spec is None or spec.loader is None or not os.path.exists(module):
        raise Failure(f"no file {module!r}")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    sys.path.insert(0, os.path.dirname(os.path.abspath(module)))
    spec.loader.exec_module(loaded)
    return loaded


COMMAND = Command("lens", "Show what becomes of a function", _add_arguments, _run)
