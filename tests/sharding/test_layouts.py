"""Layouts and formats: as data, of compiled programs, as options and constraints."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus.experimental.layout import Format, Layout, with_layout_constraint
from olympus.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding
from tests.sharding.meshes import divide, mesh

P = PartitionSpec
eight_devices = pytest.mark.eight_devices
X = np.arange(12.0, dtype=np.float32).reshape(3, 4)


def here():
    return SingleDeviceSharding(olympus.devices()[0])


# -- data ------------------------------------------------------------------------------


def test_layouts_are_values():
    layout = Layout([1, 0])
    assert layout == Layout((1, 0))
    assert hash(layout) == hash(Layout((1, 0)))
    assert layout != Layout((0, 1))
    assert layout.tiling is None
    assert layout.update(major_to_minor=(0, 1)) == Layout((0, 1))
    assert pickle.loads(pickle.dumps(layout)) is layout
    tiled = Layout((0, 1), [[8, 128]], 4)
    assert repr(tiled) == (
        "Layout(major_to_minor=(0, 1), tiling=((8, 128),), "
        "sub_byte_element_size_in_bits=4)"
    )
    assert not tiled.is_default
    assert Layout((0, 1)).is_default
    assert Layout((), ()).is_default


def test_formats_are_values():
    f = Format(Layout((1, 0)), here())
    assert f == Format(Layout((1, 0)), here())
    assert pickle.loads(pickle.dumps(f)) == f
    assert repr(Format()) == "Format(layout=None, sharding=None)"
    assert repr(Format(Layout.AUTO)) == "Format(layout=AUTO, sharding=None)"
    assert pickle.loads(pickle.dumps(Layout.AUTO)) is Layout.AUTO


MALFORMED = {
    "no permutation": (lambda: Layout((0, 2)), ValueError, "must be a permutation"),
    "no layout": (lambda: Format("a"), TypeError, "layout must be a Layout"),
    "no sharding": (
        lambda: Format(None, "x"),
        TypeError,
        "must be a Sharding, got 'x'",
    ),
    "nowhere": (lambda: Format(Layout((0,))), ValueError, "requires a sharding"),
    "rank": (
        lambda: Layout((0, 1)).check_compatible_aval((3,)),
        ValueError,
        "an entry for each axis",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name):
    make, error, message = MALFORMED[name]
    with pytest.raises(error, match=message):
        make()


# -- compiled programs -----------------------------------------------------------------


def test_formats_of_a_program():
    table = jnp.asarray(np.ones((200, 200), np.float32))
    f = olympus.jit(lambda x, unused, *, y: {"a": x.T, "b": (y + 1, table.sum())})
    compiled = f.lower(X, X[0], y=2.0).compile()
    args, kwargs = compiled.input_formats
    assert args[0].layout.major_to_minor == (0, 1)
    assert args[0].layout.is_default
    assert args[0].sharding == here()
    assert args[1] == Format()  # it is not taken
    assert kwargs["y"].layout.major_to_minor == ()
    out = compiled.output_formats
    assert out["a"] == Format(Layout((0, 1), ()), here())
    assert out["b"][0].layout.major_to_minor == ()
    key = olympus.random.key(0)
    compiled = olympus.jit(lambda k: k).lower(key).compile()
    assert compiled.output_formats.layout.is_default


@eight_devices
def test_formats_over_a_mesh():
    x = divide(np.ones((8, 4), np.float32), "x", "y")
    compiled = olympus.jit(lambda x: (x + 1, x.sum())).lower(x).compile()
    ((first,), _) = compiled.input_formats
    assert first == Format(Layout((0, 1), ()), x.sharding)
    assert compiled.output_formats[0].sharding is compiled.output_shardings[0]


# -- options ---------------------------------------------------------------------------


@eight_devices
def test_formats_are_taken_where_shardings_are():
    place = NamedSharding(mesh(4, 2), P("x"))
    x = np.ones((8, 4), np.float32)
    for layout in (None, Layout.AUTO, Layout((0, 1)), Layout((0, 1), ())):
        form = Format(layout, place)
        assert olympus.device_put(x, form).sharding is place
        f = olympus.jit(lambda x: x + 1, in_shardings=form, out_shardings=form)
        out = f(x)
        assert out.sharding is place
        np.testing.assert_array_equal(out, x + 1)
    free = Format(Layout.AUTO)
    f = olympus.jit(lambda x: x + 1, in_shardings=free, out_shardings=free)
    np.testing.assert_array_equal(f(x), x + 1)
    compiled = f.lower(divide(x, "x")).compile()
    again = olympus.device_put(x, compiled.input_formats[0][0])
    np.testing.assert_array_equal(compiled(again), x + 1)


def test_other_layouts_are_refused():
    other = Format(Layout((1, 0)), here())
    calls = [
        lambda: olympus.device_put(X, other),
        lambda: with_layout_constraint(X, Layout((1, 0))),
        lambda: olympus.device_put(X, Format(Layout((0, 1), ((8, 128),)), here())),
    ]
    for call in calls:
        with pytest.raises(NotImplementedError, match="arrays have the default layout"):
            call()
    with pytest.raises(ValueError, match=r"must have an entry for each axis, got \(0,"):
        olympus.device_put(X, Format(Layout((0, 1, 2)), here()))


def test_other_layouts_as_options_are_refused():
    other = Format(Layout((1, 0)), here())
    for name in ("in_shardings", "out_shardings"):
        with pytest.raises(NotImplementedError, match=f"jit {name}: arrays have the d"):
            olympus.jit(lambda x: x + 1, **{name: other})(X)


# -- constraints -----------------------------------------------------------------------


def constrained(x):
    return with_layout_constraint(jnp.sin(x).T, Layout((1, 0))) * 2


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: f,
        lambda f: olympus.vmap(lambda row: f(row[None])[:, 0]),
        lambda f: olympus.grad(lambda x: (f(x) ** 2).sum()),
        lambda f: lambda x: olympus.jvp(f, (x,), (x,))[1],
        lambda f: olympus.jacfwd(f),
    ],
    ids=["value", "vmap", "grad", "jvp", "jacfwd"],
)
def test_constraints_change_no_values(transform):
    plain = transform(lambda x: jnp.sin(x).T * 2)
    f = olympus.jit(transform(constrained))
    np.testing.assert_allclose(f(X), plain(X), 1e-6)


def test_constraints_are_in_the_program():
    text = olympus.jit(constrained).lower(X).as_text()
    assert "@LayoutConstraint" in text
    assert "operand_layouts = [dense<[0, 1]> : tensor<2xindex>]" in text
    tree = {"a": X, "b": [X.T]}
    f = olympus.jit(lambda t: with_layout_constraint(t, Layout((1, 0))))
    np.testing.assert_array_equal(f(tree)["b"][0], X.T)
    scalar = olympus.jit(lambda x: with_layout_constraint(x, Layout(())))
    assert scalar(2.0) == 2.0


@eight_devices
@pytest.mark.parametrize("transform", [lambda f: f, olympus.vmap, olympus.jacfwd])
def test_formats_constrain_shardings_and_layouts(transform):
    place = NamedSharding(mesh(2), P("x"))

    def halves(x):
        y = jnp.sin(x) * 2
        return olympus.lax.with_sharding_constraint(y, Format(Layout((1, 0)), place))

    x = np.arange(16.0, dtype=np.float32).reshape(2, 4, 2)
    x = x if transform is olympus.vmap else x[0]
    f = olympus.jit(transform(halves))
    expected = transform(lambda x: jnp.sin(x) * 2)(x)
    np.testing.assert_allclose(f(x), expected, rtol=1e-6)
    text = f.lower(x).as_text()
    assert "@LayoutConstraint" in text
    assert "sdy.sharding_constraint" in text


def test_formats_of_constraints_outside_of_programs():
    form = Format(Layout((0, 1)), here())
    out = olympus.lax.with_sharding_constraint(jnp.asarray(X), form)
    np.testing.assert_array_equal(out, X)
    form = Format(Layout((1, 0)), here())
    out = olympus.lax.with_sharding_constraint(jnp.asarray(X), form)
    np.testing.assert_array_equal(out, X)
    assert out.sharding == here()
    assert out.format.layout.is_default
    with pytest.raises(ValueError, match="an entry for each axis"):
        olympus.lax.with_sharding_constraint(X, Format(Layout((0,)), here()))
    with pytest.raises(ValueError, match="an entry for each axis"):
        olympus.jit(
            lambda x: olympus.lax.with_sharding_constraint(
                x, Format(Layout((0,)), here())
            )
        )(X)


def test_constraints_outside_of_programs():
    np.testing.assert_array_equal(with_layout_constraint(X, Layout((0, 1))), X)


def test_refused_constraints():
    with pytest.raises(TypeError, match="layouts must be Layouts, got 'row major'"):
        olympus.jit(lambda x: with_layout_constraint(x, "row major"))(X)
    with pytest.raises(ValueError, match="an entry for each axis"):
        olympus.jit(lambda x: with_layout_constraint(x, Layout((0,))))(X)
    with pytest.raises(NotImplementedError, match="must have no tiles"):
        olympus.jit(lambda x: with_layout_constraint(x, Layout((0, 1), ((8, 8),))))(X)


# -- of arrays -------------------------------------------------------------------------


def test_arrays_have_a_format():
    x = jnp.asarray(X)
    assert x.format == Format(Layout((0, 1), ()), x.sharding)
    assert olympus.device_put(x, x.format).format == x.format
    assert jnp.float32(1).format.layout == Layout((), ())
    assert olympus.jit(jnp.sin).lower(x).compile().output_formats == x.format
    seen = []
    olympus.jit(lambda x: seen.append(hasattr(x, "format")) or x)(x)
    assert seen == [False]
