"""Products whose transposed results are read compute them, and nothing else."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

RNG = np.random.default_rng(0)


def _normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def _n_transposed(f, *args):
    return olympus.jit(f).lower(*args).as_text().count("stablehlo.transpose")


def _assert_as_eager(f, *args):
    with olympus.disable_jit():
        want = f(*args)
    np.testing.assert_allclose(olympus.jit(f)(*args), want, rtol=1e-5, atol=1e-5)


def test_vmap_of_a_matrix_with_a_vector_transposes_nothing():
    w, x = _normal(5, 3), _normal(7, 3)

    def f(w, x):
        return olympus.vmap(lambda x: w @ x)(x)

    assert _n_transposed(f, w, x) == 0
    np.testing.assert_allclose(olympus.jit(f)(w, x), x @ w.T, rtol=1e-5, atol=1e-6)


def test_nor_with_elementwise_operations_behind_it():
    w, x = _normal(5, 3), _normal(7, 3)

    def f(w, x, scale):
        def layer(x):
            h = jnp.maximum(w @ x, 0)
            return (scale * (h * h)).astype(np.float16)

        return olympus.vmap(layer)(x)

    assert _n_transposed(f, w, x, 2.0) == 0
    want = (2 * np.maximum(x @ w.T, 0) ** 2).astype(np.float16)
    np.testing.assert_allclose(olympus.jit(f)(w, x, 2.0), want, rtol=2e-3)
    assert olympus.jit(f)(w, x, 2.0).dtype == np.float16


def test_programs_show_the_product_as_it_was_traced():
    w, x = _normal(5, 3), _normal(7, 3)
    f = olympus.vmap(lambda x: w @ x)
    assert "transpose[permutation=(1, 0)]" in str(olympus.make_olympuspr(f)(x))


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda x, y: ((x @ y).T, x @ y), id="computed twice"),
        pytest.param(lambda x, y: _both(x, y), id="read twice"),
        pytest.param(
            lambda x, y: ((x @ y) + jnp.ones((4, 5)) * x[0, 0]).T - x[0, 0],
            id="with an array",
        ),
        pytest.param(
            lambda x, y: (
                lax.dot_general(
                    x, y, (((1,), (0,)), ((), ())), lax.DotAlgorithmPreset.F32_F32_F32
                ).T
            ),
            id="an algorithm",
        ),
    ],
)
def test_other_products_stay(f):
    x, y = _normal(4, 3), _normal(3, 5)
    assert _n_transposed(f, x, y) == 1
    for got, want in zip(
        olympus.tree.leaves(olympus.jit(f)(x, y)), ((x @ y).T, x @ y), strict=False
    ):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def _both(x, y):
    product = x @ y
    return product.T, product


def test_a_pair_of_precisions_is_exchanged():
    def f(x, y):
        return lax.dot_general(
            x, y, (((1,), (0,)), ((), ())), (lax.Precision.HIGHEST, "default")
        ).T

    text = olympus.jit(f).lower(_normal(4, 3), _normal(3, 5)).as_text()
    assert "precision = [DEFAULT, HIGHEST]" in text


def test_bodies_and_called_functions():
    w, x = _normal(3, 3), _normal(7, 3)

    @olympus.jit
    def layer(h):
        return jnp.tanh(olympus.vmap(lambda h: w @ h)(h))

    def f(x):
        return lax.scan(lambda h, _: (layer(h), None), layer(x), None, length=3)[0]

    assert _n_transposed(f, x) == 0
    _assert_as_eager(f, x)


def test_gradients():
    w, x = _normal(5, 3), _normal(7, 3)

    def loss(w):
        return jnp.sum(jnp.sin(olympus.vmap(lambda x: w @ x)(x)))

    np.testing.assert_allclose(
        olympus.jit(olympus.grad(loss))(w), np.cos(x @ w.T).T @ x, rtol=1e-4, atol=1e-5
    )


@st.composite
def _contractions(draw):
    """Operands, dimension numbers and a permutation of the result."""
    n_batch, n_contracted = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    n_first, n_second = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    size = st.integers(0, 3)
    batch = [draw(size) for _ in range(n_batch)]
    contracted = [draw(size) for _ in range(n_contracted)]
    operands, numbers = [], []
    for n in (n_first, n_second):
        sizes = batch + contracted + [draw(size) for _ in range(n)]
        order = draw(st.permutations(range(len(sizes))))
        operands.append(np.asarray(_normal(*[sizes[i] for i in order])))
        places = [order.index(i) for i in range(n_batch + n_contracted)]
        numbers.append((tuple(places[:n_batch]), tuple(places[n_batch:])))
    (bx, cx), (by, cy) = numbers
    rank = n_batch + n_first + n_second
    first, second = n_batch, n_batch + n_first
    exchanged = [*range(n_batch), *range(second, rank), *range(first, second)]
    order = draw(st.sampled_from([exchanged, draw(st.permutations(range(rank)))]))
    return *operands, ((cx, cy), (bx, by)), tuple(order)


@hypothesis.given(_contractions())
def test_any_contraction_and_any_order(contraction):
    x, y, numbers, order = contraction

    def f(x, y):
        return jnp.transpose(lax.dot_general(x, y, numbers), order)

    _assert_as_eager(f, x, y)
