"""Kernels compute what loops over blocks in NumPy compute, and may be transformed."""

import itertools
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import olympus
import olympus.numpy as jnp
from olympus.experimental import pallas as pl
from olympus.experimental.pallas import tpu, triton

Type = olympus.ShapeDtypeStruct


def _matmul(x, y, out):
    @pl.when(pl.program_id(2) == 0)
    def _():
        out[...] = jnp.zeros_like(out[...])

    out[...] += x[...] @ y[...]


def _blocked_matmul(m, k, n, bm, bk, bn, dtype="float32"):
    left = pl.BlockSpec((bm, bk), lambda row, column, step: (row, step))
    right = pl.BlockSpec((bk, bn), lambda row, column, step: (step, column))
    result = pl.BlockSpec((bm, bn), lambda row, column, step: (row, column))
    grid = tuple(pl.cdiv(*pair) for pair in ((m, bm), (n, bn), (k, bk)))
    options = {"grid": grid, "in_specs": [left, right], "out_specs": result}
    return pl.pallas_call(_matmul, Type((m, n), dtype), **options)


@pytest.mark.parametrize(
    ("sizes", "blocks"),
    [((6, 8, 10), (3, 4, 5)), ((6, 8, 10), (6, 8, 10)), ((5, 8, 7), (2, 4, 3))],
)
def test_products_of_blocks_are_those_of_matrices(rng, sizes, blocks):
    (m, k, n), (bm, bk, bn) = sizes, blocks
    x, y = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    with olympus.enable_x64(True):
        call = _blocked_matmul(m, k, n, bm, bk, bn, "float64")
        assert_allclose(call(x, y), x @ y, rtol=1e-12)
        assert_allclose(olympus.jit(call)(x, y), x @ y, rtol=1e-12)


def test_gradients_of_a_kernel_are_those_of_what_it_computes(rng):
    x, y = (rng.normal(size=s).astype("float32") for s in ((6, 8), (8, 10)))
    call = _blocked_matmul(6, 8, 10, 3, 4, 5)
    weights = rng.normal(size=(6, 10)).astype("float32")

    def loss(f):
        return lambda x, y: (jnp.sin(f(x, y)) * weights).sum()

    ours = olympus.grad(loss(call), (0, 1))(x, y)
    wanted = olympus.grad(loss(jnp.matmul), (0, 1))(x, y)
    for a, b in zip(ours, wanted, strict=True):
        assert_allclose(a, b, rtol=2e-4, atol=2e-4)
    _, tangent = olympus.jvp(call, (x, y), (x, y))
    assert_allclose(tangent, 2 * (x @ y), rtol=1e-4, atol=1e-4)


def test_a_mapped_kernel_is_a_loop_of_kernels(rng):
    xs = rng.normal(size=(3, 6, 8)).astype("float32")
    y = rng.normal(size=(8, 10)).astype("float32")
    call = _blocked_matmul(6, 8, 10, 3, 4, 5)
    mapped = olympus.vmap(call, (0, None))(xs, y)
    assert_allclose(mapped, np.stack([call(x, y) for x in xs]), rtol=1e-5, atol=1e-6)


def _sine(x, out):
    out[...] = jnp.sin(x[...]) * (1 + pl.program_id(0))


_HALF = pl.BlockSpec((2,), lambda i: (i,))
_SINES = pl.pallas_call(
    _sine, Type((4,), "float32"), grid=(2,), in_specs=[_HALF], out_specs=_HALF
)


def _wanted_sines(x):
    return np.sin(x) * np.repeat([1, 2], 2)


def test_kernels_in_programs_of_all_kinds():
    x = np.arange(4.0, dtype="float32")
    exported = olympus.export.export(olympus.jit(_SINES))(Type((4,), "float32"))
    read = olympus.export.deserialize(exported.serialize())
    assert_allclose(read.call(x), _wanted_sines(x), rtol=1e-6)
    _, ys = olympus.lax.scan(lambda c, x: (c, _SINES(x)), 0, np.stack([x, -x]))
    assert_allclose(ys, [_wanted_sines(x), _wanted_sines(-x)], rtol=1e-6)
    slope = olympus.grad(lambda x: olympus.checkpoint(_SINES)(x).sum())(x)
    assert_allclose(slope, np.cos(x) * np.repeat([1, 2], 2), rtol=1e-5)
    with olympus.disable_jit():
        assert_allclose(_SINES(x), _wanted_sines(x), rtol=1e-6)


@pytest.mark.eight_devices
def test_a_kernel_on_each_device_has_its_part():
    mesh = olympus.make_mesh((8,), ("x",))
    spec = olympus.P("x")
    x = np.linspace(-1, 1, 32, dtype="float32")
    run = olympus.shard_map(_SINES, mesh=mesh, in_specs=spec, out_specs=spec)
    wanted = np.concatenate([_wanted_sines(part) for part in x.reshape(8, 4)])
    assert_allclose(run(x), wanted, rtol=1e-6)


@pytest.mark.parametrize("shape", [(7,), (8,), (1,), (0,), (5, 9)])
@pytest.mark.parametrize("block", [1, 3, 8])
def test_blocks_beyond_an_array_are_cut_off(shape, block):
    x = np.arange(np.prod(shape), dtype="int32").reshape(shape)
    spec = pl.BlockSpec((block,) * x.ndim, lambda *at: at)
    grid = tuple(-(-n // block) for n in shape)

    def kernel(x, out):
        out[...] = x[...] * 2 + 1

    call = pl.pallas_call(kernel, x, grid=grid, in_specs=[spec], out_specs=spec)
    assert_array_equal(call(x), x * 2 + 1)


def test_steps_are_in_order_and_the_last_axis_is_the_fastest():
    grid = (2, 3, 2)

    def kernel(out, count):
        @pl.when((pl.program_id(0) + pl.program_id(1) + pl.program_id(2)) == 0)
        def _():
            count[...] = 0

        at = tuple(pl.program_id(i) for i in range(3))
        out[at] = count[...]
        count[...] += 1

    call = pl.pallas_call(
        kernel, Type(grid, "int32"), grid=grid, scratch_shapes=[pl.ANY((), "int32")]
    )
    wanted = np.zeros(grid, "int32")
    for i, at in enumerate(itertools.product(*map(range, grid))):
        wanted[at] = i
    assert_array_equal(call(), wanted)


def test_the_grid_may_be_known_only_when_the_program_runs():
    def kernel(out):
        out[...] = pl.num_programs(0) * 10 + pl.program_id(0)

    def run(n):
        return pl.pallas_call(kernel, Type((), "int32"), grid=(n,))()

    assert int(olympus.jit(run)(4)) == 43


def test_results_begin_unwritten_or_with_an_argument():
    def nothing(*refs):
        return None

    assert np.isnan(pl.pallas_call(nothing, Type((2,), "bfloat16"))()).all()
    least = np.iinfo("int8").min
    assert_array_equal(pl.pallas_call(nothing, Type((2,), "int8"))(), [least] * 2)
    x = jnp.arange(3.0)
    kept = pl.pallas_call(nothing, x, input_output_aliases={0: 0})(x)
    assert_array_equal(kept, x)


def test_maps_of_indices_read_arguments_that_come_first():
    spec = tpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(3,),
        in_specs=[pl.BlockSpec((None, 4), lambda i, order: (order[i], 0))],
        out_specs=pl.BlockSpec((None, 4), lambda i, order: (i, 0)),
    )
    x = np.arange(20.0, dtype="float32").reshape(5, 4)

    def kernel(order, x, out):
        out[...] = x[...] + order[pl.program_id(0)]

    order = np.array([4, 0, 4], "int32")
    got = pl.pallas_call(kernel, Type((3, 4), "float32"), grid_spec=spec)(order, x)
    assert_array_equal(got, x[order] + order[:, None])


def test_trees_come_as_trees_of_refs():
    def kernel(arrays, out):
        out["sum"][...] = arrays["a"][...] + arrays["b"][0][...]

    out = {"sum": Type((3,), "float32")}
    got = pl.pallas_call(kernel, out)({"a": jnp.ones(3), "b": [jnp.arange(3.0)]})
    assert_array_equal(got["sum"], [1, 2, 3])


def test_memory_by_name():
    def kernel(x, out, *, total):
        total[...] = x[...].sum()
        out[...] = x[...] / total[...]

    call = pl.pallas_call(
        kernel, Type((2,), "float32"), scratch_shapes={"total": tpu.SMEM((), "float32")}
    )
    assert_array_equal(call(jnp.array([1.0, 3.0])), [0.25, 0.75])


@pytest.mark.parametrize("count", [0, 3, 4, 10])
def test_masked_access_never_moves_a_slice(count):
    x = np.arange(10, dtype="float32")

    def kernel(x, count, out):
        at = pl.ds(4 * pl.program_id(0), 4)
        mask = 4 * pl.program_id(0) + jnp.arange(4) < count[...]
        value = triton.load(x.at[at], mask=mask, other=0.0)
        triton.store(out.at[at], -value, mask=mask)

    call = pl.pallas_call(kernel, x, grid=(3,), input_output_aliases={0: 0})
    wanted = np.where(np.arange(10) < count, -x, x)
    assert_array_equal(call(x, np.int32(count)), wanted)


def test_masked_access_to_rows_and_single_positions():
    x = np.arange(12, dtype="float32").reshape(3, 4)

    def kernel(x, row, out, one):
        columns = jnp.arange(4)
        i = row[...]
        out[...] = triton.load(x.at[i, :], mask=columns < 2, other=7.0)
        one[...] = triton.load(x.at[i, pl.ds(i, 2)], mask=columns[:2] < 9, other=0.0)

    out = (Type((4,), "float32"), Type((2,), "float32"))
    rows, one = pl.pallas_call(kernel, out)(x, np.int32(1))
    assert_array_equal(rows, [4, 5, 7, 7])
    assert_array_equal(one, [5, 6])


_ATOMIC = {
    "add": lambda a, b: a + b,
    "max": np.maximum,
    "min": np.minimum,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "xchg": lambda a, b: b,
}


@pytest.mark.parametrize("name", _ATOMIC)
def test_atomic_changes_return_what_was_there(name):
    x = np.array([5, -3, 9, 0], "int32")
    values = np.array([3, 6, -1], "int32")
    mask = np.array([True, False, True])
    places = np.array([2, 0, 1], "int32")

    def kernel(x, places, values, mask, out, old):
        out[...] = x[...]
        change = getattr(triton, f"atomic_{name}")
        old[...] = change(out, places[...], values[...], mask=mask[...])

    types = (Type((4,), "int32"), Type((3,), "int32"))
    out, old = pl.pallas_call(kernel, types)(x, places, values, mask)
    wanted = x.copy()
    for i, v, m in zip(places, values, mask, strict=True):
        if m:
            wanted[i] = _ATOMIC[name](wanted[i], v)
    assert_array_equal(out, wanted)
    assert_array_equal(old, x[places])


def test_comparing_and_swapping():
    def kernel(x, out, old):
        out[...] = x[...]
        old[0] = triton.atomic_cas(out, 3, 8)
        old[1] = triton.atomic_cas(out, 3, 9)

    types = (Type((), "int32"), Type((2,), "int32"))
    out, old = pl.pallas_call(kernel, types)(np.int32(3))
    assert int(out) == 8
    assert_array_equal(old, [3, 8])


def test_kernels_in_kernels(rng):
    x = rng.normal(size=(4, 6)).astype("float32")
    block = pl.BlockSpec((2, 3), lambda i, j: (i, j))

    def body(x, out):
        out[...] = x[...] * 2 + pl.program_id(1)

    kernel = tpu.emit_pipeline(body, grid=(2, 2), in_specs=block, out_specs=block)
    want = x * 2 + np.repeat([0, 1], 3)
    assert_allclose(pl.pallas_call(kernel, x)(x), want, rtol=1e-6)


def test_each_thread_has_grids_of_its_own():
    begin = threading.Barrier(4)
    sizes = {}

    def run(n):
        def kernel(out):
            begin.wait()
            out[...] = pl.program_id(0) + 100 * pl.num_programs(0)

        sizes[n] = int(pl.pallas_call(kernel, Type((), "int32"), grid=(n,))())

    threads = [threading.Thread(target=run, args=(n,)) for n in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sizes == {n: n - 1 + 100 * n for n in range(1, 5)}


def test_a_kernel_that_fails_leaves_no_grid_behind():
    def kernel(out):
        raise RuntimeError("as it happens")

    with pytest.raises(RuntimeError, match="as it happens"):
        pl.pallas_call(kernel, Type((), "int32"), grid=(2,))()
    with pytest.raises(ValueError, match="outside of a kernel"):
        pl.program_id(0)


def test_debug_prints_the_program(capsys):
    def kernel(x, out):
        pl.debug_print("value", x[0])
        out[...] = x[...]

    pl.pallas_call(kernel, Type((2,), "int32"), debug=True)(jnp.array([5, 6]))
    olympus.effects_barrier()
    printed = capsys.readouterr().out
    assert "new_ref" in printed
    assert "value 5" in printed


def test_costs_count_bytes_of_arguments_and_results():
    cost = pl.estimate_cost(
        lambda x, flag: x @ x if flag else x, jnp.ones((4, 4)), True
    )
    assert (cost.flops, cost.transcendentals, cost.bytes_accessed) == (128, 0, 128)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (
            {"out_specs": pl.BlockSpec((2, 2), lambda i: (i, 0))},
            ValueError,
            "block_shape of result 0 must have a size for each of the 1 axes",
        ),
        (
            {"out_specs": pl.BlockSpec((2,), lambda i: (i, 0))},
            ValueError,
            "the index map of result 0 must return a number for each of the 1 axes",
        ),
        (
            {"out_specs": pl.BlockSpec(("a",), lambda i: i)},
            TypeError,
            "a size in block_shape must be an integer",
        ),
        ({"in_specs": []}, ValueError, "in_specs must have an entry for each of the 1"),
        ({"in_specs": [3]}, TypeError, "in_specs must hold BlockSpecs, got 3"),
        (
            {"input_output_aliases": {1: 0}},
            ValueError,
            "must map positions of the 1 arguments",
        ),
        (
            {"input_output_aliases": {0: 0}},
            ValueError,
            "must join arrays of one type",
        ),
        ({"scratch_shapes": [3]}, TypeError, "must have a shape and a dtype, got 3"),
        ({"grid_spec": pl.GridSpec()}, ValueError, "pass either it or those"),
    ],
)
def test_specifications_that_do_not_fit(options, error, words):
    with pytest.raises(error, match=words):
        pl.pallas_call(
            lambda x, out, *more: None, Type((4,), "int32"), grid=(2,), **options
        )(jnp.ones(4))


def test_axes_that_the_grid_does_not_have():
    def kernel(out):
        out[...] = pl.program_id(1)

    with pytest.raises(ValueError, match="one of a grid of 1 axes, got 1"):
        pl.pallas_call(kernel, Type((), "int32"), grid=(2,))()


def test_kernels_return_nothing():
    with pytest.raises(ValueError, match="must return None, got a value of type int"):
        pl.pallas_call(lambda out: 3, Type((), "int32"))()
    with pytest.raises(TypeError, match="must be a function of refs"):
        pl.pallas_call(3, Type((), "int32"))
    with pytest.raises(TypeError, match="result 0 must have a shape and a dtype"):
        pl.pallas_call(lambda out: None, "int32")
