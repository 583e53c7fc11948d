"""The pages of which every function is in a table, but for those named here."""

from __future__ import annotations


def words(text: str) -> set[str]:
    return set(text.split())


# Indexing by positions and masks has tests of its own; the rest call users' functions.
INDEXING = words(
    """fill_diagonal place put put_along_axis take take_along_axis vectorize"""
)
# Files, text and questions about dtypes have tests of their own.
OF_NO_ARRAY = words(
    """array_repr array_str can_cast from_dlpack fromfile
    frompyfunc get_printoptions iscomplexobj isdtype isrealobj isscalar
    issubdtype iterable load ndim printoptions promote_types
    result_type save savez set_printoptions shape size"""
)

# These have tests of their own, or are another page's.
OF_NETWORKS = words(
    """get_scaled_dot_general_config logsumexp scaled_dot_general scaled_matmul"""
)

PAGES: dict[str, set[str]] = {
    "numpy": INDEXING | OF_NO_ARRAY,
    "numpy.fft": set(),
    "numpy.linalg": set(),
    "image": set(),
    "ops": set(),
    "scipy.linalg": set(),
    "scipy.optimize": set(),
    "scipy.sparse.linalg": set(),
    "scipy.special": set(),
    "scipy.fft": set(),
    "scipy.signal": set(),
    "scipy.integrate": set(),
    "scipy.ndimage": set(),
    "scipy.cluster.vq": set(),
    "nn": OF_NETWORKS,
}

# Pages of classes; tests/scipy/test_rotations.py has the tests of rotations.
PAGES_OF_CLASSES: dict[str, set[str]] = {
    "scipy.interpolate": set(),
    "scipy.stats": set(),
    "scipy.spatial.transform": words("Rotation Slerp"),
}
