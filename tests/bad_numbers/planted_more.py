"""More programs that make a NaN or an infinity: casts, loops, rules, trees, inputs.

As in `planted`; what is to be said of each was written down before it was run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import lax, random
from tests.bad_numbers.planted import Row, f32

ROWS: list[Row] = []


def planted(*args, cure="", direction="", iterations=(), index=(), kind="nan"):
    def add(f):
        ROWS.append(Row(f, args, cure, direction, iterations, index, kind))
        return f

    return add


# -- casts and narrow floats -----------------------------------------------------------


@planted(f32(1, 70000), cure="float16", index=(1,), kind="inf")
@olympus.jit
def cast_then_scaled(x):
    y = x * 1
    h = y.astype(jnp.float16)  # here
    return h * 2


@planted(f32(300, 1), cure="float16", index=(0,), kind="inf")
@olympus.jit
def square_in_half(x):
    h = x.astype(jnp.float16)
    return (h * h).sum()  # here


@planted(f32(60000, 60000), cure="float16", index=(), kind="inf")
@olympus.jit
def sum_in_half(x):
    h = x.astype(jnp.float16)
    return jnp.sum(h, dtype=jnp.float16)  # here


@planted(f32(3.3e38, 3.3e38), cure="overflow", index=(), kind="inf")
@olympus.jit
def sum_in_bfloat(x):
    h = x.astype(jnp.bfloat16)
    return h[0] + h[1]  # here


@planted(f32(12, 1), cure="exp", index=(0,), kind="inf")
@olympus.jit
def exponential_in_half(x):
    return jnp.exp(x.astype(jnp.float16))  # here


@planted(f32(0, 2), cure="log of 0", index=(0,), kind="inf")
@olympus.jit
def underflow_in_half_then_log(x):
    p = (x * 1e-9).astype(jnp.float16)
    return jnp.log(p)  # here


# -- integers, complex numbers ---------------------------------------------------------


@planted(np.asarray([4, 0], np.int32), cure="division", index=(1,), kind="inf")
@olympus.jit
def counts_that_are_zero(n):
    rate = n.astype(jnp.float32)
    return 1.0 / rate  # here


@planted(np.asarray([0, 3], np.int32), cure="0/0", index=(0,))
@olympus.jit
def ratio_of_counts(n):
    return n / n  # here


@planted(np.asarray([1 + 1j, 0], np.complex64), cure="0/0", index=(1,))
@olympus.jit
def phase_of_zero(z):
    return z / jnp.abs(z)  # here


@planted(np.asarray([1 + 1j, 0], np.complex64), cure="", index=(1,), kind="inf")
@olympus.jit
def complex_log_of_zero(z):
    w = z * 2
    return jnp.log(w).real  # here


# -- loops -----------------------------------------------------------------------------


@planted(f32(5), cure="log", iterations=(3,), index=(0,))
@olympus.jit
def log_again_and_again(x):
    return lax.fori_loop(0, 10, lambda i, c: jnp.log(c), x + 10)  # here


@planted(f32(1, 2, 3), cure="0/0", iterations=(1, 2), index=())
@olympus.jit
def scan_in_a_fori(xs):
    def outer(i, c):
        def step(s, x):
            gap = jnp.where(i == 1, x - 3.0, x)
            return s + gap / gap, s  # here

        return lax.scan(step, c, xs)[0]

    return lax.fori_loop(0, 3, outer, 0.0)


@planted(f32(3, -1), cure="negative", iterations=(2,), index=(0,))
@olympus.jit
def countdown_in_a_while(x):
    def body(c):
        i, x, _ = c
        return i + 1, x - 2, jnp.sqrt(x)  # here

    return lax.while_loop(lambda c: c[0] < 5, body, (0, x[:1], x[:1]))


@planted(f32(4, 2), cure="log", iterations=(1,), index=())
@olympus.jit
def test_of_a_while(x):
    def goes_on(c):
        i, x = c
        return (i < 4) & ~(x > 100)

    def body(c):
        i, x = c
        return i + 1, jnp.log(x - 3.5)  # here

    return lax.while_loop(goes_on, body, (0, x[0]))[1]


@planted(np.ones((4, 2), np.float32), cure="0/0", iterations=(2,), index=(0,))
@olympus.jit
def scan_with_counter(xs):
    def step(c, row):
        i, s = c
        d = (i - 2.0) * row
        return (i + 1, s + d / d), s  # here

    return lax.scan(step, (0.0, xs[0] * 0), xs)[0][1]


@planted(f32(1, 4, 0, 9), cure="", direction="backward", iterations=(2,), index=None)
@olympus.jit
def gradient_of_a_scan_of_roots(xs):
    def loss(xs):
        def step(c, x):
            r = jnp.sqrt(x)
            return c + jnp.where(x > 0, r, 0.0), None

        return lax.scan(step, 0.0, xs)[0]

    def step(c, x):
        return c + jnp.where(x > 0, jnp.sqrt(x), 0.0), None  # here

    return olympus.grad(lambda xs: lax.scan(step, 0.0, xs)[0])(xs)


@planted(f32(1, 0, 4), cure="", direction="backward", index=(1,))
@olympus.jit
def gradient_through_map(xs):
    def f(x):
        return jnp.where(x > 0, jnp.sqrt(x), 0.0)  # here

    return olympus.grad(lambda xs: olympus.vmap(f)(xs).sum())(xs)


@planted(f32(2, 1, -3, 5), cure="log needs", iterations=(2,), index=())
@olympus.jit
def map_over_rows(xs):
    return lax.map(lambda x: jnp.log(x), xs)  # here


@planted(f32(1, 2, 3), f32(3, 1, 1), cure="log", iterations=(2,), index=(0,))
@olympus.jit
def mapped_while(x, n):
    def run(x, n):
        def body(c):
            return c[0] + 1, jnp.log(c[1])  # here

        return lax.while_loop(lambda c: c[0] < n, body, (0.0, x))[1]

    return olympus.vmap(run)(x, n)


@planted(np.full((1000,), 2.0, np.float32), cure="0/0", iterations=(999,), index=())
@olympus.jit
def the_last_of_many_steps(xs):
    def step(c, x):
        d = c - 999.0
        return c + 1, d / d * x  # here

    return lax.scan(step, 0.0, xs)[1]


# -- branches --------------------------------------------------------------------------


@planted(f32(-1, 4), cure="log needs", index=(0,))
@olympus.jit
def chosen_of_three(x):
    branches = [jnp.sin, lambda x: jnp.log(x), jnp.cos]  # here
    return lax.switch((x.sum() > 0).astype(jnp.int32), branches, x)


@planted(f32(0, 1), cure="", direction="backward", index=(0,))
@olympus.jit
def gradient_of_a_branch(x):
    def f(x):
        def root(x):
            return jnp.sqrt(x) * x  # here

        return lax.cond(x.sum() > 0, root, jnp.sin, x).sum()

    return olympus.grad(f)(x)


@planted(f32(-4), cure="negative", index=(0,))
@olympus.jit
def branch_in_a_jit_in_a_jit(x):
    @olympus.jit
    def inner(x):
        return lax.cond(x[0] < 0, lambda x: jnp.sqrt(x), lambda x: x, x)  # here

    return inner(x) + 1


@planted(f32(1, -1, 2), cure="log needs", index=(1,))
@olympus.jit
def mapped_branch(xs):
    def f(x):
        return lax.cond(x < 5, lambda x: jnp.log(x), lambda x: x, x)  # here

    return olympus.vmap(f)(xs)


# -- rules of users, checkpoints -------------------------------------------------------


@olympus.custom_jvp
def safe_root(x):
    return jnp.sqrt(x)


@safe_root.defjvp
def _safe_root_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return safe_root(x), t / (2 * jnp.sqrt(x))  # here


@planted(f32(4, 0), cure="", direction="forward", index=None, kind="inf")
@olympus.jit
def rule_of_a_user_forward(x):
    return olympus.jvp(lambda x: safe_root(x), (x,), (x * 0 + 1,))[1]


@planted(f32(1, -1), cure="log needs", direction="forward", index=(1,))
@olympus.jit
def forward_of_custom_vjp(x):
    @olympus.custom_vjp
    def f(x):
        return jnp.log(x)

    f.defvjp(lambda x: (jnp.log(x), x), lambda x, ct: (ct / x,))  # here
    return olympus.vjp(f, x)[0]


@planted(f32(1, 0), cure="", direction="backward", index=(1,), kind="inf")
@olympus.jit
def backward_of_custom_vjp(x):
    @olympus.custom_vjp
    def f(x):
        return x

    def backward(x, ct):
        return (ct / x,)  # here

    f.defvjp(lambda x: (x, x), backward)
    return olympus.grad(lambda x: f(x).sum())(x)


@planted(f32(4, 0), cure="", direction="backward", index=(1,), kind="inf")
@olympus.jit
def gradient_of_a_checkpoint(x):
    @olympus.checkpoint
    def f(x):
        return jnp.sqrt(x)  # here

    return olympus.grad(lambda x: f(x).sum())(x)


@planted(f32(0.5, 2), cure="", direction="backward", iterations=(1,), index=None)
@olympus.jit
def checkpoint_in_a_scan(xs):
    @olympus.checkpoint
    def f(c, x):
        y = jnp.where(x < 1, jnp.sqrt(1 - x), 0.0)  # here
        return c + y, None

    return olympus.grad(lambda xs: lax.scan(f, 0.0, xs)[0])(xs)


# -- derivatives -----------------------------------------------------------------------


@planted(f32(0, 0), cure="", direction="backward", index=None)
@olympus.jit
def gradient_of_a_norm(v):
    return olympus.grad(lambda v: jnp.sqrt((v**2).sum()))(v)  # here


@planted(f32(0, 1), cure="", direction="forward", index=(0,), kind="inf")
@olympus.jit
def tangent_of_a_root(x):
    return olympus.jvp(jnp.sqrt, (x,), (x + 1,))[1]  # here


@planted(f32(0, 2), cure="", direction="backward", index=(0,), kind="inf")
@olympus.jit
def gradient_of_a_log(x):
    def f(x):
        return (jnp.log(x + 0.0) * 1).sum()  # here

    return olympus.grad(f)(x)


@planted(f32(0, 1), cure="", direction="backward", index=None)
@olympus.jit
def second_derivative_of_a_norm(x):
    def f(x):
        return jnp.where(x > 0, x**1.5, 0.0).sum()  # here

    return olympus.grad(lambda x: olympus.grad(f)(x).sum())(x)


@planted(f32(1, 1), cure="", direction="backward", index=None)
@olympus.jit
def gradient_of_arccos_at_one(x):
    def f(x):
        return jnp.where(x < 1, jnp.arccos(x), 0.0).sum()  # here

    return olympus.grad(f)(x)


@planted(f32(0, 3), cure="", direction="backward", index=None)
@olympus.jit
def gradient_of_a_power(x):
    def f(x):
        return jnp.where(x > 0, x**0.5, 0.0).sum()  # here

    return olympus.grad(f)(x)


@planted(f32(100, 1), cure="subtract the maximum", direction="backward", index=(0,))
@olympus.jit
def gradient_of_a_hand_made_sigmoid(x):
    def f(x):
        e = jnp.exp(x)  # here
        return (e / (1 + e)).sum()

    return olympus.grad(f)(x)


@planted(f32(2, 1), f32(2, 1), cure="", direction="backward", index=None)
@olympus.jit
def gradient_of_a_distance(a, b):
    def distance(a, b):
        return jnp.sqrt(((a - b) ** 2).sum())  # here

    return olympus.grad(distance)(a, b)


# -- linear algebra, statistics --------------------------------------------------------


@planted(np.zeros((2, 2), np.float32), cure="singular", index=None)
@olympus.jit
def inverse_of_a_singular_matrix(a):
    return jnp.linalg.inv(a + 1.0 - 1.0)  # here


@planted(np.eye(2, dtype=np.float32) * -1, cure="identity", index=None)
@olympus.jit
def cholesky_of_a_negative_matrix(a):
    return jnp.linalg.cholesky(a)  # here


@planted(f32(7), cure="", index=())
@olympus.jit
def deviation_of_one(x):
    return jnp.std(x, ddof=1)  # here


@planted(np.zeros((2, 3), np.float32), cure="", index=None)
@olympus.jit
def correlation_of_constants(x):
    c = x - x.mean(1, keepdims=True)
    n = jnp.sqrt((c * c).sum(1))
    return (c @ c.T) / (n[:, None] * n)  # here


@planted(np.full((2, 2), -np.inf, np.float32), cure="inf", index=None)
@olympus.jit
def softmax_of_a_masked_row(x):
    y = jnp.where(x > 0, x, -jnp.inf)
    z = y - y.max(-1, keepdims=True)  # here
    return jnp.exp(z) / jnp.exp(z).sum(-1, keepdims=True)


@planted(f32(1, 0, 0), cure="0", index=None)
@olympus.jit
def entropy_of_zero(p):
    return -(p * jnp.log(p)).sum()  # here


@planted(f32(1, 1.5), cure="log1p", index=(1,))
@olympus.jit
def hand_made_binary_entropy(p):
    a = p * jnp.log(p)
    return a + (1 - p) * jnp.log1p(-p)  # here


@planted(f32(2, 30), f32(3, 30), cure="overflow", index=(1,), kind="inf")
@olympus.jit
def power_overflow(x, n):
    return jnp.power(x, n)  # here


@planted(f32(1, 2), cure="overflow", index=None, kind="inf")
@olympus.jit
def product_overflow(x):
    m = jnp.outer(x, x) * 1e20
    return m @ m  # here


@planted(f32(1e30, 2), cure="overflow", index=(0,), kind="inf")
@olympus.jit
def cube_overflow(x):
    return x**3  # here


# -- trees, several results, nested calls ----------------------------------------------


@planted({"a": f32(1), "b": [f32(2), f32(-1)]}, cure="log needs", index=(0,))
@olympus.jit
def one_leaf_of_a_tree(tree):
    logs = {"a": jnp.log(tree["a"]), "b": [x * 2 for x in tree["b"]]}
    logs["b"][1] = jnp.log(tree["b"][1])  # here
    return logs


@olympus.jit
def _deep(x):
    return jnp.arcsin(x * 2)  # here


@olympus.jit
def _less_deep(x):
    return _deep(x) + 1


@planted(f32(0.1, 0.7), cure="clip", index=(1,))
@olympus.jit
def three_nested_functions(x):
    return _less_deep(x) * 2


@planted(f32(0.1, 0.6), cure="clip", index=(1,))
def nested_function_from_eager_code(x):
    return _less_deep(jnp.asarray(x))


@planted(f32(3, -3), cure="log needs", index=(1,))
@functools.partial(olympus.jit, donate_argnums=0)
def donated(x):
    return jnp.log(x) * 2  # here


@planted(np.ones((3, 4), np.float32), cure="0/0", index=None)
@olympus.jit
def mapped_twice(x):
    def f(v):
        d = v - v
        return d / d  # here

    return olympus.vmap(olympus.vmap(f))(x)


@planted(f32(1, 2), cure="", index=None)
@olympus.jit
def einsum_of_infinities(x):
    big = x * 1e30
    a = jnp.einsum("i,j->ij", big, big)
    return a - a  # here


# -- eager code ------------------------------------------------------------------------


@planted(f32(1, -1), cure="log needs", index=(1,))
def eager_line(x):
    y = jnp.asarray(x) * 2
    return jnp.log(y) + 1  # here


@planted(f32(2, 3), cure="0/0", iterations=(2,), index=())
def eager_fori(x):
    x = jnp.asarray(x)

    def body(i, c):
        d = c[0] - 3.0 * 0 - i
        return c * (d / d)  # here

    return lax.fori_loop(0, 5, body, x)


@planted(f32(0, 1), cure="", direction="forward", index=None, kind="inf")
def eager_gradient_of_a_root(x):
    return olympus.grad(lambda x: jnp.sqrt(x).sum())(jnp.asarray(x))  # here


@planted(f32(1, -1), cure="log needs", index=(1,))
def eager_map(x):
    return olympus.vmap(jnp.log)(jnp.asarray(x))  # here


@planted(f32(1, 2, -1), cure="negative", iterations=(2,), index=())
def eager_scan_of_roots(x):
    def step(c, x):
        return c + jnp.sqrt(x), c  # here

    return lax.scan(step, 0.0, jnp.asarray(x))


# -- what hides it ---------------------------------------------------------------------


@planted(f32(-1, 4), cure="negative", index=(0,))
@olympus.jit
def a_harmless_one_in_a_loop_before(x):
    def body(i, c):
        return jnp.where(x > 0, c + jnp.log(x), c)

    y = lax.fori_loop(0, 3, body, x)
    return y + jnp.sqrt(x)  # here


@planted(f32(-1, 4), cure="negative", index=(0,))
@olympus.jit
def nan_as_a_flag_before(x):
    mark = jnp.where(x < 0, jnp.nan, x)
    y = jnp.where(jnp.isnan(mark), 0.0, mark)
    return y + jnp.sqrt(x)  # here


@planted(f32(1, 3), cure="0/0", index=())
@olympus.jit
def through_an_integer_index(x):
    i = jnp.argmax(x)
    y = x - x[i]
    return y[i] / y[i]  # here


# -- decompositions, refs, keys, mapped rows -------------------------------------------


@planted(np.diag(f32(1, 1, 2)), cure="", direction="backward", index=None)
@olympus.jit
def gradient_of_equal_eigenvalues(a):
    return olympus.grad(lambda a: jnp.linalg.eigh(a)[1][0].sum())(a)  # here


@planted(np.eye(3, dtype=np.float32), cure="", direction="backward", index=None)
@olympus.jit
def gradient_of_equal_singular_values(a):
    return olympus.grad(lambda a: jnp.linalg.svd(a)[0][0].sum())(a)  # here


@planted(f32(1, 2, -1), cure="negative", index=None)
@olympus.jit
def associative_scan_of_roots(xs):
    return lax.associative_scan(lambda a, b: jnp.sqrt(a * b), xs)  # here


@planted(f32(1, 2, -1, 9), cure="log needs", iterations=(1,), index=(0,))
@olympus.jit
def map_over_batches(xs):
    return lax.map(lambda x: jnp.log(x), xs, batch_size=2)  # here


@planted(f32(1, -1), cure="log needs", index=(1,))
@olympus.jit
def a_ref_that_is_written(x):
    r = olympus.new_ref(x)
    r[...] = jnp.log(r[...])  # here
    return r[...]


@planted(f32(3), cure="log needs", iterations=(1,), index=())
@olympus.jit
def a_ref_in_a_loop(x):
    r = olympus.new_ref(x[0])

    def body(i, c):
        r[...] = jnp.log(r[...] - 1.0)  # here
        return c

    lax.fori_loop(0, 3, body, 0)
    return r[...]


@planted(f32(1, -1), cure="log needs", iterations=(1,), index=())
@olympus.jit
def a_scan_with_random_keys(xs):
    def step(key, x):
        key, own = random.split(key)
        return key, jnp.log(x) + random.normal(own)  # here

    return lax.scan(step, random.key(0), xs)[1]


@planted(f32(1, -1), cure="log needs", iterations=(1,), index=())
@olympus.jit
def an_unrolled_scan(xs):
    def step(c, x):
        return c + jnp.log(x), c  # here

    return lax.scan(step, 0.0, xs, unroll=2)[0]


@planted(f32(1, -1), cure="log needs", index=(1,))
@olympus.jit
def behind_a_callback(x):
    def host(x):
        return np.asarray(x)

    y = olympus.pure_callback(host, olympus.ShapeDtypeStruct((2,), "float32"), x)
    return jnp.log(y)  # here


@planted(f32(1, -1), cure="log needs", index=(1,))
def compiled_ahead_of_time(x):
    def f(x):
        return jnp.log(x) * 2  # here

    return olympus.jit(f).lower(x).compile()(x)


# Functions whose line it is, where that is not the one that is called.
MARKED: dict[str, Callable[..., Any]] = {
    "rule_of_a_user_forward": _safe_root_jvp,
    "three_nested_functions": _deep,
    "nested_function_from_eager_code": _deep,
}
