"""The array API standard, 2024.12, as tables: names, signatures, dtypes.

Source: data-apis.org/array-api/2024.12, the pages of its functions and of the array
object. Only facts are here: how each function is called, and which dtypes it maps to
which.
"""

from __future__ import annotations

import inspect


def words(text: str) -> list[str]:
    return text.split()


CONSTANTS = ["e", "inf", "nan", "newaxis", "pi"]

DTYPES = [
    "bool",
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
]

UNARY = words(
    """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp
    expm1 floor imag isfinite isinf isnan log log1p log2 log10 logical_not negative
    positive real reciprocal round sign signbit sin sinh square sqrt tan tanh trunc"""
)

BINARY = words(
    """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor copysign divide equal floor_divide greater greater_equal hypot less
    less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply
    nextafter not_equal pow remainder subtract"""
)

SIGNATURES = """
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(obj, /, *, dtype=None, device=None, copy=None)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing='xy')
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
astype(x, dtype, /, *, copy=True, device=None)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
clip(x, /, min=None, max=None)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
matmul(x1, x2, /)
matrix_transpose(x, /)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
broadcast_arrays(*arrays)
broadcast_to(x, /, shape)
concat(arrays, /, *, axis=0)
expand_dims(x, /, *, axis=0)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, *, axis=None)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
searchsorted(x1, x2, /, *, side='left', sorter=None)
where(condition, x1, x2, /)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
argsort(x, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
__array_namespace_info__()
linalg.cholesky(x, /, *, upper=False)
linalg.cross(x1, x2, /, *, axis=-1)
linalg.det(x, /)
linalg.diagonal(x, /, *, offset=0)
linalg.eigh(x, /)
linalg.eigvalsh(x, /)
linalg.inv(x, /)
linalg.matmul(x1, x2, /)
linalg.matrix_norm(x, /, *, keepdims=False, ord='fro')
linalg.matrix_power(x, n, /)
linalg.matrix_rank(x, /, *, rtol=None)
linalg.matrix_transpose(x, /)
linalg.outer(x1, x2, /)
linalg.pinv(x, /, *, rtol=None)
linalg.qr(x, /, *, mode='reduced')
linalg.slogdet(x, /)
linalg.solve(x1, x2, /)
linalg.svd(x, /, *, full_matrices=True)
linalg.svdvals(x, /)
linalg.tensordot(x1, x2, /, *, axes=2)
linalg.trace(x, /, *, offset=0, dtype=None)
linalg.vecdot(x1, x2, /, *, axis=-1)
linalg.vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
fft.fft(x, /, *, n=None, axis=-1, norm='backward')
fft.ifft(x, /, *, n=None, axis=-1, norm='backward')
fft.fftn(x, /, *, s=None, axes=None, norm='backward')
fft.ifftn(x, /, *, s=None, axes=None, norm='backward')
fft.rfft(x, /, *, n=None, axis=-1, norm='backward')
fft.irfft(x, /, *, n=None, axis=-1, norm='backward')
fft.rfftn(x, /, *, s=None, axes=None, norm='backward')
fft.irfftn(x, /, *, s=None, axes=None, norm='backward')
fft.hfft(x, /, *, n=None, axis=-1, norm='backward')
fft.ihfft(x, /, *, n=None, axis=-1, norm='backward')
fft.fftfreq(n, /, *, d=1.0, dtype=None, device=None)
fft.rfftfreq(n, /, *, d=1.0, dtype=None, device=None)
fft.fftshift(x, /, *, axes=None)
fft.ifftshift(x, /, *, axes=None)
"""

# Of the array object; `self` is left out.
METHODS = """
__array_namespace__(*, api_version=None)
__bool__()
__complex__()
__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)
__dlpack_device__()
__float__()
__getitem__(key, /)
__index__()
__int__()
__setitem__(key, value, /)
to_device(device, /, *, stream=None)
"""
OPERATORS = words(
    """abs add and eq floordiv ge gt invert le lshift lt matmul mod mul ne neg or pos
    pow rshift sub truediv xor radd rand rfloordiv rlshift rmatmul rmod rmul ror rpow
    rrshift rsub rtruediv rxor"""
)
ATTRIBUTES = ["dtype", "device", "mT", "ndim", "shape", "size", "T"]


def signatures(text: str) -> dict[str, inspect.Signature]:
    """Functions by name, of a text with a signature on each line."""
    found = {}
    for line in text.split("\n"):
        if line:
            name, rest = line.split("(", 1)
            found[name] = inspect.signature(eval(f"lambda {rest[:-1]}: None"))
    return found


FUNCTIONS = (
    signatures(SIGNATURES)
    | {name: inspect.signature(lambda x, /: None) for name in UNARY}
    | {name: inspect.signature(lambda x1, x2, /: None) for name in BINARY}
)

# -- dtypes ----------------------------------------------------------------------------

BOOL, REAL_FLOATS, COMPLEX = DTYPES[:1], DTYPES[9:11], DTYPES[11:]
SIGNED, UNSIGNED = DTYPES[1:5], DTYPES[5:9]
INTEGERS = SIGNED + UNSIGNED
FLOATS = REAL_FLOATS + COMPLEX
REAL = INTEGERS + REAL_FLOATS
NUMERIC = REAL + COMPLEX

# (functions, dtypes they take, dtype of the result): "same", "bool", or "real" for the
# dtype of a complex number's parts.
ELEMENTWISE = [
    ("abs", NUMERIC, "real"),
    ("positive negative square sign round add subtract multiply pow", NUMERIC, "same"),
    ("ceil floor trunc floor_divide remainder maximum minimum", REAL, "same"),
    ("acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p log2 log10", FLOATS,
     "same"),
    ("reciprocal sin sinh sqrt tan tanh divide", FLOATS, "same"),
    ("atan2 copysign hypot logaddexp nextafter", REAL_FLOATS, "same"),
    ("conj", NUMERIC, "same"),
    ("real imag", COMPLEX, "real"),
    ("isfinite isinf isnan", NUMERIC, "bool"),
    ("signbit", REAL_FLOATS, "bool"),
    ("equal not_equal", BOOL + NUMERIC, "bool"),
    ("greater greater_equal less less_equal", REAL, "bool"),
    ("logical_and logical_or logical_xor logical_not", BOOL, "bool"),
    ("bitwise_and bitwise_or bitwise_xor bitwise_invert", BOOL + INTEGERS, "same"),
    ("bitwise_left_shift bitwise_right_shift", INTEGERS, "same"),
]  # fmt: skip

# As above; "wide" is the default integer of the same sign for integers of fewer bits,
# "index" the dtype of positions.
REDUCTIONS = [
    ("sum prod cumulative_sum", NUMERIC, "wide"),
    # A departure of JAX's: the standard has "wide" here, too.
    ("cumulative_prod", NUMERIC, "same"),
    ("mean", FLOATS, "same"),
    ("std var", REAL_FLOATS, "same"),
    ("max min sort", REAL, "same"),
    ("argmax argmin argsort", REAL, "index"),
    ("count_nonzero", BOOL + NUMERIC, "index"),
    ("all any", BOOL + NUMERIC, "bool"),
    ("diff", NUMERIC, "same"),
    ("linalg.trace", NUMERIC, "wide"),
]
