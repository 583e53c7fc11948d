"""Functions of olympus.nn.initializers."""

from __future__ import annotations

from tests.public_functions.entries import entries
from tests.public_functions.reasons import OWN_TESTS

entry = entries("nn.initializers", undrawn=OWN_TESTS)

ENTRIES = [
    *entry(
        """glorot_normal glorot_uniform he_normal he_uniform kaiming_normal
        kaiming_uniform lecun_normal lecun_uniform normal orthogonal truncated_normal
        uniform xavier_normal xavier_uniform""",
        types="{f}()(key, (3, 3), D)",
    ),
    *entry("zeros ones", types="key, (3, 3), D"),
    *entry("Initializer"),
    *entry("constant", types="{f}(2.5)(key, (3,), D)"),
    *entry("delta_orthogonal", types="{f}()(key, (3, 3, 3), D)"),
    *entry("variance_scaling", types="{f}(1.0, 'fan_in', 'normal')(key, (3, 3), D)"),
]
