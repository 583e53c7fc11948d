"""Settings of every test: one seed, printed; marks that skip by themselves."""

from __future__ import annotations

import importlib.util
import os
import zlib

import hypothesis
import numpy as np
import pytest

SEED = int(os.environ.get("OLYMPUS_TEST_SEED", "0"))

hypothesis.settings.register_profile(
    "olympus", deadline=None, max_examples=40, print_blob=True, derandomize=True
)
hypothesis.settings.register_profile(
    "explore", parent=hypothesis.settings.get_profile("olympus"), derandomize=False
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "olympus"))


def pytest_report_header(config):
    return f"olympus: seed {SEED} (OLYMPUS_TEST_SEED), numpy {np.__version__}"


def pytest_collection_modifyitems(items):
    if importlib.util.find_spec("jax") is not None:
        return
    absent = pytest.mark.skip(reason="jax is not installed in this environment")
    for item in items:
        if "beside_jax" in item.keywords:
            item.add_marker(absent)


@pytest.fixture
def rng(request):
    """A NumPy generator whose seed is the test's name and the run's seed."""
    return np.random.default_rng([SEED, zlib.crc32(request.node.nodeid.encode())])
