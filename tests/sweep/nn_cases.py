"""Differentiable functions of nn."""

from __future__ import annotations

import numpy as np

import olympus.nn as nn
from tests.sweep.arguments import each, numbers, signed, table

m, x = signed(3, 4), numbers(5)
heads = [numbers(2, 3, 2, 2, seed=s) for s in range(3)]

ENTRIES = {
    """celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu
    log_sigmoid mish relu relu6 selu sigmoid silu soft_sign softplus sparse_plus
    sparse_sigmoid squareplus swish tanh""": (m,),
    "glu logsumexp logmeanexp softmax log_softmax standardize": [
        (m,),
        (each(lambda f, x: f(x, axis=0)), signed(4, 3)),
    ],
    "log1mexp": (x,),
    "dot_product_attention": tuple(heads),
}
CASES = table(nn, ENTRIES) + table(
    nn, {"gelu": (lambda x: nn.gelu(x, approximate=False), m)}
)
WITHOUT_DERIVATIVE = {"one_hot", "get_scaled_dot_general_config"}
# They compute in float32, and have tests of their own.
ELSEWHERE = {"scaled_matmul", "scaled_dot_general"}
assert np.isfinite(m).all()
