"""Where no derivative is known there is an error, not a zero."""

from __future__ import annotations

import pytest

import olympus
from olympus import lax


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (
            lambda s: lax.zeta(s, 2.0),
            "zeta: there is no derivative with respect to the exponent",
        ),
        (lambda m: lax.polygamma(m, 2.0), "polygamma: .* with respect to the order"),
    ],
)
@pytest.mark.parametrize("transform", [olympus.grad, olympus.jacfwd])
def test_refused(f, what, transform):
    with pytest.raises(NotImplementedError, match=what):
        transform(f)(3.0)
