"""Random programs: jitted, they give what their operations give one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sampling import SEED

from tests.sharding import random_programs


@pytest.mark.slow
def test_jitted_programs_equal_their_operations():
    library = random_programs.Library("olympus")
    for number in range(40):
        program = random_programs.Program(SEED, number)
        f, inputs = program.function(library, False), program.padded()
        expected = f(*map(library.np.asarray, inputs))
        results = library.top.jit(f)(*inputs)
        for out, value in zip(results, expected, strict=True):
            agree = random_programs.agree(np.asarray(out), np.asarray(value))
            assert agree, f"Program({SEED}, {number}): {program}"
