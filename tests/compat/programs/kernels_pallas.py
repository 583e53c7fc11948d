"""Kernels over blocks: grids, padding, memory of their own, copies and masks."""

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import triton as plt

Type = jax.ShapeDtypeStruct


def call(kernel, out_shape, *args, **options):
    return pl.pallas_call(kernel, out_shape=out_shape, interpret=True, **options)(*args)


def matmul(x, y, out, *, steps):
    @pl.when(pl.program_id(2) == 0)
    def _():
        out[...] = jnp.zeros_like(out)

    out[...] += x[...] @ y[...]
    assert pl.num_programs(2) == steps


x, y = jnp.arange(48.0).reshape(6, 8), jnp.arange(80.0).reshape(8, 10) - 40
product = pl.pallas_call(
    functools.partial(matmul, steps=2),
    out_shape=Type((6, 10), jnp.float32),
    grid=(2, 2, 2),
    in_specs=[pl.BlockSpec((3, 4), lambda i, j, k: (i, k)), pl.BlockSpec((4, 5), lambda i, j, k: (k, j))],
    out_specs=pl.BlockSpec((3, 5), lambda i, j, k: (i, j)),
    interpret=True,
)
print(product(x, y), jnp.abs(product(x, y) - x @ y).max())
print(jax.vmap(product, in_axes=(0, None))(jnp.stack([x, -x]), y).sum(axis=(1, 2)))
print(jax.jvp(lambda x: call(lambda x, out: out.__setitem__(..., jnp.sin(x[...])), Type((3,), jnp.float32), x), (jnp.arange(3.0),), (jnp.ones(3),)))


def row_sums(x, out):
    out[...] = jnp.full(out.shape, jnp.sum(x[...]).astype(out.dtype))


row = pl.BlockSpec((4,), lambda i: (i,))
for dtype in (jnp.float32, jnp.int32, jnp.uint8):
    print(call(row_sums, Type((7,), dtype), jnp.ones(7, dtype), grid=(2,), in_specs=[row], out_specs=row))
for dtype in (jnp.float32, jnp.float16, jnp.int8, jnp.uint32, jnp.bool_):
    print(call(lambda out: None, Type((2,), dtype)))


def fill(out, *, by):
    out[...] = jnp.full(out.shape, by())


for by in (lambda: pl.program_id(0), lambda: pl.program_id(1), lambda: pl.num_programs(0), lambda: 10 * pl.program_id(0) + pl.program_id(1)):
    spec = pl.BlockSpec((None, pl.squeezed, 2), lambda i, j: (i, j, 0))
    print(call(functools.partial(fill, by=by), Type((2, 3, 2), jnp.int32), grid=(2, 3), out_specs=spec).tolist())


def copy_window(x, out):
    out[...] = x[...]


for padding in ((0, 0), (1, 2)):
    spec = pl.BlockSpec((pl.Element(4, padding),), lambda i: (2 * i,))
    out = pl.BlockSpec((None, 4), lambda i: (i, 0))
    print(call(copy_window, Type((3, 4), jnp.float32), jnp.arange(8.0), grid=(3,), in_specs=[spec], out_specs=out))


def add_up(x, out, total):
    @pl.when(pl.program_id(0) == 0)
    def _():
        total[...] = jnp.zeros_like(total)

    total[...] += x[...]
    out[...] = total[...]


one = pl.BlockSpec((1, 3), lambda i: (i, 0))
table = jnp.arange(12.0).reshape(4, 3)
print(call(add_up, Type((4, 3), jnp.float32), table, grid=(4,), in_specs=[one], out_specs=one, scratch_shapes=[pltpu.VMEM((1, 3), jnp.float32)]))
print(call(lambda x, out: out.__setitem__(0, x[1]), Type((3,), jnp.float32), jnp.arange(3.0), input_output_aliases={0: 0}))

spec = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(3,), in_specs=[pl.BlockSpec((1, 3), lambda i, order: (order[i], 0))], out_specs=pl.BlockSpec((1, 3), lambda i, order: (i, 0)))


def gather_rows(order, x, out):
    out[...] = x[...] * 10 + order[pl.program_id(0)].astype(jnp.float32)


print(pl.pallas_call(gather_rows, out_shape=Type((3, 3), jnp.float32), grid_spec=spec, interpret=True)(jnp.array([3, 0, 3]), table))


def tree_kernel(arrays, scale, out):
    out["sum"][...] = arrays["a"][...] + arrays["b"][0][...] * scale[...]
    out["first"][...] = arrays["a"][0]


print(call(tree_kernel, {"sum": Type((3,), jnp.float32), "first": Type((), jnp.float32)}, {"a": jnp.arange(3.0), "b": [jnp.ones(3)]}, jnp.float32(3)))
print(call(lambda a, b: (a.__setitem__(..., jnp.ones(2)), b.__setitem__(..., jnp.zeros(1)))[2:] or None, [Type((2,), jnp.float32), Type((1,), jnp.float32)]))


def run_loop(x, out):
    @pl.loop(0, 6, step=2)
    def _(i):
        out[i] = x[i]
        out[i + 1] = -x[i + 1]

    def body(half):
        half[...] = out[...] / 2
        out[pl.ds(0, 3)] = half[pl.ds(3, 3)]

    pl.run_scoped(body, pltpu.VMEM((6,), jnp.float32))


print(call(run_loop, Type((6,), jnp.float32), jnp.arange(6.0)))


def copy_parts(x, out, done):
    work = pltpu.make_async_copy(x.at[pl.ds(2, 4)], out.at[pl.ds(0, 4)], done)
    work.start()
    work.wait()
    pltpu.sync_copy(x.at[pl.ds(0, 2)], out.at[pl.ds(4, 2)])


print(call(copy_parts, Type((6,), jnp.float32), jnp.arange(6.0), scratch_shapes=[pltpu.SemaphoreType.DMA]))


def add_below_count(x, count, out):
    at = pl.ds(4 * pl.program_id(0), 4)
    mask = 4 * pl.program_id(0) + jnp.arange(4) < count[0]
    value = plt.load(x.at[at], mask=mask, other=-1.0)
    plt.store(out.at[at], value + 1, mask=mask)


print(call(add_below_count, Type((6,), jnp.float32), jnp.arange(6.0), jnp.array([6]), grid=(2,), input_output_aliases={0: 0}))


def count_places(x, out, old):
    out[...] = jnp.zeros_like(out)
    old[...] = plt.atomic_add(out, x[...], jnp.ones(x.shape, jnp.int32))
    plt.atomic_max(out, pl.ds(0, 2), jnp.full(2, 2))


print(call(count_places, (Type((4,), jnp.int32), Type((3,), jnp.int32)), jnp.array([1, 1, 3])))
print(call(lambda x, out: out.__setitem__(..., plt.dot(x[...], x[...], trans_b=True)), Type((2, 2), jnp.float32), jnp.arange(8.0).reshape(2, 4)))
print(pl.cdiv(7, 2), pl.next_power_of_2(9), pl.align_to(9, 8), pl.strides_from_shape((2, 3, 4)), pl.Blocked(3), pl.Element(2), pl.MemorySpace.ANY)
