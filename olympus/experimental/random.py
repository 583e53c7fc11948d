"""A random generator with a state."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.random.stateful import StatefulPRNG, stateful_rng

__all__ = ["StatefulPRNG", "stateful_rng"]

_claim(__name__)
