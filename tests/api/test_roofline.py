"""Counts of `roofline`, against those that JAX 0.10.2 gives for the same programs."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, nn
from olympus.experimental.roofline import (
    RooflineResult,
    RooflineShape,
    register_roofline,
    register_standard_roofline,
    roofline,
    roofline_and_grad,
)
from olympus.extend.core import Primitive
from olympus.sharding import PartitionSpec as P


def of(*shape, dtype="float32"):
    return olympus.ShapeDtypeStruct(shape, dtype)


# Recorded: flops, unfused_flops, hbm_bytes, peak_hbm_bytes, unfused_hbm_bytes.
RECORDED = {
    "add": (jnp.add, [of(8, 4), of(8, 4)], (0, 32, 0, 256, 384)),
    "sin": (jnp.sin, [of(8, 4)], (0, 32, 0, 128, 256)),
    "dot": (jnp.matmul, [of(8, 4), of(4, 5)], (320, 320, 368, 208, 368)),
    "stack": (jnp.matmul, [of(2, 8, 4), of(2, 4, 5)], (640, 640, 736, 416, 736)),
    "bfloat16": (
        jnp.matmul,
        [of(8, 4, dtype="bfloat16"), of(4, 5, dtype="bfloat16")],
        (320, 320, 184, 104, 184),
    ),
    "sum": (jnp.sum, [of(8, 4)], (0, 31, 0, 128, 132)),
    "relu": (nn.relu, [of(8, 4)], (0, 32, 0, 128, 260)),
    "power": (lambda x: x**3, [of(8)], (0, 8, 0, 32, 64)),
    "call": (lambda x: olympus.jit(jnp.sin)(x) + 1, [of(8)], (0, 16, 0, 32, 132)),
    "remat": (
        olympus.checkpoint(lambda x: x @ x),
        [of(4, 4)],
        (128, 128, 192, 64, 192),
    ),
    "three": (
        lambda x, w: x @ w @ w.T @ w,
        [of(8, 4), of(4, 6)],
        (1152, 1152, 1248, 384, 1248),
    ),
    "moves": (lambda x: x.reshape(4, 8).T, [of(8, 4)], (0, 0, 0, 128, 0)),
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_counts(name):
    f, args, expected = RECORDED[name]
    out, counts = roofline(f)(*args)
    assert out.shape == olympus.eval_shape(f, *args).shape
    assert (
        counts.flops,
        counts.unfused_flops,
        counts.hbm_bytes,
        counts.peak_hbm_bytes,
        counts.unfused_hbm_bytes,
    ) == expected
    assert counts.ici_bytes == {}


# Recorded: bytes and steps along each axis, for a mesh of 4 by 2.
EXCHANGES = {
    "psum": (lambda x: lax.psum(x, "x"), P("x"), P(), {"x": (48, 8)}),
    "psum along two": (
        lambda x: lax.psum(x, ("x", "y")),
        P("x", "y"),
        P(),
        {"x": (14, 16), "y": (14, 16)},
    ),
    "all_gather": (
        lambda x: lax.all_gather(x, "x", tiled=True),
        P("x"),
        P("x"),
        {"x": (96, 4)},
    ),
    "all_gather along two": (
        lambda x: lax.all_gather(x, ("x", "y"), tiled=True),
        P(("x", "y")),
        P(("x", "y")),
        {"x": (56, 8), "y": (56, 8)},
    ),
    "psum_scatter": (
        lambda x: lax.psum_scatter(x, "y", tiled=True),
        P(),
        P("y"),
        {"y": (64, 2)},
    ),
    "ppermute": (
        lambda x: lax.ppermute(x, "x", [(0, 3), (3, 1)]),
        P("x"),
        P("x"),
        {"x": (64, 2)},
    ),
    "all_to_all": (
        lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True),
        P("x"),
        P("x"),
        {"x": (32, 2)},
    ),
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_recorded_exchanges(name):
    f, in_specs, out_specs, expected = EXCHANGES[name]
    mesh = olympus.sharding.AbstractMesh((4, 2), ("x", "y"))
    _, counts = roofline(f, mesh, in_specs, out_specs)(of(8, 4))
    assert {
        k: (counts.ici_bytes[k], counts.ici_latency[k]) for k in expected
    } == expected
    assert set(counts.ici_bytes) == set(expected)


def test_backward_passes():
    mesh = olympus.sharding.AbstractMesh((4,), ("x",))
    f = lambda w, x: jnp.tanh(x @ w)  # noqa: E731
    count = roofline_and_grad(f, mesh, (P(), P("x")), P("x"))
    out, forward, backward = count(of(4, 4), of(8, 4))
    assert out.shape == (8, 4)
    assert (forward.flops, forward.hbm_bytes, forward.peak_hbm_bytes) == (64, 128, 96)
    assert backward.flops == 128
    assert (backward.ici_bytes, backward.ici_latency) == ({"x": 96}, {"x": 8})


def test_convolutions_count_no_products_with_padding():
    f = lambda x, k: lax.conv(x, k, (1, 1), "SAME")  # noqa: E731
    assert roofline(f)(of(1, 3, 8, 8), of(4, 3, 3, 3))[1].flops == 11616
    strided = lambda x, k: lax.conv_general_dilated(  # noqa: E731
        x, k, (2,), ((2, 1),), lhs_dilation=(2,), rhs_dilation=(3,)
    )
    x, k = np.ones((2, 3, 5), "float32"), np.ones((4, 3, 2), "float32")
    assert roofline(strided)(x, k)[1].flops == 2 * int(strided(x, k).sum())


def test_programs_in_operations():
    x, dot = of(4, 4), 128
    scan = lambda x: lax.scan(lambda c, _: (c @ x, None), x, None, length=7)[0]  # noqa: E731
    assert roofline(scan)(x)[1].flops == 7 * dot
    loop = lambda x: lax.while_loop(lambda c: c.sum() < 9, lambda c: c @ x, x)  # noqa: E731
    assert roofline(loop)(x)[1].flops == dot
    branch = lambda x: lax.cond(x[0, 0] > 0, lambda: x @ x, lambda: x)  # noqa: E731
    assert roofline(branch)(x)[1].flops == dot


def test_pinned_operands_are_not_read():
    counts = [
        roofline(jnp.matmul, pin_lhs_in_vmem=left, pin_rhs_in_vmem=right)(
            of(8, 4), of(4, 5)
        )[1].hbm_bytes
        for left, right in [(False, False), (True, False), (False, True), (True, True)]
    ]
    assert counts == [368, 240, 288, 160]


def test_rules_of_users():
    own, standard, unknown = (Primitive(n) for n in ("own", "standard", "unknown"))
    for p in (own, standard, unknown):
        p.def_abstract_eval(lambda x, **_: x)
    register_standard_roofline(standard)

    @register_roofline(own)
    def count(ctx, x, *, n):
        assert (x, ctx.primitive) == (RooflineShape(shape=(5,), dtype=x.dtype), own)
        return RooflineResult(flops=n * x.size, ici_bytes={"x": x.bytes})

    total = roofline(lambda x: standard.bind(own.bind(own.bind(x, n=2), n=3)))(of(5))[1]
    assert (total.flops, total.ici_bytes) == (25, {"x": 40})
    with pytest.warns(UserWarning, match="nothing is counted of unknown"):
        assert roofline(unknown.bind)(of(5))[1].flops == 0


def test_specs_require_a_mesh():
    with pytest.raises(ValueError, match="in_specs and out_specs require a mesh"):
        roofline(jnp.sin, in_specs=P("x"))


def test_results_are_added():
    total = RooflineResult(flops=3, ici_bytes={"x": 1}, peak_hbm_bytes=2)
    total += RooflineResult(flops=4, ici_bytes={"x": 2, "y": 1}, peak_hbm_bytes=3)
    assert total == RooflineResult(
        flops=7, ici_bytes={"x": 3, "y": 1}, peak_hbm_bytes=3
    )
    assert RooflineResult.zeros() + total == total
