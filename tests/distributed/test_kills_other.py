"""Four processes train; some are killed or stopped at a random moment.

Each of the others raises the error that names one of them, within the time that the
settings promise, and ends with the status that it chooses. A run takes some of the
cases; `OLYMPUS_SWEEP=all` takes all.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest

from distributed import processes
from tests import sampling

pytestmark = pytest.mark.slow

N = 4
SILENCE_S = 3.0
# Signs of life are a tenth of the limit apart; and two cores run five processes.
LATE_S = 0.3 + 2.0
ENDS_IN_S = 10.0

TRAINING = """
limit_s = float(sys.argv[1])
mesh = olympus.make_mesh((n,), ("data",), (AxisType.Auto,))
x = np.random.default_rng(0).normal(size=(8 * n, 6)).astype("float32")
y = np.sin(x.sum(1))
batch = olympus.device_put((x, y), NamedSharding(mesh, P("data")))
weights = [np.full((6, 5), 0.1, "float32"), np.full(5, 0.1, "float32")]
weights = olympus.device_put(weights, NamedSharding(mesh, P()))

@olympus.jit
def step(weights, batch):
    def loss(weights):
        x, y = batch
        return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2)
    value, gradient = olympus.value_and_grad(loss)(weights)
    return olympus.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value

try:
    for i in range(10**6):
        weights, value = step(weights, batch)
        if i % 3 == 0:  # some steps are waited for, others not
            float(value)
        print("step", i, flush=True)
        time.sleep(0.01)
except olympus.errors.ProcessFailureError as error:
    print("named", error.process_index, time.time(), flush=True)
    assert f"process {error.process_index} " in str(error)
    assert float(olympus.jit(jnp.sum)(jnp.ones(3))) == 3
    sys.exit(40 + me)
"""


class Case(NamedTuple):
    """What happens to which processes.

    Attributes:
      number: the signal.
      victims: who receives it.
      step: after which step of the last victim.
      delay_s: how much later.
    """

    number: int
    victims: tuple[int, ...]
    step: int
    delay_s: float


def draw_case(i: int) -> Case:
    rng = np.random.default_rng([77, i])
    step, delay_s = int(rng.integers(0, 25)), float(rng.random() * 0.03)
    order = [int(k) for k in rng.permutation(N)]
    if i % 5 == 4:
        return Case(signal.SIGSTOP, tuple(order[:2]), step, delay_s)
    victim = 0 if i % 5 == 0 else order[0]  # process 0 has started the service
    return Case(signal.SIGKILL, (victim,), step, delay_s)


CASES = {
    f"{i}: {signal.Signals(case.number).name} {case.victims} at {case.step}": case
    for i, case in enumerate(map(draw_case, range(30)))
}


class Worker:
    """One of the processes, and what it prints."""

    def __init__(self, k: int, environment: dict[str, str]) -> None:
        self.lines: list[str] = []
        self.errors: list[str] = []
        self.has_line = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-c", processes.START + TRAINING, str(SILENCE_S)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, "OLYMPUS_PROCESS_ID": str(k)},
            start_new_session=True,
        )
        self.readers = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in (
                (self.process.stdout, self.lines),
                (self.process.stderr, self.errors),
            )
        ]
        for reader in self.readers:
            reader.start()

    def _read(self, stream, lines):
        with stream:
            for line in stream:
                with self.has_line:
                    lines.append(line.rstrip())
                    self.has_line.notify_all()

    def wait_for(self, line):
        with self.has_line:
            assert self.has_line.wait_for(
                lambda: line in self.lines, processes.TIMEOUT_S
            ), "\n".join([*self.lines[-5:], *self.errors])

    def end(self, timeout_s):
        """Its exit status."""
        status = self.process.wait(timeout_s)
        for reader in self.readers:
            reader.join(timeout_s)
        return status

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.process.wait()


def run(case):
    """The processes after the case, which may still run, and when it was."""
    environment = {
        **os.environ,
        "OLYMPUS_COORDINATOR_ADDRESS": f"127.0.0.1:{processes.free_port()}",
        "OLYMPUS_NUM_PROCESSES": str(N),
        "OLYMPUS_NUM_CPU_DEVICES": "1",
        "OLYMPUS_PEER_SILENCE_LIMIT_S": str(SILENCE_S),
    }
    workers = [Worker(k, environment) for k in range(N)]
    try:
        workers[case.victims[-1]].wait_for(f"step {case.step}")
        time.sleep(case.delay_s)
        now = time.time()
        for victim in case.victims:
            os.kill(workers[victim].process.pid, case.number)
        survivors = [w for k, w in enumerate(workers) if k not in case.victims]
        statuses = [w.end(SILENCE_S + LATE_S + ENDS_IN_S) for w in survivors]
    finally:
        for worker in workers:
            worker.kill()
    return survivors, statuses, now


@pytest.mark.parametrize("name", sampling.part(list(CASES), 15))
def test_the_others_name_a_process_that_failed(name):
    case = CASES[name]
    survivors, statuses, then = run(case)
    numbers = [k for k in range(N) if k not in case.victims]
    output = "\n".join([line for w in survivors for line in w.errors])
    assert statuses == [40 + k for k in numbers], output
    assert "Traceback" not in output, output
    for worker in survivors:
        _, process, at = worker.lines[-1].split()
        assert int(process) in case.victims
        assert float(at) - then < SILENCE_S + LATE_S
