"""Interrupts a process at random moments, and looks whether the next call is right.

    python tests/runtime/interrupt_trial.py COUNT SEED

Each round makes a new function and interrupts its first calls: its trace, its lowering,
XLA's compilation, loading from the cache on disk, the run. A crash ends the process. It
prints, as JSON, how many interrupts came where, and the longest time that one took.
"""

from __future__ import annotations

import collections
import json
import os
import signal
import sys
import tempfile
import threading
import time
import traceback

import numpy as np

_STAGES = (
    ("compile_and_load", "compile or load"),
    ("run_uninterrupted", "compile or load"),
    ("compiled_programs.py", "lower or run"),
    ("evaluate.py", "lower or run"),
    ("lowered_programs.py", "lower or run"),
    ("olympus", "trace"),
)


def function(number):
    """A function that is new, of a program that compiles for a quarter of a second."""
    import olympus.numpy as jnp

    def work(x):
        for i in range(12):
            x = jnp.sin(x @ x / 64) + i / (32 * number)
            x = jnp.sort(x, axis=i % 2) + jnp.cumsum(x, axis=0) / 64
        return x

    return work


def expected(number, x):
    """What it computes, by NumPy."""
    for i in range(12):
        x = np.sin(x @ x / 64) + i / (32 * number)
        x = np.sort(x, axis=i % 2) + np.cumsum(x, axis=0) / 64
    return x


def stage(error):
    """Where an interrupt struck, from its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    for name, where in _STAGES:
        if any(name in (f.name, os.path.basename(f.filename)) for f in frames):
            return where
    inside = any("olympus" in f.filename for f in frames)
    return "trace" if inside else "user's code"


class Interrupter:
    """Sends this process one interrupt after a time, unless it is stopped before."""

    def __init__(self, after_s):
        self._timer = threading.Timer(after_s, self._send)
        self._lock = threading.Lock()
        self.sent_at = None

    def start(self):
        """The interrupt may come before this returns."""
        self._timer.start()

    def _send(self):
        with self._lock:
            self.sent_at = time.perf_counter()
            os.kill(os.getpid(), signal.SIGINT)

    def stop(self):
        """No interrupt comes after this; one may come in it."""
        self._timer.cancel()
        self._timer.join()


def strike(number, after_s, tally):
    """Interrupts the first call of a function, and calls it again."""
    import olympus

    x = np.linspace(-1, 1, 64, dtype="float32").reshape(8, 8)
    jitted = olympus.jit(function(number))
    interrupter = Interrupter(after_s)
    try:
        interrupter.start()
        jitted(x).block_until_ready()
        np.asarray(olympus.numpy.tanh(x + number))
        interrupter.stop()
        where = "came too late"
    except KeyboardInterrupt as error:
        answer_s = time.perf_counter() - interrupter.sent_at
        tally["longest_answer_s"] = max(tally["longest_answer_s"], answer_s)
        where = stage(error)
        interrupter.stop()
    tally["interrupts"][where] += 1
    np.testing.assert_allclose(jitted(x), expected(number, x), rtol=1e-3)
    np.testing.assert_allclose(
        olympus.numpy.tanh(x + number), np.tanh(x + number), rtol=1e-5
    )


def main(count, seed):
    """Interrupts `count` times, and prints where."""
    # Background processes of a shell inherit that interrupts are ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(seed)
    tally = {"interrupts": collections.Counter(), "longest_answer_s": 0.0}
    numbers = iter(range(1, 1 << 30))
    start = time.perf_counter()
    strike(next(numbers), 1e6, tally)
    strike(next(numbers), 1e6, tally)
    tally["interrupts"].clear()
    whole_s = time.perf_counter() - start
    while sum(tally["interrupts"].values()) < count:
        # A program of the round before comes from the disk, where there is a cache.
        number = next(numbers)
        strike(number, rng.uniform(0, whole_s / 3), tally)
        tally["interrupts"].pop("came too late", None)
        if number % 4 == 0:
            import olympus

            olympus.clear_caches()
            strike(number, rng.uniform(0, 0.1), tally)
            tally["interrupts"].pop("came too late", None)
    print(json.dumps(tally))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OLYMPUS_ENABLE_COMPILATION_CACHE"] = "1"
        os.environ["OLYMPUS_CACHE_DIR"] = os.path.join(folder, "cache")
        os.environ["OLYMPUS_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        main(int(sys.argv[1]), int(sys.argv[2]))
