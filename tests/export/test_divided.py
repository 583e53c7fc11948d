"""Programs over several devices leave the process, and run over other meshes."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import bundle, export, lax
from olympus._src.export import serialization
from olympus._src.foundation import container
from olympus.experimental.serialize_executable import deserialize_and_load, serialize
from olympus.sharding import Mesh, NamedSharding, PartitionSpec
from tests.sharding.meshes import divide, entries, mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
A = np.arange(32, dtype=np.float32).reshape(4, 8)
B = np.cos(np.arange(48, dtype=np.float32)).reshape(8, 6)
TABLE = np.arange(8192, dtype=np.float32).reshape(1024, 8)  # too large for the text


def place(*spec, over=None):
    return NamedSharding(over or mesh(2, 2), P(*spec))


def late_mesh(*sizes):
    """A mesh of the last devices, with axes of other names."""
    return Mesh(
        np.array(olympus.devices()[4:]).reshape(sizes), tuple("pq"[: len(sizes)])
    )


def product(a, b):
    return a @ b, (a * a).sum() + jnp.asarray(TABLE)[3, 4]


def jitted():
    return olympus.jit(
        product,
        in_shardings=(place("x"), place(None, "y")),
        out_shardings=(place("x", "y"), None),
    )


@pytest.fixture(scope="module")
def exported():
    return export.export(jitted())(A, B)


@pytest.fixture(scope="module")
def again(exported):
    return export.deserialize(exported.serialize(vjp_order=2))


def check(outs, expected=None):
    expected = product(A, B) if expected is None else expected
    for out, value in zip(outs, expected, strict=True):
        np.testing.assert_allclose(out, value, rtol=1e-5)


# -- what an exported program says of itself -------------------------------------------


def test_how_it_is_divided_is_kept(exported, again):
    for program in (exported, again):
        assert program.nr_devices == 4
        ins, outs = (
            program.in_shardings_jax(mesh(2, 2)),
            program.out_shardings_jax(mesh(2, 2)),
        )
        assert ins == (place("x"), place(None, "y"))
        assert outs == (place("x", "y"), None)
        assert ins[0] is place("x")
        texts = list(map(str, program.in_shardings_hlo))
        assert texts[0] == "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"
        assert str(program.out_shardings_hlo[0]) == "{devices=[2,2]<=[4]}"
        assert program.out_shardings_hlo[1] is None
        assert "nr_devices=4" in repr(program)
        assert 'sdy.mesh @mesh = <["x"=2, "y"=2]>' in program.mlir_module()
    over = late_mesh(2, 2)
    with pytest.raises(ValueError, match=r"must have the axes .*'x': 2, 'y': 2"):
        exported.in_shardings_jax(over)
    with pytest.raises(TypeError, match="mesh must be a Mesh, got 4"):
        exported.in_shardings_jax(4)
    abstract = exported.in_shardings_jax(mesh(2, 2).abstract_mesh)
    assert abstract[0].mesh is mesh(2, 2).abstract_mesh


def test_arguments_say_how_it_is_divided():
    f = olympus.jit(lambda x: x + 1)
    by_array = export.export(f)(divide(np.arange(8.0), "x", over=mesh(8)))
    struct = olympus.ShapeDtypeStruct((8,), "float32", sharding=place("x"))
    by_struct = export.export(f)(struct)
    assert (by_array.nr_devices, by_struct.nr_devices) == (8, 4)
    assert by_struct.in_shardings_jax(mesh(2, 2)) == (place("x"),)


def test_equal_programs_have_equal_bytes(exported):
    assert export.export(jitted())(A, B).serialize() == exported.serialize()


# -- calls -----------------------------------------------------------------------------


def arguments_of_mesh():
    return divide(A, "x", over=mesh(2, 2)), B


def arguments_otherwise():
    return divide(A, None, "y", over=mesh(2, 2)), divide(B, "x", over=mesh(2, 2))


def arguments_of_other_devices():
    return divide(A, "p", over=late_mesh(2, 2)), B


def arguments_along_one_axis():
    return divide(A, "p", over=late_mesh(4)), B


@pytest.mark.parametrize("make", [arguments_of_mesh, arguments_otherwise,
    arguments_of_other_devices, arguments_along_one_axis])  # fmt: skip
def test_called_on_any_mesh_of_as_many_devices(again, make):
    args = make()
    outs = again.call(*args)
    check(outs)
    assert outs[0].sharding.shard_shape(outs[0].shape) == (2, 3)
    assert outs[0].devices() == args[0].devices()


def test_called_in_jit_and_with_a_mesh_that_is_set(again):
    check(olympus.jit(again.call, in_shardings=(place("x"), None))(A, B))
    with olympus.set_mesh(late_mesh(2, 2)):
        outs = again.call(A, B)
        check(outs)
        check(olympus.jit(again.call)(A, B))
    assert outs[0].devices() == set(olympus.devices()[4:])


@pytest.mark.parametrize("n", [1, 2, 8])
def test_another_number_of_devices_is_refused(again, n):
    a = A if n == 1 else divide(A, None, "x", over=mesh(n))
    with pytest.raises(ValueError, match=rf"for 4 devices, and is called on {n};"):
        again.call(a, B)


def test_a_call_in_shard_map_is_refused(again):
    f = olympus.shard_map(
        again.call, mesh=mesh(2, 2), in_specs=P(), out_specs=P(), check_vma=False
    )
    with pytest.raises(ValueError, match="called in a shard_map"):
        f(A, B)


def test_derivatives(again):
    loss = lambda f: lambda a: (f(a, B)[0] ** 2).sum()  # noqa: E731
    a = divide(A, "x", over=mesh(2, 2))
    expected = olympus.grad(loss(product))(A)
    gradient = olympus.grad(loss(again.call))(a)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4)
    assert entries(gradient)[:1] == ("x",)
    _, slope = olympus.jvp(loss(again.call), (a,), (a,))
    np.testing.assert_allclose(slope, (expected * A).sum(), rtol=1e-4)
    reverse = again.vjp()
    assert reverse.nr_devices == 4
    assert reverse.out_shardings_jax(mesh(2, 2)) == again.in_shardings_jax(mesh(2, 2))
    assert reverse.in_shardings_jax(mesh(2, 2))[2] == place("x", "y")


def test_an_exported_call_is_exported():
    inner = export.export(jitted())(A, B)
    outer = export.export(olympus.jit(lambda a, b: inner.call(a, b)[1]))
    a = divide(A, "x", over=mesh(2, 2))
    check([export.deserialize(outer(a, B).serialize()).call(a, B)], [product(A, B)[1]])


def test_mapped(again):
    a = divide(np.stack([A, A + 1]), None, "x", over=mesh(2, 2))
    outs = olympus.vmap(again.call, in_axes=(0, None))(a, B)
    check(outs, olympus.vmap(product, in_axes=(0, None))(np.stack([A, A + 1]), B))


# -- what may be in it -----------------------------------------------------------------


def shard_mapped(x):
    body = lambda x: lax.psum(x, "x") * lax.axis_index("y")  # noqa: E731
    return olympus.shard_map(
        body, mesh=mesh(2, 2), in_specs=P("x"), out_specs=P(("y",))
    )(x)


def constrained(x):
    return jnp.cumsum(lax.with_sharding_constraint(x, place("y", "x")), 0)


def scanned(x):
    step = lambda c, row: (c + row, lax.with_sharding_constraint(c, place("y")))  # noqa: E731
    return lax.scan(step, x[0], x)


@pytest.mark.parametrize("f", [shard_mapped, constrained, scanned])
def test_programs_that_name_a_mesh(f):
    program = export.export(olympus.jit(f))(A)
    assert program.nr_devices == 4
    again = export.deserialize(program.serialize(vjp_order=1))
    x = divide(A, "p", over=late_mesh(2, 2))
    for out, value in zip(
        olympus.tree.leaves(again.call(x)), olympus.tree.leaves(f(A)), strict=True
    ):
        np.testing.assert_allclose(out, value, rtol=1e-6)
    loss = lambda g: lambda x: sum(y.sum() for y in olympus.tree.leaves(g(x)))  # noqa: E731
    np.testing.assert_allclose(
        olympus.grad(loss(again.call))(x), olympus.grad(loss(f))(A), rtol=1e-6
    )


def test_explicit_axes():
    over = olympus.make_mesh((2, 2), ("x", "y"))
    x = divide(A, "x", over=over)
    program = export.export(olympus.jit(lambda x: jnp.sin(x).T))(x)
    again = export.deserialize(program.serialize(vjp_order=1))
    out = again.call(x)
    assert out.aval.short() == "f32[8,4@x]"
    np.testing.assert_allclose(out, np.sin(A).T, rtol=1e-6)
    gradient = olympus.grad(lambda x: again.call(x).sum())(x)
    np.testing.assert_allclose(gradient, np.cos(A), rtol=1e-6)


def test_symbolic_sizes():
    shape = export.symbolic_shape("2*b, 8")
    f = olympus.jit(constrained, in_shardings=place("x"), out_shardings=place("x"))
    program = export.export(f)(olympus.ShapeDtypeStruct(shape, "float32"))
    again = export.deserialize(program.serialize(vjp_order=1))
    for n in (2, 6):
        x = divide(np.ones((n, 8), np.float32), "y", over=mesh(2, 2))
        out = again.call(x)
        np.testing.assert_array_equal(out, np.cumsum(np.ones((n, 8)), 0))
        assert entries(out) == ("x",)
    struct = olympus.ShapeDtypeStruct(export.symbolic_shape("b, 8"), "float32")
    with pytest.raises(ValueError, match="must be a multiple of the number of its"):
        export.export(f)(struct)


def test_several_platforms():
    f = olympus.jit(lambda x: x * 2, in_shardings=place("x"))
    program = export.export(f, platforms=("cpu", "cuda"))(A)
    again = export.deserialize(program.serialize())
    out = again.call(divide(A, "y", over=mesh(2, 2)))
    np.testing.assert_array_equal(out, A * 2)
    text = f.trace(A).lower(lowering_platforms=("cpu", "cuda")).as_text()
    assert "num_partitions = 4" in text
    assert "sdy.sharding" in text


def test_donated_arguments():
    f = olympus.jit(lambda x: x * 2, in_shardings=place("x"), donate_argnums=0)
    program = export.deserialize(export.export(f)(A).serialize())
    assert "jax.buffer_donor = true" in program.mlir_module()
    np.testing.assert_array_equal(program.call(divide(A, "x", over=mesh(2, 2))), A * 2)


def test_names_of_axes_must_be_strings_in_bytes():
    over = Mesh(np.array(olympus.devices()[:2]), (3,))
    x = divide(A, 3, over=over)
    program = export.export(olympus.jit(lambda x: x + 1))(x)
    np.testing.assert_array_equal(program.call(x), A + 1)
    with pytest.raises(ValueError, match="names of mesh axes must be strings, got 3"):
        program.serialize()


def test_ordered_effects_are_refused():
    f = olympus.jit(
        lambda x: olympus.experimental.io_callback(np.sin, x, x, ordered=True)
    )
    with pytest.raises(ValueError, match="with ordered effects run on one device"):
        export.export(f)(divide(A, "x"))


# -- programs of one device ------------------------------------------------------------


def test_what_runs_on_one_of_the_devices_is_exported():
    x = olympus.device_put(np.arange(3.0), olympus.devices()[5])
    exported = export.export(olympus.jit(lambda x: x + 1))(x)
    assert exported.nr_devices == 1
    assert exported.call(x).devices() == {olympus.devices()[5]}
    again = export.deserialize(exported.serialize())
    np.testing.assert_array_equal(again.call(np.arange(3.0)), [1, 2, 3])
    f = olympus.jit(again.call, out_shardings=NamedSharding(mesh(8), P()))
    np.testing.assert_array_equal(f(np.arange(3.0)), [1, 2, 3])


def test_a_program_of_one_device_runs_on_several():
    program = export.export(olympus.jit(lambda x: x * 2))(A)
    out = program.call(divide(A, "x"))
    np.testing.assert_array_equal(out, A * 2)
    assert entries(out) == ("x",)


def test_what_xla_divides_wrongly_is_not_divided():
    x = np.arange(24, dtype=np.float32).reshape(8, 3)
    f = olympus.jit(lambda x: x.at[jnp.arange(2)].add(x[2:4]))
    program = export.export(f)(x)
    out = program.call(divide(x, "x", over=mesh(8)))
    np.testing.assert_array_equal(out, f(x))
    assert out.is_fully_replicated


# -- forged bytes ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nr_devices": 0}, "nr_devices: must be at least 1"),
        ({"nr_devices": 2}, "must be over 2 devices"),
        ({"in_shardings": [None]}, "in_shardings: must be 2 values"),
        ({"in_shardings": [None, {}]}, "must have 'mesh', got none"),
        ({"out_shardings": [3, None]}, "must be an object, got 3"),
        ({"mesh": [["x", 0, "Auto"]]}, "a name, a size and a type for each axis"),
        ({"mesh": [["x", 4, "Wrong"]]}, "a name, a size and a type for each axis"),
        ({"mesh": [["x", 2, "Auto"], ["x", 2, "Auto"]]}, "must be different axes"),
        ({"spec": [["z"]]}, "'z'"),
        ({"spec": [["x"], [], []]}, "at most 2 axes"),
        ({"spec": [1]}, "a list of names for each axis"),
    ],
)
def test_forged_shardings_are_refused(exported, change, message):
    packed = container.unpack(bytes(exported.serialize()), serialization.KIND, [1])
    fields = packed.fields
    for name, value in change.items():
        owner = fields if name in fields else fields["in_shardings"][0]
        owner[name] = value
    data = container.pack(packed)
    with pytest.raises(ValueError, match=message):
        export.deserialize(data)


def test_a_module_of_other_meshes_is_refused(exported):
    packed = container.unpack(bytes(exported.serialize()), serialization.KIND, [1])
    packed.fields["nr_devices"] = 8
    for name in ("in_shardings", "out_shardings"):
        packed.fields[name] = [None] * 2
    program = export.deserialize(container.pack(packed))
    with pytest.raises(ValueError, match="must have 8 devices, got one of axes"):
        program.call(divide(A, "x"), B)


# -- machine code and bundles ----------------------------------------------------------


def test_compiled_functions_are_serialized():
    compiled = jitted().lower(A, B).compile()
    expected = compiled(A, B)
    parts = serialize(compiled)
    loaded = deserialize_and_load(*parts)
    for out, value in zip(loaded(A, B), expected, strict=True):
        np.testing.assert_array_equal(out, value)
        assert out.sharding is value.sharding
    assert loaded.input_shardings == compiled.input_shardings
    elsewhere = deserialize_and_load(*parts, execution_devices=olympus.devices()[4:])
    outs = elsewhere(A, B)
    check(outs)
    assert outs[0].devices() == set(olympus.devices()[4:])
    again = deserialize_and_load(*serialize(elsewhere))
    check(again(A, B))
    with pytest.raises(ValueError, match="must be 4 devices, as many as it was comp"):
        deserialize_and_load(*parts, execution_devices=olympus.devices())
    with pytest.raises(ValueError, match="Argument shardings differ"):
        loaded(divide(A, None, "x", over=mesh(2, 2)), B)


def test_compiled_functions_of_explicit_axes_are_serialized():
    x = divide(A, "x", over=olympus.make_mesh((2, 2), ("x", "y")))
    compiled = olympus.jit(lambda x: x * 2).lower(x).compile()
    out = deserialize_and_load(*serialize(compiled))(x)
    assert out.aval.short() == "f32[4@x,8]"


def test_bundles():
    made = bundle.make(jitted(), vjp_order=1)(A, B)
    data = made.to_bytes()
    for options in ({}, {"executables": False}):
        loaded = bundle.load(data, check=True, **options)
        assert loaded.uses_machine_code == (not options)
        check(loaded(A, B))
        assert loaded.exported.nr_devices == 4
        elsewhere = bundle.load(data, device=late_mesh(2, 2), **options)
        outs = elsewhere(A, B)
        check(outs)
        assert outs[0].devices() == set(olympus.devices()[4:])
    with pytest.raises(ValueError, match="must run on 4 devices, got 8"):
        bundle.load(data, device=mesh(8))
    code = bundle.make(jitted(), portable=False)(A, B).to_bytes()
    check(bundle.load(code, check=True)(A, B))
