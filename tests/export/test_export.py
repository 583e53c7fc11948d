"""Exported programs: what they say, and that calling them is calling the function."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export, lax, random
from olympus._src.runtime import executable as runtime_executable
from olympus.core import ShapedArray


def exported_of(f, *args, platforms=None, checks=(), **kwargs):
    made = export.export(olympus.jit(f), platforms=platforms, disabled_checks=checks)
    return made(*args, **kwargs)


def round_trip(exported, order=0):
    return export.deserialize(exported.serialize(vjp_order=order))


LARGE = np.arange(3000, dtype=np.float32).reshape(3, 1000)
SMALL = np.float32([1, 2, 3])


def layer(x, weights, *, scale=1.0):
    hidden = jnp.tanh(x @ LARGE)[:, :3] + SMALL
    return {"loss": (hidden * weights["w"]).sum(), "aux": (hidden, scale)}


X = np.float32([[1, 2, 3], [4, 5, 6]]) / 1000
WEIGHTS = {"w": np.float32([1, 0.5, 2])}


@pytest.fixture(scope="module")
def kept():
    return exported_of(layer, X, WEIGHTS, scale=2.0)


@pytest.fixture(scope="module")
def read(kept):
    return round_trip(kept, order=1)


def assert_same(found, wanted):
    assert olympus.tree.structure(found) == olympus.tree.structure(wanted)
    for a, b in zip(
        olympus.tree.leaves(found), olympus.tree.leaves(wanted), strict=True
    ):
        assert olympus.typeof(a) is olympus.typeof(b)
        if olympus.dtypes.issubdtype(a.dtype, olympus.dtypes.extended):
            a, b = random.key_data(a), random.key_data(b)
        np.testing.assert_allclose(
            np.asarray(a, np.complex64), np.asarray(b, np.complex64), rtol=2e-6
        )


# -- what it says ----------------------------------------------------------------------


def test_fields(kept, read):
    for exported in (kept, read):
        assert exported.fun_name == "layer"
        assert [a.short() for a in exported.in_avals] == ["f32[2,3]", "f32[3]", "f32[]"]
        assert exported.in_avals[2].weak_type
        assert exported.in_tree == olympus.tree.structure(((X, WEIGHTS), {"scale": 1}))
        assert [a.short() for a in exported.out_avals] == ["f32[2,3]", "f32[]", "f32[]"]
        assert exported.nr_devices == 1
        assert exported.platforms == (export.default_export_platform(),)
        assert exported.module_kept_var_idx == (0, 1, 2)
        assert exported.ordered_effects == exported.unordered_effects == ()
        assert exported.disabled_safety_checks == ()
        assert exported.in_shardings_hlo == (None,) * 3
        assert not exported.uses_global_constants
        assert exported.calling_convention_version == 10
        assert exported.has_vjp()
        assert len(exported.constants) == 1  # the large one
    assert not round_trip(kept).has_vjp()


def test_the_module_is_whole_without_its_constants(kept):
    text = kept.mlir_module()
    assert "func.func public @main(%arg0: tensor<2x3xf32>" in text
    assert "dense<" in text
    assert len(kept.mlir_module_serialized) > LARGE.nbytes


def test_the_whole_module_keeps_what_is_said_of_arguments():
    def f(x, y):
        return (x @ LARGE)[:, :3] + x, {"y": y + 1}

    jitted = olympus.jit(f, donate_argnums=1)
    exported = export.export(jitted, platforms=("cpu", "cuda"))(X, SMALL)
    head = exported.mlir_module().split("@main")[1].split("\n")[0]
    assert head.count("tensor<i32> {olympus.global_constant") == 1
    assert head.count("tensor<3xf32> {tf.aliasing_output = 1") == 1
    assert head.count("result[1]['y']") == 1
    assert "tensor<3x1000xf32>" not in head
    module = runtime_executable.compile(exported.mlir_module_serialized)
    index = np.int32(exported.platforms.index(export.default_export_platform()))
    outs = runtime_executable.Executable(
        module, [ShapedArray(a.shape, a.dtype) for a in exported.out_avals]
    ).execute([jnp.asarray(a)._buffer for a in (index, X, SMALL)])
    np.testing.assert_allclose(outs[0], (X @ LARGE)[:, :3] + X, rtol=1e-5)
    np.testing.assert_array_equal(outs[1], SMALL + 1)


def test_unused_arguments_are_left_out():
    exported = exported_of(lambda x, unused, y: x + y, 1.0, 2.0, 3.0)
    assert exported.module_kept_var_idx == (0, 2)
    assert round_trip(exported).call(1.0, 2.0, 3.0) == 4.0
    jitted = olympus.jit(lambda x, unused: x, keep_unused=True)
    assert export.export(jitted)(1.0, 2.0).module_kept_var_idx == (0, 1)


def test_platforms_may_come_from_a_generator():
    made = export.export(olympus.jit(jnp.sin), platforms=(p for p in ("cuda", "tpu")))
    assert made(1.0).platforms == ("cuda", "tpu")


def test_static_arguments_are_no_arguments():
    jitted = olympus.jit(lambda x, n: x * n, static_argnums=1)
    exported = export.export(jitted)(np.float32(2), 5)
    assert exported.call(np.float32(2)) == 10.0


def test_donation_is_written():
    jitted = olympus.jit(lambda x: x + 1, donate_argnums=0)
    assert "tf.aliasing_output = 0" in export.export(jitted)(SMALL).mlir_module()


# -- calling it ------------------------------------------------------------------------


def test_a_call_is_the_function(kept, read):
    wanted = olympus.jit(layer)(X, WEIGHTS, scale=2.0)
    for exported in (kept, read):
        assert_same(exported.call(X, WEIGHTS, scale=2.0), wanted)
    assert_same(olympus.jit(read.call)(X, WEIGHTS, scale=2.0), wanted)


@pytest.mark.slow
def test_derivatives_are_the_functions(read):
    def loss(call):
        return lambda x, w: call(x, {"w": w}, scale=2.0)["loss"]

    wanted = olympus.grad(loss(layer), (0, 1))(X, WEIGHTS["w"])
    found = olympus.grad(loss(read.call), (0, 1))(X, WEIGHTS["w"])
    assert_same(found, wanted)


def test_an_exported_program_in_another(read):
    outer = round_trip(
        exported_of(lambda x, w: 2 * read.call(x, w, scale=1.0)["loss"], X, WEIGHTS)
    )
    wanted = 2 * layer(X, WEIGHTS)["loss"]
    np.testing.assert_allclose(outer.call(X, WEIGHTS), wanted, rtol=2e-6)


def test_types_of_all_kinds_come_back():
    key = random.key(3)

    def f(args):
        return args, random.bits(args["key"], (2,)), args["f"].astype(jnp.bfloat16)

    args = {
        "key": key,
        "f": np.float16([1, 2]),
        "z": np.complex64(1 + 2j),
        "empty": np.zeros((0, 3), np.int8),
        "flag": True,
        "weak": 3,
        "nothing": None,
    }
    assert_same(round_trip(exported_of(f, args)).call(args), olympus.jit(f)(args))


# -- platforms -------------------------------------------------------------------------


def by_platform(x):
    return lax.platform_dependent(
        x, cpu=lambda x: x + 1, cuda=lambda x: x * 10, default=lambda x: x
    )


def test_each_platform_has_its_program():
    exported = round_trip(exported_of(by_platform, SMALL, platforms=("cuda", "cpu")))
    text = exported.mlir_module()
    assert "stablehlo.case" in text
    assert exported.uses_global_constants
    place = export.default_export_platform()
    wanted = {"cpu": SMALL + 1, "cuda": SMALL * 10}[place]
    np.testing.assert_array_equal(exported.call(SMALL), wanted)
    np.testing.assert_array_equal(olympus.jit(exported.call)(SMALL), wanted)


def test_what_is_the_same_on_all_platforms_is_written_once():
    text = exported_of(jnp.sin, SMALL, platforms=("cpu", "cuda")).mlir_module()
    assert text.count("stablehlo.sine") == 1
    assert "stablehlo.case" not in text


def test_lowering_for_several_platforms_can_be_read():
    lowered = olympus.jit(by_platform).trace(SMALL)
    lowered = lowered.lower(lowering_platforms=("cpu", "cuda"))
    assert "stablehlo.case" in lowered.as_text()
    with pytest.raises(ValueError, match="must be lowered for one platform"):
        lowered.compile()


def test_other_platforms_are_refused():
    other = "cuda" if export.default_export_platform() == "cpu" else "cpu"
    exported = exported_of(jnp.sin, 1.0, platforms=(other,))
    with pytest.raises(ValueError, match="was exported for platforms"):
        exported.call(1.0)
    with pytest.raises(ValueError, match="was exported for platforms"):
        exported_of(exported.call, 1.0)
    nested = exported_of(exported.call, 1.0, platforms=(other,))
    assert nested.platforms == (other,)
    check = export.DisabledSafetyCheck.platform()
    anyway = round_trip(exported_of(jnp.sin, 1.0, platforms=(other,), checks=[check]))
    assert anyway.disabled_safety_checks == (check,)
    np.testing.assert_allclose(anyway.call(1.0), np.sin(1), rtol=1e-6)


# -- refusals --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((X[:1], WEIGHTS), r"args\[0\] .* f32\[2,3\], got f32\[1,3\] \(Shape mismatch"),
        ((X[0], WEIGHTS), r"args\[0\] .*\(Rank mismatch"),
        ((X, {"w": np.int32([1, 2, 3])}), r"args\[1\]\['w'\] .*\(Dtype mismatch"),
        ((X, {"v": SMALL}), "same pytree structure"),
        ((X,), "same pytree structure"),
    ],
)
def test_wrong_arguments(kept, args, message):
    with pytest.raises(ValueError, match=message):
        kept.call(*args, scale=1.0)


def test_what_cannot_be_exported():
    with pytest.raises(ValueError, match="must be the result of `jit`"):
        export.export(lambda x: x)
    with pytest.raises(NotImplementedError, match="must not call back to Python"):
        exported_of(lambda x: olympus.debug.print("{}", x), 1.0)
    with pytest.raises(TypeError, match="sequence of names"):
        export.export(olympus.jit(jnp.sin), platforms="cpu")
    with pytest.raises(TypeError, match="sequence of names"):
        export.export(olympus.jit(jnp.sin), platforms=("cpu", 3))
    with pytest.raises(ValueError, match="platforms must differ"):
        export.export(olympus.jit(jnp.sin), platforms=("cpu", "cpu"))
    with pytest.raises(ValueError, match="'cuda' or 'rocm'"):
        export.export(olympus.jit(jnp.sin), platforms=("gpu",))


def test_a_derivative_that_was_not_kept(kept):
    bare = round_trip(kept)
    with pytest.raises(ValueError, match="No VJP is available"):
        bare.vjp()
    with pytest.raises(ValueError, match="No VJP is available"):
        bare.serialize(vjp_order=1)
    with pytest.raises(ValueError, match="No VJP is available"):
        olympus.grad(lambda x: bare.call(x, WEIGHTS, scale=1.0)["loss"])(X)


def test_float64_is_refused_where_it_is_off():
    with olympus.enable_x64(True):
        exported = exported_of(lambda x: x * 2, np.float64(2))
        assert exported.call(np.float64(2)) == 4
    assert exported.in_avals == (ShapedArray((), "float64"),)
    with pytest.raises(ValueError, match="Dtype mismatch"):
        exported.call(np.float64(2))


# -- constants -------------------------------------------------------------------------

DTYPES = [
    "bool",
    "int4",
    "uint2",
    "int8",
    "uint32",
    "bfloat16",
    "float16",
    "float8_e4m3fn",
    "float4_e2m1fn",
    "complex64",
]


def constants_come_back(dtype, size):
    table = jnp.asarray(np.random.default_rng(0).integers(0, 2, size)).astype(dtype)
    exported = exported_of(lambda _: table, None)
    assert len(exported.constants) == (size > 1000)
    read = round_trip(exported)
    assert_same(read.call(None), table)
    module = runtime_executable.compile(read.mlir_module_serialized)
    whole = runtime_executable.Executable(module, [ShapedArray((size,), dtype)])
    assert_same(whole.execute([])[0], table)


@pytest.mark.parametrize("dtype", ["bool", "complex64"])
def test_constants_in_the_module(dtype):
    constants_come_back(dtype, 9)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [5, 8, 9000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_constants_of_all_dtypes(dtype, size):
    constants_come_back(dtype, size)
