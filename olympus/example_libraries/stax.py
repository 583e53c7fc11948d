"""Neural networks as pairs of functions.

A layer is a pair: `init_fun(key, input_shape)` returns the result's shape and initial
parameters, `apply_fun(params, inputs, rng=None)` the result. `serial` and `parallel`
make layers of layers.

    init_fun, apply_fun = stax.serial(stax.Dense(64), stax.Relu, stax.Dense(10))

A size of -1 in `input_shape` stands for any number of examples.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.example_libraries.activations import (
    Elu,
    Exp,
    Gelu,
    LeakyRelu,
    LogSoftmax,
    Relu,
    Selu,
    Sigmoid,
    Softmax,
    Softplus,
    Tanh,
)
from olympus._src.example_libraries.combinators import (
    FanInConcat,
    FanInSum,
    FanOut,
    parallel,
    serial,
    shape_dependent,
)
from olympus._src.example_libraries.layers import (
    AvgPool,
    BatchNorm,
    Conv,
    Conv1DTranspose,
    ConvTranspose,
    Dense,
    Dropout,
    Flatten,
    GeneralConv,
    GeneralConvTranspose,
    Identity,
    MaxPool,
    SumPool,
    elementwise,
)
from olympus._src.foundation.lazy_names import claim as _claim
from olympus.nn import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    standardize,
)
from olympus.nn import log_softmax as logsoftmax
from olympus.nn.initializers import glorot_normal, normal, ones, zeros
from olympus.nn.initializers import glorot_normal as glorot
from olympus.nn.initializers import normal as randn

__all__ = [
    "AvgPool",
    "BatchNorm",
    "Conv",
    "Conv1DTranspose",
    "ConvTranspose",
    "Dense",
    "Dropout",
    "Elu",
    "Exp",
    "FanInConcat",
    "FanInSum",
    "FanOut",
    "Flatten",
    "Gelu",
    "GeneralConv",
    "GeneralConvTranspose",
    "Identity",
    "LeakyRelu",
    "LogSoftmax",
    "MaxPool",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "SumPool",
    "Tanh",
    "elementwise",
    "elu",
    "gelu",
    "glorot",
    "glorot_normal",
    "leaky_relu",
    "log_softmax",
    "logsoftmax",
    "normal",
    "ones",
    "parallel",
    "randn",
    "relu",
    "selu",
    "serial",
    "shape_dependent",
    "sigmoid",
    "softmax",
    "softplus",
    "standardize",
    "zeros",
]

_claim(__name__)
