"""Sparse arrays: BCOO, BCSR, COO, CSR and CSC, and functions of them."""

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
from olympus._src.sparse.bcsr import BCSR
from olympus._src.sparse.bcsr_functions import (
    bcsr_broadcast_in_dim,
    bcsr_concatenate,
    bcsr_dot_general,
    bcsr_dot_general_p,
    bcsr_extract,
    bcsr_extract_p,
    bcsr_fromdense,
    bcsr_fromdense_p,
    bcsr_sum_duplicates,
    bcsr_todense,
    bcsr_todense_p,
)
from olympus._src.sparse.conversion import empty, eye, todense, todense_p
from olympus._src.sparse.coo import (
    COO,
    coo_fromdense,
    coo_fromdense_p,
    coo_matmat,
    coo_matmat_p,
    coo_matvec,
    coo_matvec_p,
    coo_todense,
    coo_todense_p,
)
from olympus._src.sparse.csr import (
    CSC,
    CSR,
    csr_fromdense,
    csr_fromdense_p,
    csr_matmat,
    csr_matmat_p,
    csr_matvec,
    csr_matvec_p,
    csr_todense,
    csr_todense_p,
)
from olympus._src.sparse.derivatives import (
    grad,
    jacfwd,
    jacobian,
    jacrev,
    value_and_grad,
)
from olympus._src.sparse.formats import (
    CuSparseEfficiencyWarning,
    JAXSparse,
    SparseEfficiencyError,
    SparseEfficiencyWarning,
)
from olympus._src.sparse.random import random_bcoo
from olympus._src.sparse.sparsify import SparseTracer, sparsify
from olympus.experimental.sparse import (
    ad,
    api,
    bcoo,
    bcsr,
    coo,
    csr,
    linalg,
    random,
    transform,
    util,
)

__all__ = [
    "BCOO",
    "BCSR",
    "COO",
    "CSC",
    "CSR",
    "CuSparseEfficiencyWarning",
    "JAXSparse",
    "SparseEfficiencyError",
    "SparseEfficiencyWarning",
    "SparseTracer",
    "ad",
    "api",
    "bcoo",
    "bcoo_broadcast_in_dim",
    "bcoo_concatenate",
    "bcoo_conv_general_dilated",
    "bcoo_dot_general",
    "bcoo_dot_general_p",
    "bcoo_dot_general_sampled",
    "bcoo_dot_general_sampled_p",
    "bcoo_dynamic_slice",
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
    "bcsr",
    "bcsr_broadcast_in_dim",
    "bcsr_concatenate",
    "bcsr_dot_general",
    "bcsr_dot_general_p",
    "bcsr_extract",
    "bcsr_extract_p",
    "bcsr_fromdense",
    "bcsr_fromdense_p",
    "bcsr_sum_duplicates",
    "bcsr_todense",
    "bcsr_todense_p",
    "coo",
    "coo_fromdense",
    "coo_fromdense_p",
    "coo_matmat",
    "coo_matmat_p",
    "coo_matvec",
    "coo_matvec_p",
    "coo_todense",
    "coo_todense_p",
    "csr",
    "csr_fromdense",
    "csr_fromdense_p",
    "csr_matmat",
    "csr_matmat_p",
    "csr_matvec",
    "csr_matvec_p",
    "csr_todense",
    "csr_todense_p",
    "empty",
    "eye",
    "grad",
    "jacfwd",
    "jacobian",
    "jacrev",
    "linalg",
    "random",
    "random_bcoo",
    "sparsify",
    "todense",
    "todense_p",
    "transform",
    "util",
    "value_and_grad",
]

_claim(__name__)
