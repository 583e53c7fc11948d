"""Linear algebra by SciPy's names: systems, factors, functions, patterns."""

from olympus._src.scipy.linalg.named import (
    dft,
    hadamard,
    helmert,
    hilbert,
    invhilbert,
    invpascal,
    pascal,
)
from olympus._src.scipy.linalg.patterns import (
    block_diag,
    circulant,
    companion,
    convolution_matrix,
    fiedler,
    fiedler_companion,
    hankel,
    leslie,
    toeplitz,
)

__all__ = [
    "block_diag",
    "circulant",
    "companion",
    "convolution_matrix",
    "dft",
    "fiedler",
    "fiedler_companion",
    "hadamard",
    "hankel",
    "helmert",
    "hilbert",
    "invhilbert",
    "invpascal",
    "leslie",
    "pascal",
    "toeplitz",
]
