"""Differentiable functions of numpy, and the functions that have no derivative."""

from __future__ import annotations

import numpy as np

import olympus.numpy as jnp
from tests.sweep.arguments import each, numbers, parts, signed, table, words

x, y = numbers(5), numbers(5, seed=1)
m, n = signed(3, 4), signed(3, 4, seed=1)
square, other = numbers(3, 3), numbers(3, 3, seed=1)
above = numbers(5, low=1.2, high=2.5)
z, w = parts(4), parts(4, seed=3)
spots = np.array([2, 0, 2])

UNARY = """
abs absolute acos arccos arccosh acosh arcsin arcsinh arctan arctanh asin asinh atan
atanh cbrt ceil cos cosh deg2rad degrees exp exp2 expm1 fabs floor i0 log log10 log1p
log2 negative positive rad2deg radians real reciprocal rint round around sign sin sinc
sinh sqrt square tan tanh trunc conj conjugate nan_to_num angle imag modf frexp astype
asarray array copy ravel atleast_1d atleast_2d atleast_3d unwrap"""
_own = {
    "acosh": (above,),
    "arccosh": (above,),
    "angle": (z,),
    "imag": (z,),
    "frexp": (lambda x: jnp.frexp(x)[0], x),
    "astype": (lambda x: jnp.astype(x, np.float64), x),
    "round": [(x,), (lambda x: jnp.round(x, 1), x)],
    "real": [(x,), (z,)],
    "abs": [(m,), (z,)],
    "around": (each(lambda f, x: f(x, 0)), x),
    "sinc": [(m,), (z,)],
}
COMPLEX = "exp sin cos tanh sqrt log square reciprocal arctan sinh log1p expm1 conj"
MORE = {
    f"{name}": [(getattr(jnp, name), x), (getattr(jnp, name), z)]
    for name in COMPLEX.split()
}

ENTRIES = {
    **{k: _own.get(k, MORE.get(k, (x,))) for k in UNARY.split()},
    "add subtract multiply maximum minimum fmax fmin": (m, n),
    "hypot logaddexp logaddexp2": (m, n),
    "divide true_divide arctan2 atan2 copysign heaviside floor_divide": (m, n),
    "power pow float_power": [(x, m[0][0]), (x, y), (lambda x: jnp.power(x, 3), m)],
    "remainder mod fmod": (m, numbers(3, 4)),
    "divmod": (lambda x, y: jnp.divmod(x, y)[1], m, numbers(3, 4)),
    "ldexp": (lambda x: jnp.ldexp(x, 3), x),
    "clip": [
        (lambda x: jnp.clip(x, -0.5, 0.6), m),
        (m, numbers(3, 4) - 1, n * 0 + 0.6),
    ],
    "where": (lambda x, y: jnp.where(m > 0, x, y), m, n),
    "select": (lambda x, y: jnp.select([m > 0, n > 0], [x, x * y], y), m, n),
    "choose": (lambda x, y: jnp.choose(spots // 2, [x, y]), m[:, 0], n[:, 0]),
    "piecewise": (
        lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, jnp.sin]),
        m,
    ),
    # Reductions and scans.
    "sum mean max min amax amin prod ptp std var": [
        (m,),
        (each(lambda f, x: f(x, axis=1)), m),
    ],
    "nansum nanmean nanmax nanmin nanprod nanstd nanvar nanmedian": [(m,)],
    "median": [(m,), (lambda x: jnp.median(x, axis=0), m)],
    "minmax": (m,),
    "average": (lambda x, w: jnp.average(x, weights=w), m, numbers(3, 4)),
    "quantile nanquantile": (each(lambda f, x: f(x, 0.3, axis=1)), m),
    "percentile nanpercentile": (each(lambda f, x: f(x, 30.0)), m),
    "cumsum cumprod nancumsum nancumprod": [(m,), (each(lambda f, x: f(x, 1)), m)],
    "cumulative_sum cumulative_prod": [
        (x,),
        (each(lambda f, x: f(x, axis=1, include_initial=True)), m),
    ],
    "trace": (square,),
    "trapezoid": [(x,), (x, np.sort(y))],
    "diff ediff1d gradient": (x,),
    "corrcoef cov": (m,),
    "histogram": (lambda x: jnp.histogram(y, bins=3, weights=x)[0], x),
    "histogram2d": (lambda x: jnp.histogram2d(y, y, bins=3, weights=x)[0], x),
    "histogramdd": (lambda x: jnp.histogramdd(m, bins=2, weights=x)[0], x[:3]),
    "bincount": (lambda x: jnp.bincount(spots, weights=x, length=4), y[:3]),
    "interp": (lambda x, f: jnp.interp(x, np.linspace(0, 1, 4), f), x, y[:4]),
    "sort": [(m,), (lambda x: jnp.sort(x, axis=0), m)],
    "sort_complex": (z,),
    "partition": (lambda x: jnp.partition(x, 2), x),
    "top_k": (lambda x: jnp.top_k(x, 2)[0], m),
    # Products.
    "dot matmul": [(square, other), (x, y), (z, w)],
    "inner": (m, n),
    "outer kron": (x, y[:3]),
    "vdot": [(x, y), (z, w)],
    "vecdot": (m, n),
    "matvec": (m, x[:4]),
    "vecmat": (x[:3], m),
    "tensordot": (lambda x, y: jnp.tensordot(x, y, axes=[[0], [0]]), m, n),
    "einsum": (lambda x, y: jnp.einsum("ij,kj->ik", x, y), m, n),
    "cross": (square, other),
    "convolve correlate": (x, y[:3]),
    "polyval": (x, y),
    "polyadd polysub polymul": (x, y[:3]),
    "polyder polyint": (x,),
    "polydiv": (lambda x, y: jnp.polydiv(x, y)[0], x, y[:3]),
    "poly": (x[:3],),
    "vander": (x[:3],),
    "polyfit": (lambda x, y: jnp.polyfit(x, y, 2), x, y),
    "roots": (lambda x: jnp.roots(x, strip_zeros=False), np.array([1.0, -6, 11, -6])),
    # Shapes.
    "broadcast_to": (lambda x: jnp.broadcast_to(x, (2, 5)), x),
    "broadcast_arrays": (lambda x, y: jnp.broadcast_arrays(x, y), m, x[:4]),
    "reshape": (lambda x: jnp.reshape(x, (4, 3)), m),
    "resize": (lambda x: jnp.resize(x, (7,)), x),
    "permute_dims": (lambda x: jnp.permute_dims(x, (1, 0)), m),
    "transpose matrix_transpose fliplr flipud flip squeeze": (m,),
    "swapaxes": (lambda x: jnp.swapaxes(x, 0, 1), m),
    "moveaxis": (lambda x: jnp.moveaxis(x, 0, 1), m),
    "rollaxis": (lambda x: jnp.rollaxis(x, 1), m),
    "roll": (lambda x: jnp.roll(x, 2), m),
    "rot90": (m,),
    "expand_dims": (lambda x: jnp.expand_dims(x, 1), m),
    "tile": (lambda x: jnp.tile(x, (2, 1)), m),
    "repeat": (lambda x: jnp.repeat(x, 2, axis=1), m),
    "pad": [
        (lambda x, mode=mode: jnp.pad(x, 2, mode=mode), m)
        for mode in ("constant", "reflect", "edge", "wrap", "mean", "linear_ramp")
    ],
    "concatenate concat": (each(lambda f, x, y: f([x, y], axis=1)), m, n),
    "stack": (lambda x, y: jnp.stack([x, y], 1), m, n),
    "hstack vstack dstack column_stack block": (each(lambda f, x, y: f([x, y])), m, n),
    "append": (m, n),
    "split array_split": (each(lambda f, x: f(x, 2, axis=1)), m),
    "hsplit": (lambda x: jnp.hsplit(x, 2), m),
    "vsplit": (lambda x: jnp.vsplit(x, [1]), m),
    "dsplit": (lambda x: jnp.dsplit(x, 2), signed(2, 2, 2)),
    "unstack": (m,),
    "meshgrid": (x, y[:3]),
    "diag": [(x,), (square,)],
    "diagonal tril triu": (square,),
    "diagflat": (x,),
    "fill_diagonal": (
        lambda x, v: jnp.fill_diagonal(x, v, inplace=False), square, x[:3]),
    "delete": (lambda x: jnp.delete(x, np.array([1])), x),
    "insert": (lambda x, v: jnp.insert(x, 2, v), x, y[0]),
    # Positions.
    "take": [
        (lambda x: jnp.take(x, spots, axis=1), m),
        (lambda x: jnp.take(x, spots), m),
    ],
    "take_along_axis": (lambda x: jnp.take_along_axis(x, spots[:, None], 1), m),
    "put": (lambda x, v: jnp.put(x, spots[:2], v, inplace=False), x, y[:2]),
    "put_along_axis": (
        lambda x, v: jnp.put_along_axis(x, spots[:, None], v, 1, inplace=False),
        m,
        n[:, :1],
    ),
    "place": (lambda x, v: jnp.place(x, np.arange(5) > 2, v, inplace=False), x, y[:2]),
    "compress extract": (each(lambda f, x: f(np.arange(5) > 2, x)), x),
    "full_like": (lambda x: jnp.full_like(m, x), x[0]),
    "full": (lambda x: jnp.full((2, 3), x), x[0]),
    "linspace": (lambda x, y: jnp.linspace(x, y, 4), x[0], y[0]),
    "geomspace logspace": (each(lambda f, x, y: f(x, y, 4)), x[0], y[0]),
    "apply_along_axis": (lambda x: jnp.apply_along_axis(jnp.cumsum, 0, x), m),
    "apply_over_axes": (lambda x: jnp.apply_over_axes(jnp.sum, x, [0]), m),
    "fromfunction": (lambda x: jnp.fromfunction(lambda i: i * x[0], (3,)), x),
    "frompyfunc": (lambda x, y: jnp.frompyfunc(lambda a, b: a * b, 2, 1)(x, y), m, n),
    "vectorize": (jnp.vectorize(jnp.dot, signature="(n),(n)->()"), m, n),
}  # fmt: skip
CASES = table(jnp, ENTRIES)

WITHOUT_DERIVATIVE = words(
    """__array_namespace_info__
    all allclose any argmax argmin argpartition argsort argwhere array_equal
    array_equiv array_repr array_str bitwise_and bitwise_count bitwise_invert
    bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor
    broadcast_shapes can_cast count_nonzero diag_indices diag_indices_from digitize
    einsum_path equal flatnonzero gcd get_printoptions greater greater_equal
    histogram_bin_edges
    indices intersect1d invert isclose iscomplex iscomplexobj isdtype isfinite isin
    isinf isnan isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_
    lcm left_shift less less_equal lexsort load logical_and logical_not logical_or
    logical_xor mask_indices nanargmax nanargmin ndim nextafter nonzero not_equal
    packbits printoptions promote_types ravel_multi_index result_type right_shift
    save savez searchsorted set_printoptions setdiff1d setxor1d shape signbit size
    spacing tril_indices tril_indices_from triu_indices triu_indices_from union1d
    unique unique_all unique_counts unique_inverse unique_values unpackbits
    unravel_index trim_zeros arange bartlett blackman empty empty_like eye
    from_dlpack frombuffer fromfile fromiter fromstring hamming hanning identity
    kaiser ones ones_like tri zeros zeros_like"""
)
