"""Monitors the other processes of a program: which has died, ended or hangs.

XLA waits forever for a process that died or hangs in the middle of a collective. So
each process reports, several times per interval, that it is alive and how many
programs over several processes it has started; all start the same ones in the same
order. A thread in each process writes this to the coordination service and reads what
the others wrote. Clocks are compared with themselves only.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from olympus._src.foundation import logs
from olympus._src.foundation.errors import ProcessFailureError
from olympus._src.runtime.coordination_service import BEATS, Beat, Signs

_SIGNS_PER_LIMIT = 10
_MISSED_SIGNS = 3  # after so many a process that is late is not said to live
_LEAST_TURN_S, _MOST_TURN_S = 0.05, 1.0
# The others know the last step of a process that dies, but for those of this time.
_STEP_TURN_S = 0.1
# Between looks at what is waited for: short at first, since most waits are.
_FIRST_SLEEP_S, _MOST_SLEEP_S = 2e-5, 5e-3


class Limits:
    """How long a process may be silent, and how long the others may wait for it."""

    __slots__ = ("lag_s", "silence_s")

    def __init__(self, silence_s: float, lag_s: float) -> None:
        self.silence_s = silence_s
        self.lag_s = lag_s

    @property
    def turn_s(self) -> float:
        """Seconds from one sign of life to the next."""
        turn = self.silence_s / _SIGNS_PER_LIMIT
        return min(max(turn, _LEAST_TURN_S), _MOST_TURN_S)


def find_failure(
    signs: Signs, step: int, waiting_s: float | None, limits: Limits, now: float
) -> ProcessFailureError | None:
    """The failure of another process, if there is one.

    Args:
      signs: of the other processes.
      step: how many programs this process has started.
      waiting_s: how long it has waited for one of them; None where it does not.
      limits: of the waiting.
      now: seconds, by the clock of the signs.
    """
    for k in signs.silent(limits.silence_s, now):
        silence = now - signs.heard[k]
        return _failure(k, signs, f"has given no sign of life for {silence:.1f} s")
    if waiting_s is None:
        return None
    for k, beat in signs.beats.items():
        if beat.has_ended and beat.blamed in signs.beats:
            return _failure(beat.blamed, signs, f"has failed, as process {k} found")
        if beat.has_ended and beat.blamed >= 0:
            return _failure(k, signs, "has ended, as it waited for this one in vain")
        if beat.step >= step:
            continue
        if beat.has_ended:
            return _failure(k, signs, f"has ended, while this one is at step {step}")
        idle = min(waiting_s, now - signs.moved[k])
        if limits.lag_s and idle > limits.lag_s:
            silence = now - signs.heard[k]
            life = "lives, but"
            if silence > _MISSED_SIGNS * limits.turn_s:
                life = f"has given no sign of life for {silence:.1f} s, and"
            reason = f"{life} has started nothing for {idle:.1f} s, while this one "
            return _failure(k, signs, f"{reason}waits at step {step}")
    return None


def _failure(k: int, signs: Signs, reason: str) -> ProcessFailureError:
    beat = signs.beats[k]
    last = f", of {beat.program!r}" if beat.program else ""
    return ProcessFailureError(
        f"process {k} {reason}; its last known step was {beat.step}{last} (steps are "
        "programs over several processes); see its output, and the settings "
        "olympus_peer_silence_limit_s and olympus_peer_lag_limit_s",
        k,
        beat.step,
    )


_EXCHANGES = "olympus/exchanges"  # the folder of the store for texts of processes


class Watch:
    """Watches the other processes, and lets them watch this one.

    Args:
      store: jaxlib's client of the coordination service.
      process_id: the number of this process.
      num_processes: how many there are.
      limits: after which time a process counts as failed.
    """

    def __init__(
        self, store: Any, process_id: int, num_processes: int, limits: Limits
    ) -> None:
        self._store = store
        self._process_id = process_id
        self._num_processes = num_processes
        self._last_exchange: str | None = None
        self._limits = limits
        others = [k for k in range(num_processes) if k != process_id]
        self._signs = Signs(others, time.monotonic())
        self._own = Beat(0)
        self._waiting: dict[object, float] = {}  # since when, by the one who waits
        self._write_lock = threading.Lock()
        self._stopping = threading.Event()
        self._noted = threading.Condition()
        self.failure: ProcessFailureError | None = None
        self._beat()
        self._thread = threading.Thread(
            target=self._run, name="olympus peers", daemon=True
        )
        self._thread.start()

    # -- the thread ------------------------------------------------------------------

    def _run(self) -> None:
        turn_s, told = self._limits.turn_s, 0
        next_turn = time.monotonic()
        while not self._stopping.wait(min(turn_s, _STEP_TURN_S)):
            now = time.monotonic()
            try:
                if now >= next_turn or told != self._own.step:
                    told = self._own.step
                    self._beat()
                if now < next_turn:
                    continue
                next_turn = now + turn_s
                rows = self._store.key_value_dir_get(BEATS)
            except Exception as error:
                logs.debug(f"the coordination service does not answer: {error}")
                continue
            with self._noted:
                self._signs.note(rows, time.monotonic())
                if self.failure is None:
                    self.failure = self._find_failure()
                self._noted.notify_all()

    def _find_failure(self) -> ProcessFailureError | None:
        now = time.monotonic()
        waiting_s = max([now - t for t in list(self._waiting.values())], default=None)
        return find_failure(self._signs, self._own.step, waiting_s, self._limits, now)

    def _beat(self) -> None:
        with self._write_lock:
            self._own.count += 1
            key = f"{BEATS}/{self._process_id}"
            self._store.key_value_set(key, self._own.text(), allow_overwrite=True)

    # -- steps -----------------------------------------------------------------------

    def start_step(self, program: str) -> None:
        """Notes that a program over several processes is about to start.

        Raises:
          ProcessFailureError: another process has failed.
        """
        self.check()
        self._own.program = program
        self._own.step += 1

    def check(self) -> None:
        """Raises ProcessFailureError where another process has failed."""
        if self.failure is not None:
            raise self._copy_failure()

    def _copy_failure(self) -> ProcessFailureError:
        # Each raise has a traceback of its own.
        failure = self.failure
        assert failure is not None
        return ProcessFailureError(str(failure), failure.process_index, failure.step)

    # -- waiting ---------------------------------------------------------------------

    def wait(self, is_done: Any) -> None:
        """Waits until `is_done()` is true.

        Raises:
          ProcessFailureError: another process has failed meanwhile.
        """
        sleep_s = _FIRST_SLEEP_S
        me = object()
        self._waiting[me] = time.monotonic()
        try:
            while not is_done():
                self.check()
                time.sleep(sleep_s)
                sleep_s = min(sleep_s * 1.5, _MOST_SLEEP_S)
        finally:
            del self._waiting[me]

    def wait_for_processes(
        self, absent_processes: Callable[[], list[int]], name: str
    ) -> None:
        """Waits until no process is absent from where this one is.

        Args:
          absent_processes: the numbers of those that are.
          name: of the place, for messages.

        Raises:
          ProcessFailureError: another process failed, or one is absent that has ended
            or is late.
        """
        start = time.monotonic()

        def is_done() -> bool:
            # In this order: a process comes, and may then end.
            ended = [k for k, beat in self._signs.beats.items() if beat.has_ended]
            absent = absent_processes()
            waiting_s = time.monotonic() - start
            is_late = bool(self._limits.lag_s) and waiting_s > self._limits.lag_s
            for k in absent:
                if k in ended or is_late:
                    how = "has ended" if k in ended else "lives, but has not come"
                    self.failure = self.failure or _failure(
                        k,
                        self._signs,
                        f"{how}, while this one has waited for {waiting_s:.1f} s at "
                        f"{name!r}",
                    )
                    self.check()
            return not absent

        self.wait(is_done)

    def exchange(self, name: str, text: str) -> list[str]:
        """What all processes say under a name, in the order of their numbers.

        Raises:
          ProcessFailureError: another process failed, or has ended without a text.
        """
        folder = f"{_EXCHANGES}/{name}"
        self._store.key_value_set(f"{folder}/{self._process_id}", text)
        texts: dict[int, str] = {}

        def absent_processes() -> list[int]:
            for key, value in self._store.key_value_dir_get(folder):
                texts[int(key.rpartition("/")[2])] = value
            return [k for k in range(self._num_processes) if k not in texts]

        self.wait_for_processes(absent_processes, name)
        # All have read the texts of the exchange before this one.
        if self._process_id == 0 and self._last_exchange is not None:
            self._store.key_value_delete(self._last_exchange)
        self._last_exchange = folder
        return [texts[k] for k in range(self._num_processes)]

    def explain(self, error: Exception) -> Exception:
        """The failure of a process behind the failure of a program, if there is one.

        Collectives fail at once where the system closes a connection; which process
        is gone is known when it has been silent.
        """
        limits = self._limits
        end = time.monotonic() + limits.silence_s + 2 * limits.turn_s
        me = object()
        self._waiting[me] = time.monotonic()
        with self._noted:
            while self.failure is None and time.monotonic() < end:
                self._noted.wait(limits.turn_s)
        del self._waiting[me]
        if self.failure is None:
            return error
        failure = self._copy_failure()
        failure.__cause__ = error
        return failure

    # -- the end ---------------------------------------------------------------------

    def end(self) -> None:
        """Reports to the others that this process starts no more programs."""
        self._own.has_ended = True
        if self.failure is not None:
            self._own.blamed = self.failure.process_index
        self._beat()

    def wait_for_ends(self, timeout_s: float) -> None:
        """Waits until all others have ended or are silent, with a time limit."""
        end = time.monotonic() + timeout_s
        limit_s = self._limits.silence_s
        while time.monotonic() < end:
            rows = self._store.key_value_dir_get(BEATS)
            with self._noted:
                self._signs.note(rows, time.monotonic())
                if self._signs.are_all_gone(limit_s, time.monotonic()):
                    return
            time.sleep(_LEAST_TURN_S)

    def stop(self) -> None:
        """Ends the thread."""
        self._stopping.set()
        self._thread.join(timeout=2 * _MOST_TURN_S)
