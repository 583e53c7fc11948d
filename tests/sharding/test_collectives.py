"""`explain_collectives`: which exchanges a compiled program has, and for which line."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.api import collectives
from olympus._src.interpreters import compilation
from olympus._src.lowering import hlo_text
from olympus._src.sharding import replica_groups
from olympus.sharding import PartitionSpec, explain_collectives
from tests.sharding.meshes import divide, mesh

P = PartitionSpec
eight_devices = pytest.mark.eight_devices

X = np.ones((32, 16), np.float32)
W1 = np.ones((16, 64), np.float32)
W2 = np.ones((64, 16), np.float32)


def line_of(marker):
    """The line of this file with a comment."""
    source = inspect.getsource(sys.modules[__name__]).splitlines()
    (number,) = [i for i, s in enumerate(source, 1) if s.endswith(f"# <- {marker}")]
    return number


def explain(f, *args, **options):
    return explain_collectives(olympus.jit(f).lower(*args).compile(), **options)


def summary(records):
    return [(r.kind, r.axes, r.size_bytes, r.times) for r in records]


def lines(records):
    return [{p.line for p in r.places} for r in records]


# -- programs that the compiler divides ------------------------------------------------


def loss(w1, w2, x):
    hidden = jnp.tanh(x @ w1)  # <- first product
    out = hidden @ w2  # <- second product
    return (out**2).sum()  # <- loss


@eight_devices
def test_the_gradient_of_data_parallel_training():
    """One all-reduce for all weights, at the products whose gradients they are."""
    args = divide(W1), divide(W2), divide(X, "x")
    records = explain(olympus.grad(loss, (0, 1)), *args)
    assert summary(records) == [("all-reduce", ("x",), 2 * W1.nbytes, 1)]
    assert lines(records) == [{line_of("first product"), line_of("second product")}]
    assert "dot_general" in records[0].operation
    assert records[0].place.file == __file__
    value = explain(loss, *args)
    assert summary(value) == [("all-reduce", ("x",), 4, 1)]
    assert lines(value) == [{line_of("loss")}]


@eight_devices
def test_a_tensor_parallel_network():
    args = divide(W1, None, "y"), divide(W2, "y"), divide(X)
    records = explain(lambda a, b, x: jnp.tanh(x @ a) @ b, *args)
    assert summary(records) == [("all-reduce", ("y",), X.nbytes, 1)]


@eight_devices
def test_weights_that_are_gathered_when_they_are_used():
    whole = divide(W1).sharding

    def network(a, b, x):
        a = lax.with_sharding_constraint(a, whole)  # <- gather
        x = jnp.tanh(x @ a)  # <- use
        return x @ lax.with_sharding_constraint(b, whole)

    records = explain(network, divide(W1, "x"), divide(W2, "x"), divide(X, "x"))
    assert summary(records) == [("all-gather", ("x",), W1.nbytes, 1)] * 2
    first, _ = lines(records)
    if "sharding_constraint" in records[0].operation:
        assert first == {line_of("gather")}
    else:  # jaxlib 0.12 says that the gather is of an argument: what uses it
        assert "dot_general" in records[0].operation
        assert first == {line_of("use")}
    assert not records.rematerializations


@eight_devices
def test_a_value_that_is_gathered_only_to_be_divided_again():
    target = divide(X, None, "y").sharding

    def f(x):
        return lax.with_sharding_constraint(x * 2, target) + 1

    records = explain(f, divide(X, "x"))
    assert summary(records) == [("all-gather", ("x",), X.nbytes, 1)]
    (record,) = records.rematerializations
    assert "full rematerialization: f32[32,16] is gathered along 'x'" in str(records)
    assert "divided again into f32[32,8]" in record.advice
    assert "with_sharding_constraint(x, P('x'))" in record.advice

    # The advice holds.
    kept = divide(X, "x").sharding
    again = explain(
        lambda x: lax.with_sharding_constraint(x * 2, kept) + 1, divide(X, "x")
    )
    assert len(again) == 0
    assert "no collectives" in str(again)


@eight_devices
def test_a_sum_of_which_each_device_keeps_a_part():
    def f(x):
        total = lax.psum(jnp.sin(x), "x")
        start = lax.axis_index("x") * 8
        return lax.dynamic_slice_in_dim(total, start, 8, 0)

    records = explain(mapped(f, P(), P("x")), X)
    assert summary(records) == [("all-reduce", ("x",), X.nbytes, 1)]
    assert "each device keeps f32[8,16] of the sum along 'x'" in str(records)
    assert not records.rematerializations


@eight_devices
def test_values_that_are_moved():
    cases = [
        ((), ("x",), []),
        (("x",), (None, "x"), ["all-to-all"]),
        (("x",), (), ["all-gather"]),
        ((("x", "y"),), (("y", "x"),), ["collective-permute"]),
    ]
    for before, after, kinds in cases:
        target = divide(X, *after).sharding
        records = explain(
            lambda x, to=target: lax.with_sharding_constraint(x * 2, to),
            divide(X, *before),
        )
        assert [r.kind for r in records] == kinds
        assert not records.rematerializations


@eight_devices
def test_loops_and_branches():
    def f(x, weights):
        return lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, weights)[0]  # <- scan

    weights = divide(np.ones((5, 16, 16), np.float32), None, "y")
    records = explain(f, divide(X, "x"), weights)
    assert summary(records) == [("all-reduce", ("y",), X.nbytes // 4, 5)]
    assert lines(records) == [{line_of("scan")}]
    assert records.total_bytes == 5 * X.nbytes // 4

    def g(x):
        return lax.while_loop(lambda c: c.sum() < 9, lambda c: c * 2, x)

    (record,) = explain(g, divide(X, "x"))
    assert (record.kind, record.times) == ("all-reduce", None)
    assert "unknown" in str(record)

    def h(x):
        return lax.cond(
            lax.psum(x.sum(), ("x", "y")) > 0,
            lambda x: lax.psum(x, "y"),
            lambda x: lax.psum(x * 2, "y"),
            x,
        )

    records = explain(mapped(h, P("x", "y"), P("x")), X)
    assert [r.is_conditional for r in records] == [False, True, True]
    assert "1 at most" in str(records)


# -- programs of one device ------------------------------------------------------------


def mapped(f, in_specs, out_specs):
    """A function of parts; the mesh is made in its calls, where there are devices."""

    def run(*xs):
        specs = {"in_specs": in_specs, "out_specs": out_specs}
        return olympus.shard_map(f, mesh=mesh(4, 2), **specs)(*xs)

    return run


SHIFT = [(i, (i + 1) % 4) for i in range(4)]
PART = X.nbytes // 8
COLLECTIVES = {
    "psum": (
        mapped(lambda x: lax.psum(x, "x"), P("x", "y"), P(None, "y")),
        ("all-reduce", ("x",), PART, 1),
    ),
    "pmax": (
        mapped(lambda x: lax.pmax(x, ("x", "y")), P("x", "y"), P()),
        ("all-reduce", ("x", "y"), PART, 1),
    ),
    "all_gather": (
        mapped(lambda x: lax.all_gather(x, "y", tiled=True), P("x", "y"), P("x", "y")),
        ("all-gather", ("y",), 2 * PART, 1),
    ),
    "psum_scatter": (
        mapped(lambda x: lax.psum_scatter(x, "y", tiled=True), P("x"), P(("x", "y"))),
        ("reduce-scatter", ("y",), 2 * PART, 1),
    ),
    "all_to_all": (
        mapped(
            lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True), P("x"), P(None, "x")
        ),
        ("all-to-all", ("x",), 2 * PART, 1),
    ),
    "ppermute": (
        mapped(lambda x: lax.ppermute(x, "x", SHIFT), P("x", "y"), P("x", "y")),
        ("collective-permute", ("x",), PART, 1),
    ),
    "psum of groups": (
        mapped(
            lambda x: lax.psum(x, "x", axis_index_groups=[[0, 1], [2, 3]]),
            P("x", "y"),
            P("x", "y"),
        ),
        ("all-reduce", ("x",), PART, 1),
    ),
}


@eight_devices
@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives_of_shard_map(name):
    f, expected = COLLECTIVES[name]
    records = explain(f, X)
    assert summary(records) == [expected]
    (record,) = records
    assert record.place.file == __file__
    sizes = {"psum of groups": 2, "ppermute": 2}
    n = np.prod([{"x": 4, "y": 2}[a] for a in record.axes])
    assert record.group_size == sizes.get(name, n)


# -- results ---------------------------------------------------------------------------


@eight_devices
def test_results_print_as_tables():
    f, _ = COLLECTIVES["psum"]
    records = explain(f, X)
    title, head, row = str(records).splitlines()
    assert title.endswith("1 collective, 256 B")
    assert head.split() == [
        "collective",
        "along",
        "payload",
        "times",
        "operation",
        "line",
    ]
    assert row.startswith("all-reduce  'x'    256 B    1")
    assert "test_collectives.py:" in row
    assert "<table>" in records._repr_html_()
    assert records[0] in records
    assert str(explain(f, X)) == repr(records)


@eight_devices
def test_equal_rows_are_one():
    def f(x):
        for _ in range(3):
            x = lax.psum(jnp.sin(x), "y")  # <- thrice
        return x

    records = explain(mapped(f, P("x", "y"), P("x")), X)
    assert len(records) == 3
    _, _, row = str(records).splitlines()
    assert "  3 x 1  " in row
    assert records._repr_html_().count("<tr>") == 2
    assert lines(records) == [{line_of("thrice")}] * 3


@eight_devices
def test_without_lines_nothing_is_compiled(monkeypatch):
    f, _ = COLLECTIVES["psum"]
    compiled = olympus.jit(f).lower(X).compile()
    text = compiled.as_text()
    monkeypatch.setattr(compilation, "load", None)
    (record,) = explain_collectives(compiled, lines=False)
    assert record.places == ()
    assert record.name in text
    assert compiled.as_text() == text


@eight_devices
def test_programs_that_inspect_shardings_are_explained():
    seen = []

    def f(x):
        olympus.debug.inspect_array_sharding(x * 2, callback=seen.append)
        return x.sum()

    assert summary(explain(f, divide(X, "x"))) == [("all-reduce", ("x",), 4, 1)]
    assert len(seen) == 1


def test_one_device():
    records = explain(lambda x: x.sum(), X)
    assert len(records) == 0
    assert str(records) == "jit_<lambda> on one device: no collectives"


def test_it_needs_a_compiled_function():
    with pytest.raises(TypeError, match="must be a compiled function, got function"):
        explain_collectives(test_one_device)


# -- XLA's text ------------------------------------------------------------------------

# Forms that XLA prints for other platforms.
ASYNCHRONOUS = """\
HloModule jit_f, is_scheduled=true, num_partitions=8

FileNames
1 "/home/me/f.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=27 end_column=27}

StackFrames
7 {file_location_id=1 parent_frame_id=1}


%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(f32[] %a, f32[] %b)
}

%async (p: f32[64]) -> f32[8] {
  %p = f32[64]{0} parameter(0)
  ROOT %rs = f32[8]{0} reduce-scatter(f32[64]{0} %p), replica_groups=[1,8]<=[8], \
dimensions={0}, to_apply=%add
}

%body (c: (s32[], bf16[8,128])) -> (s32[], bf16[8,128]) {
  %c = (s32[], bf16[8,128]{1,0:T(8,128)(2,1)}) parameter(0)
  %i = s32[] get-tuple-element((s32[], bf16[8,128]{1,0:T(8,128)(2,1)}) %c), index=0
  %v = bf16[8,128]{1,0:T(8,128)(2,1)} get-tuple-element((s32[], /*index=1*/\
bf16[8,128]{1,0:T(8,128)(2,1)}) %c), index=1
  %ag = (bf16[8,128]{1,0}, bf16[32,128]{1,0}) all-gather-start(bf16[8,128] %v), \
channel_id=1, replica_groups=[2,4]<=[4,2]T(1,0), dimensions={0}, \
metadata={op_name="jit(f)/while \\"(x)\\"" source_file="g.py" source_line=3}
  %done = bf16[32,128]{1,0} all-gather-done((bf16[8,128], bf16[32,128]) %ag)
  %cp = (bf16[8,128], bf16[8,128], u32[], u32[]) collective-permute-start(%v), \
source_target_pairs={{0,1},{1,0}}
  ROOT %t = (s32[], bf16[8,128]{1,0}) tuple(%i, %v)
}

%test (c: (s32[], bf16[8,128])) -> pred[] {
  %c.1 = (s32[], bf16[8,128]{1,0}) parameter(0)
  ROOT %yes = pred[] constant(true)
}

ENTRY %main (x: f32[64]) -> f32[8] {
  %x = f32[64]{0} parameter(0), sharding={replicated}
  %start = ((f32[64]{0}), f32[8]{0}, u32[]) async-start(f32[64]{0} %x), calls=%async
  %end = f32[8]{0} async-done(((f32[64]{0}), f32[8]{0}, u32[]) %start)
  %ar = (f32[8]{0}, f32[8]{0}) all-reduce-start(%end, %end), replica_groups={}, \
to_apply=%add, metadata={op_name="jit(f)/psum" stack_frame_id=7}
  %z = (s32[], bf16[8,128]{1,0}) tuple()
  %loop = (s32[], bf16[8,128]{1,0}) while(%z), condition=%test, body=%body, \
backend_config={"known_trip_count":{"n":"3"}}
  ROOT %out = f32[8]{0} get-tuple-element(%ar), index=0
}
"""


def test_forms_of_other_platforms():
    class EightDevices:
        size, shape_tuple = 8, (("x", 4), ("y", 2))

    module = hlo_text.parse(ASYNCHRONOUS)
    assert module.name == "jit_f"
    records = collectives.read(module, EightDevices())
    assert summary(records) == [
        ("reduce-scatter", ("x", "y"), 256, 1),
        ("all-reduce", ("x", "y"), 64, 1),
        ("all-gather", ("x",), 4 * 8 * 128 * 2, 3),
        ("collective-permute", ("y",), 8 * 128 * 2, 3),
    ]
    assert all(r.is_asynchronous for r in records)
    by_kind = {r.kind: r for r in records}
    assert str(by_kind["all-reduce"].place) == "/home/me/f.py:12"
    assert str(by_kind["all-gather"].place) == "g.py:3"


GROUPS = {
    "replica_groups={{0,2,4,6},{1,3,5,7}}, use": ([[0, 2, 4, 6], [1, 3, 5, 7]], "x"),
    "replica_groups={{0,1},{2,3},{4,5},{6,7}}": ([[0, 1], [2, 3], [4, 5], [6, 7]], "y"),
    "replica_groups={}, x": ([list(range(8))], "xy"),
    "no groups": ([list(range(8))], "xy"),
    "replica_groups=[4,2]<=[8], x": ([[0, 1], [2, 3], [4, 5], [6, 7]], "y"),
    "replica_groups=[2,4]<=[4,2]T(1,0)": ([[0, 2, 4, 6], [1, 3, 5, 7]], "x"),
    "replica_groups=[4,2]<=[2,2,2]T(2,1,0)": ([[0, 4], [2, 6], [1, 5], [3, 7]], "x"),
    "replica_groups=mesh['a'=4,'b'=2] {'a'}, u": (
        [[0, 2, 4, 6], [1, 3, 5, 7]],
        "x",
    ),
    "replica_groups=mesh['a'=4,'b'=2] {'a','b'}": ([list(range(8))], "xy"),
    "replica_groups=mesh['a'=4,'b'=2] {'a':(2)2}": (
        [[0, 2], [1, 3], [4, 6], [5, 7]],
        "x",
    ),
    "replica_groups=mesh['a'=4,'b'=2] {'a':(1)2}": (
        [[0, 4], [1, 5], [2, 6], [3, 7]],
        "x",
    ),
    "replica_groups=mesh['a'=2,'b'=4], device_ids=([2,2,2]T(0,2,1)) {'b':(2)2}": (
        [[0, 2], [1, 3], [4, 6], [5, 7]],
        "x",
    ),
    "replica_groups=mesh['a'=1,'b'=2,'c'=4], device_ids=([4,2]T(1,0)) {'c'}, m": (
        [[0, 2, 4, 6], [1, 3, 5, 7]],
        "x",
    ),
}


@pytest.mark.parametrize("text", GROUPS)
def test_groups_of_devices(text):
    members, axes = GROUPS[text]
    groups = replica_groups.groups(text, 8)
    assert sorted(map(sorted, groups.tolist())) == sorted(map(sorted, members))
    assert replica_groups.axes_of_groups(groups, (("x", 4), ("y", 2))) == tuple(axes)


def test_groups_of_unequal_sizes_are_refused():
    with pytest.raises(NotImplementedError, match=r"of one size, got replica_groups=."):
        replica_groups.groups("replica_groups={{0,1,2},{3}}", 8)


def test_sizes_of_types():
    sizes = {
        "f32[16,32]": 2048,
        "(bf16[8], s4[3], pred[2])": 16 + 2 + 2,
        "f8e4m3fn[8]": 8,
        "c128[]": 16,
        "token[]": 0,
    }
    for kind, size in sizes.items():
        assert hlo_text.size_bytes(kind) == size


def test_text_without_a_program_is_refused():
    with pytest.raises(ValueError, match="must hold an ENTRY computation"):
        hlo_text.parse("module @jit_f {}")
