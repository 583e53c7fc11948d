"""Runs programs written for JAX in one process and prints what each of them printed.

    python tests/compat/program_runner.py NAME ...
    python -m olympus.compat.jax tests/compat/program_runner.py NAME ...

The result is one JSON object, from the program's name to its lines. Each program gets a
`__main__` of its own. An exception that leaves a program is a line of its text.
"""

import contextlib
import io
import json
import re
import sys
import traceback
import types
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "programs"


# What releases of JAX print by themselves: of repeated runs, and places in this folder.
_NOISE = re.compile(r"Invalid (nan|inf) value encountered|/\S+\.py:\d+:\d+ \(")


def run_program(name):
    """The lines that a program printed."""
    path = FOLDER / f"{name}.py"
    module = types.ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
        except BaseException as error:
            traceback.print_exc()
            print(f"ENDED BY {type(error).__name__}: {str(error)[:300]}")
    lines = printed.getvalue().splitlines()
    return [line.rstrip() for line in lines if not _NOISE.match(line)]


def main(names):
    """Runs the programs and prints their lines as JSON."""
    kept = sys.modules["__main__"]
    lines = {name: run_program(name) for name in names}
    sys.modules["__main__"] = kept
    print(json.dumps(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
