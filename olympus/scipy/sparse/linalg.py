"""Systems of linear equations solved by iteration, by SciPy's names."""

from olympus._src.foundation.late import claim as _claim
from olympus._src.scipy.iterative import bicgstab, cg, gmres

__all__ = ["bicgstab", "cg", "gmres"]

_claim(__name__)
