"""Functions of olympus.numpy on dtypes, files and text."""

from __future__ import annotations

import olympus.numpy as jnp
from tests.public_functions.entries import entries
from tests.public_functions.points import M, N
from tests.public_functions.reasons import CONSTANT, DISCRETE, NOT_OF_ARRAYS

entry = entries("numpy", undrawn=NOT_OF_ARRAYS)

ENTRIES = [
    *entry(
        """array_repr array_str get_printoptions printoptions save savez
        set_printoptions""",
        smooth=DISCRETE,
        unrecorded=NOT_OF_ARRAYS,
    ),
    *entry("issubdtype", smooth=DISCRETE, types="D, np.integer"),
    *entry(
        "iterable iscomplexobj isrealobj isscalar ndim shape size",
        smooth=DISCRETE,
        types="v",
    ),
    *entry("promote_types", smooth=DISCRETE, types="D, np.float32"),
    *entry("can_cast", smooth=DISCRETE, standard="from_, to, /", types="D, np.float32"),
    *entry(
        "from_dlpack",
        smooth=CONSTANT,
        standard="x, /, *, device=None, copy=None",
        unrecorded=NOT_OF_ARRAYS,
    ),
    *entry("fromfile load", smooth=CONSTANT, unrecorded=NOT_OF_ARRAYS),
    *entry(
        "frompyfunc",
        smooth=(lambda x, y: jnp.frompyfunc(lambda a, b: a * b, 2, 1)(x, y), M, N),
        types="{f}(lambda x, y: x + y, 2, 1)(v, w)",
    ),
    *entry("isdtype", smooth=DISCRETE, standard="dtype, kind", types="D, 'integral'"),
    *entry("result_type", smooth=DISCRETE, types="v, w", standard="*arrays_and_dtypes"),
    *entry(
        "__array_namespace_info__",
        smooth=DISCRETE,
        standard="",
        unrecorded=NOT_OF_ARRAYS,
    ),
    *entry("finfo iinfo", standard="type, /"),
]
