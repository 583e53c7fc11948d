"""Extended dtypes that hold a number each, and say how their cotangents are added."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, random
from olympus._src.core import dtypes


class _Greatest(dtypes.ExtendedDType):
    """Numbers of float32, of whose cotangents the greatest counts."""

    __slots__ = ()

    name = "greatest"
    itemsize = 4
    physical = ((), np.dtype("float32"))
    type = dtypes.extended

    def __eq__(self, other):
        return type(other) is _Greatest

    def __hash__(self):
        return hash(_Greatest)

    tangent_dtype = property(lambda self: self)

    def converts(self, dtype):
        return dtype == np.float32

    def zero(self):
        return lax.convert_element_type(np.float32(-np.inf), self)

    def add(self, x, y):
        number = np.dtype("float32")
        x, y = (lax.convert_element_type(v, number) for v in (x, y))
        return lax.convert_element_type(lax.max(x, y), self)


GREATEST = _Greatest()
X = np.array([1.0, -2.0, 0.5], "float32")


def _wrap(x):
    return lax.convert_element_type(x, GREATEST)


def _unwrap(x):
    return lax.convert_element_type(x, "float32")


@pytest.mark.parametrize("apply", [lambda f: f, olympus.jit])
def test_conversions(apply):
    wrapped = apply(_wrap)(X)
    assert wrapped.dtype == GREATEST
    assert wrapped.shape == (3,)
    np.testing.assert_array_equal(apply(_unwrap)(wrapped), X)
    np.testing.assert_array_equal(apply(lambda x: _unwrap(_wrap(x)))(X), X)
    assert _unwrap(_wrap(2.5)) == 2.5
    batched = olympus.vmap(lambda x: _unwrap(_wrap(x)[::-1]))(np.stack([X, 2 * X]))
    np.testing.assert_array_equal(batched, np.stack([X, 2 * X])[:, ::-1])


@pytest.mark.parametrize(
    ("convert", "says"),
    [
        (lambda: _wrap(np.arange(3)), "cannot convert"),
        (lambda: _wrap(jnp.ones(3, "bfloat16")), "cannot convert"),
        (lambda: lax.convert_element_type(_wrap(X), "int32"), "cannot convert"),
        (lambda: _wrap(random.key(0)), "keys hold no numbers"),
        (lambda: lax.convert_element_type(1.0, random.key(0).dtype), "keys hold no"),
    ],
)
def test_other_conversions_are_refused(convert, says):
    with pytest.raises(TypeError, match=says):
        convert()


def test_cotangents_are_added_as_the_dtype_says():
    def total(scale):
        wrapped = _wrap(scale)
        return _unwrap(wrapped) * 3 + _unwrap(wrapped) * 5 + _unwrap(wrapped)

    for gradient in (olympus.grad(total), olympus.jit(olympus.grad(total))):
        assert gradient(np.float32(2)) == 5
    batched = olympus.vmap(olympus.grad(total))(X)
    np.testing.assert_array_equal(batched, np.full(3, 5.0))


def test_cotangents_of_what_a_loop_reads():
    def total(scale):
        wrapped = _wrap(scale)

        def step(carry, factor):
            return carry + factor * _unwrap(wrapped), None

        return lax.scan(step, np.float32(0), X)[0]

    for gradient in (olympus.grad(total), olympus.jit(olympus.grad(total))):
        assert gradient(np.float32(2)) == 1.0


def test_tangents():
    out, slope = olympus.jvp(lambda x: _unwrap(_wrap(x * 3)), (X,), (X,))
    np.testing.assert_array_equal(out, 3 * X)
    np.testing.assert_array_equal(slope, 3 * X)


def test_programs_print_its_name():
    program = olympus.make_olympuspr(_wrap)(X)
    assert "greatest[3]" in str(program)
