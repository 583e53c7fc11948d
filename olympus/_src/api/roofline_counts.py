"""What `roofline` counts of each operation: arithmetic, memory traffic, exchanges.

Shapes are those of one device. Formulae of exchanges are those of bidirectional rings;
see the chapter on sharded matrices of "How to Scale Your Model" (Austin et al., 2025).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from olympus._src.core.primitive import Cost
from olympus._src.foundation.records import Record
from olympus._src.lax.collective_exchanges import (
    all_gather_p,
    all_to_all_p,
    ppermute_p,
    reduce_scatter_p,
)
from olympus._src.lax.collectives import pmax_p, pmin_p, psum_invariant_p, psum_p
from olympus._src.lax.contraction import dot_general_p
from olympus._src.lax.convolution import conv_general_dilated_p
from olympus._src.lax.gather import gather_p


class _Counted(Record):
    """A record that is no key, since it may change or hold dictionaries."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]


class RooflineShape(_Counted):
    """The shape and dtype of an operand or result.

    Attributes:
      shape: sizes.
      dtype: of the elements.
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, *, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    @classmethod
    def from_aval(cls, aval: Any) -> RooflineShape:
        """That of a value of a type."""
        return cls(shape=tuple(aval.shape), dtype=aval.dtype)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """The bytes of all elements."""
        return self.size * int(self.dtype.itemsize)

    @classmethod
    def total_bytes(cls, avals: Iterable[Any]) -> int:
        """The bytes of values of several types."""
        return sum(cls.from_aval(aval).bytes for aval in avals)


class RooflineResult(_Counted):
    """What a program does on one device.

    Attributes:
      flops: operations of contractions and convolutions.
      unfused_flops: all arithmetic operations.
      ici_bytes: for each mesh axis the bytes that a device sends along it.
      ici_latency: for each mesh axis the steps from neighbour to neighbour.
      hbm_bytes: what contractions and convolutions read and write, as if all other
        operations were fused with them.
      peak_hbm_bytes: of the values that are needed at one time.
      unfused_hbm_bytes: what all operations read and write, as if none were fused.
    """

    __slots__ = (
        "flops",
        "hbm_bytes",
        "ici_bytes",
        "ici_latency",
        "peak_hbm_bytes",
        "unfused_flops",
        "unfused_hbm_bytes",
    )

    def __init__(
        self,
        *,
        flops: int = 0,
        unfused_flops: int = 0,
        ici_bytes: dict[str, int] | None = None,
        ici_latency: dict[str, int] | None = None,
        hbm_bytes: int = 0,
        peak_hbm_bytes: int = 0,
        unfused_hbm_bytes: int = 0,
    ) -> None:
        self.flops = flops
        self.unfused_flops = unfused_flops
        self.ici_bytes = {} if ici_bytes is None else ici_bytes
        self.ici_latency = {} if ici_latency is None else ici_latency
        self.hbm_bytes = hbm_bytes
        self.peak_hbm_bytes = peak_hbm_bytes
        self.unfused_hbm_bytes = unfused_hbm_bytes

    @classmethod
    def zeros(cls) -> RooflineResult:
        """What a program without operations does."""
        return cls()

    def __add__(self, other: RooflineResult) -> RooflineResult:
        """One program after the other: sums, and the larger of the peaks."""
        return RooflineResult(
            flops=self.flops + other.flops,
            unfused_flops=self.unfused_flops + other.unfused_flops,
            ici_bytes=_add(self.ici_bytes, other.ici_bytes),
            ici_latency=_add(self.ici_latency, other.ici_latency),
            hbm_bytes=self.hbm_bytes + other.hbm_bytes,
            peak_hbm_bytes=max(self.peak_hbm_bytes, other.peak_hbm_bytes),
            unfused_hbm_bytes=self.unfused_hbm_bytes + other.unfused_hbm_bytes,
        )

    def repeated(self, n: int) -> RooflineResult:
        """A program that runs so many times, one run after another."""
        return RooflineResult(
            flops=n * self.flops,
            unfused_flops=n * self.unfused_flops,
            ici_bytes={name: n * k for name, k in self.ici_bytes.items()},
            ici_latency={name: n * k for name, k in self.ici_latency.items()},
            hbm_bytes=n * self.hbm_bytes,
            peak_hbm_bytes=self.peak_hbm_bytes,
            unfused_hbm_bytes=n * self.unfused_hbm_bytes,
        )


def _add(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    return {name: a.get(name, 0) + b.get(name, 0) for name in (*a, *b)}


class RooflineRuleContext(_Counted):
    """What a rule gets besides the shapes of the operands.

    Attributes:
      name_stack: the named scopes that the operation is in.
      primitive: its record.
      avals_in, avals_out: types of operands and results.
      olympuspr_eqn_ctx: the equation.
      mesh: the mesh of the program, or None.
      pin_lhs_in_vmem, pin_rhs_in_vmem: whether an operand of contractions is not read
        from memory.
    """

    __slots__ = (
        "avals_in",
        "avals_out",
        "mesh",
        "name_stack",
        "olympuspr_eqn_ctx",
        "pin_lhs_in_vmem",
        "pin_rhs_in_vmem",
        "primitive",
    )

    def __init__(
        self,
        *,
        name_stack: Any,
        primitive: Any,
        avals_in: Sequence[Any],
        avals_out: Sequence[Any],
        olympuspr_eqn_ctx: Any,
        mesh: Any,
        pin_lhs_in_vmem: bool,
        pin_rhs_in_vmem: bool,
    ) -> None:
        self.name_stack = name_stack
        self.primitive = primitive
        self.avals_in = avals_in
        self.avals_out = avals_out
        self.olympuspr_eqn_ctx = olympuspr_eqn_ctx
        self.mesh = mesh
        self.pin_lhs_in_vmem = pin_lhs_in_vmem
        self.pin_rhs_in_vmem = pin_rhs_in_vmem


Rule = Callable[..., RooflineResult]
rules: dict[Any, Rule] = {}


def register_roofline(prim: Any) -> Callable[[Rule], Rule]:
    """Registers what `roofline` counts of a primitive.

    Args:
      prim: the primitive.

    Returns:
      A decorator of the rule, a function `(ctx, *shapes, **params)` of a
      `RooflineRuleContext`, the `RooflineShape` of each operand and the equation's
      parameters, which returns a `RooflineResult`.

    Example:
      >>> import olympus
      >>> from olympus.experimental import roofline
      >>> from olympus.extend.core import Primitive
      >>> mix = Primitive("mix")
      >>> _ = mix.def_abstract_eval(lambda x: x)
      >>> @roofline.register_roofline(mix)
      ... def count(ctx, x):
      ...     return roofline.RooflineResult(unfused_flops=3 * x.size)
      >>> roofline.roofline(mix.bind)(olympus.numpy.ones(5))[1].unfused_flops
      15
    """

    def register(rule: Rule) -> Rule:
        rules[prim] = rule
        return rule

    return register


def register_standard_roofline(prim: Any) -> None:
    """Registers that a primitive does no arithmetic and is always fused."""
    rules[prim] = lambda ctx, *args, **params: RooflineResult.zeros()


def count_operation(ctx: RooflineRuleContext, params: Any) -> RooflineResult | None:
    """What an operation without a program of its own does; None where it is unknown."""
    rule = rules.get(ctx.primitive)
    if rule is not None:
        shapes = [RooflineShape.from_aval(aval) for aval in ctx.avals_in]
        return rule(ctx, *shapes, **params)
    if ctx.primitive.cost in (Cost.CHEAP, Cost.BITS, Cost.EXPENSIVE):
        return _traffic(ctx, sum(map(_size, ctx.avals_out)))
    name = ctx.primitive.name
    if name.startswith(("reduce_", "arg")) and len(ctx.avals_in) == 1:
        return _traffic(ctx, _size(ctx.avals_in[0]) - _size(ctx.avals_out[0]))
    if name.startswith("cum"):
        return _traffic(ctx, _size(ctx.avals_out[0]))
    is_foreign = not ctx.primitive.rules_are_fixed
    return None if is_foreign else RooflineResult.zeros()


def _size(aval: Any) -> int:
    return math.prod(aval.shape)


def _traffic(ctx: RooflineRuleContext, flops: int) -> RooflineResult:
    n = RooflineShape.total_bytes([*ctx.avals_in, *ctx.avals_out])
    return RooflineResult(unfused_flops=max(flops, 0), unfused_hbm_bytes=n)


# -- contractions ----------------------------------------------------------------------


def _contraction(ctx: RooflineRuleContext, flops: int) -> RooflineResult:
    lhs, rhs = ctx.avals_in[:2]
    n = RooflineShape.total_bytes(ctx.avals_out)
    n += 0 if ctx.pin_lhs_in_vmem else RooflineShape.from_aval(lhs).bytes
    n += 0 if ctx.pin_rhs_in_vmem else RooflineShape.from_aval(rhs).bytes
    return RooflineResult(
        flops=flops, unfused_flops=flops, hbm_bytes=n, unfused_hbm_bytes=n
    )


@register_roofline(dot_general_p)
def _dot_general(
    ctx: Any, lhs: Any, rhs: Any, *, dimension_numbers: Any, **_: Any
) -> Any:
    (contracted, _rc), _batch = dimension_numbers
    terms = math.prod([lhs.shape[axis] for axis in contracted])
    return _contraction(ctx, 2 * terms * _size(ctx.avals_out[0]))


@register_roofline(conv_general_dilated_p)
def _convolution(ctx: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    """Products with padding and with the gaps of a dilated input are not counted."""
    numbers, (out,) = params["dimension_numbers"], ctx.avals_out
    terms = rhs.shape[numbers.rhs_spec[1]] * out.shape[numbers.out_spec[1]]
    batch = lhs.shape[numbers.lhs_spec[0]] // params["batch_group_count"]
    for i, axis in enumerate(numbers.lhs_spec[2:]):
        terms *= _count_taps(
            lhs.shape[axis],
            out.shape[numbers.out_spec[2 + i]],
            rhs.shape[numbers.rhs_spec[2 + i]],
            params["window_strides"][i],
            params["padding"][i][0],
            params["lhs_dilation"][i],
            params["rhs_dilation"][i],
        )
    return _contraction(ctx, 2 * batch * terms)


def _count_taps(
    n: int, n_out: int, window: int, stride: int, before: int, gap: int, spread: int
) -> int:
    """Pairs of a result and a window's element that meet an element of the input."""
    starts = np.arange(n_out)[:, None] * stride - before
    places = starts + np.arange(window) * spread
    inside = (places >= 0) & (places <= (n - 1) * gap) & (places % gap == 0)
    return int(inside.sum())


@register_roofline(gather_p)
def _gather(ctx: Any, operand: Any, indices: Any, **_: Any) -> Any:
    """Reads what it returns, and the index vectors."""
    n = 2 * RooflineShape.total_bytes(ctx.avals_out) + indices.bytes
    return RooflineResult(unfused_hbm_bytes=n)


# -- exchanges -------------------------------------------------------------------------


def _names(axes: Any) -> tuple[Any, ...]:
    return tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)


def _exchange(
    ctx: RooflineRuleContext, axes: Any, count: Callable[[int], tuple[float, float]]
) -> RooflineResult:
    """An exchange along mesh axes, which share its bytes.

    Args:
      ctx: of the rule.
      axes: names of axes; those that no mesh has are mapped by `vmap`.
      count: a function from the number of devices to the bytes that one sends and the
        steps between neighbours.
    """
    sizes = {} if ctx.mesh is None else ctx.mesh.shape
    names = [name for name in _names(axes) if name in sizes]
    n = math.prod([sizes[name] for name in names])
    if n == 1:
        return RooflineResult.zeros()
    sent, steps = count(n)
    share = int(sent / len(names))
    return RooflineResult(
        ici_bytes=dict.fromkeys(names, share),
        ici_latency=dict.fromkeys(names, int(steps)),
    )


def _bytes_in(ctx: RooflineRuleContext) -> int:
    return RooflineShape.total_bytes(ctx.avals_in)


@register_roofline(all_gather_p)
def _all_gather(ctx: Any, x: Any, *, axis_name: Any, **_: Any) -> Any:
    return _exchange(ctx, axis_name, lambda n: (x.bytes * (n - 1), n))


@register_roofline(reduce_scatter_p)
def _reduce_scatter(ctx: Any, x: Any, *, axis_name: Any, **_: Any) -> Any:
    return _exchange(ctx, axis_name, lambda n: (x.bytes * (n - 1) / n, n))


def _all_reduce(ctx: Any, *xs: Any, axes: Any, **_: Any) -> Any:
    """A reduction that scatters, and a gathering of its results."""
    sent = 2 * _bytes_in(ctx)
    return _exchange(ctx, axes, lambda n: (sent * (n - 1) / n, 2 * n))


for _p in (psum_p, psum_invariant_p, pmax_p, pmin_p):
    register_roofline(_p)(_all_reduce)


@register_roofline(all_to_all_p)
def _all_to_all(ctx: Any, x: Any, *, axis_name: Any, **_: Any) -> Any:
    return _exchange(ctx, axis_name, lambda n: (x.bytes * n / 4, n / 2))


@register_roofline(ppermute_p)
def _permute(ctx: Any, x: Any, *, axis_name: Any, perm: Any, **_: Any) -> Any:
    """The longest way decides, along a ring."""

    def count(n: int) -> tuple[float, float]:
        ways = [(b - a) % n for a, b in perm]
        steps = max([min(way, n - way) for way in ways], default=0)
        return x.bytes * steps, steps

    return _exchange(ctx, axis_name, count)
