"""Python functions that run on the host of the devices of their arguments."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.colocated_python import (
    colocated_cpu_devices,
    colocated_python,
    colocated_python_class,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["colocated_cpu_devices", "colocated_python", "colocated_python_class"]

_claim(__name__)
