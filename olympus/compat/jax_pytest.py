"""A plug-in of pytest: tests written for JAX run on olympus.

    python -m pytest -p olympus.compat.jax_pytest tests

It takes effect before any test file, and any `conftest.py`, is imported.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.compat.installation import pytest_addoption as pytest_addoption

__all__ = ["pytest_addoption"]
