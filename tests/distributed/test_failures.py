"""A process that dies, ends early or hangs is named by the others, which then end."""

from __future__ import annotations

import pytest

from distributed import processes

pytestmark = pytest.mark.slow

SILENCE_S, LAG_S = 1.5, 2.0

# Steps are slow enough that the last one is known to the others.
PROGRAM = """
mesh = olympus.make_mesh((2 * n,), ("x",), (AxisType.Auto,))
x = olympus.device_put(np.ones((4 * n, 2)), NamedSharding(mesh, P("x")))
step = olympus.jit(lambda x: x * 0.5 + x.mean(0))
for i in range(30):
    start = time.monotonic()
    try:
        if i == 5 and me == VICTIM:
            time.sleep(0.5)
            FAIL
        x = step(x)
        if i <= 5 or WAIT:
            x.block_until_ready()
    except olympus.errors.ProcessFailureError as error:
        print("named", error.process_index, error.step, time.monotonic() - start)
        try:
            step(x)
        except olympus.errors.ProcessFailureError:
            print("refused")
        print(jnp.arange(3).sum())  # what is this process's own goes on
        raise
"""
FAILURES = {
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", -9),
    "raises": ("raise ValueError('mine')", 1),
    "ends": ("sys.exit(0)", 0),
    "hangs": ("time.sleep(6)", 1),
}


def run(n, victim, fail, wait):
    code = PROGRAM.replace("VICTIM", str(victim)).replace("FAIL", fail)
    return processes.run(
        n,
        code.replace("WAIT", str(wait)),
        OLYMPUS_PEER_SILENCE_LIMIT_S=str(SILENCE_S),
        OLYMPUS_PEER_LAG_LIMIT_S=str(LAG_S),
    )


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(
    ("n", "victim", "wait"), [(2, 1, True), (2, 0, True), (3, 1, False)]
)
def test_the_process_is_named(n, victim, wait, failure):
    fail, status = FAILURES[failure]
    results = run(n, victim, fail, wait)
    assert results[victim].status == status, results[victim].error
    for k, result in enumerate(results):
        if k == victim:
            continue
        assert result.status == 1, result.error
        lines = result.out.splitlines()
        named = next(line for line in lines if line.startswith("named")).split()
        assert named[1:3] == [str(victim), "5"], result.error
        assert float(named[3]) < LAG_S + SILENCE_S + 5
        assert lines[-2:] == ["refused", "3"]
        assert f"ProcessFailureError: process {victim} " in result.error
        assert "'jit" in result.error
