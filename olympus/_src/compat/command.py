"""`python -m olympus.compat.jax`: runs a script, a module or a line of code."""

from __future__ import annotations

import argparse
import builtins
import importlib.util
import os
import runpy
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType, TracebackType

from olympus._src.compat import installation
from olympus._src.compat.report import Report

_EPILOG = "What follows the script is the script's."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m olympus.compat.jax",
        usage="%(prog)s [--report] (SCRIPT | -m MODULE | -c CODE) [arguments]",
        description="Runs a program written for JAX on olympus, unmodified.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="list, on stderr at the end, the names of JAX that the program read",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-m", metavar="MODULE", dest="module", help="run a module")
    what.add_argument("-c", metavar="CODE", dest="code", help="run a text")
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def main(words: Sequence[str] | None = None) -> None:
    """Runs the program that the command line names, as Python itself would.

    Args:
      words: of the command line; None for those of this process.
    """
    words = list(sys.argv[1:] if words is None else words)
    options, own = _split(words)
    parser = _parser()
    namespace = parser.parse_args(options)
    if namespace.module is None and namespace.code is None and not own:
        parser.error("a script is required; name its file, or use -m or -c")
    report = Report() if namespace.report else None
    installation.install()
    sys.excepthook = _show_error
    if report is not None:
        report.start()
    try:
        if namespace.code is not None:
            _run_code(namespace.code, own)
        elif namespace.module is not None:
            _run_module(namespace.module, own)
        else:
            _run_script(own[0], own)
    finally:
        if report is not None:
            report.stop()
            print(report.text(), file=sys.stderr)


def _show_error(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Shows an uncaught error as Python would without the frames of this command."""
    first = traceback
    while first is not None and _is_own(first.tb_frame.f_code.co_filename):
        first = first.tb_next
    shown = traceback if first is None else first
    sys.__excepthook__(kind, error.with_traceback(shown), shown)


def _is_own(filename: str) -> bool:
    own = filename in (__file__, runpy.__file__) or filename.startswith("<frozen ")
    return own or filename.endswith(_MAIN)


_MAIN = os.path.join("compat", "jax", "__main__.py")


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options, and the words of the program."""
    options: list[str] = []
    remaining = list(words)
    while remaining and remaining[0].startswith("-"):
        option = remaining.pop(0)
        options.append(option)
        if option in ("-m", "-c"):
            options += remaining[:1]
            return options, remaining[1:]
    return options, remaining


def _run_script(path: str, words: Sequence[str]) -> None:
    sys.argv = list(words)
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    _execute(code, path)


def _run_code(text: str, words: Sequence[str]) -> None:
    sys.argv = ["-c", *words]
    sys.path[0] = ""
    _execute(compile(text, "<string>", "exec", dont_inherit=True), None)


def _run_module(name: str, words: Sequence[str]) -> None:
    sys.path[0] = os.getcwd()
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    if spec is None or spec.loader is None:
        sys.exit(f"python -m olympus.compat.jax: there is no module {name!r}")
    code = spec.loader.get_code(spec.name)  # type: ignore[attr-defined]
    if code is None:
        sys.exit(f"python -m olympus.compat.jax: {name!r} has no code to run")
    sys.argv = [spec.origin or name, *words]
    _execute(code, spec.origin, spec.name.rpartition(".")[0], spec)


def _execute(
    code: CodeType, file: str | None, package: str | None = None, spec: object = None
) -> None:
    """Runs code as the main module, which pickles and threads find by its name."""
    module = ModuleType("__main__")
    values = vars(module)
    values.update(__builtins__=builtins, __package__=package, __spec__=spec)
    if file is not None:
        values["__file__"] = file
    sys.modules["__main__"] = module
    exec(code, values)
