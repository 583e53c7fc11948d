"""Systems without a matrix of all elements, by SciPy's names: `linalg`."""

from olympus.scipy.sparse import linalg

__all__ = ["linalg"]
