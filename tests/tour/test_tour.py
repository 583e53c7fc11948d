"""A short tour of everything, run on each release of jaxlib in the promised range."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export, lax, random
from olympus.experimental import io_callback, serialize_executable
from tests.comparing import assert_close

pytestmark = pytest.mark.tour
F32 = np.float32
X = np.arange(3, dtype=F32)


def test_eager_operations():
    x = jnp.arange(3) + 1
    assert repr(x) == "Array([1, 2, 3], dtype=int32)"
    assert [int(v) for v in x] == [1, 2, 3]
    assert float(x.sum()) == 6
    assert_close(x.at[0].set(5)[::-1], [3, 2, 5])
    assert_close(jnp.where(x > 1, x, 0), [0, 2, 3])
    assert_close(jnp.sort(jnp.array([3.0, 1.0, 2.0])), [1, 2, 3])
    assert_close(jnp.einsum("ij,j->i", jnp.eye(3), X), X)
    assert jnp.zeros((0, 2)).sum() == 0


def test_jit_and_its_stages():
    f = olympus.jit(lambda a, b: {"dot": a @ b, "more": (a + 1, b)})
    out = f(np.eye(2, dtype=F32), np.ones((2, 2), F32))
    assert_close(out["dot"], np.ones((2, 2)))
    lowered = olympus.jit(jnp.cumsum).lower(X)
    assert "stablehlo" in lowered.as_text()
    compiled = lowered.compile()
    assert_close(compiled(X), [0, 1, 3])
    assert compiled.cost_analysis()
    assert compiled.memory_analysis()
    assert_close(olympus.jit(lambda x: x * 2, donate_argnums=0)(jnp.ones(2)), [2, 2])


def test_derivatives_and_mapping():
    f = lambda x: jnp.sin(x) ** 2  # noqa: E731
    assert_close(olympus.grad(f)(1.0), np.sin(2.0))
    assert_close(olympus.vmap(olympus.grad(f))(X), np.sin(2 * X))
    assert_close(
        olympus.jit(olympus.hessian(lambda x: (x**3).sum()))(X), np.diag(6 * X)
    )
    assert_close(olympus.jvp(f, (1.0,), (2.0,))[1], 2 * np.sin(2.0))
    assert_close(olympus.grad(olympus.checkpoint(f))(1.0), np.sin(2.0))


def test_control_flow():
    assert_close(lax.scan(lambda c, x: (c + x, c), 0.0, X)[1], [0, 0, 1])
    assert lax.while_loop(lambda c: c < 9, lambda c: c * 2, 1) == 16
    assert lax.fori_loop(0, 4, lambda i, c: c + i, 0) == 6
    assert_close(olympus.jit(lambda p: lax.cond(p, jnp.sin, jnp.cos, 0.0))(False), 1)
    assert_close(lax.map(lambda x: x * x, X), X * X)
    assert_close(
        olympus.jit(
            olympus.grad(lambda x: lax.fori_loop(0, 3, lambda i, c: c * x, 1.0))
        )(2.0),
        12,
    )


def test_linear_algebra_and_transforms():
    a = np.array([[4.0, 1.0], [1.0, 3.0]], F32)
    assert_close(jnp.linalg.inv(a) @ a, np.eye(2))
    assert_close(jnp.linalg.cholesky(a), np.linalg.cholesky(a))
    assert_close(jnp.linalg.eigh(a)[0], np.linalg.eigh(a)[0])
    assert_close(
        jnp.linalg.svd(a, compute_uv=False), np.linalg.svd(a, compute_uv=False)
    )
    assert_close(jnp.fft.fft(X), np.fft.fft(X))


def test_random_numbers():
    key = random.key(0)
    assert_close(random.bits(key), 4070199207)
    draw = olympus.jit(lambda k: random.normal(k, (2, 3)))
    assert_close(draw(key), random.normal(key, (2, 3)))
    mapped = olympus.jit(lambda k: olympus.vmap(random.uniform)(random.split(k, 8)))
    assert_close(mapped(key), [random.uniform(k) for k in random.split(key, 8)])
    assert random.permutation(key, 5).shape == (5,)


def test_callbacks_and_errors():
    seen = []

    @olympus.jit
    def f(x):
        olympus.debug.callback(lambda v: seen.append(float(v)), x)
        io_callback(lambda v: seen.append(float(v)), None, x, ordered=True)
        kind = olympus.ShapeDtypeStruct((), F32)
        return olympus.pure_callback(lambda v: F32(v * 2), kind, x)

    assert f(2.0) == 4
    olympus.effects_barrier()
    assert seen == [2.0, 2.0]

    def fail(v):
        raise ValueError("on purpose")

    g = olympus.jit(lambda x: io_callback(fail, None, x))
    with pytest.raises(Exception, match="on purpose"):
        olympus.block_until_ready([g(1.0), olympus.effects_barrier()])


def test_arrays_come_and_go():
    x = jnp.asarray(X)
    assert_close(np.from_dlpack(x), X)
    assert_close(jnp.from_dlpack(X), X)
    assert_close(pickle.loads(pickle.dumps(x)), X)
    assert_close(olympus.device_put(X, olympus.devices()[0]), X)
    x.copy_to_host_async()
    assert_close(olympus.device_get(x), X)
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        x + 1


@pytest.mark.parametrize("dtype", ["bfloat16", "int4", "float8_e4m3fn", "bool"])
def test_other_dtypes(dtype):
    x = jnp.arange(3).astype(dtype)
    assert x.dtype == dtype
    assert_close(x.astype(F32), np.arange(3).astype(x.dtype).astype(F32))


def test_64_bits():
    with olympus.enable_x64():
        assert jnp.arange(3.0).dtype == np.float64
        assert_close(olympus.jit(jnp.sin)(1.0), np.sin(1.0))


def test_programs_leave_the_process():
    kind = olympus.ShapeDtypeStruct((3,), F32)
    exported = export.export(olympus.jit(jnp.sin))(kind)
    assert_close(export.deserialize(exported.serialize(vjp_order=1)).call(X), np.sin(X))
    (n,) = export.symbolic_shape("n")
    exported = export.export(olympus.jit(jnp.cumsum))(
        olympus.ShapeDtypeStruct((n,), F32)
    )
    assert_close(export.deserialize(exported.serialize()).call(X), [0, 1, 3])
    compiled = olympus.jit(jnp.cos).lower(X).compile()
    again = serialize_executable.deserialize_and_load(
        *serialize_executable.serialize(compiled)
    )
    assert_close(again(X), np.cos(X))


def test_a_program_from_the_start():
    code = "import olympus.numpy as n; print(n.arange(3) + 1)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[1 2 3]\n"
    assert done.stderr == ""
