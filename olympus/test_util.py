"""Checks for the tests of your functions: derivatives against finite differences."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.gradient_checks import check_grads, check_jvp, check_vjp
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["check_grads", "check_jvp", "check_vjp"]

_claim(__name__)
