"""Times of steps and of whole processes, on JAX and on olympus."""

import statistics

from tests.ecosystem import processes

# Workloads with a step in `steps.py`.
TIMED = ("optax", "equinox", "flax_nnx", "diffrax", "numpyro", "haiku")

_PROCESSES = 3
_SIDES = (processes.JAX, processes.OLYMPUS)


def measure(python, name):
    """The time of a step in microseconds, of the workload's process in CPU seconds.

    The processes of the two sides take turns, so that a busy machine slows both. The
    time of a step is the median of the processes' best medians.
    """
    steps = {side: [] for side in _SIDES}
    seconds = {side: [] for side in _SIDES}
    for _ in range(_PROCESSES):
        for side in _SIDES:
            table = processes.run_json(python, side, "steps.py", name)
            steps[side].append(table["step_us"])
    for side in _SIDES:
        seconds[side] = processes.cpu_of_children(
            lambda side=side: processes.run_json(python, side, "run_workload.py", name)
        )
    return {
        "step_us": [round(statistics.median(steps[side]), 1) for side in _SIDES],
        "process_s": [round(seconds[side], 1) for side in _SIDES],
    }
