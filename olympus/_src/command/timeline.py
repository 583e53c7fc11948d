"""`python -m olympus timeline`: a page that shows what a script traces and compiles."""

from __future__ import annotations

import argparse
import importlib
import os
import runpy
import sys
from typing import Any

from olympus._src.command.command import Command, Failure


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", help="the file of a Python program")
    parser.add_argument("-o", "--output", help="the file of the page")
    parser.add_argument(
        "--text", action="store_true", help="show a tree in the terminal, and no page"
    )
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="the words for the program"
    )


def _run(arguments: argparse.Namespace) -> int:
    script = arguments.script
    if not os.path.exists(script):
        raise Failure(f"no file {script!r}")
    module: Any = importlib.import_module("olympus._src.lens.timeline")
    name = os.path.splitext(os.path.basename(script))[0]
    session = module.Timeline(name)
    status = 0
    words, sys.argv = sys.argv, [script, *arguments.arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        with session:
            runpy.run_path(script, run_name="__main__")
    except SystemExit as exit:
        status = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    finally:
        sys.argv = words
    if arguments.text:
        session.show("terminal")
        return status
    path = arguments.output or f"{name}.timeline.html"
    session.save(path)
    print(path)
    return status


COMMAND = Command("timeline", "Show what a script compiles", _add_arguments, _run)
