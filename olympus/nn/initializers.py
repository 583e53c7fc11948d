"""Initializers: functions of a key, a shape and a dtype that return initial weights."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.nn.initializers import (
    Initializer,
    constant,
    delta_orthogonal,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
    normal,
    ones,
    orthogonal,
    truncated_normal,
    uniform,
    variance_scaling,
    zeros,
)
from olympus._src.nn.initializers import (
    glorot_normal as xavier_normal,
)
from olympus._src.nn.initializers import (
    glorot_uniform as xavier_uniform,
)
from olympus._src.nn.initializers import (
    he_normal as kaiming_normal,
)
from olympus._src.nn.initializers import (
    he_uniform as kaiming_uniform,
)

__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

_claim(__name__)
