"""The setting that checks every program: on, a wrong record is found while tracing."""

from __future__ import annotations

import pytest

import olympus
from olympus._src.core import primitive


def _refuse(*avals, **params):
    raise TypeError("its parameters do not fit")


broken_p = primitive.Primitive("broken", abstract=lambda x: x, check=_refuse)


def test_programs_are_checked_where_the_setting_is_on():
    def f(x):
        return broken_p.bind(x)

    assert olympus.make_olympuspr(f)(1.0).eqns
    with olympus.enable_checks(True), pytest.raises(TypeError, match="do not fit"):
        olympus.make_olympuspr(f)(1.0)
