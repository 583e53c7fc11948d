"""Attributes of calls: where programs have them, through derivatives and batches."""

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export, lax
from olympus.experimental import scheduling_groups, xla_metadata
from olympus.experimental.compute_on import compute_on
from olympus.experimental.xla_metadata import xla_metadata_call, xla_metadata_call2

X = np.linspace(0.1, 1, 4, dtype=np.float32)
SPACE = olympus.memory.Space


def text_of(f, *args):
    return olympus.jit(f).lower(*args).as_text()


def calls(text):
    """The attributes of each call, in the order of the text."""
    return re.findall(
        r"call @\w+\(.*?\) \{mhlo.frontend_attributes = \{(.*?)\}\}", text
    )


@xla_metadata_call(tag="block", n=3, scale=0.5, on=True)
def block(x):
    return jnp.sin(x) * jnp.cos(x)


def test_calls_carry_attributes():
    text = text_of(lambda x: block(x) + 1, X)
    assert calls(text) == ['n = "3", on = "true", scale = "0.5", tag = "block"']
    np.testing.assert_allclose(block(X), np.sin(X) * np.cos(X), rtol=1e-6)
    program = olympus.make_olympuspr(block)(X)
    assert "metadata={n=3, on=true, scale=0.5, tag=block}" in str(program)
    optimized = olympus.jit(lambda x: block(x) + 1).lower(X).compile().as_text()
    assert 'tag="block"' in optimized


def test_transformed_calls_carry_them_too():
    stack = np.stack([X, X])
    assert len(calls(text_of(olympus.vmap(block), stack))) == 1
    slope = olympus.grad(lambda x: block(x).sum())
    assert len(calls(text_of(slope, X))) == 2
    np.testing.assert_allclose(slope(X), np.cos(2 * X), rtol=1e-5)
    assert len(calls(text_of(lambda x: olympus.jvp(block, (x,), (x,)), X))) == 1
    loop = lambda x: lax.scan(lambda c, r: (c + block(r), None), 0.0, x)[0]  # noqa: E731
    assert len(calls(text_of(loop, X))) == 1
    hessian = olympus.hessian(lambda x: block(x))
    np.testing.assert_allclose(hessian(0.3), -2 * np.sin(0.6), rtol=1e-5)


def test_attributes_may_be_all_that_a_decorator_takes():
    @xla_metadata_call2({"tag": "x"}, ad_metadata="drop")
    def f(x):
        return jnp.sin(x)

    text = olympus.jit(olympus.grad(f)).lower(1.0).as_text()
    assert text.count('tag = "x"') == 1
    named = xla_metadata_call2(metadata={"tag": "y"})(jnp.sin)
    assert 'tag = "y"' in olympus.jit(named).lower(1.0).as_text()


@pytest.mark.parametrize(
    ("ad_metadata", "expected"),
    [
        ("same", ['tag = "x"', 'tag = "x"']),
        ("drop", ['tag = "x"']),
        ({"tag": "y"}, ['tag = "x"', 'tag = "y"']),
    ],
)
def test_attributes_of_the_backward_pass(ad_metadata, expected):
    f = xla_metadata_call2(jnp.sin, {"tag": "x"}, ad_metadata=ad_metadata)
    assert calls(text_of(olympus.grad(f), 1.0)) == expected
    np.testing.assert_allclose(olympus.grad(f)(1.0), np.cos(1.0), rtol=1e-6)


def test_one_function_with_other_attributes_is_another_call():
    f = lambda x: x * 2  # noqa: E731
    first, second = (xla_metadata_call(f, tag=t) for t in "ab")
    text = text_of(lambda x: first(x) + second(x) + olympus.jit(f)(x), X)
    assert calls(text) == ['tag = "a"', 'tag = "b"']
    assert "tag" not in text_of(f, X)


def test_exported_programs_keep_them():
    program = export.export(olympus.jit(lambda x: block(x) + 1))(X)
    assert 'tag = "block"' in program.mlir_module()
    again = export.deserialize(program.serialize())
    np.testing.assert_allclose(again.call(X), np.sin(X) * np.cos(X) + 1, rtol=1e-6)


def test_names_of_attributes():
    fuse, group = xla_metadata.must_fuse_call("a"), scheduling_groups.scheduling_group
    assert calls(text_of(fuse(jnp.sin), X)) == ['MUST_FUSE = "a"']
    assert calls(text_of(group("b")(jnp.sin), X)) == ['scheduling_group = "b"']


PARTS = {
    "device_host": '_xla_compute_type = "host"',
    "device": '_xla_compute_type = "dense", inlineable = "false"',
    "tpu_sparsecore": '_xla_compute_type = "sparseoffload"',
    "gpu_stream:12": '_xla_stream_annotation = "12", inlineable = "false"',
}


@pytest.mark.parametrize("part", PARTS)
def test_parts_of_the_machine(part):
    f = compute_on(jnp.sin, compute_type=part, out_memory_spaces=SPACE.Device)
    assert calls(text_of(f, X)) == [PARTS[part]]
    for run in (f, olympus.jit(f), olympus.vmap(f)):
        np.testing.assert_allclose(run(X), np.sin(X), rtol=1e-6)
    slope = olympus.grad(lambda x: f(x).sum())
    assert len(calls(text_of(slope, X))) == 2
    np.testing.assert_allclose(olympus.jit(slope)(X), np.cos(X), rtol=1e-6)


def test_options_and_spaces_of_parts():
    f = compute_on(
        lambda x: (x, {"a": x + 1}),
        compute_type="device_host",
        out_memory_spaces=(SPACE.Host, SPACE.Device),
        compiler_options={"xla_option": True},
    )
    assert r"{\22xla_option\22: true}" in text_of(f, X)
    first, second = f(X)
    assert first.sharding.memory_kind == "pinned_host"
    assert second["a"].sharding.memory_kind == "device"


REFUSED = {
    "function": (lambda: xla_metadata_call(3), TypeError, "3"),
    "value": (
        lambda: xla_metadata_call(jnp.sin, tag=[1]),
        TypeError,
        "tag must be a st",
    ),
    "derivative": (
        lambda: xla_metadata_call2(jnp.sin, {}, ad_metadata="keep"),
        ValueError,
        "'same', 'drop' or a dictionary, got 'keep'",
    ),
    "part": (
        lambda: compute_on(jnp.sin, compute_type="moon", out_memory_spaces=SPACE.Any),
        ValueError,
        "compute_type must be .*got 'moon'",
    ),
    "space": (
        lambda: compute_on(jnp.sin, compute_type="device", out_memory_spaces=None),
        TypeError,
        "must be of memory.Space, got None",
    ),
    "prefix": (
        lambda: compute_on(
            jnp.sin, compute_type="device", out_memory_spaces=(SPACE.Any,)
        )(X),
        ValueError,
        "out_memory_spaces .*result",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        call()
