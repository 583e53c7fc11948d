"""Dtypes: promotion and relations as recorded, narrowing, names, errors."""

from __future__ import annotations

import enum
import itertools
import json
import pickle
import warnings
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import olympus.numpy
from olympus._src.core import dtypes
from olympus._src.foundation import config, errors

DATA = json.loads(
    (Path(__file__).parent.parent / "data" / "dtypes.json").read_text(encoding="utf-8")
)
NUMBERS = {"int*": 1, "float*": 1.0, "complex*": 1j}
PYTHON = {"bool": True, "int": 1, "float": 1.0, "complex": 1j}


class _Key(dtypes.ExtendedDType):
    __slots__ = ("name",)
    itemsize = 8
    type = dtypes.prng_key

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return isinstance(other, _Key) and other.name == self.name

    def __hash__(self):
        return hash(self.name)


FRY = _Key("key<fry>")


def _argument(name):
    """A value of the dtype named; a star marks a weak one."""
    if name in NUMBERS:
        return NUMBERS[name]
    dtype = np.dtype(name.removesuffix("*"))
    return SimpleNamespace(dtype=dtype, weak_type=name.endswith("*"))


def _result_type(names):
    try:
        dtype, weak = dtypes.result_type(
            *map(_argument, names), return_weak_type_flag=True
        )
    except errors.TypePromotionError:
        return "error"
    return str(dtype) + ("*" if weak else "")


def _both_results(names):
    """What `result_type` and what the lattice say, or that both refuse."""
    joined = _result_type(names)
    pairs = [dtypes.dtype_and_weak(_argument(name)) for name in names]
    try:
        dtype, weak = dtypes.lattice_result(*pairs)
    except errors.TypePromotionError:
        return joined
    return [joined, str(dtype) + ("*" if weak else "")]


def _differences(table, promote):
    return {
        names: (wanted, got)
        for key, wanted in table.items()
        for names in itertools.islice(itertools.permutations(key.split(",")), 6)
        if (got := promote(names)) != wanted
    }


@pytest.mark.parametrize("setting", DATA["pairs"])
def test_every_pair_promotes_as_recorded(setting):
    mode, x64 = setting.split(",x64=")
    with config.enable_x64(x64 == "on"), config.numpy_dtype_promotion(mode):
        assert not _differences(DATA["pairs"][setting], _result_type)


def test_weak_dtypes_and_many_arguments_promote_as_recorded():
    with config.enable_x64(True):
        assert not _differences(DATA["weak_and_many (x64 on)"], _both_results)


@pytest.mark.parametrize("pair", DATA["promotion (x64 on)"])
def test_promote_types_matches_the_lattice(pair):
    wanted = DATA["promotion (x64 on)"][pair]
    a, b = pair.split(",")
    if wanted.startswith("error"):
        with pytest.raises(errors.TypePromotionError):
            dtypes.promote_types(a, b)
    else:
        with config.enable_x64(True):
            assert dtypes.promote_types(a, b) == np.dtype(wanted)
            assert dtypes.promote_types(b, a) == np.dtype(wanted)


def test_promote_types_has_64_bits_only_where_an_operand_has():
    for a in ("int8", "int16", "int32"):
        assert dtypes.promote_types(a, "uint32") == np.int32
        assert dtypes.promote_types(a, "int64") == np.int64
        assert dtypes.promote_types(a, "float64") == np.float64
    assert dtypes.promote_types("uint32", "int64") == np.int64
    assert dtypes.promote_types("uint32", "uint64") == np.uint64
    assert dtypes.promote_types("int32", "uint64") == np.float64


@pytest.mark.parametrize("pair", DATA["python_scalar (x64 on)"])
def test_python_scalars_give_way_as_recorded(pair):
    wanted = DATA["python_scalar (x64 on)"][pair]
    name, python = pair.split(",")
    arguments = np.empty(0, name), PYTHON[python]
    with config.enable_x64(True):
        if isinstance(wanted, str):
            with pytest.raises(errors.TypePromotionError):
                dtypes.result_type(*arguments)
        else:
            got = dtypes.result_type(*arguments, return_weak_type_flag=True)
            assert [str(got[0]), got[1]] == wanted


def test_families_names_and_sizes_are_as_recorded():
    available = [dtype.name for dtype in dtypes.supported_dtypes()]
    assert set(available) <= set(DATA["families"])
    for name in available:
        recorded = DATA["families"][name]
        families = ["generic", "number", "integer", "signedinteger", "unsignedinteger"]
        families += ["inexact", "floating", "complexfloating", "bool_"]
        members = [f for f in families if dtypes.issubdtype(name, getattr(np, f))]
        assert sorted(members) == sorted(recorded), name
        assert dtypes.short_name(np.dtype(name)) == DATA["short_names"][name]
        assert dtypes.itemsize_bits(name) == DATA["bits"][name]


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("int4", ml_dtypes.int4, True),
        (int, np.integer, True),
        (float, np.floating, True),
        (np.float64, float, True),
        (np.int32, int, False),
        ("float8_e4m3fn", "float8_e5m2", False),
        (np.floating, np.inexact, True),
        (np.integer, "int32", False),
        (dtypes.bfloat16, np.generic, True),
        (dtypes.float0, np.bool_, False),
        (dtypes.float0, np.void, True),
        (dtypes.prng_key, dtypes.extended, True),
        (FRY, dtypes.prng_key, True),
        (FRY, dtypes.extended, True),
        (FRY, np.number, False),
        (FRY, FRY, True),
        (FRY, _Key("key<rbg>"), False),
        (np.float32, dtypes.extended, False),
    ],
)
def test_issubdtype(a, b, wanted):
    assert dtypes.issubdtype(a, b) is wanted


def test_issubdtype_of_no_dtype_is_refused():
    with pytest.raises(TypeError, match="'foo'"):
        dtypes.issubdtype("foo", np.integer)


@pytest.mark.parametrize(
    ("asked", "off", "on"),
    [
        (float, "float32", "float64"),
        (int, "int32", "int64"),
        (complex, "complex64", "complex128"),
        (bool, "bool", "bool"),
        (None, "float32", "float64"),
        ("uint64", "uint32", "uint64"),
        (np.float64, "float32", "float64"),
        (np.dtype("longlong"), "int32", "int64"),
        ("bfloat16", "bfloat16", "bfloat16"),
        ("complex64", "complex64", "complex64"),
        (">i4", ">i4", ">i4"),
    ],
)
def test_canonicalize_dtype(asked, off, on):
    assert dtypes.canonicalize_dtype(asked) == np.dtype(off)
    with config.enable_x64(True):
        assert dtypes.canonicalize_dtype(asked) == np.dtype(on)


def test_canonicalize_dtype_lets_keys_pass_only_when_asked():
    assert dtypes.canonicalize_dtype(FRY, allow_extended_dtype=True) is FRY
    with pytest.raises(ValueError, match="allow_extended_dtype=True"):
        dtypes.canonicalize_dtype(FRY)


@pytest.mark.parametrize("dtype", ["float64", np.int64, np.dtype("complex128")])
def test_asking_for_64_bits_warns_at_the_caller_and_names_the_cure(dtype):
    with pytest.warns(UserWarning, match="is not available") as seen:
        dtypes.check_user_dtype(dtype, "zeros")
    message = str(seen[0].message)
    assert message.startswith("zeros: ")
    assert "olympus_enable_x64" in message
    assert "OLYMPUS_ENABLE_X64" in message
    assert seen[0].filename == __file__


def test_defaults_and_narrow_dtypes_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for asked in (float, int, complex, bool, None, "float32", "int4", FRY):
            dtypes.check_user_dtype(asked, "zeros")
        with config.enable_x64(True):
            assert dtypes.check_user_dtype("int64", "zeros") == np.int64


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        (np.floating, "must be concrete, got the family floating"),
        ("S3", "must be of numbers, booleans or keys"),
        (">i4", "byte order, got >i4"),
        (np.dtype([("a", "i4")]), "must be of numbers"),
        ("float31", "got 'float31'"),
        (3, "got 3"),
    ],
)
def test_dtypes_that_arrays_cannot_have(dtype, message):
    with pytest.raises(TypeError, match=f"zeros: dtype .*{message}"):
        dtypes.check_user_dtype(dtype, "zeros")


class _Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (True, "bool"),
        (1, "int32"),
        (2.0, "float32"),
        (2j, "complex64"),
        (2**70, "int32"),
        (_Level.LOW, "int32"),
        (np.float64(1), "float32"),
        (np.zeros(2, np.int64), "int32"),
        (np.zeros(2, "bfloat16"), "bfloat16"),
        (int, "int32"),
        ("float16", "float16"),
        (ml_dtypes.int4, "int4"),
    ],
)
def test_dtype_of_values_and_of_what_stands_for_a_dtype(value, wanted):
    assert dtypes.dtype_of(value) == np.dtype(wanted)


@pytest.mark.parametrize("value", [[1, 2], object(), np.array(["a"]), "hat"])
def test_dtype_of_other_values_is_refused(value):
    with pytest.raises(TypeError, match="dtype_of: "):
        dtypes.dtype_of(value)


def test_is_python_scalar():
    assert all(map(dtypes.is_python_scalar, (True, 1, 1.0, 1j, _Level.LOW)))
    numpy_scalars = (np.float64(1), np.complex128(1), np.int32(1), np.bool_(True))
    assert not any(map(dtypes.is_python_scalar, (*numpy_scalars, "1", None, [1])))


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((1,), ("int32", True)),
        ((1, 2.0), ("float32", True)),
        ((True, 1), ("int32", True)),
        ((True,), ("bool", False)),
        ((1, np.float32), ("float32", False)),
        ((np.int32, 1.0), ("float32", True)),
        ((np.zeros(2), 1), ("float32", False)),
        ((float, "int32"), ("float32", True)),
        ((None,), ("float32", False)),
    ],
)
def test_result_type_with_weak_flag(arguments, wanted):
    dtype, weak = dtypes.result_type(*arguments, return_weak_type_flag=True)
    assert (str(dtype), weak) == wanted


@pytest.mark.parametrize("name", ["float64", "int64", "uint64", "complex128"])
def test_scalar_classes_narrow_silently_where_numpys_warn(name):
    narrow = dtypes.canonicalize_dtype(name)
    scalar_class = getattr(olympus.numpy, name)
    assert dtypes.result_type(scalar_class) == narrow
    assert dtypes.result_type(scalar_class, 1) == narrow
    with pytest.warns(UserWarning, match=f"dtype {name} is not available"):
        assert dtypes.result_type(getattr(np, name)) == narrow


def test_result_type_of_nothing():
    with pytest.raises(ValueError, match="at least one"):
        dtypes.result_type()


def test_keys_and_float0_promote_with_themselves_alone():
    key = SimpleNamespace(dtype=FRY)
    assert dtypes.result_type(key, key) is FRY
    assert dtypes.result_type(dtypes.float0, dtypes.float0) == dtypes.float0
    for other in (key, dtypes.float0):
        with pytest.raises(errors.TypePromotionError, match="combined with itself"):
            dtypes.result_type(other, np.float32(1))


def test_refusals_name_the_dtypes_and_the_cure():
    with pytest.raises(errors.TypePromotionError, match=r"float32 and int4;.*astype"):
        dtypes.promote_types("int4", "float32")
    with pytest.raises(errors.TypePromotionError, match=r"float \(Python scalar\)"):
        dtypes.result_type("int4", 1.0)
    with (
        config.numpy_dtype_promotion("strict"),
        pytest.raises(errors.TypePromotionError, match="'strict', got float32 and int"),
    ):
        dtypes.result_type("int32", "float32")


def test_scalar_type_of():
    given = ("float32", "int4", 1, 1.0, np.zeros(2, "bfloat16"), bool, "complex64")
    wanted = [float, int, int, float, float, bool, complex]
    assert [dtypes.scalar_type_of(x) for x in given] == wanted
    with pytest.raises(TypeError, match="no Python type"):
        dtypes.scalar_type_of(SimpleNamespace(dtype=FRY))


def test_itemsize_bits_of_no_numbers():
    for dtype in (FRY, dtypes.float0):
        with pytest.raises(ValueError, match="itemsize_bits: dtype must be of numbers"):
            dtypes.itemsize_bits(dtype)


def test_names_of_dtypes_without_numbers():
    assert dtypes.short_name(FRY) == dtypes.long_name(FRY) == str(FRY) == "key<fry>"
    assert dtypes.short_name(dtypes.float0) == dtypes.long_name(dtypes.float0)
    assert dtypes.long_name(np.dtype("bfloat16")) == "bfloat16"


def test_real_complex_inexact_and_tangent_dtypes():
    f32, f64 = np.dtype("float32"), np.dtype("float64")
    c64, c128 = np.dtype("complex64"), np.dtype("complex128")
    assert [dtypes.real_dtype(d) for d in (c64, c128, f64)] == [f32, f64, f64]
    assert [dtypes.complex_dtype(d) for d in (f32, f64, c128)] == [c64, c128, c128]
    assert dtypes.to_inexact_dtype(np.dtype("int8")) == f32
    assert dtypes.to_inexact_dtype(np.dtype("int64")) == f32
    with config.enable_x64(True):
        assert dtypes.to_inexact_dtype(np.dtype("int64")) == f64
        assert dtypes.to_inexact_dtype(np.dtype("bool")) == f32
    for dtype in (f32, c64, np.dtype("bfloat16")):
        assert dtypes.to_inexact_dtype(dtype) == dtype
        assert dtypes.tangent_dtype(dtype) == dtype
    for dtype in (np.dtype("int32"), np.dtype("bool"), FRY):
        assert dtypes.tangent_dtype(dtype) == dtypes.float0


def test_limits():
    assert dtypes.finfo("bfloat16").bits == 16
    assert dtypes.finfo("complex64").dtype == np.float32
    assert dtypes.iinfo("int4").min == -8


def test_one_object_per_dtype():
    for dtype in dtypes.supported_dtypes():
        assert pickle.loads(pickle.dumps(dtype)) == dtype
        with config.enable_x64(True):
            assert dtypes.canonicalize_dtype(dtype.name) is dtype
            assert dtypes.canonicalize_dtype(dtype.type) is dtype
