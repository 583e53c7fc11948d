"""The pages of which every function is in a table, but for those named here."""

from __future__ import annotations


def words(text: str) -> set[str]:
    return set(text.split())


# Tables of these are not written yet.
ELEMENTWISE_AND_STATISTICS = words(
    """abs absolute acos acosh add allclose angle arccos arccosh arcsin arcsinh arctan
    arctan2 arctanh argmax argmin argpartition argsort argwhere around array_equal
    array_equiv asin asinh atan atan2 atanh average bincount bitwise_and bitwise_count
    bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
    bitwise_xor cbrt ceil clip conj conjugate convolve copysign corrcoef correlate cos
    cosh count_nonzero cov cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees
    digitize divide divmod equal exp exp2 expm1 fabs flatnonzero float_power floor
    floor_divide fmax fmin fmod frexp frompyfunc gcd greater greater_equal heaviside
    histogram histogram_bin_edges hypot i0 imag interp intersect1d invert isclose
    iscomplex isfinite isin isinf isnan isneginf isposinf isreal lcm ldexp left_shift
    less less_equal lexsort log log10 log1p log2 logaddexp logaddexp2 logical_and
    logical_not logical_or logical_xor maximum median minimum minmax mod modf multiply
    nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
    nanpercentile nanprod nanquantile nanstd nansum nanvar negative nextafter nonzero
    not_equal partition percentile positive pow power ptp quantile rad2deg radians real
    reciprocal remainder right_shift rint round searchsorted setdiff1d setxor1d sign
    signbit sin sinc sinh sort sort_complex spacing sqrt square std subtract tan tanh
    top_k trapezoid true_divide trunc union1d unique unique_all unique_counts
    unique_inverse unique_values unwrap var where"""
)
CREATION_AND_SHAPES = words(
    """append apply_along_axis apply_over_axes arange array array_split asarray astype
    atleast_1d atleast_2d atleast_3d bartlett blackman block broadcast_arrays
    broadcast_shapes broadcast_to choose column_stack compress concat concatenate copy
    cross delete diag diag_indices diag_indices_from diagflat diagonal diff dot dsplit
    dstack ediff1d einsum empty empty_like expand_dims extract eye fill_diagonal flip
    fliplr flipud frombuffer fromfunction fromiter fromstring full full_like geomspace
    gradient hamming hanning hsplit hstack identity indices inner insert ix_ kaiser kron
    linspace logspace mask_indices matmul matrix_transpose matvec meshgrid moveaxis ones
    ones_like outer packbits pad permute_dims piecewise place poly polyadd polyder
    polydiv polyint polymul polysub polyval put put_along_axis ravel ravel_multi_index
    repeat reshape resize roll rollaxis rot90 select split squeeze stack swapaxes take
    take_along_axis tensordot tile trace transpose tri tril tril_indices
    tril_indices_from trim_zeros triu triu_indices triu_indices_from unpackbits
    unravel_index unstack vander vdot vecdot vecmat vectorize vsplit vstack zeros
    zeros_like"""
)
# Files, text and questions about dtypes have tests of their own.
OF_NO_ARRAY = words(
    """array_repr array_str can_cast from_dlpack fromfile get_printoptions iscomplexobj
    isdtype isrealobj isscalar issubdtype iterable load ndim printoptions promote_types
    result_type save savez set_printoptions shape size"""
)

PAGES: dict[str, set[str]] = {
    "numpy": ELEMENTWISE_AND_STATISTICS | CREATION_AND_SHAPES | OF_NO_ARRAY,
}
