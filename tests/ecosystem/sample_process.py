"""Runs a workload on olympus and writes what the processor's time went to:

    python tests/ecosystem/sample_process.py NAME OUT.json

Python's stack is looked at a thousand times a second of the processor's time, but only
between calls of functions in C; so each look counts for the time since the one before
it, and for the first kind of work in `_KINDS` that it shows.
"""

import collections
import contextlib
import json
import pathlib
import runpy
import signal
import sys
import time

_FOLDER = pathlib.Path(__file__).resolve().parent
# By kind of work, a part of a file's path and functions of it that are on the stack.
_KINDS = (
    ("loading", "/_src/interpreters/compilation.py", ("load",)),
    ("lowering", "/_src/interpreters/lowered_programs.py", ("lower",)),
    ("tracing", "/_src/api/tracing.py", ("trace_call",)),
    ("tracing", "/_src/interpreters/partial_eval.py", ("trace_to_olympuspr",)),
    ("olympus", "/_src/compat/modules.py", ("_find", "find_spec", "exec_module")),
)

_seconds: collections.Counter[str] = collections.Counter()
_last_look = time.process_time()


def _look(signum, frame):
    global _last_look
    del signum
    stack = []
    while frame is not None:
        stack.append((frame.f_code.co_filename, frame.f_code.co_name))
        frame = frame.f_back
    now = time.process_time()
    _seconds[_kind(stack)] += now - _last_look
    _last_look = now


def _kind(stack):
    for kind, part, functions in _KINDS:
        if any(part in file and name in functions for file, name in stack):
            return kind
    # The module that is being imported, or what runs.
    file = next(file for file, name in stack if name == "<module>")
    if file.endswith("/run_workload.py"):
        return "running"
    is_own = "/olympus/" in file or file.endswith("/sample_process.py")
    return "olympus" if is_own else "libraries"


def main():
    name, out = sys.argv[1:]
    signal.signal(signal.SIGPROF, _look)
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    script = str(_FOLDER / "run_workload.py")
    sys.argv = ["olympus.compat.jax", script, name, f"{out}.values"]
    with contextlib.suppress(SystemExit):
        runpy.run_module("olympus.compat.jax", run_name="__main__", alter_sys=True)
    signal.setitimer(signal.ITIMER_PROF, 0)
    pathlib.Path(out).write_text(json.dumps(_seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
