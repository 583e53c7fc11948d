"""The main things, on a GPU; they run where one is, by `pytest -m gpu`."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, random

pytestmark = pytest.mark.gpu


@pytest.fixture
def gpu():
    try:
        return olympus.devices("gpu")[0]
    except RuntimeError as error:
        pytest.skip(f"no GPU: {error}")


def test_arrays_and_results_are_on_the_gpu(gpu):
    x = olympus.device_put(np.arange(6, dtype=np.float32), gpu)
    out = olympus.jit(lambda x: jnp.sin(x) @ x)(x)
    assert out.device == gpu
    host = np.arange(6, dtype=np.float32)
    np.testing.assert_allclose(out, np.sin(host) @ host, rtol=1e-5)


def test_the_cpu_is_there_beside_it(gpu):
    cpu = olympus.devices("cpu")[0]
    x = olympus.device_put(np.ones(3, np.float32), cpu)
    assert (x + 1).device == cpu
    with olympus.default_device(cpu):
        assert jnp.ones(3).device == cpu


def test_control_flow_random_numbers_and_gradients(gpu):
    with olympus.default_device(gpu):
        key = random.key(0)
        x = random.normal(key, (64, 64))
        expected = olympus.device_put(x, olympus.devices("cpu")[0])
        np.testing.assert_allclose(x, expected)
        total, _ = lax.scan(lambda c, row: (c + row.sum(), None), 0.0, x)
        np.testing.assert_allclose(total, np.asarray(x).sum(), rtol=1e-3)
        loss = lambda w: jnp.mean(jnp.tanh(x @ w) ** 2)  # noqa: E731 - a formula
        grad = olympus.jit(olympus.grad(loss))(jnp.ones(64))
        assert grad.device == gpu
        assert np.isfinite(np.asarray(grad)).all()


def test_stages_name_the_platform(gpu):
    lowered = olympus.jit(lambda x: x + 1, device=gpu).lower(np.float32(1))
    compiled = lowered.compile()
    assert float(compiled(np.float32(1))) == 2.0
    assert compiled.memory_analysis() is not None
