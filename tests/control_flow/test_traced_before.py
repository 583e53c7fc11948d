"""Function objects of loops and branches that were traced before are not traced again.

What is read again, and that new objects are always traced, is in `test_nothing_stale`.
"""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core import reads
from olympus._src.foundation import config
from tests import fresh

ONES = np.ones(3, np.float32)


def step(c, x):
    return jnp.sin(c) + x, c


def small(c):
    return c < 3.0


def increase(c):
    return c + 1.0


def add(i, c):
    return c + i


def small_or_same(c):
    return jnp.minimum(c, 3.0)


CALLS = {
    "scan": lambda: lax.scan(step, 0.0, ONES),
    "while_loop": lambda: lax.while_loop(small, increase, 0.0),
    "fori_loop": lambda: lax.fori_loop(0, 3, add, 0.0),
    "cond": lambda: lax.cond(True, increase, small_or_same, 2.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_body_is_not_traced_again(name):
    first = CALLS[name]()
    with config.no_tracing(True):
        again = CALLS[name]()
    assert olympus.tree.structure(first) == olympus.tree.structure(again)
    for x, y in zip(
        olympus.tree.leaves(first), olympus.tree.leaves(again), strict=True
    ):
        np.testing.assert_array_equal(x, y)
        assert olympus.typeof(x) == olympus.typeof(y)


def test_other_types_settings_and_structures_are_other_programs():
    body = lambda c, _: (c + c, None)  # noqa: E731
    run = lambda c: lax.scan(body, c, None, length=2)[0]  # noqa: E731
    assert float(run(1.0)) == 4.0
    assert int(run(1)) == 4
    assert run(np.ones(2, np.float32)).shape == (2,)
    with olympus.enable_x64():
        assert run(1.0).dtype == np.float64


def test_what_a_body_reads_is_read_again():
    scale = 2.0

    def body(i, c):
        return c * scale

    assert float(lax.fori_loop(0, 3, body, 1.0)) == 8.0
    scale = 3.0
    assert float(lax.fori_loop(0, 3, body, 1.0)) == 27.0


def test_callbacks_write_to_what_they_were_made_with():
    def run():
        seen = []

        def body(c, x):
            olympus.debug.callback(lambda: seen.append(1))
            return c, None

        lax.scan(body, 0.0, ONES)
        olympus.effects_barrier()
        return len(seen)

    assert [run(), run()] == [3, 3]


def test_values_of_an_enclosing_trace_are_its_own():
    def f(x):
        return lax.fori_loop(0, 2, lambda i, c: c * x, 1.0)

    assert float(olympus.grad(f)(3.0)) == 6.0
    assert float(olympus.grad(f)(5.0)) == 10.0
    np.testing.assert_array_equal(olympus.vmap(f)(ONES * 2), ONES * 4)
    assert float(f(4.0)) == 16.0


def test_names_that_modules_load_late():
    fresh.run(
        """
        import numpy as np
        import olympus
        import olympus.numpy as jnp
        from olympus import lax
        from olympus._src.foundation import config

        def body(c, x):
            return jnp.cosh(c) + olympus.nn.softplus(x), jnp.linalg.norm(x)

        run = lambda: lax.scan(body, 1.0, np.ones((2, 3), "float32")[:, 0])
        before = run()
        with config.no_tracing(True):
            again = run()
        assert before[0] == again[0]
        olympus.nn.softplus = lambda x: x
        assert run()[0] != before[0]
        """
    )


def test_large_constants_are_not_kept_with_bodies():
    large = jnp.ones(100_000)
    small = jnp.ones(3)
    with_large = lambda i, c: c + jnp.sum(large)  # noqa: E731
    with_small = lambda i, c: c + jnp.sum(small)  # noqa: E731
    for body in (with_large, with_small):
        lax.fori_loop(0, 2, body, 0.0)
    with config.no_tracing(True):
        lax.fori_loop(0, 2, with_small, 0.0)
        with pytest.raises(RuntimeError, match="no_tracing"):
            lax.fori_loop(0, 2, with_large, 0.0)


@pytest.mark.parametrize("fun", [jnp.sin, olympus.nn.relu, jnp.tanh])
def test_functions_of_the_library_are_traced_once(fun):
    lax.cond(True, fun, fun, ONES)
    with config.no_tracing(True):
        lax.cond(True, fun, fun, ONES)


def test_new_functions_of_code_that_could_not_be_known_are_seldom_looked_at(
    monkeypatch,
):
    looks = []
    read = reads.values_read_by
    monkeypatch.setattr(reads, "values_read_by", lambda f: looks.append(f) or read(f))

    def make(value):
        return lambda i, c: c + value

    def run(body):
        return lax.fori_loop(0, 2, body, ONES)

    array = ONES.copy()  # which may change in place
    for n in range(40):
        array[:] = n
        np.testing.assert_array_equal(run(make(array)), ONES + 2 * n)
    assert len(looks) < 8
    known = make(1.0)
    for _ in range(20):
        run(known)
    run(make(array))
    with config.no_tracing(True):
        np.testing.assert_array_equal(run(known), ONES + 2)
