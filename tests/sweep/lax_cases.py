"""Differentiable functions of lax, and those that have no derivative."""

from __future__ import annotations

import numpy as np

import olympus
import olympus.lax as lax
import olympus.numpy as jnp
from tests.sweep.arguments import each, numbers, parts, signed, table, words

x, y = numbers(5), numbers(5, seed=1)
m, n = signed(3, 4), signed(3, 4, seed=1)
image, kernel = signed(2, 5, 4, 3), signed(3, 2, 3, 2, seed=1)
z, w = parts(4), parts(4, seed=3)
above = numbers(5, low=1.2, high=2.5)
vectors = np.array([[2], [0], [3]])
rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
into = lax.ScatterDimensionNumbers((1,), (0,), (0,))
PARTS = lax.RaggedDotDimensionNumbers((((1,), (0,)), ((), ())), [1], [])
FIRST = ("NHWC", "HWIO", "NHWC")

ENTRIES = {
    """abs asin asinh atan atanh cbrt ceil cos cosh erf erf_inv erfc exp exp2 expm1
    floor log log1p log2 logistic neg one_minus_square reciprocal round rsqrt sign
    sin sinh sqrt square tan tanh bessel_i0e bessel_i1e lgamma digamma acos""": (x,),
    "sin cos exp log tanh logistic rsqrt sqrt": [(x,), (z,)],
    "real imag": (z,),
    "conj": [(x,), (z,)],
    "acosh": (above,),
    "add sub mul max min atan2 div": [(m, n)],
    "rem": (m, numbers(3, 4)),
    "pow": [(x, y), (z, w)],
    "complex": (x, y),
    "igamma igammac": (each(lambda f, x: f(np.full(5, 0.7), x)), x),
    "igamma_grad_a": (lambda x: lax.igamma_grad_a(np.full(5, 0.7), x), x),
    "betainc": (lambda x: lax.betainc(np.full(5, 2.0), np.full(5, 1.5), x), x),
    "polygamma": (lambda x: lax.polygamma(np.full(5, 1.0), x), x),
    "zeta": (lambda q: lax.zeta(np.full(5, 2.5), q), x),
    "integer_pow": [(lambda x, k=k: lax.integer_pow(x, k), m) for k in (-2, 0, 1, 3)],
    "polynomial": (lambda x, c: lax.polynomial(x, c), m, x),
    "scaled_dot": (
        lambda a, b, s: lax.scaled_dot(
            a, b, lhs_scale=s, preferred_element_type=np.float64),
        signed(3, 4), signed(4, 2), numbers(3, 2)),
    "platform_dependent": (
        lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), x),
    "composite": (lambda x: lax.composite(jnp.sin, "my.sin")(x), x),
    "clamp": (lambda a, x, b: lax.clamp(a, x, b), n * 0 - 0.5, m, n * 0 + 0.6),
    "select": (lambda x, y: lax.select(m > 0, x, y), m, n),
    "select_n": (lambda x, y: lax.select_n(m > 0, x, y), m, n),
    "reduce_precision": (lambda x: lax.reduce_precision(x, 11, 52), x),
    "convert_element_type": (lambda x: lax.convert_element_type(x, np.float64), x),
    "optimization_barrier stage": (m,),
    # Reductions and scans.
    "reduce_sum reduce_max reduce_min reduce_prod": (each(lambda f, x: f(x, (1,))), m),
    "reduce": [
        (lambda x: lax.reduce(x, 0.0, jnp.hypot, (1,)), m),
        (lambda x: lax.reduce(x, 1.0, lax.mul, (0,)), m),
    ],
    "reduce_window": [
        (lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 2), "SAME"), m),
        (lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (1, 2), "SAME"), m),
        (lambda x: lax.reduce_window(x, np.inf, lax.min, (2, 3), (2, 1)), m),
        (lambda x: lax.reduce_window(x, 1.0, lax.mul, (2, 2), (1, 1)), m),
        (
            lambda x: lax.reduce_window(
                x, 0.0, lax.add, (2, 2), (1, 1), ((1, 0), (0, 2)), (2, 1), (1, 2)
            ),
            m,
        ),
    ],
    "cumsum cumprod cummax cummin cumlogsumexp": [
        (m,),
        (each(lambda f, x: f(x, 1, reverse=True)), m),
    ],
    "associative_scan": (lambda x: lax.associative_scan(jnp.multiply, x), m),
    "sort": [(m,), (lambda x, y: lax.sort((x, y), num_keys=1), m[0], n[0])],
    "sort_key_val": (m[0], n[0]),
    "top_k": (lambda x: lax.top_k(x, 2)[0], m),
    "approx_max_k approx_min_k": (each(lambda f, x: f(x, 2)[0]), m),
    # Products.
    "dot": [(numbers(2, 3), m), (z, w)],
    "batch_matmul": (numbers(2, 3, 2), numbers(2, 2, 3)),
    "dot_general": [
        (lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))),
         numbers(2, 3, 2), numbers(2, 2, 3)),
        (lambda a, b: lax.dot_general(a, b, (((0, 2), (2, 0)), ((), ()))),
         numbers(2, 3, 4), numbers(4, 2, 2)),
    ],
    "ragged_dot": (lambda a, b: lax.ragged_dot(a, b, np.array([1, 2])),
                   signed(3, 4), signed(2, 4, 2)),
    "ragged_dot_general": (
        lambda a, b: lax.ragged_dot_general(a, b, np.array([1, 2]), PARTS),
        signed(2, 4), signed(4, 3)),
    "conv_general_dilated_local": (
        lambda a, b: lax.conv_general_dilated_local(
            a, b, (1,), "VALID", (2,), dimension_numbers=("NWC", "WIO", "NWC")),
        signed(2, 4, 2), signed(3, 4, 2)),
    "with_sharding_constraint": (
        lambda x: lax.with_sharding_constraint(
            x, olympus.device_put(np.zeros(1)).sharding), m),
    "conv_general_dilated": [
        (lambda a, b: lax.conv_general_dilated(
            a, b, (1, 2), ((1, 0), (2, 1)), (2, 1), (1, 2), FIRST), image, kernel),
        (lambda a, b: lax.conv_general_dilated(
            a, b, (1, 1), "SAME", feature_group_count=3, dimension_numbers=FIRST),
         image, signed(2, 2, 1, 6)),
        (lambda a, b: lax.conv_general_dilated(
            a, b, (1, 1), "VALID", batch_group_count=2, dimension_numbers=FIRST),
         image, kernel),
    ],
    "conv": (lambda a, b: lax.conv(a, b, (1, 1), "SAME"),
             signed(1, 2, 4, 3), signed(3, 2, 2, 2)),
    "conv_with_general_padding": (
        lambda a, b: lax.conv_with_general_padding(
            a, b, (1, 1), ((1, 0), (0, 1)), (1, 1), (1, 1)),
        signed(1, 2, 4, 3), signed(3, 2, 2, 2)),
    "conv_transpose": (
        lambda a, b: lax.conv_transpose(a, b, (2, 2), "SAME"), image, kernel),
    "conv_general_dilated_patches": (
        lambda a: lax.conv_general_dilated_patches(a, (2, 2), (1, 1), "SAME"),
        signed(1, 2, 4, 3)),
    "fft": [
        (lambda x, kind=kind: lax.fft(x, kind, (4,)), z) for kind in ("FFT", "IFFT")
    ] + [(lambda x: lax.fft(x, "RFFT", (5,)), x)],
    # Shapes.
    "broadcast": (lambda x: lax.broadcast(x, (2,)), x),
    "broadcast_in_dim": (lambda x: lax.broadcast_in_dim(x, (2, 5), (1,)), x),
    "broadcast_like": (lambda x: lax.broadcast_like(x, np.ones((2, 5))), x),
    "broadcast_to_rank": (lambda x: lax.broadcast_to_rank(x, 2), x),
    "collapse": (lambda x: lax.collapse(x, 0, 2), m),
    "reshape": (lambda x: lax.reshape(x, (4, 3), (1, 0)), m),
    "expand_dims": (lambda x: lax.expand_dims(x, (1,)), m),
    "squeeze": (lambda x: lax.squeeze(x, (1,)), signed(2, 1, 3)),
    "transpose": (lambda x: lax.transpose(x, (1, 0)), m),
    "rev": (lambda x: lax.rev(x, (1,)), m),
    "tile": (lambda x: lax.tile(x, (2, 1)), m),
    "concatenate": (lambda x, y: lax.concatenate([x, y], 1), m, n),
    "stack": (lambda x, y: lax.stack([x, y]), m, n),
    "unstack": (lambda x: lax.unstack(x), m),
    "split": (lambda x: lax.split(x, (1, 3), 1), m),
    "pad": [
        (lambda x, v: lax.pad(x, v, [(1, 2, 0), (0, 0, 1)]), m, x[0]),
        (lambda x, v: lax.pad(x, v, [(-1, 2, 1), (1, -2, 0)]), m, x[0]),
    ],
    "slice": (lambda x: lax.slice(x, (0, 1), (3, 4), (2, 1)), m),
    "slice_in_dim": (lambda x: lax.slice_in_dim(x, 1, 3, axis=1), m),
    "index_in_dim": (lambda x: lax.index_in_dim(x, 1), m),
    "dynamic_slice": [
        (lambda x, i=i: lax.dynamic_slice(x, (i, 1), (2, 2)), m) for i in (0, 7, -9)
    ],
    "dynamic_slice_in_dim": (lambda x: lax.dynamic_slice_in_dim(x, 1, 2, 1), m),
    "dynamic_index_in_dim": (lambda x: lax.dynamic_index_in_dim(x, 1), m),
    "dynamic_update_slice": [
        (lambda x, v, i=i: lax.dynamic_update_slice(x, v, (i, 1)), m, n[:2, :2])
        for i in (0, 7, -9)
    ],
    "dynamic_update_slice_in_dim": (
        lambda x, v: lax.dynamic_update_slice_in_dim(x, v, 1, 1), m, n[:, :2]),
    "dynamic_update_index_in_dim": (
        lambda x, v: lax.dynamic_update_index_in_dim(x, v, 1, 0), m, n[0]),
    # Positions.
    "index_take": (lambda x: lax.index_take(x, [np.array([2, 0])], (0,)), m),
    "gather": [
        (lambda x, mode=mode: lax.gather(
            x, vectors, rows, (1, 4), mode=mode, fill_value=0), m)
        for mode in ("fill", "clip")
    ],
    "scatter scatter_add scatter_sub scatter_min scatter_max": [
        (each(lambda f, x, v, mode=mode: f(x, vectors, v, into, mode=mode)),
         m, signed(3, 4, seed=5) + 0.07)
        for mode in ("drop", "clip")
    ],
    "scatter_mul": [
        (lambda x, v, mode=mode: lax.scatter_mul(
            x, vectors, v, into, mode=mode, unique_indices=True), m, n)
        for mode in ("drop",)
    ],
    "full": (lambda x: lax.full((2, 3), x), x[0]),
    "full_like": (lambda x: lax.full_like(m, x), x[0]),
    # Control flow.
    "cond": (lambda x: lax.cond(True, jnp.sin, jnp.cos, x), x),
    "switch": (lambda x: lax.switch(1, [jnp.sin, jnp.cos], x), x),
    "fori_loop": (lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) * x, x), x),
    "map": (lambda x: lax.map(jnp.sin, x), m),
    "scan": (lambda x: lax.scan(lambda c, v: (c * v, c + v), x[0], x), m),
}  # fmt: skip
CASES = table(lax, ENTRIES)

# Of integers, shapes and jumps; or no rule is written.
WITHOUT_DERIVATIVE = words(
    """DotDimensionNumbers after_all argmax argmin bitcast_convert_type bitwise_and
    bitwise_not bitwise_or bitwise_xor broadcast_shapes broadcasted_iota clz
    conv_dimension_numbers conv_general_permutations conv_general_shape_tuple
    conv_shape_tuple conv_transpose_shape_tuple create_token
    dce_sink dtype empty eq ge gt iota is_finite le lt mulhi ne nextafter
    padtype_to_pads population_count reduce_and reduce_or reduce_window_shape_tuple
    reduce_xor rng_bit_generator rng_uniform shape_as_value shift_left
    shift_right_arithmetic shift_right_logical random_gamma_grad scatter_apply
    stop_gradient"""
)
# Their derivatives need an axis name, or have tests of their own.
ELSEWHERE = words(
    """all_gather all_to_all axis_index axis_size custom_linear_solve custom_root
    pbroadcast pmax pmean pmin ppermute pshuffle psum psum_scatter pswapaxes
    while_loop"""
)
