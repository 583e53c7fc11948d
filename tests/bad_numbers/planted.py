"""Programs that make a NaN or an infinity, and what is to be said of each.

The line that makes it has the mark `# here`. A row says which setting finds it, the
direction, the iterations of the loops around it, the first bad element, and a word of
the cure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import lax, nn


class Row(NamedTuple):
    """One program, and what is expected."""

    run: Callable[..., Any]
    args: tuple[Any, ...]
    cure: str
    direction: str
    iterations: tuple[int, ...]
    index: tuple[int, ...] | None
    kind: str


ROWS: list[Row] = []


def planted(*args, cure="", direction="", iterations=(), index=(), kind="nan"):
    def add(f):
        ROWS.append(Row(f, args, cure, direction, iterations, index, kind))
        return f

    return add


def f32(*values):
    return np.asarray(values, np.float32)


# -- operations in a jitted function ---------------------------------------------------


@planted(f32(1, -2, 3), cure="log needs", index=(1,))
@olympus.jit
def log_of_a_negative(x):
    y = x * 2
    return jnp.log(y) + 1  # here


@planted(f32(4, 9, -1), cure="negative", index=(2,))
@olympus.jit
def sqrt_of_a_negative(x):
    return jnp.sqrt(x).sum()  # here


@planted(f32(0, 1), cure="0/0", index=(0,))
@olympus.jit
def zero_by_zero(x):
    total = x * 3
    return total / x  # here


@planted(f32(1, 0), cure="division by zero", index=(1,), kind="inf")
@olympus.jit
def one_by_zero(x):
    return 1 / x  # here


@planted(f32(1, 0), cure="log of 0", index=(1,), kind="inf")
@olympus.jit
def log_of_zero(p):
    return -(p * 0.5 + jnp.log(p)).sum()  # here


@planted(f32(1, 100), cure="subtract the maximum", index=(1,), kind="inf")
@olympus.jit
def exp_overflow(x):
    e = jnp.exp(x)  # here
    return e.sum()


@planted(f32(1, 100), cure="inf/inf", index=(1,))
@olympus.jit
def naive_softmax(x):
    e = jnp.exp(x)
    return e / e.sum()  # here


@planted(f32(0.5, 1.0001), cure="clip", index=(1,))
@olympus.jit
def arccos_of_a_cosine(x):
    return jnp.arccos(x)  # here


@planted(f32(0.5, -1.5), cure="clip", index=(1,))
@olympus.jit
def arcsin_out_of_range(x):
    return jnp.arcsin(x)  # here


@planted(f32(2, 0.5), cure="acosh", index=(1,))
@olympus.jit
def arccosh_below_one(x):
    return jnp.arccosh(x)  # here


@planted(f32(0, 1), cure="atanh", index=(1,), kind="inf")
@olympus.jit
def arctanh_of_one(x):
    return jnp.arctanh(x)  # here


@planted(f32(2, -2), cure="negative base", index=(1,))
@olympus.jit
def power_of_a_negative_base(x):
    return x**1.5  # here


@planted(f32(0), cure="negative power of 0", index=(0,), kind="inf")
@olympus.jit
def negative_power_of_zero(x):
    return x**-2  # here


@planted(f32(1, 70000), cure="float16", index=(1,), kind="inf")
@olympus.jit
def cast_to_half(x):
    small = x.astype(jnp.float16)  # here
    return small + 1


@planted(f32(1, 3.4e38), cure="bfloat16", index=(1,), kind="inf")
@olympus.jit
def cast_to_bfloat(x):
    return x.astype(jnp.bfloat16)  # here


@planted(np.full((2, 64), 40, np.float16), cure="float16", index=(0, 0), kind="inf")
@olympus.jit
def product_in_half(x):
    return x @ x.T  # here


@planted(f32(1, 2), cure="remainder", index=(0,))
@olympus.jit
def remainder_of_zero(x):
    return lax.rem(x, x - x)  # here


@planted(f32(1e20, 1), cure="float32", index=(0,), kind="inf")
@olympus.jit
def square_overflow(x):
    return jnp.square(x).sum()  # here


@planted(
    np.asarray([[1.0, 2], [2, 1]], np.float32), cure="positive definite", index=None
)
@olympus.jit
def cholesky_of_an_indefinite_matrix(a):
    return jnp.linalg.cholesky(a)  # here


@planted(f32(1, 2), cure="0 * inf", index=(0,))
@olympus.jit
def mask_by_multiplication(x):
    big = x * 1e38 * 10
    return big * 0.0  # here


@planted(f32(1, 2), cure="inf - inf", index=(0,))
@olympus.jit
def difference_of_infinities(x):
    big = x * 1e38 * 10
    return big - big  # here


@planted(f32(1, 2), cure="", index=())
@olympus.jit
def mean_of_nothing(x):
    return jnp.mean(x[:0])  # here


@planted(f32(1, 2), cure="0/0", index=())
@olympus.jit
def masked_mean(x):
    mask = x > 5
    return jnp.where(mask, x, 0).sum() / mask.sum()  # here


@planted(f32(1, 0), cure="0/0", index=(0,))
@olympus.jit
def normalize_a_zero_vector(x):
    v = x * 0.0
    return (v / jnp.linalg.norm(v)).sum()  # here


@planted(f32(1, 1, 1), cure="division", kind="inf")
@olympus.jit
def divide_by_the_deviation(x):
    return 1 / x.std()  # here


@planted(f32(0.5, 0.0), cure="infinite", index=(1,), kind="inf")
@olympus.jit
def gamma_at_zero(x):
    return lax.lgamma(x)  # here


@planted(f32(1, -1), cure="log1p", index=(1,), kind="inf")
@olympus.jit
def log1p_at_minus_one(x):
    return jnp.log1p(x)  # here


@planted(f32(1, 2), cure="overflowed", index=(0,))
@olympus.jit
def sine_of_an_infinity(x):
    return jnp.sin(x * 1e38 * 100)  # here


# -- what is masked is not blamed ------------------------------------------------------


@planted(f32(-1, 0, 4), cure="0/0", index=(0,))
@olympus.jit
def masked_log_then_a_real_one(x):
    safe = jnp.where(x > 0, jnp.log(x), 0.0)
    return (safe - safe) / (safe - safe)  # here


@planted(f32(-1, 4), cure="log needs", index=(0,))
@olympus.jit
def masked_root_then_a_log(x):
    y = jnp.where(x > 0, jnp.sqrt(x), 1.0)
    return y + jnp.log(x)  # here


# -- backward passes -------------------------------------------------------------------


@planted(f32(0, 1), cure="double where", direction="backward", index=(0,))
@olympus.jit
@olympus.grad
def double_where_missing(x):
    return jnp.where(x > 0, jnp.sqrt(x), 0.0).sum()  # here


@planted(f32(0, 0), cure="double where", direction="backward", index=(0,))
@olympus.jit
@olympus.grad
def norm_at_zero(x):
    y = x * 2
    return jnp.linalg.norm(y)  # here


@planted(f32(1, 2), cure="double where", direction="backward", index=(0,))
@olympus.jit
@olympus.grad
def distance_to_itself(x):
    d = x - x
    return jnp.sqrt((d**2).sum())  # here


@planted(f32(0, 1), cure="double where", direction="backward", index=(0,))
@olympus.jit
@olympus.grad
def masked_log(x):
    return jnp.where(x > 0, jnp.log(x), 0.0).sum()  # here


@planted(f32(0, 1), cure="double where", direction="backward", index=(0,))
@olympus.jit
@olympus.grad
def masked_quotient(x):
    return jnp.where(x > 0, 1 / x, 0.0).sum()  # here


@planted(f32(1.0, 0), cure="double where", direction="backward", index=(0,))
@olympus.jit
@olympus.grad
def masked_arccos(x):
    return jnp.where(x < 1, jnp.arccos(x), 0.0).sum()  # here


@planted(f32(0, 1), cure="double where", direction="backward", index=(0,))
@olympus.jit
@olympus.grad
def masked_power(x):
    return jnp.where(x > 0, x**0.5, 0.0).sum()  # here


@planted(f32(100, 1), cure="double where", direction="backward", index=(0,))
@olympus.jit
@olympus.grad
def masked_exponential(x):
    return jnp.where(x < 50, jnp.exp(x), 0.0).sum()  # here


@planted(f32(0.0), cure="double where", direction="backward", index=(0,))
@olympus.grad
def eager_gradient(x):
    return (jnp.sqrt(x) * 0.0).sum()  # here


@planted(f32(0, 1), cure="double where", direction="backward", index=(0,))
def gradient_of_jit(x):
    @olympus.jit
    def f(x):
        return (jnp.sqrt(x) * 0.0).sum()  # here

    return olympus.grad(f)(x)


# -- loops -----------------------------------------------------------------------------


@planted(f32(1, 2, 3, -4, 5), cure="log needs", iterations=(3,))
@olympus.jit
def scan_over_rows(xs):
    def step(total, x):
        return total + jnp.log(x), total  # here

    return lax.scan(step, 0.0, xs)


@planted(f32(1, -2, 3, 4, 5), cure="log needs", iterations=(1,))
@olympus.jit
def reversed_scan(xs):
    def step(total, x):
        return total + jnp.log(x), total  # here

    return lax.scan(step, 0.0, xs, reverse=True)


@planted(np.float32(5.5), cure="negative", iterations=(6,))
@olympus.jit
def while_loop(x):
    def body(state):
        i, c = state
        return i + 1, c - 1 + 0 * jnp.sqrt(c)  # here

    return lax.while_loop(lambda state: state[0] < 9, body, (0, x))


@planted(np.float32(3), cure="0/0", iterations=(3,))
@olympus.jit
def fori_loop(x):
    def body(i, c):
        return c + (i - x) * 0 / (i - x)  # here

    return lax.fori_loop(0, 6, body, 0.0)


@planted(np.ones((3, 4), np.float32), cure="log needs", iterations=(2, 1))
@olympus.jit
def nested_scans(x):
    x = x.at[2, 1].set(-1.0)

    def inner(c, v):
        return c + jnp.log(v), None  # here

    def outer(c, row):
        return lax.scan(inner, c, row)[0], None

    return lax.scan(outer, 0.0, x)[0]


@planted(np.float32(0), cure="negative", iterations=(2, 3))
@olympus.jit
def while_in_fori(x):
    def outer(i, total):
        def inner(state):
            j, t = state
            return j + 1, t + jnp.sqrt(4.5 - i - j)  # here

        return lax.while_loop(lambda s: s[0] < 4, inner, (0, total))[1]

    return lax.fori_loop(0, 4, outer, x)


@planted(f32(1, 1, 0, 1), cure="double where", direction="backward", iterations=(2,))
@olympus.jit
@olympus.grad
def gradient_of_a_scan(xs):
    def step(c, x):
        return c + jnp.where(x > 0, jnp.sqrt(x), 0.0), None  # here

    return lax.scan(step, 0.0, xs)[0]


@planted(f32(1, 2, -3), cure="log needs", iterations=(2,))
def eager_scan(xs):
    return lax.scan(lambda c, x: (c + jnp.log(x), None), 0.0, xs)[0]  # here


@planted(np.float32(-1), cure="log needs")
@olympus.jit
def branch(x):
    return lax.cond(
        x < 0,
        lambda x: jnp.log(x),  # here
        lambda x: x,
        x,
    )


@planted(np.float32(2.5), cure="negative", iterations=(3,))
@olympus.jit
def branch_in_a_loop(x):
    def body(i, c):
        return lax.cond(
            i > 1,
            lambda c: c + jnp.sqrt(x - i),  # here
            lambda c: c,
            c,
        )

    return lax.fori_loop(0, 5, body, 0.0)


@planted(np.float32(1), cure="negative", iterations=(5,))
@olympus.jit
def function_in_a_loop(x):
    def body(c):
        return c + 1 + 0 * jnp.sqrt(5.5 - c)  # here

    return lax.fori_loop(0, 9, lambda i, c: body(c), x)


# -- transformations and calls ---------------------------------------------------------


@planted(np.asarray([[1, 2], [3, -4]], np.float32), cure="log needs", index=(1, 1))
def mapped(x):
    return olympus.vmap(
        lambda row: jnp.log(row)  # here
    )(x)


@planted(np.ones((3, 4), np.float32), cure="log needs", iterations=(2,), index=(1,))
@olympus.jit
def mapped_scan(x):
    x = x.at[1, 2].set(-1.0)

    def total(row):
        return lax.scan(
            lambda c, v: (c + jnp.log(v), None),  # here
            0.0,
            row,
        )[0]

    return olympus.vmap(total)(x)


@planted(f32(0, 1), cure="double where", direction="backward", index=(0,))
@olympus.jit
@olympus.grad
@olympus.checkpoint
def checkpointed(x):
    return (jnp.sqrt(x) * 0.0).sum()  # here


@planted(f32(2, -1), cure="log needs", index=(1,))
@olympus.jit
def nested_jit(x):
    @olympus.jit
    def inner(y):
        return jnp.log(y)  # here

    return inner(x * 2) + 1


@planted(f32(2, -1), cure="log needs", index=(1,))
@olympus.jit
def inside_of_custom_jvp(x):
    @olympus.custom_jvp
    def f(x):
        return jnp.log(x)  # here

    f.defjvps(lambda t, ans, x: t / x)
    return f(x)


@planted(f32(2, 0), direction="backward", index=(0,), kind="inf")
@olympus.jit
def backward_rule_of_a_user(x):
    @olympus.custom_vjp
    def f(x):
        return x * 2

    f.defvjp(
        lambda x: (x * 2, x),
        lambda x, ct: (ct / (x - x),),  # here
    )
    return olympus.grad(lambda x: f(x).sum())(x)


@planted(f32(1, 200), cure="", index=(1,), kind="inf")
@olympus.jit
def cosh_overflow(x):
    return jnp.cosh(x)  # here


@planted(f32(1, -2), cure="log needs", index=(1,))
def eager_operation(x):
    y = x + 0
    return jnp.log(y)  # here


@planted(f32(1, 0), cure="0/0", index=(1,))
def eager_quotient(x):
    y = jnp.asarray(x)
    return (y * 0) / y  # here


@planted(f32(3, -2), cure="log needs", direction="forward", index=(1,))
@olympus.jit
def forward_mode(x):
    return olympus.jvp(
        lambda x: jnp.log(x),  # here
        (x,),
        (x,),
    )


@planted(np.full((2, 3), -np.inf, np.float32), cure="inf", index=(0, 0))
@olympus.jit
def attention_row_of_masks(x):
    shifted = x - x.max(-1, keepdims=True)  # here
    return jnp.exp(shifted)


@planted(f32(1, 2), cure="overflow", index=(1,), kind="inf")
@olympus.jit
def variance_overflow(x):
    return nn.relu((x * 3e38).sum())  # here
