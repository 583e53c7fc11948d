"""Arrays as lists of elements with their positions, in batches."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sparse.bcoo import BCOO
from olympus._src.sparse.bcoo_contraction import (
    bcoo_dot_general_p,
    bcoo_dot_general_sampled_p,
)
from olympus._src.sparse.bcoo_conversion import (
    bcoo_extract_p,
    bcoo_fromdense_p,
    bcoo_todense_p,
)
from olympus._src.sparse.bcoo_convolution import bcoo_conv_general_dilated
from olympus._src.sparse.bcoo_functions import (
    bcoo_dot_general,
    bcoo_dot_general_sampled,
    bcoo_eliminate_zeros,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_todense,
    bcoo_transpose,
)
from olympus._src.sparse.bcoo_layout import bcoo_update_layout
from olympus._src.sparse.bcoo_ordering import (
    bcoo_sort_indices_p,
    bcoo_sum_duplicates_p,
    bcoo_transpose_p,
)
from olympus._src.sparse.bcoo_shaping import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_rev,
    bcoo_squeeze,
)
from olympus._src.sparse.bcoo_slicing import bcoo_dynamic_slice, bcoo_gather, bcoo_slice
from olympus._src.sparse.bcoo_sparse_products import bcoo_spdot_general_p

__all__ = [
    "BCOO",
    "bcoo_broadcast_in_dim",
    "bcoo_concatenate",
    "bcoo_conv_general_dilated",
    "bcoo_dot_general",
    "bcoo_dot_general_p",
    "bcoo_dot_general_sampled",
    "bcoo_dot_general_sampled_p",
    "bcoo_dynamic_slice",
    "bcoo_eliminate_zeros",
    "bcoo_extract",
    "bcoo_extract_p",
    "bcoo_fromdense",
    "bcoo_fromdense_p",
    "bcoo_gather",
    "bcoo_multiply_dense",
    "bcoo_multiply_sparse",
    "bcoo_reduce_sum",
    "bcoo_reshape",
    "bcoo_rev",
    "bcoo_slice",
    "bcoo_sort_indices",
    "bcoo_sort_indices_p",
    "bcoo_spdot_general_p",
    "bcoo_squeeze",
    "bcoo_sum_duplicates",
    "bcoo_sum_duplicates_p",
    "bcoo_todense",
    "bcoo_todense_p",
    "bcoo_transpose",
    "bcoo_transpose_p",
    "bcoo_update_layout",
]

_claim(__name__)
