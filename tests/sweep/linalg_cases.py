"""Differentiable functions of linear algebra and Fourier transforms.

Complex eigenvectors and singular vectors are determined but for a phase, so that only
what does not depend on it is swept.
"""

from __future__ import annotations

import numpy as np

import olympus.lax.linalg as lax_linalg
import olympus.numpy as jnp
import olympus.numpy.fft as jnp_fft
import olympus.numpy.linalg as jnp_linalg
from tests.sweep.arguments import each, numbers, parts, signed, table, words

tall, wide = signed(4, 3), signed(3, 4)
square = signed(3, 3) / 2 + 2 * np.eye(3)
stack = signed(2, 3, 3) + 3 * np.eye(3)
x, z = numbers(5), parts(4)
half = parts(3, 3)


def positive(a):
    """A positive definite matrix made of any."""
    return jnp.matmul(a, jnp.swapaxes(a, -1, -2)) + 2 * np.eye(3)


def hermitian(a):
    return jnp.matmul(a, jnp.conj(a).T) + 2 * np.eye(3)


_symmetric = each(lambda f, a: f(positive(a)))
NUMPY_ENTRIES = {
    "cholesky eigh": [(_symmetric, square), (_symmetric, stack)],
    "eigvalsh": [
        (_symmetric, square), (lambda a: jnp.linalg.eigvalsh(hermitian(a)), half)],
    "eigvals": (square,),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), tall),
    "svdvals": [(tall,), (half,)],
    "det slogdet inv": [(square,), (stack,)],
    "pinv": [(tall,), (wide,)],
    "cond": (square,),
    "qr": (tall,),
    "solve": [(square, tall[:3, 0]), (stack, signed(2, 3, 2))],
    "lstsq": (lambda a, b: jnp.linalg.lstsq(a, b)[0], tall, numbers(4)),
    "norm": [
        (tall,), (x,), (z,),
        *((lambda a, o=o: jnp.linalg.norm(a, o), tall) for o in (1, np.inf, 2, "nuc")),
        *((lambda a, o=o: jnp.linalg.norm(a, o), x) for o in (1, 3, np.inf, -2)),
    ],
    "vector_norm": (x,),
    "matrix_norm": (tall,),
    "matrix_power": [(lambda a, n=n: jnp.linalg.matrix_power(a, n), square)
                     for n in (-2, 3)],
    "multi_dot": (lambda a, b, c: jnp.linalg.multi_dot([a, b, c]), tall, wide, tall),
    "tensorinv": (lambda a: jnp.linalg.tensorinv(a, ind=1), square),
    "tensorsolve": (square, x[:3]),
    "matmul": (tall, wide),
    "tensordot": (lambda a, b: jnp.linalg.tensordot(a, b, axes=1), tall, wide),
    "outer": (x, x[:3]),
    "cross": (square, square.T),
    "vecdot": (tall, tall[::-1]),
    "trace diagonal matrix_transpose": (square,),
}  # fmt: skip
FFT_ENTRIES = {
    "fft ifft hfft": (z,),
    "rfft ihfft": [(x,), (x[:4],)],
    "irfft": [(z,), (lambda x: jnp_fft.irfft(x, 5, norm="ortho"), z)],
    "fft2 ifft2 fftn ifftn": (parts(2, 3),),
    "rfft2 rfftn": (tall,),
    "irfft2 irfftn": (parts(2, 3),),
    "fftshift ifftshift": (x,),
}
LAX_ENTRIES = {
    "cholesky": (lambda a: lax_linalg.cholesky(positive(a)), square),
    "eigh": (lambda a: lax_linalg.eigh(positive(a)), square),
    "eig": (
        lambda a: lax_linalg.eig(
            a, compute_left_eigenvectors=False, compute_right_eigenvectors=False),
        square),
    "svd": (lambda a: lax_linalg.svd(a, full_matrices=False), tall),
    "qr": (lambda a: lax_linalg.qr(a, full_matrices=False), tall),
    "lu": [(lambda a: lax_linalg.lu(a)[0], m) for m in (square, tall, wide)],
    "triangular_solve": [
        (lambda a, b, o=o: lax_linalg.triangular_solve(a, b, **o), square, square.T)
        for o in (
            {"left_side": True, "lower": True},
            {"left_side": False, "lower": False, "transpose_a": True},
            {"left_side": True, "lower": True, "unit_diagonal": True},
        )
    ],
    "tridiagonal_solve": (
        lambda d, b: lax_linalg.tridiagonal_solve(d / 4, d + 1, d / 3, b),
        x, signed(5, 2)),
    "symmetric_product": (
        lambda a, c: lax_linalg.symmetric_product(a, c + c.T), wide, square),
}  # fmt: skip

CASES = (
    table(jnp_linalg, NUMPY_ENTRIES)
    + table(jnp_fft, FFT_ENTRIES)
    + table(lax_linalg, LAX_ENTRIES)
)
# Ranks and frequencies; and factorisations whose records have no derivative.
WITHOUT_DERIVATIVE = words(
    """matrix_rank fftfreq rfftfreq cholesky_update hessenberg householder_product
    lu_pivots_to_permutation ormqr qdwh schur tridiagonal"""
)
