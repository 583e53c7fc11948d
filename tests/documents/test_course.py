"""The programs of the course on jit, with what they must print."""

import re
from functools import partial

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import jit, lax, random

pytestmark = pytest.mark.documents


def sum_squared_error(a, b):
    return jnp.sum((a - b) ** 2)


def operands():
    key = random.PRNGKey(8)
    key, subkey1, subkey2 = random.split(key, 3)
    a = random.normal(subkey1, (500, 500))
    b = random.normal(subkey2, (500, 500))
    return a, b


def test_the_error_of_random_arrays():
    a, b = operands()
    for f in (sum_squared_error, jit(sum_squared_error)):
        # Sums in another order differ in the last digits.
        assert float(f(a, b)) == pytest.approx(501519.3, rel=1e-6)


PLAIN = """\
{ lambda ; a:f32[3] b:f32[3]. let
    c:f32[3] = sub a b
    d:f32[3] = integer_pow[y=2] c
    e:f32[] = reduce_sum[axes=(0,)] d
  in (e,) }"""

JITTED = """\
{ lambda ; a:f32[3] b:f32[3]. let
    c:f32[] = pjit[
      name=sum_squared_error
      olympuspr={ lambda ; d:f32[3] e:f32[3]. let
          f:f32[3] = sub d e
          g:f32[3] = integer_pow[y=2] f
          h:f32[] = reduce_sum[axes=(0,)] g
        in (h,) }
    ] a b
  in (c,) }"""


def test_the_programs_of_the_function_and_of_the_jitted_function():
    x, y = jnp.arange(3.0), jnp.ones(3)
    assert str(olympus.make_olympuspr(sum_squared_error)(x, y)) == PLAIN
    assert str(olympus.make_olympuspr(jit(sum_squared_error))(x, y)) == JITTED


def cond_func(x):
    if x < 0.0:
        return x**2.0
    else:
        return x**3.0


def test_control_flow_on_a_traced_value():
    with pytest.raises(olympus.errors.TracerBoolConversionError) as caught:
        jit(cond_func)(1.0)
    first, second, *_ = str(caught.value).split("\n")
    assert first == "Attempted boolean conversion of traced array with shape bool[].."
    assert re.fullmatch(
        r"The error occurred while tracing the function cond_func at \S+:\d+ for jit\. "
        r"This concrete value was not available in Python because it depends on the "
        r"value of the argument x\.",
        second,
    )


@pytest.mark.parametrize(
    "options", [{"static_argnums": (0,)}, {"static_argnames": "x"}], ids=str
)
def test_static_arguments(options):
    for jitted in (jit(cond_func, **options), partial(jit, **options)(cond_func)):
        assert str(jitted(2.0)) == "8.0"
        assert str(jitted(-2.0)) == "4.0"


def test_structured_control_flow():
    square, cube = (lambda x: x**2.0), (lambda x: x**3.0)
    out = lax.cond(False, square, cube, jnp.array([2.0]))
    assert repr(out) == "Array([8.], dtype=float32)"
    out = lax.cond(True, square, cube, jnp.array([-2.0]))
    assert repr(out) == "Array([4.], dtype=float32)"


def test_shapes_must_not_be_traced():
    @jit
    def f(x):
        return x.reshape(jnp.array(x.shape).prod())

    with pytest.raises(TypeError) as caught:
        f(jnp.ones((2, 3)))
    assert str(caught.value).startswith(
        "Shapes must be 1D sequences of concrete values of integer type, got "
        "[Traced<ShapedArray(int32[])>with<DynamicOlympusprTrace(level=1/0)>].\n"
        "If using `jit`, try using `static_argnums` or applying `jit` to smaller "
        "subfunctions."
    )

    @jit
    def g(x):
        return x.reshape(np.prod(x.shape))

    assert str(g(jnp.ones((2, 3)))) == "[1. 1. 1. 1. 1. 1.]"
