"""The pages of which every function is in a table, but for those named here."""

from __future__ import annotations


def words(text: str) -> set[str]:
    return set(text.split())


# Tables of these are not written yet.
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
    zeros_like einsum_path polyfit roots"""
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
    "numpy": CREATION_AND_SHAPES | OF_NO_ARRAY,
    "scipy.special": set(),
    "scipy.fft": set(),
    "scipy.signal": set(),
    "scipy.integrate": set(),
    "scipy.ndimage": set(),
    "scipy.cluster.vq": set(),
    "nn": OF_NETWORKS,
}
