"""What functions take, as types for annotations."""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from olympus._src.core.trace import Array

# What stands for an array: one, a NumPy array or scalar, or a Python number.
ArrayLike = Union[Array, np.ndarray, np.generic, bool, int, float, complex]  # noqa: UP007

# What stands for a dtype: its name, a scalar type, or the dtype.
DTypeLike = Union[str, type[Any], np.dtype, Any]  # noqa: UP007
