"""The coordination service of several processes, in a separate process.

Run by the first process of the program, as a script, so that it loads nothing but
jaxlib. It outlives that process for as long as others run: XLA ends every process whose
service is gone, before it could report what happened. It is a member itself, the one
after the last, and so sees what the processes say of themselves.

Its first line of output is READY, or the reason why it did not start.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any

from jaxlib import _jax  # type: ignore[attr-defined]

READY = "ready"
STOP = b"stop"
BEATS = "olympus/beats"  # the folder of the store for what processes say of themselves
NEVER_S = 10**6  # XLA ends a process where the limit of connecting has passed
_TURN_S = 0.2


class Beat:
    """The status that a process reports periodically.

    Args:
      count: grows from one to the next.
      step: how many programs over several processes it has started.
      has_ended: whether it starts no more.
      blamed: the process for whose failure it ended; -1 for none.
      program: the name of the last one.
    """

    __slots__ = ("blamed", "count", "has_ended", "program", "step")

    def __init__(
        self,
        count: int,
        step: int = 0,
        has_ended: bool = False,
        blamed: int = -1,
        program: str = "",
    ) -> None:
        self.count = count
        self.step = step
        self.has_ended = has_ended
        self.blamed = blamed
        self.program = program

    def text(self) -> str:
        """As it is in the store."""
        numbers = f"{self.count} {self.step} {int(self.has_ended)} {self.blamed}"
        return f"{numbers} {self.program}"

    @staticmethod
    def parse(text: str) -> Beat:
        """Reads `text()`."""
        count, step, has_ended, blamed, program = text.split(" ", 4)
        return Beat(int(count), int(step), has_ended == "1", int(blamed), program)


class Signs:
    """The last sign of life of each process, by this process's own clock.

    Args:
      processes: their numbers.
      now: seconds; they count as alive at first.
    """

    __slots__ = ("beats", "heard", "moved")

    def __init__(self, processes: Iterable[int], now: float) -> None:
        self.beats = {k: Beat(0) for k in processes}
        self.heard = dict.fromkeys(self.beats, now)
        self.moved = dict.fromkeys(self.beats, now)

    def note(self, rows: Iterable[tuple[str, str]], now: float) -> None:
        """Takes in what the store holds at a time."""
        for name, text in rows:
            k = int(name.rpartition("/")[2])
            if k not in self.beats:
                continue
            beat, last = Beat.parse(text), self.beats[k]
            if beat.count != last.count:
                self.heard[k] = now
            if beat.step != last.step:
                self.moved[k] = now
            self.beats[k] = beat

    def silent(self, limit_s: float, now: float) -> list[int]:
        """The processes without a sign for longer than a limit, that did not end."""
        return [
            k
            for k, at in self.heard.items()
            if now - at > limit_s and not self.beats[k].has_ended
        ]

    def are_all_gone(self, limit_s: float, now: float) -> bool:
        """Whether each has ended or is silent."""
        silent = self.silent(limit_s, now)
        return all(b.has_ended or k in silent for k, b in self.beats.items())


def _main(words: list[str]) -> int:
    address, bind_address, n, heartbeat_s, limit_s = words
    parent = os.getppid()
    # Its end follows from that of the processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    count, heartbeat = int(n), int(heartbeat_s)
    try:
        service = _jax.get_distributed_runtime_service(
            bind_address,
            count + 1,
            heartbeat_timeout=heartbeat,
            shutdown_timeout=1,
            cluster_register_timeout=NEVER_S,
            recoverable=True,
        )
    except Exception as error:
        print(error, flush=True)
        return 1
    print(READY, flush=True)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    member = _jax.get_distributed_runtime_client(
        address,
        count,
        init_timeout=NEVER_S,
        heartbeat_timeout=heartbeat,
        shutdown_timeout=1,
        use_compression=True,
    )
    if not _connect(member, parent):
        os._exit(0)
    _stay(member, parent, count, float(limit_s))
    member.shutdown()
    service.shutdown()
    return 0


def _connect(member: Any, parent: int) -> bool:
    """Whether all processes have connected before the parent ends it or exits."""
    thread = threading.Thread(target=member.connect, daemon=True)
    thread.start()
    while thread.is_alive() and os.getppid() == parent:
        if select.select([0], [], [], 0)[0]:
            return False
        thread.join(_TURN_S)
    return not thread.is_alive()


def _stay(member: Any, parent: int, n: int, limit_s: float) -> None:
    """Returns when the parent says so; or when it has gone, and the others too."""
    while os.getppid() == parent:
        if not select.select([0], [], [], _TURN_S)[0]:
            continue
        if os.read(0, 16).startswith(STOP):
            return
        break
    signs = Signs(range(1, n), time.monotonic())
    while not signs.are_all_gone(limit_s, time.monotonic()):
        time.sleep(_TURN_S)
        signs.note(member.key_value_dir_get(BEATS), time.monotonic())


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
