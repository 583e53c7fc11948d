"""Calls whose result types are recorded: text, the same for whoever runs it.

A template has `{f}` where the function's name goes, and variables where arguments go:
`v` and `w` hold three numbers, `m` and `n` 2 x 3, `s` and `t` 3 x 3, `a` and `b` one,
`D` is a dtype. Everything else in it is constant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

SHAPES = {
    "v": (3,),
    "w": (3,),
    "m": (2, 3),
    "n": (2, 3),
    "s": (3, 3),
    "t": (3, 3),
    "a": (),
    "b": (),
}
VARIABLES = {*SHAPES, "D"}

_REDUCTIONS = "sum prod mean max min amax amin any all std var ptp median count_nonzero"
_NAN = "nansum nanprod nanmean nanmax nanmin nanstd nanvar nanmedian"
_SCANS = "cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod"

NUMPY = {
    "jnp.{f}(v)": f"""
    abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin
    asinh atan atanh bitwise_count bitwise_invert bitwise_not cbrt ceil conj conjugate
    cos cosh deg2rad degrees exp exp2 expm1 fabs floor frexp i0 imag invert iscomplex
    isfinite isinf isnan isneginf isposinf isreal log log10 log1p log2 logical_not modf
    nan_to_num negative positive rad2deg radians real reciprocal rint sign signbit sin
    sinc sinh sqrt square tan tanh trunc around round spacing unwrap asarray array copy
    atleast_1d atleast_2d atleast_3d ravel argsort sort sort_complex argmax argmin
    nanargmax nanargmin ediff1d diff gradient flip diag diagflat vander cov corrcoef
    {_REDUCTIONS} {_NAN} {_SCANS} average trapezoid minmax transpose squeeze zeros_like
    ones_like empty_like iscomplexobj isrealobj isscalar shape size ndim poly polyder
    polyint ix_ unstack histogram_bin_edges meshgrid broadcast_arrays""",
    "jnp.{f}(a)": f"""
    abs exp negative sign square sum asarray array sort full_like argmax mean cumsum
    atleast_1d atleast_2d ravel arange eye bartlett reciprocal isfinite round ones_like
    {_NAN}""",
    "jnp.{f}(m)": """
    fliplr flipud tril triu matrix_transpose column_stack vstack hstack dstack unstack
    diagonal trace cov rot90 corrcoef concatenate stack""",
    "jnp.{f}(v, axis=0)": f"{_REDUCTIONS} {_NAN} {_SCANS} expand_dims flip",
    "jnp.{f}(m, 1, keepdims=True)": "max min argmax argmin any all median",
    "jnp.{f}(v, 0.3)": "quantile percentile nanquantile nanpercentile",
    "jnp.{f}(v, 0.3, method='lower')": "quantile percentile nanquantile",
    "jnp.{f}(v, 1)": """
    roll resize tile repeat partition argpartition around round tril triu top_k pad
    delete""",
    "jnp.{f}(v, 2)": """
    power float_power multiply add floor_divide ldexp left_shift diff vander""",
    "jnp.{f}(v, 2.0)": "power float_power multiply add maximum hypot remainder",
    "jnp.{f}(2.0, v)": "power subtract divide arctan2 copysign",
    "jnp.{f}(v, w)": """
    add arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor copysign divide divmod equal float_power floor_divide fmax fmin fmod gcd
    greater greater_equal heaviside hypot lcm ldexp left_shift less less_equal logaddexp
    logaddexp2 logical_and logical_or logical_xor maximum minimum mod multiply nextafter
    not_equal pow power remainder right_shift subtract true_divide allclose isclose
    array_equal array_equiv append convolve correlate cross digitize dot inner outer
    vdot vecdot kron isin searchsorted matmul polyadd polymul polysub polyval
    result_type corrcoef cov trapezoid meshgrid broadcast_arrays ediff1d gradient
    quantile nanquantile percentile""",
    "jnp.{f}(a, b)": "add power arange array_equal dot multiply outer logaddexp",
    "jnp.{f}(a, b, 3)": "linspace logspace geomspace",
    "jnp.{f}(0, a, 3)": "linspace logspace geomspace",
    "jnp.{f}(s, t)": "matmul tensordot dot inner vecdot kron matvec vecmat vdot",
    "jnp.{f}([v, w])": """
    concatenate stack hstack vstack dstack column_stack concat block lexsort""",
    "jnp.{f}((v, w))": "concatenate stack array asarray",
    "jnp.{f}([v])": "concatenate stack array asarray hstack block",
    "jnp.{f}([a, b])": "array asarray hstack stack",
    "jnp.{f}([a, 1])": "array asarray",
    "jnp.{f}([a, 2.5])": "array asarray",
    "jnp.{f}(v, weights=w)": "average bincount",
    "jnp.{f}(v, bins=3)": "histogram",
    "jnp.{f}(v, bins=3, density=True)": "histogram",
    "jnp.{f}(v, weights=w, bins=3)": "histogram",
    "jnp.{f}(v, bins=w)": "histogram histogram_bin_edges",
    "jnp.{f}(v, w, mode='same')": "convolve correlate",
    "jnp.{f}(v, w, v)": "interp clip",
    "jnp.{f}(1.5, v, w)": "interp",
    "jnp.{f}(v, np.float32(0), w)": "clip",
    "jnp.{f}(v, w, None)": "clip",
    "jnp.{f}(v, 0, 1)": "clip",
    "jnp.{f}(v, 0.5)": "clip",
    "jnp.{f}(np.array([True, False, True]), v, w)": "where",
    "jnp.{f}(v, np.float32(1), np.int8(2))": "where",
    "jnp.{f}(v, 1, 2.0)": "where",
    "jnp.{f}(v, size=2)": "where nonzero flatnonzero argwhere unique unique_values",
    "jnp.{f}(v, size=2, fill_value=b)": "nonzero",
    "jnp.{f}(v, return_index=True, return_counts=True, size=2)": "unique",
    "jnp.{f}(v, return_inverse=True, size=2, fill_value=2)": "unique",
    "jnp.{f}(v, size=3)": "unique_all unique_counts unique_inverse",
    "jnp.{f}(v, w, size=4)": "union1d intersect1d setdiff1d setxor1d",
    "jnp.{f}(v, w, size=4, fill_value=3)": "union1d setdiff1d",
    "jnp.{f}(v > 0, w, size=2)": "compress extract",
    "jnp.{f}(np.array([True, False, True]), v, fill_value=2, size=2)": "extract",
    "jnp.{f}([np.array([True, False, True])], [v], w)": "select",
    "jnp.{f}([np.array([True, False, True])] * 2, [v, w])": "select",
    "jnp.{f}([np.array([True, False, True])] * 2, [v, w], 1.5)": "select",
    "jnp.{f}([v], [w])": "select",
    "jnp.{f}(v, [np.array([True, False, True])], [b, 3])": "piecewise",
    "jnp.{f}(v, [np.array([True, False, True])], [lambda x: x, 2.5])": "piecewise",
    "jnp.{f}(np.array([0, 1, 1]), [v, w], mode='wrap')": "choose",
    "jnp.{f}(v, [1, 2, 3], mode='clip')": "choose",
    "jnp.{f}(v, np.array([0, 1]))": "take",
    "jnp.{f}(np.arange(3.0, dtype='f'), v)": "take delete",
    "jnp.{f}(v, np.array([0, 4]), mode='fill', fill_value=2)": "take",
    "jnp.{f}(v, np.array([0, 1]), 0)": "take_along_axis",
    "jnp.{f}(np.arange(3.0, dtype='f'), v, 0)": "take_along_axis",
    "jnp.{f}(v, np.array([0, 1, 1]), w, inplace=False)": "put",
    "jnp.{f}(v, np.array([0, 1, 1]), w, 0, inplace=False)": "put_along_axis",
    "jnp.{f}(v, np.array([True, True, False]), w, inplace=False)": "place",
    "jnp.{f}(s, v, inplace=False)": "fill_diagonal",
    "jnp.{f}(v, 1, w)": "insert",
    "jnp.{f}(v, prepend=w, append=1)": "diff",
    "jnp.{f}(m, 3, axis=1)": "array_split split",
    "jnp.{f}(m, 3)": "hsplit array_split",
    "jnp.{f}(m, 2)": "vsplit",
    "jnp.{f}(m[..., None][:, :, [0, 0]], 2)": "dsplit",
    "jnp.{f}(m, (3, 2))": "reshape resize",
    "jnp.{f}(m, (1, 0))": "transpose permute_dims",
    "jnp.{f}(m, 0, 1)": "swapaxes moveaxis",
    "jnp.{f}(m, 1)": "rollaxis expand_dims diagonal trace",
    "jnp.{f}(v, (2, 3))": "broadcast_to tile",
    "jnp.{f}(v, w, total_repeat_length=3)": "repeat",
    "jnp.{f}(v, 1, mode='mean')": "pad",
    "jnp.{f}(v, 1, mode='linear_ramp', end_values=2.5)": "pad",
    "jnp.{f}(v, 1, mode='edge')": "pad",
    "jnp.{f}(v, 1, constant_values=w[0] if hasattr(w, 'dtype') else w)": "pad",
    "jnp.{f}(v, 1.5)": "full_like multiply around roll",
    "jnp.{f}(v, a)": "full_like roll",
    "jnp.{f}(3, a)": "full kaiser",
    "jnp.{f}(3, a, D)": "full",
    "jnp.{f}(v, 2, D)": "full_like",
    "jnp.{f}(0, a, 2)": "arange",
    "jnp.{f}(3, D)": "zeros ones empty",
    "jnp.{f}(3, dtype=D)": "arange eye identity tri",
    "jnp.{f}(0, 1.5, 3, dtype=D)": "linspace logspace",
    "jnp.{f}(1, 8, 4, dtype=D)": "geomspace linspace",
    "jnp.{f}((2, 2), dtype=D)": "indices",
    "jnp.{f}(lambda i: i, (3,), dtype=D)": "fromfunction",
    "jnp.{f}(v, dtype=D)": """
    zeros_like ones_like empty_like sum prod mean var std cumsum cumprod nansum nanmean
    nancumsum cumulative_sum array asarray argsort cov corrcoef""",
    "jnp.{f}(m, dtype=D)": "trace",
    "jnp.{f}(v, D)": "astype array",
    "jnp.{f}([1, 2], D)": "array asarray",
    "jnp.{f}(1.5, D)": "array asarray",
    "jnp.{f}([v, w], dtype=np.float32)": "concatenate stack hstack",
    "jnp.{f}([v], dtype=D)": "concatenate stack vstack",
    "jnp.{f}(v, w, preferred_element_type=np.float32)": "dot convolve inner vdot",
    "jnp.{f}(v, v, preferred_element_type=D)": "dot matmul",
    "jnp.{f}('i,i->', v, w)": "einsum",
    "jnp.{f}('i,j->ij', v, w)": "einsum",
    "jnp.{f}('ii->i', s)": "einsum",
    "jnp.{f}('ij->i', m)": "einsum",
    "jnp.{f}('i,i,i->i', v, w, v)": "einsum",
    "jnp.{f}(v, initial=2)": "sum prod max min",
    "jnp.{f}(v, initial=2.5)": "sum prod max min nansum",
    "jnp.{f}(v, initial=a)": "sum max",
    "jnp.{f}(v, where=np.array([True, False, True]))": "sum prod mean var std any",
    "jnp.{f}(v, where=w)": "sum mean any",
    "jnp.{f}(v, where=np.array([True, False, True]), initial=1)": "max min",
    "jnp.{f}(v, promote_integers=False)": "sum prod",
    "jnp.{f}(v, ddof=1)": "var std nanvar",
    "jnp.{f}(v, weights=None, returned=True)": "average",
    "jnp.{f}(v, 0)": "packbits unpackbits",
    "jnp.{f}(s)": "tril_indices_from triu_indices_from diag_indices_from trace diag",
    "jnp.{f}(a, (3, 4))": "unravel_index",
    "jnp.{f}(v, (3, 4))": "unravel_index",
    "jnp.{f}((v, w), (3, 4), mode='clip')": "ravel_multi_index",
    "jnp.{f}(v, length=4)": "bincount",
    "jnp.{f}(v, w, trim_leading_zeros=False)": "polydiv polymul",
    "jnp.{f}(v, 1, b)": "polyint",
    "jnp.{f}(lambda x: x.sum(), 0, m)": "apply_along_axis",
    "jnp.{f}(jnp.sum, m, (0, 1))": "apply_over_axes",
    "jnp.{f}(jnp.sin)(v)": "vectorize",
    "jnp.{f}(lambda x, y: x + y, 2, 1)(v, w)": "frompyfunc",
    "jnp.{f}(v, nan=w)": "nan_to_num",
    "jnp.{f}(v, nan=1.5, posinf=3)": "nan_to_num",
    "jnp.{f}(v, w, 0.5)": "allclose isclose trapezoid",
    "jnp.{f}(v, x=w)": "trapezoid",
    "jnp.{f}(v, v, w, period=2)": "interp",
    "jnp.{f}(v, discont=2, period=b)": "unwrap",
    "jnp.{f}(v, period=4)": "unwrap",
    "jnp.add.{f}(v)": "reduce accumulate",
    "jnp.multiply.{f}(v)": "reduce accumulate",
    "jnp.subtract.{f}(v)": "reduce accumulate",
    "jnp.logical_and.{f}(v)": "reduce accumulate",
    "jnp.bitwise_or.{f}(v)": "reduce accumulate",
    "jnp.maximum.{f}(v)": "reduce accumulate",
    "jnp.add.{f}(v, dtype=D)": "reduce accumulate",
    "jnp.add.{f}(v, w)": "outer",
    "jnp.hypot.{f}(v, w)": "outer",
    "jnp.add.{f}(v, np.array([0, 1]), b, inplace=False)": "at",
    "jnp.multiply.{f}(v, np.array([0, 1]), b, inplace=False)": "at",
    "jnp.add.{f}(v, np.array([0, 1]))": "reduceat",
}

OPERATORS = {
    "v {f} w": "+ - * / // % ** & | ^ << >> == != < <= > >= @",
    "{f}v": "+ - ~",
    "{f}(v)": "abs",
    "v[{f}]": "0 None ::2 [0] v",
    "v.{f}()": """
    sum prod mean max min std var any all cumsum cumprod argmax argmin argsort sort
    ravel conj conjugate copy flatten round squeeze transpose ptp""",
    "v.{f}": "real imag T",
    "v.astype({f})": "D",
    "v.at[0].{f}(b)": "set add subtract multiply divide power min max",
    "v.at[np.array([0, 2])].{f}(b)": "set add mul min",
    "v.at[0].{f}()": "get",
    "v.at[np.array([0, 5])].{f}(mode='fill', fill_value=b)": "get",
    "v.at[0].{f}(jnp.sin)": "apply",
    "v.view({f})": "D",
    "v.clip({f})": "0 0,1.5",
    "v.dot({f})": "w",
    "v.take({f})": "np.array([0,1])",
    "v.searchsorted({f})": "b",
    "v.repeat({f})": "2",
    "v.round({f})": "1",
    "v.mean(dtype={f})": "D",
    "divmod(v, {f})": "w",
    "pow(v, {f})": "2 2.0 -1 0",
    "v ** {f}": "2 3 2.0 0.5 -1",
    "{f} ** v": "2 2.0 True",
    "jnp.{f}(a)": "float32 int8 bool_ complex64 bfloat16 uint8 float16",
    "jnp.finfo({f}).dtype": "D",
    "jnp.iinfo({f}).dtype": "D",
}

_LAX_ONE = """
abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e bitwise_not cbrt ceil clz
conj cos cosh cumlogsumexp cummax cummin cumprod cumsum digamma erf erf_inv erfc exp
exp2 expm1 floor imag is_finite lgamma log log1p logistic neg population_count real
reciprocal round rsqrt sign sin sinh sort sqrt square stop_gradient tan tanh
optimization_barrier
unstack"""
_LAX_TWO = """
add atan2 bitwise_and bitwise_or bitwise_xor complex div eq ge gt igamma igamma_grad_a
igammac le lt max min mul ne nextafter polygamma pow random_gamma_grad rem shift_left
shift_right_arithmetic shift_right_logical sub zeta dot sort_key_val broadcast_like"""

LAX = {
    "lax.{f}(v)": _LAX_ONE,
    "lax.{f}(a)": "abs neg exp sin sign real imag",
    "lax.{f}(v, w)": _LAX_TWO,
    "lax.{f}(a, b)": "add mul max eq pow",
    "lax.{f}(v, b)": "add mul pow lt atan2 dynamic_index_in_dim",
    "lax.{f}(v, 2)": """
    integer_pow add mul pow lt shift_left broadcast_to_rank top_k full_like""",
    "lax.{f}(v, -2)": "integer_pow",
    "lax.{f}(v, 2.0)": "add mul pow lt max",
    "lax.{f}(v, (2,))": "broadcast tile",
    "lax.{f}(v, (0,))": "rev reduce_sum reduce_max reduce_min reduce_prod reduce_and "
    "reduce_or reduce_xor expand_dims transpose",
    "lax.{f}(v, 0, np.int32)": "argmax argmin",
    "lax.{f}(v, 0, D)": "argmax argmin",
    "lax.{f}(v, D)": "convert_element_type bitcast_convert_type",
    "lax.{f}(v, 5, 2)": "reduce_precision",
    "lax.{f}(v, w, v)": "clamp betainc",
    "lax.{f}(a, v, b)": "clamp",
    "lax.{f}(0, v, 1)": "clamp",
    "lax.{f}(np.array([True, False, True]), v, w)": "select select_n",
    "lax.{f}(v, np.ones(3, 'f'), np.ones(3, 'f'))": "select_n",
    "lax.{f}([v, w], 0)": "concatenate",
    "lax.{f}([v, w])": "stack",
    "lax.{f}([v, w], num_keys=2)": "sort",
    "lax.{f}(v, b, [(1, 0, 0)])": "pad",
    "lax.{f}(v, 0, [(1, 0, 0)])": "pad",
    "lax.{f}(m, (3, 2))": "reshape",
    "lax.{f}(m, (1, 0))": "transpose",
    "lax.{f}(m, 0, 2)": "collapse",
    "lax.{f}(m[:1] if hasattr(m, 'dtype') else m, (0,))": "squeeze",
    "lax.{f}(v, (1,), (3,))": "slice",
    "lax.{f}(v, 0, 2)": "slice_in_dim dynamic_slice_in_dim",
    "lax.{f}(v, 0)": "index_in_dim dynamic_index_in_dim",
    "lax.{f}(v, (b,), (2,))": "dynamic_slice",
    "lax.{f}(v, b, 2)": "dynamic_slice_in_dim",
    "lax.{f}(v, w, (0,))": "dynamic_update_slice",
    "lax.{f}(v, b, 0, 0)": "dynamic_update_index_in_dim",
    "lax.{f}(v, w, 0, 0)": "dynamic_update_slice_in_dim",
    "lax.{f}(v, (1, 2))": "split",
    "lax.{f}(v, (3, 2), (0,))": "broadcast_in_dim",
    "lax.{f}(D, 3)": "iota",
    "lax.{f}(D, (2, 3), 0)": "broadcasted_iota",
    "lax.{f}((3,), a)": "full",
    "lax.{f}((3,), 2, D)": "full",
    "lax.{f}((3,), D)": "empty",
    "lax.{f}(v, a)": "full_like",
    "lax.{f}(v, 2, D)": "full_like",
    "lax.{f}(s, t, (((1,), (0,)), ((), ())))": "dot_general",
    "lax.{f}(s, t, (((1,), (0,)), ((), ())), preferred_element_type=np.float32)": (
        "dot_general"
    ),
    "lax.{f}(s, s, (((1,), (0,)), ((), ())), preferred_element_type=D)": "dot_general",
    "lax.{f}(s[None], t[None])": "batch_matmul",
    "lax.{f}(s[None, None], t[None, None], (1, 1), 'SAME')": "conv",
    "lax.{f}(s[None, None], t[None, None], (1, 1), 'VALID')": "conv_general_dilated",
    "lax.{f}(s[None, :], t[None, :], (1,), 'VALID')": "conv_transpose",
    "lax.{f}(s[None, None], (2, 2), (1, 1), 'VALID')": "conv_general_dilated_patches",
    "lax.{f}(v, b, lax.add, (2,), (1,), 'VALID')": "reduce_window",
    "lax.{f}(v, 0, lax.max, (2,), (1,), 'VALID')": "reduce_window",
    "lax.{f}(v, b, lax.add, (0,))": "reduce",
    "lax.{f}(v, 0, lax.add, (0,))": "reduce",
    "lax.{f}(v, 1.0, lax.mul, (0,))": "reduce",
    "lax.{f}(v, 1)": "approx_max_k approx_min_k",
    "lax.{f}(v, 'fft', (3,))": "fft",
    "lax.{f}(v, 'rfft', (3,))": "fft",
    "lax.{f}(v, 'irfft', (3,))": "fft",
    "lax.{f}(lax.add, v)": "associative_scan",
    "lax.{f}(lambda c, x: (c + x, x), b, v)": "scan",
    "lax.{f}(lambda c, x: (c, x + 1), 0, v)": "scan",
    "lax.{f}(jnp.sin, v)": "map",
    "lax.{f}(True, lambda x, y: x, lambda x, y: y, v, w)": "cond",
    "lax.{f}(a, lambda x: x, lambda x: x, v)": "cond",
    "lax.{f}(a, [lambda x: x, lambda x: x], v)": "switch",
    "lax.{f}(lambda x: False, lambda x: x + 1, a)": "while_loop",
    "lax.{f}(0, 3, lambda i, x: x * 2, a)": "fori_loop",
    "lax.{f}(0, a, lambda i, x: x + i, b)": "fori_loop",
    "lax.{f}(v, np.array([[0]]), w[:1] if hasattr(w, 'dtype') else w,"
    " lax.ScatterDimensionNumbers((), (0,), (0,)))": (
        "scatter scatter_add scatter_mul scatter_min scatter_max scatter_sub"
    ),
    "lax.{f}(v, np.array([[0]]), lax.GatherDimensionNumbers((), (0,), (0,)), (1,))": (
        "gather"
    ),
    "lax.{f}(v, np.array([[0]]), lax.GatherDimensionNumbers((), (0,), (0,)), (1,),"
    " mode='fill', fill_value=2)": "gather",
    "lax.{f}(np.ones(3, 'f'), w[:, None],"
    " lax.GatherDimensionNumbers((), (0,), (0,)), (1,))": "gather",
    "lax.{f}(v, (np.array([0]),), (0,))": "index_take",
    "lax.{f}(np.zeros(4, 'uint32'), (3,), dtype=D)": "rng_bit_generator",
    "lax.linalg.{f}(s)": """
    cholesky eigh eig svd qr lu schur hessenberg tridiagonal qdwh""",
    "lax.linalg.{f}(s, t)": "triangular_solve symmetric_product",
    "lax.linalg.{f}(s, v)": "householder_product cholesky_update",
    "lax.linalg.{f}(v, w, v, s)": "tridiagonal_solve",
    "lax.linalg.{f}(s, v, t)": "ormqr",
    "lax.linalg.{f}(v, 3)": "lu_pivots_to_permutation",
}

NN = {
    "nn.{f}(v)": """
    celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu
    log1mexp log_sigmoid log_softmax logmeanexp logsumexp mish relu relu6 selu sigmoid
    silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus standardize
    swish tanh""",
    "nn.{f}(a)": "relu gelu elu sigmoid softplus log1mexp relu6 selu",
    "nn.{f}(v[:2] if hasattr(v, 'dtype') else v)": "glu",
    "nn.{f}(v, approximate=False)": "gelu",
    "nn.{f}(v, b)": "celu elu leaky_relu squareplus",
    "nn.{f}(v, 2)": "celu elu leaky_relu squareplus",
    "nn.{f}(v, b=w)": "logsumexp",
    "nn.{f}(v, b=w, return_sign=True)": "logsumexp",
    "nn.{f}(v, where=np.array([True, False, True]))": """
    softmax log_softmax logsumexp logmeanexp standardize""",
    "nn.{f}(v, mean=w, variance=w)": "standardize",
    "nn.{f}(v, 3)": "one_hot",
    "nn.{f}(v, 3, dtype=D)": "one_hot",
    "nn.{f}(s[None, None], t[None, None], t[None, None])": "dot_product_attention",
    "nn.{f}(s[None, :, None], s[None, :, None], s[None, :, None],"
    " bias=t[None, None, None][0])": ("dot_product_attention"),
    "nn.{f}(s[None, :, None], s[None, :, None], s[None, :, None],"
    " mask=t[None, None] > 0)": ("dot_product_attention"),
    "nn.initializers.{f}()(key, (3, 3), D)": """
    glorot_normal he_normal he_uniform lecun_normal lecun_uniform normal orthogonal
    uniform truncated_normal glorot_uniform""",
    "nn.initializers.{f}(key, (3, 3), D)": "zeros ones",
}

SPECIAL = {
    "special.{f}(v)": """
    bernoulli dawsn digamma entr erf erfc erfcinv erfcx erfinv exp1 expi expit factorial
    fresnel gamma gammaln gammasgn i0 i0e i1 i1e log_ndtr log_softmax loggamma logit
    logsumexp ndtr ndtri sici softmax spence wofz""",
    "special.{f}(v, w)": """
    beta betaln boxcox boxcox1p comb expn gammainc gammaincc kl_div owens_t poch
    polygamma rel_entr xlog1py xlogy zeta""",
    "special.{f}(2, v)": "polygamma expn comb zeta xlogy beta",
    "special.{f}(v, 2)": "multigammaln polygamma poch zeta xlogy xlog1py comb gammainc",
    "special.{f}(v, 2.5)": "xlogy rel_entr gammainc beta boxcox",
    "special.{f}(v, w, v)": "betainc hyp1f1",
    "special.{f}(v, w, 0.5)": "betainc hyp1f1",
    "special.{f}(v, w, 1, 0.5)": "hyp2f1",
    "special.{f}(a)": "gammaln ndtr erf entr i0 digamma bernoulli",
    "special.{f}(v, v=2)": "bessel_jn",
    "special.{f}(np.array([1]), np.array([1]), v[:1], w[:1], n_max=2)": "sph_harm_y",
    "special.{f}(v, b=w)": "logsumexp",
    "special.{f}(v, exact=False)": "factorial",
}

LINALG = {
    "jnp.linalg.{f}(s)": """
    cholesky cond det eig eigh eigvals eigvalsh inv matrix_norm matrix_rank
    matrix_transpose norm pinv qr slogdet svd svdvals trace diagonal vector_norm""",
    "jnp.linalg.{f}(v)": "norm vector_norm",
    "jnp.linalg.{f}(v, ord=1)": "norm vector_norm",
    "jnp.linalg.{f}(v, ord=0)": "norm vector_norm",
    "jnp.linalg.{f}(v, ord=np.inf)": "norm vector_norm",
    "jnp.linalg.{f}(s, ord='nuc')": "norm matrix_norm",
    "jnp.linalg.{f}(s, 2)": "matrix_power norm",
    "jnp.linalg.{f}(s, 0)": "matrix_power",
    "jnp.linalg.{f}(s, -1)": "matrix_power",
    "jnp.linalg.{f}(s, t)": "solve lstsq matmul tensordot vecdot",
    "jnp.linalg.{f}(s, v)": "solve lstsq",
    "jnp.linalg.{f}(v, w)": "cross outer vecdot",
    "jnp.linalg.{f}([s, t])": "multi_dot",
    "jnp.linalg.{f}([s, t, s])": "multi_dot",
    "jnp.linalg.{f}(s, v, None)": "tensorsolve",
    "jnp.linalg.{f}(s, ind=1)": "tensorinv",
    "jnp.fft.{f}(v)": """
    fft ifft rfft irfft hfft ihfft fftshift ifftshift fftn ifftn rfftn irfftn""",
    "jnp.fft.{f}(m)": "fft2 ifft2 rfft2 irfft2",
    "jnp.fft.{f}(4, dtype=D)": "fftfreq rfftfreq",
    "jnp.fft.{f}(4, a)": "fftfreq rfftfreq",
}

TABLES = (NUMPY, OPERATORS, LAX, NN, SPECIAL, LINALG)


def calls() -> Iterator[str]:
    """Each call's text, once, in order."""
    seen = set()
    for table in TABLES:
        for template, names in table.items():
            for name in names.split():
                text = template.replace("{f}", name)
                if text not in seen:
                    seen.add(text)
                    yield text


def variables(text: str) -> tuple[str, ...]:
    """The variables of a call, in order of their first place."""
    found: list[tuple[int, str]] = []
    inner: set[str] = set()
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Lambda):
            inner |= {arg.arg for arg in node.args.args}
        if isinstance(node, ast.Name) and node.id in VARIABLES:
            found.append((node.col_offset, node.id))
    return tuple(dict.fromkeys(name for _, name in sorted(found) if name not in inner))
