"""Scalar types stand for dtypes and make arrays."""

from __future__ import annotations

import numpy as np
import pytest

from olympus._src.core import dtypes, scalar_types
from olympus._src.foundation import errors

TYPES = scalar_types.scalar_types
float32 = TYPES["float32"]


def test_a_scalar_type_equals_numpys():
    assert float32 == np.float32
    assert np.float32 == float32
    assert float32 == np.dtype("float32")
    assert float32 != np.float16
    assert float32 != TYPES["float16"]
    assert float32 != "float32"
    assert TYPES["float64"] not in (float, int)
    assert {np.float32: 1}[float32] == 1


@pytest.mark.parametrize("name", TYPES)
def test_a_scalar_type_stands_for_its_dtype(name):
    kind = TYPES[name]
    assert np.dtype(kind) == np.dtype(name)
    assert np.zeros(2, kind).dtype == kind.dtype
    assert dtypes.issubdtype(kind, np.generic)
    assert repr(kind) == f"<class 'olympus.numpy.{name}'>"
    assert name in kind.__doc__


def test_numpy_scalars_are_instances():
    assert isinstance(np.float32(1), float32)
    assert not isinstance(1.0, float32)


def test_calling_makes_an_array_by_the_installed_constructor(monkeypatch):
    made = []
    monkeypatch.setattr(scalar_types, "_constructor", list(scalar_types._constructor))
    scalar_types.install_constructor(lambda x, dtype: made.append((x, dtype)) or 7)
    assert float32([1, 2]) == 7
    assert made == [([1, 2], np.dtype("float32"))]


def test_calling_before_the_constructor_is_there(monkeypatch):
    monkeypatch.setattr(scalar_types, "_constructor", [scalar_types._not_installed])
    with pytest.raises(errors.InternalError, match=r"once olympus\.numpy is imported"):
        float32(1)
