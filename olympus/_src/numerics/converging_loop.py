"""Iterations that run to convergence, elementwise, and what they converge to.

Their derivatives carry tangents through the same loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.control_flow.while_loop import while_loop
from olympus._src.core import avals
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad
from olympus._src.lax import elementwise as e
from olympus._src.lax import families, reductions, sharding_rules
from olympus._src.numerics.gamma_terms import epsilon, like

_MAX_STEPS = 2000


def _any(flags: Any) -> Any:
    return reductions.reduce_or(flags, range(avals.aval_of(flags).ndim))


Step = Callable[..., tuple[Any, ...]]


def iterate(step: Step, state: tuple[Any, ...], operands: tuple[Any, ...]) -> Any:
    """Repeats `(n, state, operands) -> (state, unfinished)` until all are finished.

    An element that is finished keeps its state.
    """

    def going(carry: Any) -> Any:
        n, active, _ = carry
        return e.bitwise_and(_any(active), e.lt(n, np.int32(_MAX_STEPS)))

    def body(carry: Any) -> Any:
        n, active, old = carry
        count = e.convert(e.add(n, np.int32(1)), avals.aval_of(old[0]).dtype)
        new, unfinished = step(count, old, operands)
        next_state = tuple(
            [e.select(active, a, b) for a, b in zip(new, old, strict=True)]
        )
        return e.add(n, np.int32(1)), e.bitwise_and(active, unfinished), next_state

    active = e.eq(operands[0], operands[0])
    return while_loop(going, body, (np.int32(0), active, state))[2]


class Loop:
    """What an iteration converges to, as an elementwise function of its operands.

    Args:
      start: `(*operands) -> state`.
      step: as in `iterate`.
      count: the size of the state.
      has_tangent: for each derivative that was taken, which operands have a nonzero
        tangent. These tangents follow the operands, derivative by derivative; the
        tangents of the state follow the state.
    """

    __slots__ = ("count", "has_tangent", "start", "step")

    def __init__(
        self,
        start: Callable[..., Any],
        step: Step,
        count: int,
        has_tangent: tuple[tuple[bool, ...], ...] = (),
    ) -> None:
        self.start, self.step, self.count, self.has_tangent = (
            start,
            step,
            count,
            has_tangent,
        )

    def _key(self) -> tuple[Any, ...]:
        return self.start, self.step, self.has_tangent

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loop) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return self.step.__name__.strip("_")

    def with_tangents(self, *has_tangent: bool) -> Loop:
        """The loop of the state and its tangents."""
        return Loop(self.start, self.step, self.count, (*self.has_tangent, has_tangent))

    def size(self) -> int:
        """How many results there are."""
        return self.count << len(self.has_tangent)

    def _without_last(self, operands: Any) -> tuple[Loop, Any, list[Any]]:
        """The loop that was differentiated, its arguments, and their tangents."""
        *before, last = self.has_tangent
        own, directions = operands[: len(last)], iter(operands[len(last) :])
        tangents = [
            next(directions) if moves else Zero(avals.aval_of(g).to_tangent())
            for g, moves in zip(own, last, strict=True)
        ]
        return Loop(self.start, self.step, self.count, tuple(before)), own, tangents

    def begin(self, operands: Any) -> tuple[Any, ...]:
        """The state to begin with."""
        if not self.has_tangent:
            return tuple(self.start(*operands))
        inner, own, tangents = self._without_last(operands)
        outs, moved = ad.jvp(lambda *xs: list(inner.begin(xs)), [*own], tangents)
        return (*outs, *_instantiate(outs, moved))

    def advance(self, n: Any, state: Any, operands: Any) -> Any:
        """One step. It is the last one if the tangents converged as well."""
        if not self.has_tangent:
            return self.step(n, state, operands)
        inner, own, tangents = self._without_last(operands)
        count = inner.size()
        values, slopes = state[:count], state[count:]

        def advance(*xs: Any) -> Any:
            new, unfinished = inner.advance(n, xs[:count], xs[count:])
            return [*new, unfinished]

        outs, moved = ad.jvp(advance, [*values, *own], [*slopes, *tangents])
        *new, unfinished = outs
        new_slopes = _instantiate(new, moved[:count])
        change = e.abs_(e.sub(new_slopes[-1], slopes[-1]))
        bound = e.mul(e.abs_(new_slopes[-1]), epsilon(change))
        unfinished = e.bitwise_or(unfinished, e.gt(change, bound))
        return (*new, *new_slopes), unfinished

    def __call__(self, *operands: Any) -> Any:
        """The final state."""
        return loop_p.bind(*operands, loop=self)


def _instantiate(values: Any, tangents: Any) -> list[Any]:
    return [
        like(v, 0) if type(t) is Zero else t
        for v, t in zip(values, tangents, strict=True)
    ]


def _loop_abstract(*operands: Any, loop: Loop) -> Any:
    return [avals.ShapedArray(operands[0].shape, operands[0].dtype)] * loop.size()


def _loop_decompose(*operands: Any, loop: Loop) -> Any:
    return list(iterate(loop.advance, loop.begin(operands), operands))


def _loop_jvp(primals: Any, tangents: Any, *, loop: Loop) -> Any:
    """Slopes times tangents, as of any elementwise function of a few numbers.

    The slopes are computed beside the values, by loops that carry tangents forwards,
    so what depends on the tangents can be transposed.
    """
    outs, size = loop(*primals), loop.size()
    sums: list[Any] = [Zero(avals.aval_of(o).to_tangent()) for o in outs]
    for i, t in enumerate(tangents):
        if type(t) is Zero:
            continue
        derivative = loop.with_tangents(*[i == k for k in range(len(primals))])
        slopes = derivative(*primals, like(primals[i], 1))[size:]
        sums = [
            families.add_tangents(total, e.mul(t, slope))
            for total, slope in zip(sums, slopes, strict=True)
        ]
    return outs, sums


def _loop_batch(axis: Any, args: Any, dims: Any, *, loop: Loop) -> Any:
    args = [
        families.insert_axis(x, 0, axis.size)
        if d is None
        else families.move_axis(x, d, 0)
        for x, d in zip(args, dims, strict=True)
    ]
    return loop(*args), [0] * loop.size()


loop_p = Primitive(
    "converging_loop",
    shard=sharding_rules.keep_each_joined,
    multiple_results=True,
    abstract=_loop_abstract,
    decompose=_loop_decompose,
    jvp=_loop_jvp,
    batch=_loop_batch,
)
