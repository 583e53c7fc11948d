"""olympus where jax is installed: it stays unimported, and both work in one process."""

import subprocess
import sys
import textwrap

import pytest

from structure import source

pytestmark = pytest.mark.beside_jax

TOUR = """
    import pickle, sys, warnings
    import numpy as np
    import olympus, olympus.numpy as jnp
    from olympus import lax, nn, random

    key = random.key(0)
    x = random.normal(key, (8, 3))
    w = jnp.ones(3)
    loss = lambda w: jnp.mean((jnp.tanh(x @ w) - 1) ** 2)
    olympus.jit(olympus.grad(loss))(w).block_until_ready()
    olympus.vmap(lambda r: nn.softmax(r))(x)
    f = olympus.jit(lambda c: lax.fori_loop(0, 3, lambda i, c: c + i, c))
    f.lower(1).as_text()
    compiled = f.lower(1).compile()
    compiled(1), compiled.as_text()
    compiled.cost_analysis(), compiled.memory_analysis()
    lax.scan(lambda c, t: (c + t, c), 0.0, jnp.arange(3.0))
    lax.cond(True, lambda: 1, lambda: 2)
    olympus.debug.print("value {}", 3)
    olympus.pure_callback(np.sin, olympus.ShapeDtypeStruct((), np.float32), 1.0)
    olympus.effects_barrier()
    pickle.loads(pickle.dumps(x))
    np.from_dlpack(x), jnp.from_dlpack(np.ones(3, np.float32))
    y = x.at[0].set(1.0)[1:3, 0]
    str(y), repr(key), list(x), jnp.sort(x), x.astype("bfloat16").sum()
    x.devices(), x.sharding, x.addressable_shards
    olympus.device_put(x, olympus.devices()[0])
    try:
        olympus.jit(lambda x: x if x > 0 else -x)(1.0)
    except olympus.errors.TracerBoolConversionError:
        pass
    with olympus.enable_x64(True):
        jnp.arange(3) + 1.5
    x.delete()
    assert "jax" not in sys.modules, "a feature of the tour imports jax"
"""

BOTH = """
    import numpy as np
    {first}
    {second}
    import jax.numpy, olympus.numpy

    a = jax.numpy.arange(4.0)
    b = olympus.numpy.arange(4.0)
    assert float(jax.jit(lambda x: (x * 2).sum())(a)) == 12.0
    assert float(olympus.jit(lambda x: (x * 2).sum())(b)) == 12.0
    assert float(jax.grad(lambda x: (x ** 2).sum())(a)[1]) == 2.0
    assert float(olympus.grad(lambda x: (x ** 2).sum())(b)[1]) == 2.0
    assert np.asarray(jax.numpy.from_dlpack(b)).tolist() == [0, 1, 2, 3]
    assert np.asarray(olympus.numpy.from_dlpack(a)).tolist() == [0, 1, 2, 3]
    with olympus.enable_x64(True):
        assert olympus.numpy.arange(3).dtype == np.int64
        assert jax.numpy.arange(3).dtype == np.int32
    jax.config.update("jax_enable_x64", True)
    assert jax.numpy.arange(3).dtype == np.int64
    assert olympus.numpy.asarray(np.arange(3)).dtype == np.int32
    assert olympus.jit(lambda x: x + 1)(1).dtype == np.int32
    jax.config.update("jax_disable_jit", True)
    assert float(olympus.jit(lambda x: x + 1)(1)) == 2.0
    assert jax.tree.map(lambda x: x, {{"a": 1}}) == {{"a": 1}}
"""


def run(script):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=source.PACKAGE.parent,
    )
    assert done.returncode == 0, done.stderr


def test_a_tour_of_features_leaves_jax_unimported():
    run(TOUR)


@pytest.mark.parametrize("order", ["jax first", "olympus first"])
def test_both_compute_in_one_process(order):
    names = ["import jax", "import olympus"]
    first, second = names if order == "jax first" else names[::-1]
    run(BOTH.format(first=first, second=second))


def test_arrays_of_jax_are_taken_as_those_of_numpy():
    run(ARRAYS)


ARRAYS = """
    import numpy as np
    import jax, jax.numpy as theirs
    import olympus, olympus.numpy as jnp
    from olympus import lax

    x = theirs.arange(4.0)
    values = np.arange(4.0, dtype="float32")
    ones = jnp.ones(4)
    square = lambda x: (x ** 2).sum()
    calls = {
        "jit": (lambda: olympus.jit(lambda d: d["x"] * 2)({"x": x}), values * 2),
        "function": (lambda: jnp.sin(x), np.sin(values)),
        "lax": (lambda: lax.add(x, x), values * 2),
        "sum": (lambda: ones + x, values + 1),
        "reflected sum": (lambda: x + ones, values + 1),
        "device_put": (lambda: olympus.device_put(x), values),
        "device": (lambda: olympus.device_put(x, olympus.devices()[0]), values),
        "constant": (lambda: olympus.jit(lambda y: y + x)(ones), values + 1),
        "grad": (lambda: olympus.grad(square)(x), values * 2),
        "vjp": (lambda: olympus.vjp(jnp.sin, ones)[1](x)[0], values * np.cos(1)),
        "vmap": (lambda: olympus.vmap(jnp.sin)(x), np.sin(values)),
        "loop": (lambda: lax.fori_loop(0, 3, lambda i, c: c + x, x), values * 4),
        "index": (lambda: jnp.arange(9.0)[x.astype(int)], values),
        "ahead of time": (
            lambda: olympus.jit(lambda x: x + 1).lower(x).compile()(x), values + 1
        ),
        "callback": (
            lambda: olympus.pure_callback(lambda x: x, jnp.ones(4), x), values
        ),
        "stack": (lambda: jnp.stack([x, x])[1], values),
    }
    for name, (call, expected) in calls.items():
        out = call()
        assert isinstance(out, olympus.Array), name
        np.testing.assert_allclose(out, expected, rtol=1e-6, err_msg=name)
    assert type(olympus.device_get(x)) is np.ndarray
    assert olympus.typeof(x).short() == "f32[4]"
    olympus.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.tolist() == [0, 1, 2, 3]
    # What JAX traces is refused in its words.
    for f in (
        jnp.sin,
        olympus.jit(lambda x: x),
        olympus.vmap(lambda x: x),
        olympus.grad(lambda x: jnp.sum(x)),
        olympus.hessian(lambda x: jnp.sum(x)),
        lambda x: olympus.jvp(lambda x: x, (x,), (x,))[1],
        lambda x: olympus.lax.scan(lambda c, _: (c, None), x, None, length=2)[0],
    ):
        with np.testing.assert_raises(jax.errors.TracerArrayConversionError):
            jax.jit(f)(x)
"""
