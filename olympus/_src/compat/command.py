"""`python -m olympus.compat.jax`: runs a script, a module or a line of code."""

from __future__ import annotations

import builtins
import importlib.util
import linecache
import os
import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType, TracebackType
from typing import Any, NamedTuple, NoReturn

from olympus._src.compat import collection, installation, report
from olympus._src.foundation import collector

_STDIN, _STRING = "-", "<string>"

_EPILOG = "What follows the script is the script's."


class _Words(NamedTuple):
    """What the command line asks for."""

    module: str | None = None
    code: str | None = None
    report: bool = False


def _parse(options: list[str], own: list[str]) -> Any:
    """Our options read; ends the process where they are wrong, or ask for help."""
    if not options and own:
        return _Words()  # which needs no parser, whose import takes 3 ms
    if len(options) == 2 and options[0] == "-c":
        return _Words(code=options[1])
    if len(options) == 2 and options[0] == "-m":
        return _Words(module=options[1])
    parser = _parser()
    namespace = parser.parse_args(options)
    if namespace.module is None and namespace.code is None and not own:
        parser.error("a script is required; name its file, or use -m or -c")
    return namespace


def _parser() -> Any:
    argparse: Any = importlib.import_module("argparse")
    parser = argparse.ArgumentParser(
        prog="python -m olympus.compat.jax",
        usage="%(prog)s [--report] (SCRIPT | -m MODULE | -c CODE | -) [arguments]",
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
    namespace = _parse(options, own)
    listing = report.Report() if namespace.report else None
    installation.install()
    sys.excepthook = _show_error
    with collector.Paused():
        importlib.import_module("olympus.numpy")  # as good as all programs have it
    if listing is not None:
        listing.start()
    try:
        with collection.Spared():
            _run(namespace, own)
    finally:
        if listing is not None:
            listing.stop()
            print(listing.text(), file=sys.stderr)


def _run(words: Any, own: Sequence[str]) -> None:
    if words.code is not None:
        _show_source(words.code)
        _run_text(words.code, _STRING, ["-c", *own])
    elif words.module is not None:
        _run_module(words.module, own)
    elif own[0] == _STDIN:
        _run_text(sys.stdin.buffer.read(), "<stdin>", own)
    else:
        _run_script(own[0], own)


def _show_error(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Shows an uncaught error as Python would without the frames of this command."""
    first = traceback
    while first is not None and _is_own(first.tb_frame.f_code.co_filename):
        first = first.tb_next
    # A syntax error of the program has no frame of the program.
    is_ours = first is None and not issubclass(kind, SyntaxError)
    shown = traceback if is_ours else first
    sys.__excepthook__(kind, error.with_traceback(shown), shown)


def _is_own(filename: str) -> bool:
    own = filename in (__file__, runpy.__file__) or filename.startswith("<frozen ")
    return own or filename.endswith(_MAIN)


_MAIN = os.path.join("compat", "jax", "__main__.py")


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options, and the words of the program."""
    options: list[str] = []
    remaining = list(words)
    while remaining and remaining[0].startswith("-") and remaining[0] != _STDIN:
        option = remaining.pop(0)
        options.append(option)
        if option in ("-m", "-c"):
            return options + remaining[:1], remaining[1:]
        if option.startswith(("-m", "-c")):
            break
    return options, remaining


def _run_script(path: str, words: Sequence[str]) -> None:
    sys.argv = list(words)
    path = os.path.abspath(path)
    spec = PathFinder.find_spec("__main__", [path])
    if spec is not None:
        sys.path[0] = path
        _run_spec(spec)
    elif os.path.isdir(path):
        _stop(f"can't find '__main__' module in {path!r}", 1)
    else:
        sys.path[0] = os.path.dirname(path)
        _execute(compile(_contents(path), path, "exec", dont_inherit=True), path)


def _contents(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        _stop(f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}", 2)


def _show_source(text: str) -> None:
    """Has tracebacks show the lines of the text, as those of Python 3.13 do."""
    linecache.cache[_STRING] = (len(text), None, text.splitlines(True), _STRING)


def _run_text(text: str | bytes, filename: str, words: Sequence[str]) -> None:
    sys.argv = list(words)
    sys.path[0] = ""
    _execute(compile(text, filename, "exec", dont_inherit=True), None)


def _run_module(name: str, words: Sequence[str]) -> None:
    sys.path[0] = os.getcwd()
    spec = _find_module(name)
    if spec is None:
        _stop(f"No module named {name}", 1)
    if spec.submodule_search_locations is not None:
        spec = _find_module(f"{name}.__main__")
        if spec is None:
            _stop(
                f"No module named {name}.__main__; {name!r} is a package and cannot be "
                "directly executed",
                1,
            )
    sys.argv = [spec.origin or name, *words]
    _run_spec(spec)


def _find_module(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        # An import inside the package may be what fails: that is the program's error.
        if not f"{name}.".startswith(f"{error.name}."):
            raise
        what = f"Error while finding module specification for {name!r}"
        _stop(f"{what} (ModuleNotFoundError: {error})", 1)


def _run_spec(spec: ModuleSpec) -> None:
    read = getattr(spec.loader, "get_code", None)
    code = None if read is None else read(spec.name)
    if code is None:
        _stop(f"No code object available for {spec.name}", 1)
    _execute(code, spec.origin, spec.name.rpartition(".")[0], spec)


def _stop(message: str, status: int) -> NoReturn:
    """Ends the process with what Python says of a program that it cannot start."""
    print(f"{sys.executable}: {message}", file=sys.stderr)
    sys.exit(status)


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
