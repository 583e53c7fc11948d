"""Optimizers of trees of parameters, each a triple of functions.

    opt_init, opt_update, get_params = optimizers.adam(1e-3)

`opt_init(params)` is the first state, `opt_update(step, gradients, state)` the next,
and `get_params(state)` the parameters in it. A state is a pytree of arrays.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.core.array_type import Array
from olympus._src.example_libraries.optimizers import (
    InitFn,
    JoinPoint,
    Optimizer,
    OptimizerState,
    Params,
    ParamsFn,
    State,
    UpdateFn,
    Updates,
    clip_grads,
    l2_norm,
    optimizer,
    pack_optimizer_state,
    unpack_optimizer_state,
)
from olympus._src.example_libraries.schedules import (
    Schedule,
    Step,
    constant,
    exponential_decay,
    inverse_time_decay,
    make_schedule,
    piecewise_constant,
    polynomial_decay,
)
from olympus._src.example_libraries.update_rules import (
    adagrad,
    adam,
    adamax,
    momentum,
    nesterov,
    rmsprop,
    rmsprop_momentum,
    sgd,
    sm3,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "Array",
    "InitFn",
    "JoinPoint",
    "Optimizer",
    "OptimizerState",
    "Params",
    "ParamsFn",
    "Schedule",
    "State",
    "Step",
    "UpdateFn",
    "Updates",
    "adagrad",
    "adam",
    "adamax",
    "clip_grads",
    "constant",
    "exponential_decay",
    "inverse_time_decay",
    "l2_norm",
    "make_schedule",
    "momentum",
    "nesterov",
    "optimizer",
    "pack_optimizer_state",
    "piecewise_constant",
    "polynomial_decay",
    "rmsprop",
    "rmsprop_momentum",
    "sgd",
    "sm3",
    "unpack_optimizer_state",
]

_claim(__name__)
