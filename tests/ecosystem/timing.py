"""Times of steps and of whole processes, on JAX and on olympus."""

import collections
import contextlib
import statistics
import tempfile

from tests.ecosystem import processes

# Workloads with a step in `steps.py`; the others transform no programs of their own.
TIMED = (
    "blackjax",
    "diffrax",
    "distrax",
    "equinox",
    "evosax",
    "flax_linen",
    "flax_nnx",
    "haiku",
    "jaxopt",
    "jraph",
    "lineax",
    "mctx",
    "numpyro",
    "optax",
    "optimistix",
    "rlax",
    "tfp",
    "tinygp",
)

_PROCESSES = 3
_SIDES = (processes.JAX, processes.OLYMPUS)


def measure(python, name):
    """The time of a step in microseconds, of the workload's process in CPU seconds.

    The processes of the two sides take turns, so that a busy machine slows both. The
    time of a step is the median of the processes' best medians. A process is timed
    without compiled programs on disk, and with those of another one before it.
    """
    steps = {side: [] for side in _SIDES}
    for _ in range(_PROCESSES):
        for side in _SIDES:
            table = processes.run_json(python, side, "steps.py", name)
            steps[side].append(table["step_us"])
    medians = [round(statistics.median(steps[side]), 1) for side in _SIDES]
    return {"step_us": medians, **measure_processes(python, name)}


def measure_processes(python, name):
    """The CPU seconds of the workload's process, cold and warm.

    The first process of a side writes the bytecode of what it imports: it is not timed.
    Warm ones take turns, and their median counts: they are so short that others on the
    machine tell.
    """
    warm = {side: [] for side in _SIDES}
    with contextlib.ExitStack() as stack:
        caches = {}
        for side in _SIDES:
            caches[side] = stack.enter_context(tempfile.TemporaryDirectory())
            _seconds(python, side, name, caches[side])
        for _ in range(_PROCESSES):
            for side in _SIDES:
                warm[side].append(_seconds(python, side, name, caches[side]))
    return {
        "warm_processes": _PROCESSES,
        "process_s": [_seconds(python, side, name, None) for side in _SIDES],
        "warm_process_s": [round(statistics.median(warm[side]), 2) for side in _SIDES],
    }


KINDS = ("libraries", "olympus", "tracing", "lowering", "loading", "running")


def split_warm_process(python, name):
    """Shares of the time of the workload's warm process on olympus, in percent."""
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as cache:
        for run in range(1 + _PROCESSES):
            table = processes.run_plain_json(python, "sample_process.py", name, cache)
            if run:  # the first one compiles
                total.update(table)
    whole = sum(total.values())
    return {"warm_shares": [round(100 * total[kind] / whole) for kind in KINDS]}


def _seconds(python, side, name, cache):
    used = processes.cpu_of_children(
        lambda: processes.run_json(python, side, "run_workload.py", name, cache)
    )
    return round(used, 2)
