"""Solutions of ordinary differential equations with gradients: `odeint`."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.ode.odeint import odeint
from olympus._src.ode.runge_kutta import (
    abs2,
    fit_4th_order_polynomial,
    initial_step_size,
    interp_fit_dopri,
    mean_error_ratio,
    optimal_step_size,
    runge_kutta_step,
)
from olympus._src.ode.slopes import ravel_first_arg

__all__ = [
    "abs2",
    "fit_4th_order_polynomial",
    "initial_step_size",
    "interp_fit_dopri",
    "mean_error_ratio",
    "odeint",
    "optimal_step_size",
    "ravel_first_arg",
    "runge_kutta_step",
]

_claim(__name__)
