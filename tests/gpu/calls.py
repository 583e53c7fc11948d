"""Calls of public functions, as texts that mean the same in olympus and in JAX.

The arrays they name are in `SHAPES`. Where a call differs from JAX's on purpose,
`DIFFERENT` says why.
"""

from __future__ import annotations

SHAPES = {
    "x": ((4, 6), "float32"),
    "y": ((4, 6), "float32"),
    "u": ((4, 6), "float64"),
    "n": ((4, 6), "int32"),
    "m": ((4, 6), "uint8"),
    "b": ((4, 6), "bool"),
    "z": ((4, 6), "complex64"),
    "h": ((4, 6), "bfloat16"),
    "f": ((4, 6), "float16"),
    "v": ((8,), "float32"),
    "w": ((8,), "int32"),
    "A": ((8, 8), "float32"),
    "B": ((2, 8, 5), "float32"),
    "C": ((8, 8), "complex64"),
    "D": ((3, 8, 8), "float64"),
    "E": ((2, 5, 8), "complex64"),
    "G": ((40, 36), "float32"),
    "J": ((1030, 3), "float32"),
    "K": ((3, 1030), "float32"),
    "s": ((2, 5), "float32"),
    "t": ((3, 8), "float64"),
    "p": ((2, 5), "int32"),
    "q": ((2, 2), "float32"),
    "I": ((2, 9, 9, 3), "float32"),
    "L": ((3, 3, 3, 4), "float32"),
    "Q": ((2, 16, 4, 8), "float32"),
}

_UNARY = [
    "abs",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "log",
    "log10",
    "log1p",
    "log2",
    "negative",
    "rad2deg",
    "reciprocal",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "nan_to_num",
    "isnan",
    "isinf",
    "isfinite",
    "isposinf",
    "i0",
    "spacing",
    "unwrap",
]
_COMPLEX = [
    "abs",
    "angle",
    "conj",
    "real",
    "imag",
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "sqrt",
    "square",
    "reciprocal",
]
_BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "arctan2",
    "hypot",
    "copysign",
    "power",
    "float_power",
    "floor_divide",
    "remainder",
    "fmod",
    "mod",
    "logaddexp",
    "logaddexp2",
    "nextafter",
    "heaviside",
    "equal",
    "less",
    "greater_equal",
]
_INTEGER = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "gcd",
    "lcm",
    "floor_divide",
    "remainder",
    "maximum",
]
_REDUCTIONS = [
    "sum",
    "prod",
    "max",
    "min",
    "mean",
    "std",
    "var",
    "any",
    "all",
    "argmax",
    "argmin",
    "nansum",
    "nanprod",
    "nanmax",
    "nanmin",
    "nanmean",
    "nanstd",
    "nanvar",
    "nanargmax",
    "nanargmin",
    "median",
    "nanmedian",
    "ptp",
    "count_nonzero",
    "cumsum",
    "cumprod",
    "logical_not",
    "average",
]
_ACTIVATIONS = [
    "relu",
    "relu6",
    "sigmoid",
    "softplus",
    "silu",
    "log_sigmoid",
    "leaky_relu",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "elu",
    "celu",
    "selu",
    "gelu",
    "glu",
    "softmax",
    "log_softmax",
    "logsumexp",
    "standardize",
    "soft_sign",
    "squareplus",
    "mish",
    "swish",
]
_SPECIAL = [
    "gammaln",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "expit",
    "log_ndtr",
    "ndtr",
    "ndtri",
    "entr",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "bessel_jn",
    "factorial",
    "spence",
]
_SHAPES = [
    "ravel",
    "transpose",
    "flip",
    "fliplr",
    "flipud",
    "rot90",
    "atleast_3d",
    "squeeze",
    "tril",
    "triu",
    "diagonal",
    "trace",
    "diff",
    "ediff1d",
]
_RANDOM = [
    "normal",
    "uniform",
    "bits",
    "exponential",
    "gumbel",
    "laplace",
    "logistic",
    "cauchy",
    "rademacher",
    "maxwell",
]
_PRESETS = [
    "F16_F16_F16",
    "F16_F16_F32",
    "BF16_BF16_BF16",
    "BF16_BF16_F32",
    "BF16_BF16_F32_X3",
    "BF16_BF16_F32_X6",
    "BF16_BF16_F32_X9",
    "TF32_TF32_F32",
    "TF32_TF32_F32_X3",
    "F32_F32_F32",
    "F64_F64_F64",
]

_LINALG = """
la.cholesky(A)|la.cholesky(C)|la.cholesky(D)|la.cholesky(D, symmetrize_input=False)
la.qr(B)|la.qr(E)|la.qr(B, full_matrices=False)|la.qr(E, full_matrices=False)
la.qr(B, pivoting=True)|la.qr(E, pivoting=True, use_magma=True)
la.qr(A, pivoting=True, use_magma=False)|la.householder_product(B, s)
la.ormqr(B, s, B)|la.ormqr(B, s, B, transpose=True)
la.ormqr(B, s, B.mT, left=False)|la.ormqr(B, s, B.mT, left=False, transpose=True)
la.lu(A)|la.lu(B)|la.lu(E)|la.lu(D)|la.lu_pivots_to_permutation(p, 8)
la.lu_pivots_to_permutation(p[0], 5)
la.eigh(A)|la.eigh(C, lower=False)|la.eigh(D, sort_eigenvalues=False)
la.eigh(A, implementation=la.EighImplementation.QR)
la.eigh(A, implementation=la.EighImplementation.JACOBI)
la.eigh(A, implementation=la.EighImplementation.QDWH)
la.svd(A)|la.svd(B)|la.svd(E, full_matrices=False)|la.svd(D, compute_uv=False)
la.svd(G, full_matrices=False)|la.svd(J, full_matrices=False)
la.svd(J, compute_uv=False)|la.svd(K, full_matrices=False)|la.svd(K)
la.svd(B, algorithm=la.SvdAlgorithm.DEFAULT)|la.svd(B, algorithm=la.SvdAlgorithm.QR)
la.svd(E, algorithm=la.SvdAlgorithm.QR)
la.svd(E, algorithm=la.SvdAlgorithm.QR, full_matrices=False, compute_uv=False)
la.svd(G, algorithm=la.SvdAlgorithm.JACOBI)
la.svd(J, algorithm=la.SvdAlgorithm.JACOBI, full_matrices=False)
la.svd(E, algorithm=la.SvdAlgorithm.POLAR)
la.svd(B, algorithm=la.SvdAlgorithm.POLAR, full_matrices=False)
la.svd(B, algorithm=la.SvdAlgorithm.DIVIDE_AND_CONQUER)
la.eig(A)|la.eig(C)|la.eig(D, compute_left_eigenvectors=False)
la.eig(C, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
la.eig(A, implementation=la.EigImplementation.MAGMA)
la.eig(C, implementation=la.EigImplementation.LAPACK)
la.eig(A, implementation=la.EigImplementation.CUSOLVER)
la.tridiagonal(A)|la.tridiagonal(C, lower=False)|la.tridiagonal(D)
la.tridiagonal_solve(s, s, s, B.mT)|la.tridiagonal_solve(t, t, t, D)
la.tridiagonal_solve(q, q, q, q[..., None])
la.tridiagonal_solve(t, t, t, D, perturb_singular=True)
la.cholesky_update(A, v)|la.symmetric_product(B, D[:2].astype('float32'))
la.symmetric_product(A, A, alpha=2.0, beta=3.0, symmetrize_output=True)
la.triangular_solve(A, A, left_side=True)|la.triangular_solve(C, C, conjugate_a=True)
la.triangular_solve(A, A, left_side=True, transpose_a=True, unit_diagonal=True)
la.schur(A)|la.hessenberg(A)
jnp.linalg.solve(A, v)|jnp.linalg.solve(A, A)|jnp.linalg.inv(A)|jnp.linalg.inv(D)
jnp.linalg.det(C)|jnp.linalg.det(D)|jnp.linalg.slogdet(A)|jnp.linalg.pinv(A)
jnp.linalg.cholesky(A)|jnp.linalg.qr(A)|jnp.linalg.eigh(A)|jnp.linalg.eigvalsh(A)
jnp.linalg.eig(A)|jnp.linalg.eigvals(A)|jnp.linalg.svd(A)|jnp.linalg.svdvals(A)
jnp.linalg.lstsq(A, v)|jnp.linalg.matrix_rank(A)|jnp.linalg.cond(A)
jnp.linalg.norm(A)|jnp.linalg.norm(A, 'nuc')|jnp.linalg.norm(A, 2)
jnp.linalg.matrix_power(A, 3)|jnp.linalg.multi_dot([A, A, A])
jnp.linalg.tensorinv(A, ind=1)|jnp.linalg.matrix_power(A, -1)
jnp.roots(v, strip_zeros=False)|jnp.cov(A)|jnp.corrcoef(A)|jnp.polyfit(v, v, 2)
sp.linalg.expm(A)|sp.linalg.lu(A)|sp.linalg.lu_factor(A)|sp.linalg.polar(A)
sp.linalg.cho_factor(A)|sp.linalg.cho_solve((A, True), v)|sp.linalg.solve(A, v)
sp.linalg.solve(A, v, assume_a='pos')|sp.linalg.solve_triangular(A, v)
sp.linalg.eigh(A)|sp.linalg.svd(A)|sp.linalg.qr(A)|sp.linalg.qr(A, pivoting=True)
sp.linalg.sqrtm(A)|sp.linalg.block_diag(A, A)|sp.linalg.det(A)|sp.linalg.inv(A)
sp.linalg.hessenberg(A)|sp.linalg.schur(A)|sp.linalg.rsf2csf(A, A)
sp.linalg.funm(A, jnp.exp)
grad(lambda a: jnp.linalg.slogdet(a)[1])(A)|grad(lambda a: la.cholesky(a).sum())(A)
grad(lambda a: jnp.linalg.eigvalsh(a).sum())(A)|vmap(jnp.linalg.inv)(D)
grad(lambda a: jnp.linalg.qr(a)[1].sum())(A)|vmap(lambda a: la.svd(a))(B)
vmap(lambda a: la.eigh(a)[0])(D)|vmap(jnp.linalg.solve)(D, t)
random.multivariate_normal(random.key(0), v, A)|random.orthogonal(random.key(0), 4)
"""

_OTHERS = """
lax.sort(x)|lax.sort(h)|lax.sort(u)|lax.sort(z)|lax.sort((x, n), num_keys=1)
lax.sort((x, y), num_keys=2)|lax.sort(n)|lax.sort(b)|jnp.sort(x, axis=0)
jnp.argsort(x)|jnp.argsort(x, descending=True)|lax.top_k(v, 3)|jnp.unique(v, size=4)
jnp.lexsort((v, v))|jnp.searchsorted(v, v)|jnp.percentile(x, 30.0)|jnp.quantile(x, 0.3)
jnp.partition(v, 3)|jnp.argpartition(v, 3)|jnp.histogram(x)|lax.approx_max_k(v, 3)
jnp.sort(f)|jnp.sort(m)|jnp.sort_complex(z)|jnp.setdiff1d(w, w, size=3)
jnp.dot(x, y.T)|jnp.matmul(D, D)|jnp.einsum('ij,kj', x, y)|jnp.tensordot(x, y)
jnp.inner(x, y)|jnp.outer(v, v)|jnp.kron(x, y)|jnp.vdot(z, z)
jnp.cross(x[:, :3], y[:, :3])
lax.dot(h, h.T, preferred_element_type='float32')|jnp.matmul(n, n.T)|jnp.matmul(m, m.T)
jnp.convolve(v, v)
lax.conv_general_dilated(I, L, (1, 1), 'SAME', dimension_numbers=NHWC)
lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), 'VALID')
lax.cummax(x)|lax.cumlogsumexp(x)
jnp.fft.fft(z)|jnp.fft.ifft(z)|jnp.fft.rfft(x)|jnp.fft.irfft(z)|jnp.fft.fft2(z)
jnp.fft.rfftn(x)|jnp.fft.hfft(z)|jnp.fft.fftshift(x)|jnp.fft.fftfreq(8)
x.at[1].set(0.0)|x.at[n[0] % 4].add(1.0)|x[n[0] % 4]|jnp.take(x, w % 4, axis=0)
jnp.take_along_axis(x, n % 6, axis=1)|x.at[1].max(2.0)|jnp.bincount(w, length=9)
jnp.where(b, x, y)|jnp.select([b], [x])|jnp.clip(x, 0, 1)|jnp.interp(v, v, v)
jnp.concatenate([x, y])|jnp.stack([x, y])|jnp.pad(x, 1)|jnp.roll(x, 1)|jnp.tile(x, 2)
jnp.repeat(x, 2)|jnp.split(x, 2)|jnp.meshgrid(v, v)|jnp.vander(v)|jnp.nonzero(b, size=3)
jnp.polyval(v, v)|jnp.gradient(x)|jnp.trapezoid(x)|jnp.zeros_like(x)|jnp.arange(5)
jnp.linspace(0, 1, 5)|jnp.eye(3)|jnp.bitwise_count(n)|jnp.packbits(b)|jnp.unpackbits(m)
lax.fori_loop(0, 3, lambda i, c: c * 2, x)|lax.scan(lambda c, a: (c + a, c), v, A)
lax.while_loop(lambda c: c.sum() < 9, lambda c: c + 1, x)
lax.cond(b.any(), jnp.sin, jnp.cos, x)
lax.map(jnp.sin, x)|lax.associative_scan(lax.add, x)|lax.population_count(n)|lax.clz(n)
lax.reduce_precision(x, 5, 10)|lax.bitcast_convert_type(x, 'int32')|lax.rsqrt(x)
lax.erf_inv(x)|lax.lgamma(x)|lax.igamma(x, y)|lax.betainc(x, x, y)
lax.nextafter(x, y)|lax.integer_pow(x, 3)|lax.expand_dims(x, (0,))|lax.rev(x, (0,))
lax.dynamic_slice(x, (1, 1), (2, 2))|lax.conv(I.mT, I.mT, (1, 1), 'SAME')
nn.dot_product_attention(Q, Q, Q)|nn.dot_product_attention(Q, Q, Q, is_causal=True)
nn.one_hot(w, 4)|image.resize(x, (8, 8), 'linear')|sp.signal.convolve(v, v)
random.permutation(random.key(0), v)|random.choice(random.key(0), v)
random.gamma(random.key(0), v)
random.categorical(random.key(0), x)|random.randint(random.key(0), (3,), 0, 5)
random.poisson(random.key(0), v)|random.beta(random.key(0), v, v)
random.split(random.key(0))
random.dirichlet(random.key(0), v)|random.fold_in(random.key(0), 3)
random.ball(random.key(0), 3)
grad(lambda a: jnp.sin(a).sum())(x)
vmap(jnp.sort)(x)|grad(lambda a: jnp.sort(a).sum())(v)
grad(lambda a: jnp.median(a))(v)|sp.special.logsumexp(x)|sp.special.betainc(x, x, y)
sp.stats.norm.logpdf(x)|sp.stats.rankdata(v)|sp.stats.mode(w)|sp.fft.dct(v)
sp.special.gammainc(x, y)|sp.special.zeta(x, y)|sp.special.polygamma(1, x)
"""


def _lines(text: str) -> list[str]:
    return [c for line in text.strip().splitlines() for c in line.split("|")]


CALLS = [
    *(f"jnp.{name}(x)" for name in _UNARY),
    *(f"jnp.{name}(z)" for name in _COMPLEX),
    *(f"jnp.{name}(x, y)" for name in _BINARY),
    *(f"jnp.{name}(n, n)" for name in _INTEGER),
    *(f"jnp.{name}(x)" for name in _REDUCTIONS),
    *(f"nn.{name}(x)" for name in _ACTIVATIONS),
    *(f"sp.special.{name}(x)" for name in _SPECIAL if name != "bessel_jn"),
    *(f"jnp.{name}(x)" for name in _SHAPES),
    *(f"random.{name}(random.key(0), (3,))" for name in _RANDOM),
    *(f"lax.dot(x, y.T, precision='{name}')" for name in _PRESETS),
    *(f"lax.dot(h, h.T, precision='{name}')" for name in _PRESETS),
    *_lines(_LINALG),
    *_lines(_OTHERS),
]

DIFFERENT = {
    "sp.linalg.rsf2csf(A, A)": "eigenvalues of 2 x 2 blocks are written out",
    "lax.approx_max_k(v, 3)": "all of the largest are found, as JAX's call does there",
}
