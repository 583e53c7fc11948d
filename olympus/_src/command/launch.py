"""`python -m olympus launch`: runs a script as several processes on this machine."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from olympus._src.command.command import Command, Failure

_TURN_S = 0.05
_PATIENCE_S = 5.0  # from the request to end to the end by force
_SIGNAL_STATUS = 128  # what shells add to the number of a signal


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n", metavar="N", type=_positive, required=True, help="how many processes"
    )
    parser.add_argument(
        "--devices-per-process",
        metavar="K",
        type=_positive,
        help="how many devices the CPU of each process is split into",
    )
    parser.add_argument(
        "-m",
        dest="is_module",
        action="store_true",
        help="SCRIPT is the name of a module, as for `python -m`",
    )
    parser.add_argument("script", help="the file of Python that each process runs")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(
            f"must be an integer of at least 1, got {text!r}"
        )
    return int(text)


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.is_module and not os.path.isfile(arguments.script):
        raise Failure(f"{arguments.script}: no such file")
    processes: list[subprocess.Popen[str]] = []
    readers: list[threading.Thread] = []
    with _stopping_on_signals():
        try:
            for environment in _environments(arguments):
                process = _start(arguments, environment)
                processes.append(process)
                number = len(processes) - 1
                for stream, target in (
                    (process.stdout, sys.stdout),
                    (process.stderr, sys.stderr),
                ):
                    reader = threading.Thread(
                        target=_copy_lines, args=(stream, target, number), daemon=True
                    )
                    reader.start()
                    readers.append(reader)
            return _wait(processes)
        finally:
            _end(processes)
            for reader in readers:
                reader.join(_PATIENCE_S)


@contextlib.contextmanager
def _stopping_on_signals() -> Iterator[None]:
    """A block in which SIGTERM and SIGINT raise exceptions."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(_SIGNAL_STATUS + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Ctrl-C too: shells start programs in the background with that one ignored.
    handlers = {signal.SIGTERM: stop, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, f) for number, f in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# -- starting --------------------------------------------------------------------------


def _environments(arguments: argparse.Namespace) -> Iterator[dict[str, str]]:
    own = {
        "OLYMPUS_COORDINATOR_ADDRESS": f"127.0.0.1:{_free_port()}",
        "OLYMPUS_NUM_PROCESSES": str(arguments.n),
        "PYTHONUNBUFFERED": "1",
    }
    if arguments.devices_per_process:
        own["OLYMPUS_NUM_CPU_DEVICES"] = str(arguments.devices_per_process)
    for k in range(arguments.n):
        yield {**os.environ, **own, "OLYMPUS_PROCESS_ID": str(k)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _start(
    arguments: argparse.Namespace, environment: dict[str, str]
) -> subprocess.Popen[str]:
    script = ["-m"] * arguments.is_module + [arguments.script]
    # A session of its own: it can be ended with all that it starts.
    return subprocess.Popen(
        [sys.executable, *script, *arguments.args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    )


_output = threading.Lock()


def _copy_lines(stream: Any, target: Any, number: int) -> None:
    with stream:
        for line in stream:
            with _output:
                target.write(f"[{number}] {line.rstrip()}\n")
                target.flush()


# -- ending ----------------------------------------------------------------------------


def _wait(processes: list[subprocess.Popen[str]]) -> int:
    """Waits until all have ended, or one has failed; returns the exit status."""
    running = list(enumerate(processes))
    while running:
        for number, process in list(running):
            status = process.poll()
            if status is None:
                continue
            running.remove((number, process))
            if status:
                return _report(number, status, len(running))
        time.sleep(_TURN_S)
    return 0


def _report(number: int, status: int, n_running: int) -> int:
    if status < 0:
        how = f"was ended by {signal.Signals(-status).name}"
        status = _SIGNAL_STATUS - status
    else:
        how = f"ended with status {status}"
    others = f"; ending the {n_running} that still run" if n_running else ""
    with _output:
        print(f"olympus launch: process {number} {how}{others}", file=sys.stderr)
    return status


def _end(processes: list[subprocess.Popen[str]]) -> None:
    """Ends the processes that still run, and all that they have started."""
    running = [process for process in processes if process.poll() is None]
    for process in running:
        _send(process, signal.SIGTERM)
    end = time.monotonic() + _PATIENCE_S
    for process in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, end - time.monotonic()))
    for process in processes:
        _send(process, signal.SIGKILL)
        process.wait()


def _send(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


COMMAND = Command(
    "launch",
    "Run a script as several processes on this machine, which form one program",
    _add_arguments,
    _run,
)
