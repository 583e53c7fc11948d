"""Functions of olympus.lax on numbers one by one."""

from __future__ import annotations

import numpy as np

import olympus.numpy as jnp
from olympus import lax
from tests.public_functions.entries import entries
from tests.public_functions.points import (
    ABOVE,
    M,
    N,
    SharedCall,
    W,
    X,
    Y,
    Z,
    numbers,
    signed_values,
)
from tests.public_functions.reasons import (
    CONSTANT,
    DISCRETE,
    NO_RULE,
    NOT_IN_JAX,
    OWN_TESTS,
    SAMPLES,
)

entry = entries("lax", undrawn=SAMPLES)

ENTRIES = [
    *entry("abs neg sign", smooth=(X,), types="v; a"),
    *entry(
        """asin asinh atan atanh cbrt ceil cosh erf erf_inv erfc exp2 expm1 floor log1p
        reciprocal round sinh square tan bessel_i0e bessel_i1e lgamma digamma acos""",
        smooth=(X,),
        types="v",
    ),
    *entry("cos log logistic rsqrt sqrt tanh conj", smooth=[(X,), (Z,)], types="v"),
    *entry("exp sin", smooth=[(X,), (Z,)], types="v; a"),
    *entry("log2 one_minus_square", smooth=(X,), unrecorded=NOT_IN_JAX),
    *entry("real imag", smooth=(Z,), types="v; a"),
    *entry("acosh", smooth=(ABOVE,), types="v"),
    *entry("add mul", smooth=[(M, N)], types="v, w; a, b; v, b; v, 2; v, 2.0"),
    *entry("sub min div", smooth=[(M, N)], types="v, w"),
    *entry("max", smooth=[(M, N)], types="v, w; a, b; v, 2.0"),
    *entry("atan2", smooth=[(M, N)], types="v, w; v, b"),
    *entry("rem", smooth=(M, numbers(3, 4)), types="v, w"),
    *entry("pow", smooth=[(X, Y), (Z, W)], types="v, w; a, b; v, b; v, 2; v, 2.0"),
    *entry("complex", smooth=(X, Y), types="v, w"),
    *entry(
        "igamma igammac",
        smooth=(SharedCall(lambda f, x: f(np.full(5, 0.7), x)), X),
        types="v, w",
    ),
    *entry(
        "igamma_grad_a",
        smooth=(lambda x: lax.igamma_grad_a(np.full(5, 0.7), x), X),
        types="v, w",
    ),
    *entry(
        "betainc",
        smooth=(lambda x: lax.betainc(np.full(5, 2.0), np.full(5, 1.5), x), X),
        types="v, w, v",
    ),
    *entry(
        "polygamma",
        smooth=(lambda x: lax.polygamma(np.full(5, 1.0), x), X),
        types="v, w",
    ),
    *entry("zeta", smooth=(lambda q: lax.zeta(np.full(5, 2.5), q), X), types="v, w"),
    *entry(
        "integer_pow",
        smooth=[(lambda x, k=k: lax.integer_pow(x, k), M) for k in (-2, 0, 1, 3)],
        types="v, 2; v, -2",
    ),
    *entry(
        "polynomial",
        smooth=(lambda x, c: lax.polynomial(x, c), M, X),
        unrecorded=NOT_IN_JAX,
    ),
    *entry(
        "scaled_dot",
        smooth=(
            lambda a, b, s: lax.scaled_dot(
                a, b, lhs_scale=s, preferred_element_type=np.float64
            ),
            signed_values(3, 4),
            signed_values(4, 2),
            numbers(3, 2),
        ),
        unrecorded=OWN_TESTS,
    ),
    *entry(
        "platform_dependent",
        smooth=(lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), X),
        types="v, cpu=jnp.sin, default=jnp.cos",
    ),
    *entry(
        "composite",
        smooth=(lambda x: lax.composite(jnp.sin, "my.sin")(x), X),
        types="{f}(jnp.sin, 'my.sin')(v)",
    ),
    *entry(
        "clamp",
        smooth=(lambda a, x, b: lax.clamp(a, x, b), N * 0 - 0.5, M, N * 0 + 0.6),
        types="v, w, v; a, v, b; 0, v, 1",
    ),
    *entry(
        "select",
        smooth=(lambda x, y: lax.select(M > 0, x, y), M, N),
        types="np.array([True, False, True]), v, w",
    ),
    *entry(
        "select_n",
        smooth=(lambda x, y: lax.select_n(M > 0, x, y), M, N),
        types=(
            "np.array([True, False, True]), v, w; v, np.ones(3, 'f'), np.ones(3, 'f')"
        ),
    ),
    *entry(
        "reduce_precision",
        smooth=(lambda x: lax.reduce_precision(x, 11, 52), X),
        types="v, 5, 2",
    ),
    *entry(
        "convert_element_type",
        smooth=(lambda x: lax.convert_element_type(x, np.float64), X),
        types="v, D",
    ),
    *entry("optimization_barrier stage", smooth=(M,), types="v"),
    *entry(
        """bitwise_and bitwise_or bitwise_xor ge gt le mulhi ne nextafter
        shift_right_arithmetic shift_right_logical""",
        smooth=DISCRETE,
        types="v, w",
    ),
    *entry(
        "bitwise_not clz is_finite population_count dtype", smooth=DISCRETE, types="v"
    ),
    *entry("eq", smooth=DISCRETE, types="v, w; a, b"),
    *entry("lt", smooth=DISCRETE, types="v, w; v, b; v, 2; v, 2.0"),
    *entry("after_all dce_sink", smooth=DISCRETE, unrecorded=OWN_TESTS),
    *entry("shift_left", smooth=DISCRETE, types="v, w; v, 2"),
    *entry("random_gamma_grad", smooth=NO_RULE, types="v, w"),
    *entry("stop_gradient", smooth=CONSTANT, types="v"),
    *entry("bitcast_convert_type", smooth=DISCRETE, types="v, D"),
    *entry("create_token", smooth=CONSTANT, unrecorded=OWN_TESTS),
]
