"""Divided programs at random: their values are those of the undivided programs."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from tests.sampling import SEED
from tests.sharding import random_programs
from tests.sharding.meshes import divide, entries, mesh

pytestmark = pytest.mark.eight_devices


@pytest.mark.slow
def test_random_programs():
    lines = []
    tally = random_programs.run(80, SEED, report=lines.append)
    faults = [s for s in lines if ": wrong: " in s or "DIED" in s]
    assert not faults, "\n".join(faults)
    assert tally["right"] >= 76


def test_programs_depend_on_their_numbers_only():
    first, second = (random_programs.Program(3, 5) for _ in range(2))
    lib = random_programs.Library("olympus")
    assert random_programs.run_program(lib, first) == ("right", None)
    assert random_programs.run_program(lib, second) == ("right", None)
    assert first.log == second.log


def test_batches_of_transforms_stay_divided():
    x = divide(np.ones((8, 6, 4), np.complex64), "x", over=mesh(4, 2))
    y = olympus.jit(lambda x: jnp.fft.fftn(x, axes=(1, 2)))(x)
    assert entries(y) == ("x",)
    np.testing.assert_allclose(y, np.fft.fftn(x, axes=(1, 2)), atol=1e-5)
