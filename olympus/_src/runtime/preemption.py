"""The step at which all processes save, once one of them is about to be ended.

A machine that ends a process sends it SIGTERM some seconds before. A process that was
told so writes a notice to the coordination service. A thread in each process looks for
notices; it then writes which step its process has passed, and from there on the process
waits at its next step until all have written theirs. The step after the latest is one
that nobody has passed and everybody comes to.

The thread answers also while its process waits for a collective of the others: else two
processes at different steps could wait for each other.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from olympus._src.foundation import logs
from olympus._src.runtime.peers import Watch

_NOTICES = "olympus/preemption/notices"
_STEPS = "olympus/preemption/steps"
_TURN_S = 0.2  # from one look for notices to the next


class _OwnStore:
    """The texts of a program of one process, by the methods that are used here."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def key_value_set(self, key: str, text: str, allow_overwrite: bool = True) -> None:
        del allow_overwrite
        self._texts[key] = text

    def key_value_dir_get(self, folder: str) -> list[tuple[str, str]]:
        return [row for row in self._texts.items() if row[0].startswith(folder)]


class SyncPoint:
    """Finds the step at which all processes save.

    From here on SIGTERM does not end the process.

    Args:
      process_id: the number of this process.
      num_processes: how many there are.
      store: jaxlib's client of the coordination service; None in a single process.
      watch: notices when another process fails; the same.

    Raises:
      RuntimeError: this is not the main thread, which alone can listen to signals.
    """

    def __init__(
        self,
        process_id: int = 0,
        num_processes: int = 1,
        store: Any = None,
        watch: Watch | None = None,
    ) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError(
                "reached_preemption_sync_point: the first call must be in the main "
                f"thread, which receives signals, got {threading.current_thread().name}"
                "; call it there before the loop, with the number of the step before"
            )
        self._process_id, self._num_processes = process_id, num_processes
        self._store = _OwnStore() if store is None else store
        self._watch = watch
        self._lock = threading.Lock()
        self._passed = -1  # the last step of this process
        self._answered = False  # whether the others know of it
        self._step: int | None = None
        self._is_reached = False
        self._told = threading.Event()
        self._stopping = threading.Event()
        self._before = signal.signal(signal.SIGTERM, self._note_signal)
        self._thread = threading.Thread(
            target=self._run, name="olympus preemption", daemon=True
        )
        self._thread.start()

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self._told.set()
        if callable(self._before):
            self._before(number, frame)

    # -- the thread ------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping.wait(_TURN_S):
            try:
                if self._look():
                    return
            except Exception as error:
                logs.debug(f"the coordination service does not answer: {error}")

    def _look(self) -> bool:
        """Looks for notices; answers the first, and returns True, if there is one."""
        key = str(self._process_id)
        if self._told.is_set():
            self._store.key_value_set(f"{_NOTICES}/{key}", "", allow_overwrite=True)
        elif not self._store.key_value_dir_get(_NOTICES):
            return False
        with self._lock:
            self._answered = True
            passed = str(self._passed)
            self._store.key_value_set(f"{_STEPS}/{key}", passed, allow_overwrite=True)
        return True

    # -- the steps -------------------------------------------------------------------

    def is_reached(self, step: int) -> bool:
        """Whether a step, which this process comes to, is the one.

        Raises:
          ProcessFailureError: another process failed or ended without an answer.
        """
        with self._lock:
            if not self._answered:
                self._passed = step
                return False
        if self._step is None:
            self._step = self._agree()
        if self._is_reached or step < self._step:
            return False
        self._is_reached = True
        return True

    def _agree(self) -> int:
        steps: dict[int, int] = {}

        def absent_processes() -> list[int]:
            for key, text in self._store.key_value_dir_get(_STEPS):
                steps[int(key.rpartition("/")[2])] = int(text)
            return [k for k in range(self._num_processes) if k not in steps]

        if self._watch is None:
            absent_processes()
        else:
            name = "reached_preemption_sync_point"
            self._watch.wait_for_processes(absent_processes, name)
        return max(steps.values()) + 1

    def stop(self) -> None:
        """Ends the thread; SIGTERM means again what it meant."""
        self._stopping.set()
        self._thread.join(timeout=1.0)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._before or signal.SIG_DFL)
