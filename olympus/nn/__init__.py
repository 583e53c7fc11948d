"""Neural networks: activations, softmax functions, attention, initial weights."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.nn.activations import (
        celu,
        elu,
        gelu,
        glu,
        hard_sigmoid,
        hard_silu,
        hard_tanh,
        identity,
        leaky_relu,
        log1mexp,
        log_sigmoid,
        mish,
        relu,
        relu6,
        selu,
        sigmoid,
        silu,
        soft_sign,
        softplus,
        sparse_plus,
        sparse_sigmoid,
        squareplus,
        tanh,
    )
    from olympus._src.nn.activations import (
        hard_silu as hard_swish,
    )
    from olympus._src.nn.activations import (
        silu as swish,
    )
    from olympus._src.nn.attention import dot_product_attention
    from olympus._src.nn.normalization import (
        logmeanexp,
        one_hot,
        standardize,
    )
    from olympus._src.nn.scaled_matmul import (
        get_scaled_dot_general_config,
        scaled_dot_general,
        scaled_matmul,
    )
    from olympus._src.numpy.softmax_functions import log_softmax, logsumexp, softmax
    from olympus.nn import initializers

__all__ = [
    "celu",
    "dot_product_attention",
    "elu",
    "gelu",
    "get_scaled_dot_general_config",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "initializers",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "scaled_dot_general",
    "scaled_matmul",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
]

# Loaded at their first use, by the file they come from.
_LATE = {
    "nn.activations": (
        "celu elu gelu glu hard_sigmoid hard_silu hard_tanh identity leaky_relu "
        "log1mexp log_sigmoid mish relu relu6 selu sigmoid silu soft_sign "
        "softplus sparse_plus sparse_sigmoid squareplus tanh "
        "hard_swish=hard_silu swish=silu"
    ),
    "nn.attention": "dot_product_attention",
    "nn.normalization": "logmeanexp one_hot standardize",
    "nn.scaled_matmul": (
        "get_scaled_dot_general_config scaled_dot_general scaled_matmul"
    ),
    "numpy.softmax_functions": "log_softmax logsumexp softmax",
}

_late = _Late(__name__, ("initializers",), _LATE)

_claim(__name__)
