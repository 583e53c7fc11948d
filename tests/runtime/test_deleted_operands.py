"""A computation on an array that is gone says so, and not in the compiler's words."""

from __future__ import annotations

import pytest

import olympus
import olympus.numpy as jnp

USES = {
    "operator": lambda x: x + 1,
    "function": jnp.sin,
    "several results": lambda x: jnp.split(x, 3),
    "staged": lambda x: olympus.jit(lambda y: (y, y * 2))(x),
}


@pytest.mark.parametrize("use", USES)
def test_a_deleted_operand_is_named(use):
    x = jnp.arange(3.0)
    x.delete()
    with pytest.raises(RuntimeError, match="deleted") as caught:
        USES[use](x)
    assert "INVALID_ARGUMENT" not in str(caught.value)
