"""The namespace and its arrays have what the array API standard asks for."""

from __future__ import annotations

import functools
import inspect

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from array_api import standard

BY_POSITION = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

# Defaults that JAX has otherwise; docs/array_api.md gives the reasons.
OTHER_DEFAULTS = {
    ("astype", "copy"),
    ("matmul", "axis"),
    ("std", "correction"),
    ("var", "correction"),
    ("__setitem__", "value"),
}


def lookup(name):
    return functools.reduce(getattr, name.split("."), jnp)


def check_parameters(name, wanted, found):
    """Every call that the standard allows is one that the function takes."""
    rest = {p.kind: p for p in found.values() if p.kind in (p.VAR_POSITIONAL,)}
    places = [p for p in found.values() if p.kind in BY_POSITION]
    for i, p in enumerate(wanted.values()):
        if p.kind == p.VAR_POSITIONAL:
            assert rest, f"{name} takes any number of arrays"
            continue
        if p.kind in BY_POSITION:
            assert i < len(places) or rest, f"{name}: {p.name} goes by position"
        if p.kind in BY_NAME:
            assert p.name in found, f"{name}: {p.name} goes by name"
            assert found[p.name].kind in BY_NAME
        given = found.get(p.name)
        if given is None or (name, p.name) in OTHER_DEFAULTS:
            continue
        if p.default is not p.empty:
            assert given.default == p.default or given.default in (None, "backward")


@pytest.mark.parametrize("function", standard.FUNCTIONS, ids=lambda f: f.name)
def test_functions_take_the_calls_of_the_standard(function):
    found = inspect.signature(lookup(function.name)).parameters
    check_parameters(function.name, function.signature.parameters, found)


def test_functions_of_the_standard_are_in_the_table_once():
    names = [f.name for f in standard.FUNCTIONS]
    assert len(names) == len(set(names)) == standard.FUNCTION_COUNT


@pytest.mark.parametrize("name", standard.METHOD_SIGNATURES)
def test_methods_take_the_calls_of_the_standard(name):
    wanted = standard.METHOD_SIGNATURES[name].parameters
    method = getattr(jnp.ones((2, 2)), name)
    check_parameters(name, wanted, inspect.signature(method).parameters)


def test_arrays_have_the_operators_and_attributes():
    def check(x):
        for name in standard.OPERATORS:
            assert callable(getattr(x, f"__{name}__"))
        for name in set(standard.ATTRIBUTES) - {"device"}:
            assert hasattr(x, name)
        return x

    x = check(jnp.ones((2, 3)))
    olympus.jit(check)(x)
    assert x.device == olympus.devices()[0]
    assert (x.ndim, x.shape, x.size, x.mT.shape) == (2, (2, 3), 6, (3, 2))


def test_constants_and_version():
    for name in standard.CONSTANTS:
        assert getattr(jnp, name) is None or isinstance(getattr(jnp, name), float)
    assert jnp.__array_api_version__ == "2025.12"
    for version in ("2021.12", "2024.12", "2025.12", None):
        assert jnp.ones(1).__array_namespace__(api_version=version) is jnp
    with pytest.raises(ValueError, match=r"at most '2025\.12', got '2090\.12'"):
        jnp.ones(1).__array_namespace__(api_version="2090.12")


# -- dtypes ----------------------------------------------------------------------------


def result_dtype(rule, dtype):
    if rule == "bool":
        return np.dtype(bool)
    if rule == "index":
        return np.dtype(np.int64)
    if rule == "real":
        return np.zeros((), dtype).real.dtype
    if rule == "wide" and dtype in standard.INTEGERS:
        return np.dtype(np.uint64 if dtype[0] == "u" else np.int64)
    return np.dtype(dtype)


@pytest.mark.parametrize("function", standard.ELEMENTWISE, ids=lambda f: f.name)
def test_dtypes_of_elementwise_functions(function):
    with olympus.enable_x64(True):
        for dtype in function.takes:
            x = olympus.ShapeDtypeStruct((2, 3), np.dtype(dtype))
            args = [x] * function.arity
            out = olympus.eval_shape(lookup(function.name), *args)
            assert out.shape == (2, 3)
            assert out.dtype == result_dtype(function.gives, dtype), dtype


@pytest.mark.parametrize("function", standard.REDUCTIONS, ids=lambda f: f.name)
def test_dtypes_of_reductions(function):
    options = {"axis": 0} if function.name.startswith("cum") else {}
    reduce = functools.partial(lookup(function.name), **options)
    with olympus.enable_x64(True):
        for dtype in function.takes:
            x = olympus.ShapeDtypeStruct((3, 3), np.dtype(dtype))
            out = olympus.eval_shape(reduce, x)
            assert out.dtype == result_dtype(function.gives, dtype), dtype


def families():
    """Pairs of dtypes whose common dtype the standard states."""
    for x in standard.DTYPES:
        for y in standard.DTYPES:
            integers = x in standard.INTEGERS and y in standard.INTEGERS
            if integers and "uint64" in (x, y) and "int" in (x[:3], y[:3]):
                continue  # the standard says nothing of a signed dtype and uint64
            if integers or (x in standard.FLOATS and y in standard.FLOATS):
                yield x, y


def test_two_dtypes_meet_in_the_one_of_the_standard():
    with olympus.enable_x64(True):
        for x, y in families():
            wanted = np.promote_types(x, y)
            assert jnp.result_type(x, y) == wanted
            arrays = [olympus.ShapeDtypeStruct((), np.dtype(d)) for d in (x, y)]
            assert olympus.eval_shape(jnp.multiply, *arrays).dtype == wanted


def test_python_numbers_take_the_dtype_of_the_array():
    with olympus.enable_x64(True):
        for dtype in standard.NUMERIC:
            number = {"f": 1.5, "c": 1j}.get(np.dtype(dtype).kind, 1)
            x = olympus.ShapeDtypeStruct((2,), np.dtype(dtype))
            assert olympus.eval_shape(lambda x, n=number: x * n, x).dtype == dtype


@pytest.mark.parametrize("wide", [False, True])
def test_what_the_namespace_says_of_itself(wide):
    with olympus.enable_x64(wide):
        info = jnp.__array_namespace_info__()
        names = {d for d in standard.DTYPES if wide or d not in ("complex128",)}
        names = {d for d in names if wide or not d.endswith("64") or d == "complex64"}
        assert set(info.dtypes()) == names
        assert all(dtype == name for name, dtype in info.dtypes().items())
        assert set(info.dtypes(kind="bool")) == {"bool"}
        kinds = ("signed integer", "real floating")
        listed = info.dtypes(device=olympus.devices()[0], kind=kinds)
        assert set(listed) == names & set(standard.SIGNED + standard.REAL_FLOATS)
        for kind, dtype in info.default_dtypes(device=None).items():
            assert jnp.isdtype(dtype, kind.replace("indexing", "integral"))
        made = jnp.asarray([1.5]).dtype, jnp.asarray([1]).dtype, jnp.asarray([1j]).dtype
        given = info.default_dtypes()
        assert made == tuple(
            given[k] for k in ("real floating", "integral", "complex floating")
        )
        assert jnp.argmax(jnp.ones(2)).dtype == given["indexing"]
    assert info.default_device() is None
    assert info.devices() == [None, *olympus.devices()]
    assert set(info.capabilities()) == {
        "boolean indexing",
        "data-dependent shapes",
        "max dimensions",
    }
    with pytest.raises(ValueError, match="'decimal'"):
        info.dtypes(kind="decimal")


def test_as_many_axes_as_the_namespace_says():
    most = jnp.__array_namespace_info__().capabilities()["max dimensions"]
    x = jnp.ones((1,) * most)
    assert (x + x).shape == (1,) * most


def test_scalars_become_python_numbers():
    assert complex(jnp.asarray(2.0)) == 2 + 0j
    assert complex(jnp.asarray(1j)) == 1j
    assert [10, 20][jnp.asarray(1)] == 20
    for number in (int, float):
        with pytest.raises(TypeError, match="real numbers, got dtype complex64"):
            number(jnp.asarray(1j))
    with pytest.raises(TypeError, match="index"):
        jnp.asarray(1.0).__index__()


def test_arrays_refuse_to_change_in_place():
    x = jnp.ones(3)
    with pytest.raises(TypeError, match=r"x\.at\[idx\]\.set"):
        x[0] = 2.0
    kept = x
    x += 1
    assert x is not kept
    np.testing.assert_array_equal(kept, np.ones(3))
