"""Pullbacks that add cotangents to refs."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import ad, lax


def scale(x, weights):
    return onp.sin(x) * weights["a"]


def test_cotangents_are_added_returned_or_left_out():
    _, pullback = olympus.vjp(scale, 1.0, {"a": 2.0})
    total, other = olympus.new_ref(0.0), olympus.new_ref(5.0)
    slopes = 2 * np.cos(1.0), np.sin(1.0)
    assert pullback.with_refs(total, {"a": other})(1.0) == (
        ad.GradRef(),
        {"a": ad.GradRef()},
    )
    np.testing.assert_allclose([total[...], other[...]], [slopes[0], 5 + slopes[1]])
    first, second = pullback.with_refs(total, {"a": ad.GradValue()})(2.0)
    assert first == ad.GradRef()
    np.testing.assert_allclose(second["a"], 2 * slopes[1])
    np.testing.assert_allclose(total[...], 3 * slopes[0], rtol=1e-6)
    result = pullback.with_refs(ad.DontWant(), {"a": other})(1.0)
    assert result == (ad.DidntWant(), {"a": ad.GradRef()})
    np.testing.assert_allclose(other[...], 5 + 2 * slopes[1], rtol=1e-6)


def test_one_ref_takes_several_cotangents():
    _, pullback = olympus.vjp(onp.multiply, 2.0, 3.0)
    total = olympus.new_ref(0.0)
    pullback.with_refs(total, total)(1.0)
    assert total[...] == 5


@pytest.mark.parametrize("jitted", [True, False])
def test_gradients_of_microbatches_add_up(jitted):
    rng = np.random.default_rng(0)
    x = onp.asarray(rng.normal(size=(4, 5, 3)), "float32")
    w = onp.asarray(rng.normal(size=3), "float32")

    def loss(w, x):
        return onp.tanh(x @ w).sum()

    def accumulate(w, x):
        total = olympus.new_ref(onp.zeros_like(w))

        def step(_, part):
            value, pullback = olympus.vjp(loss, w, part)
            pullback.with_refs(total, ad.DontWant())(1.0)
            return None, value

        lax.scan(step, None, x)
        return olympus.freeze(total)

    f = olympus.jit(accumulate) if jitted else accumulate
    expected = sum(olympus.grad(loss)(w, part) for part in x)
    np.testing.assert_allclose(f(w, x), expected, rtol=1e-5)
    mapped = olympus.vmap(f, (0, None))(onp.stack([w, -w]), x)
    np.testing.assert_allclose(mapped[0], expected, rtol=1e-5)


def test_refs_from_outside_are_arguments_of_compiled_functions():
    total = olympus.new_ref(onp.zeros(3))

    @olympus.jit
    def step(total, x):
        value, pullback = olympus.vjp(onp.square, x)
        assert pullback.with_refs(total)(onp.ones(3)) == (ad.GradRef(),)
        return value

    for i in range(3):
        step(total, onp.full(3, float(i)))
    np.testing.assert_array_equal(total[...], [6.0] * 3)


def test_pullbacks_with_refs_are_passed_to_compiled_functions():
    total = olympus.new_ref(0.0)
    _, pullback = olympus.vjp(onp.sin, 0.0)
    run = olympus.jit(lambda pull, ct: pull(ct))
    assert run(pullback.with_refs(total), 3.0) == (ad.GradRef(),)
    assert total[...] == 3
    assert repr(pullback.with_refs(ad.DontWant())).endswith(".with_refs(DontWant())")


REFUSED = [
    ((), ValueError, "structure of the arguments of scale"),
    ((ad.DontWant(), 1.0), ValueError, "structure of the arguments of scale"),
    ((1.0, {"a": ad.DontWant()}), TypeError, "for x of scale a ref"),
    ((ad.DontWant, {"a": ad.DontWant()}), TypeError, "got DontWant; make a ref"),
    (
        (olympus.new_ref(onp.zeros(3)), {"a": ad.DontWant()}),
        ValueError,
        "the ref for x of scale must hold f32",
    ),
    (
        (ad.GradValue(), {"a": olympus.new_ref(0)}),
        ValueError,
        r"for weights\['a'\] of scale must hold f32\[\], .* got i32",
    ),
]


@pytest.mark.parametrize(("targets", "kind", "text"), REFUSED)
def test_refusals(targets, kind, text):
    _, pullback = olympus.vjp(scale, 1.0, {"a": 2.0})
    with pytest.raises(kind, match=text):
        pullback.with_refs(*targets)
