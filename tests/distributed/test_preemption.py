"""Steps at which all processes save, since one is about to be ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from distributed import processes
from olympus._src.runtime.preemption import SyncPoint
from olympus.experimental import multihost_utils


@pytest.fixture
def point():
    before = signal.getsignal(signal.SIGTERM)
    point = SyncPoint()
    yield point
    point.stop()
    assert signal.getsignal(signal.SIGTERM) is before


def wait_until(is_done):
    end = time.monotonic() + 20
    while not is_done():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_one_process_is_told_once(point):
    assert not any(point.is_reached(step) for step in range(5))
    os.kill(os.getpid(), signal.SIGTERM)
    wait_until(lambda: point._answered)
    assert [point.is_reached(step) for step in range(5, 9)] == [True] + [False] * 3


def test_steps_may_leave_out_numbers(point):
    assert not point.is_reached(10)
    os.kill(os.getpid(), signal.SIGTERM)
    wait_until(lambda: point._answered)
    assert [point.is_reached(step) for step in (20, 30)] == [True, False]


def test_a_handler_of_the_program_is_called_too():
    calls = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: calls.append(number))
    try:
        point = SyncPoint()
        os.kill(os.getpid(), signal.SIGTERM)
        wait_until(lambda: point._answered)
        point.stop()
        os.kill(os.getpid(), signal.SIGTERM)
        wait_until(lambda: len(calls) == 2)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_first_call_is_in_the_main_thread():
    errors = []

    def call():
        try:
            multihost_utils.reached_preemption_sync_point(0)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=call, name="a worker")
    thread.start()
    thread.join()
    assert "must be in the main thread" in errors[0]
    assert "a worker" in errors[0]


def test_steps_are_integers():
    with pytest.raises(TypeError, match="float"):
        multihost_utils.reached_preemption_sync_point(0.5)


# Each process runs at a speed of its own, and its steps need all others.
LOOP = """
mesh = Mesh(np.array(olympus.devices()), ("d",))
x = olympus.device_put(np.ones(len(olympus.devices())), NamedSharding(mesh, P("d")))
step = olympus.jit(lambda x: x / x.sum(), out_shardings=x.sharding)
for number in range(100, 400):
    if multihost_utils.reached_preemption_sync_point(number):
        break
    x = step(x)
    if me == 0 or number % 3 == 0:
        x.block_until_ready()
    time.sleep(0.005 * (1 + me))
    if number == 110 + me and me in TOLD:
        os.kill(os.getpid(), signal.SIGTERM)
print("saved at", number)
"""


@pytest.mark.slow
@pytest.mark.parametrize("told", [(0,), (2,), (0, 1, 2)], ids=str)
def test_all_processes_stop_at_one_step(told):
    outputs = processes.run_well(3, LOOP.replace("TOLD", str(told)))
    steps = {int(out.split("saved at")[1]) for out in outputs}
    assert len(steps) == 1
    assert 110 < steps.pop() < 399


@pytest.mark.slow
def test_a_process_that_ended_is_named():
    code = """
    if me == 1:
        sys.exit(0)
    multihost_utils.reached_preemption_sync_point(0)
    os.kill(os.getpid(), signal.SIGTERM)
    for number in range(1, 200):
        multihost_utils.reached_preemption_sync_point(number)
        time.sleep(0.05)
    """
    survivor, _ = processes.run(2, code, OLYMPUS_PEER_SILENCE_LIMIT_S="5")
    assert survivor.status == 1
    assert "process 1 has ended" in survivor.error
    assert "ProcessFailureError" in survivor.error


def test_a_program_of_one_process():
    code = """
    import os, signal, time
    from olympus.experimental.multihost_utils import reached_preemption_sync_point
    for step in range(200):
        if reached_preemption_sync_point(step):
            print("saved at", step)
            break
        if step == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.02)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 3 < int(done.stdout.split()[-1]) < 199
