"""Random bits: the Threefry-2x32 block cipher, and XLA's own generator."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Placement, Shape
from olympus._src.core.primitive import Cost, Exact, Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    concatenation,
    elementwise,
    families,
    shaping,
    sharding_constraints,
    sharding_rules,
    sizes,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import dynamic_shapes, types

# -- Threefry --------------------------------------------------------------------------

# Rotation distances of the rounds and the parity word of the key schedule, from table 2
# and section 3.3 of the paper.
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_GROUPS = 5

_U32 = np.dtype(np.uint32)


def _threefry_abstract(k1: Any, k2: Any, x1: Any, x2: Any) -> Any:
    operands = (k1, k2, x1, x2)
    if any(a.dtype != _U32 for a in operands):
        listed = ", ".join([a.short() for a in operands])
        raise TypeError(
            f"threefry2x32: keys and counts must be uint32, got {listed}; convert them "
            "with lax.convert_element_type"
        )
    out = ShapedArray(families.common_shape("threefry2x32", operands), _U32)
    return out, out


def _threefry_lower(ctx: Any, *operands: str) -> list[str]:
    """The rounds one after another: a rolled loop compiles and runs slower on CPU."""
    aval = ctx.avals_out[0]
    k1, k2, x, y = families.spread_to(ctx, operands, ctx.avals_in, aval)
    write = _Words(ctx.block, aval)
    schedule = (k1, k2, write("xor", write("xor", k1, k2), write.number(_PARITY)))
    x, y = write("add", x, k1), write("add", y, k2)
    for group in range(_GROUPS):
        for distance in _ROTATIONS[group % 2]:
            x = write("add", x, y)
            y = write("xor", x, write.rotate(y, distance))
        x = write("add", x, schedule[(group + 1) % 3])
        y = write("add", y, schedule[(group + 2) % 3])
        y = write("add", y, write.number(group + 1))
    return [x, y]


class _Words:
    """Writes operations on words of one type."""

    def __init__(self, block: Any, aval: Any) -> None:
        self.block = block
        self.aval = aval

    def __call__(self, op: str, x: str, y: str) -> str:
        return self.block.elementwise(f"stablehlo.{op}", (x, y), self.aval)

    def number(self, value: int) -> str:
        return self.block.splat(value, self.aval)

    def rotate(self, x: str, distance: int) -> str:
        high = self("shift_left", x, self.number(distance))
        return self(
            "or", high, self("shift_right_logical", x, self.number(32 - distance))
        )


def _threefry_reference(k1: Any, k2: Any, x1: Any, x2: Any) -> Any:
    k1, k2, x, y = np.broadcast_arrays(k1, k2, x1, x2)
    schedule = (k1, k2, k1 ^ k2 ^ np.uint32(_PARITY))
    with np.errstate(over="ignore"):
        x, y = x + k1, y + k2
        for group in range(_GROUPS):
            for distance in _ROTATIONS[group % 2]:
                x = x + y
                high = y << np.uint32(distance)
                y = x ^ (high | (y >> np.uint32(32 - distance)))
            x = x + schedule[(group + 1) % 3]
            y = y + schedule[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def _threefry_batch(axis: Any, args: Any, dims: Any) -> Any:
    outs, dim = families.elementwise_batch(threefry2x32_p, axis, args, dims)
    return outs, [dim, dim]


def _no_tangents(primals: Any, tangents: Any, **params: Any) -> Any:
    outs = threefry2x32_p.bind(*primals, **params)
    return outs, [Zero(avals.aval_of(x).to_tangent()) for x in outs]


threefry2x32_p = Primitive(
    "threefry2x32",
    shard=sharding_rules.keep_each_joined,
    multiple_results=True,
    abstract=_threefry_abstract,
    lower=_threefry_lower,
    jvp=_no_tangents,
    batch=_threefry_batch,
    reference=_threefry_reference,
    exact=Exact.INTEGERS,
    cost=Cost.BITS,
    n_operations=_GROUPS * (4 * 6 + 3),
    may_make_nan=False,
)


def threefry2x32(k1: Any, k2: Any, x1: Any, x2: Any) -> list[Any]:
    """Encrypts pairs of words with the Threefry-2x32 cipher of 20 rounds.

    Args:
      k1: first key word, uint32.
      k2: second key word, uint32.
      x1: first counter word, uint32; all are of one shape, or scalars among arrays.
      x2: second counter word, uint32.

    Returns:
      Two arrays of the common shape, uint32.

    Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
      (2011), section 3.3.
    """
    return threefry2x32_p.bind(k1, k2, x1, x2)


# -- XLA's generator -------------------------------------------------------------------


class RandomAlgorithm(enum.IntEnum):
    """Which generator `rng_bit_generator` uses."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2

    def __str__(self) -> str:
        return self.name


def _generator_abstract(
    key: Any, *, shape: Any, dtype: Any, algorithm: Any, out_sharding: Any
) -> Any:
    if (key.dtype, key.shape) not in (
        (_U32, (4,)),
        (np.dtype(np.uint64), (2,)),
    ):
        raise TypeError(
            f"lax.rng_bit_generator: key must be u32[4] or u64[2], got {key.short()}; "
            "make one with random.key_data(random.key(seed, impl='rbg'))"
        )
    if dtypes.kind(dtype) != "u":
        raise TypeError(
            f"lax.rng_bit_generator: dtype must be an unsigned integer, got {dtype}; "
            "make other numbers of its bits"
        )
    return ShapedArray(key.shape, key.dtype), ShapedArray(shape, dtype)


def _generator_lower(
    ctx: Any, key: str, *, shape: Any, dtype: Any, algorithm: Any, out_sharding: Any
) -> list[str]:
    block = ctx.block
    state, out = ctx.avals_out
    wide = ShapedArray((2,), np.dtype(np.uint64))
    if state.dtype == _U32:
        pairs = ShapedArray((2, 2), _U32)
        key = block.reshape(key, state, pairs)
        key = block.op1("stablehlo.bitcast_convert", [key], [pairs], wide)
    # The operation makes words of 32 or 64 bits; narrower ones are their low bits.
    bits_aval = out if out.dtype.itemsize >= 4 else ShapedArray(shape, _U32)
    attribute = f"rng_algorithm = #stablehlo<rng_algorithm {_HLO_NAMES[algorithm]}>"
    if types.has_symbolic_size(bits_aval):
        sizes_, kind = dynamic_shapes.shape_row(block, bits_aval)
        new_key, bits = dynamic_shapes.custom_call(
            block,
            "stablehlo.dynamic_rng_bit_generator",
            [key, sizes_],
            [wide, kind],
            [wide, bits_aval],
            attribute,
        )
    else:
        new_key, bits = block.op(
            "stablehlo.rng_bit_generator", [key], [wide], [wide, bits_aval], attribute
        )
    if state.dtype == _U32:
        new_key = block.op1("stablehlo.bitcast_convert", [new_key], [wide], pairs)
        new_key = block.reshape(new_key, pairs, state)
    return [new_key, block.convert(bits, bits_aval, out)]


_HLO_NAMES = {
    RandomAlgorithm.RNG_DEFAULT: "DEFAULT",
    RandomAlgorithm.RNG_THREE_FRY: "THREE_FRY",
    RandomAlgorithm.RNG_PHILOX: "PHILOX",
}


def _generator_batch(
    axis: Any, args: Any, dims: Any, *, shape: Any, **params: Any
) -> Any:
    """One run of the first key makes the bits of the whole batch."""
    keys = families.move_axis(args[0], dims[0], 0)
    first = concatenation.index_in_dim(keys, 0, keepdims=False)
    new, bits = rng_bit_generator_p.bind(first, shape=(axis.size, *shape), **params)
    other_keys = concatenation.slice_in_dim(keys, 1, axis.size)
    new_keys = concatenation.concatenate(
        [shaping.expand_dims(new, (0,)), other_keys], 0
    )
    return [new_keys, bits], [0, 0]


def _generator_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    outs = rng_bit_generator_p.bind(*primals, **params)
    return outs, [Zero(avals.aval_of(x).to_tangent()) for x in outs]


rng_bit_generator_p = Primitive(
    "rng_bit_generator",
    shard=sharding_rules.replicate,
    multiple_results=True,
    abstract=_generator_abstract,
    lower=_generator_lower,
    jvp=_generator_jvp,
    batch=_generator_batch,
    may_make_nan=False,
)


def rng_bit_generator(
    key: ArrayLike,
    shape: Shape,
    dtype: DTypeLike = np.uint32,
    algorithm: RandomAlgorithm = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: Placement = None,
) -> tuple[Array, Array]:
    """Random bits from the platform's generator: fast, but not the same everywhere.

    Args:
      key: u32[4] or u64[2], the state of the generator.
      shape: sizes of the axes of the bits.
      dtype: an unsigned integer dtype.
      algorithm: which generator.
      out_sharding: how the bits are divided over a mesh.

    Returns:
      The next state, and the bits.

    Source: `stablehlo.rng_bit_generator`.

    Example:
      >>> lax.rng_bit_generator(jnp.array([0, 1, 0, 1], jnp.uint32), (2, 3))[1].shape
      (2, 3)
    """
    state, bits = rng_bit_generator_p.bind(
        key,
        shape=sizes.canonicalize_shape(shape),
        dtype=dtypes.canonicalize_dtype(dtype),
        algorithm=RandomAlgorithm(algorithm),
        out_sharding=None,
    )
    what = "lax.rng_bit_generator"
    sharding = sharding_constraints.resolve(out_sharding, f"{what} out_sharding")
    return state, sharding_constraints.divide(bits, sharding, what)


# -- numbers in an interval ------------------------------------------------------------


def _uniform_abstract(a: Any, b: Any, *, shape: Any) -> Any:
    for aval in (a, b):
        families.check_dtype("rng_uniform", aval, families.REAL, "a bound")
    if a.dtype != b.dtype:
        raise ValueError(
            "lax.rng_uniform: bounds must have one dtype, got "
            f"{a.short()} and {b.short()}; use lax.convert_element_type"
        )
    if a.shape or b.shape:
        raise ValueError(
            f"lax.rng_uniform: bounds must be scalars, got {a.short()} and {b.short()}"
        )
    if any(d < 0 for d in shape):
        raise ValueError(
            f"lax.rng_uniform: shape must not have negative sizes, got {shape}"
        )
    return ShapedArray(shape, a.dtype, a.weak_type and b.weak_type)


def _uniform_lower(ctx: Any, a: str, b: str, *, shape: Any) -> str:
    (low, high), (out,) = ctx.avals_in, ctx.avals_out
    dtype = out.dtype
    if dtype.itemsize < 4:  # the generator knows wide numbers alone
        is_integer = dtypes.issubdtype(dtype, np.integer)
        dtype = np.dtype(np.int32 if is_integer else np.float32)
    bound, wide = ShapedArray((), dtype), ShapedArray(shape, dtype)
    sizes_, sizes_aval = dynamic_shapes.shape_row(ctx.block, wide)
    a, b = ctx.block.convert(a, low, bound), ctx.block.convert(b, high, bound)
    t = types.tensor_type
    numbers = ctx.block.emit(
        f"stablehlo.rng {a}, {b}, {sizes_}, distribution = UNIFORM : "
        f"({t(bound)}, {t(bound)}, {t(sizes_aval)}) -> {t(wide)}"
    )
    return ctx.block.convert(numbers, wide, out)


def _uniform_batch(axis: Any, args: Any, dims: Any, *, shape: Any) -> Any:
    """Bounds for each element: numbers between fixed ones, brought between those."""
    shape = (axis.size, *shape)
    low, high = (
        families.broadcast_in_dim_p.bind(
            x,
            shape=shape,
            broadcast_dimensions=() if d is None else (0,),
            sharding=None,
        )
        for x, d in zip(args, dims, strict=True)
    )
    width = elementwise.sub(high, low)
    dtype = avals.aval_of(low).dtype
    first = np.zeros((), dtype)[()]
    if dtypes.issubdtype(dtype, np.floating):
        last = np.ones((), dtype)[()]
        part = rng_uniform_p.bind(first, last, shape=shape)
        return elementwise.add(low, elementwise.mul(part, width)), 0
    last = families.number_of(dtypes.iinfo(dtype).max, dtype)
    part = rng_uniform_p.bind(first, last, shape=shape)
    return elementwise.add(low, elementwise.rem(part, width)), 0


rng_uniform_p = Primitive(
    "rng_uniform",
    shard=sharding_rules.replicate,
    abstract=_uniform_abstract,
    batch=_uniform_batch,
    lower=_uniform_lower,
)


def rng_uniform(a: ArrayLike, b: ArrayLike, shape: Shape) -> Array:
    """Random numbers from the platform's own generator, different at each run.

    They cannot be repeated; `olympus.random` gives numbers that can.

    Args:
      a: the lower bound, an integer or floating scalar.
      b: the upper bound, of the same dtype; it is not among the numbers.
      shape: shape of the result.

    Returns:
      Array of the bounds' dtype, uniform in [a, b).

    Raises:
      TypeError: a bound is not a real number.
      ValueError: bounds differ in dtype or are not scalars.

    Source: `stablehlo.rng`.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> x = np.asarray(lax.rng_uniform(2.0, 3.0, (100,)))
      >>> bool(((2 <= x) & (x < 3)).all())
      True
    """
    return rng_uniform_p.bind(a, b, shape=tuple([int(d) for d in shape]))
