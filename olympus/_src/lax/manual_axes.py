"""Axes of a mesh along which a program is written for one device: `shard_map`'s.

Types in such a program say along which of these axes the devices may hold different
values (`vma`, "varying manual axes"). A value that is the same on all devices of an
axis must be cast where it meets one that varies: `pvary` only changes the type, and
its transpose sums the cotangents that the devices have of the one value. `bind` inserts
the casts, so that each derivative is right wherever it is taken.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from olympus._src.core import avals, ir, trace
from olympus._src.core.primitive import LateRule, Primitive
from olympus._src.lax import families, sharding_rules
from olympus._src.sharding import contexts

current = trace.current


class Manual(NamedTuple):
    """The axes that the program being traced is manual along.

    Attributes:
      mesh: the mesh.
      axes: the names of those of its axes.
      checks: whether types say what varies.
      spread: those axes that mapped axes are spread over. The program is of one element
        of them, and does not see the devices that have the others.
      outer: the same of the program around it that is for one device; None for none.
    """

    mesh: Any
    axes: tuple[Any, ...]
    checks: bool
    spread: tuple[Any, ...] = ()
    outer: Manual | None = None

    def all_axes(self) -> tuple[Any, ...]:
        """The axes that the program and those around it are manual along."""
        return self.axes if self.outer is None else (*self.outer.all_axes(), *self.axes)

    def checked_axes(self) -> tuple[Any, ...]:
        """Those of them that types tell of."""
        own = self.axes if self.checks else ()
        return own if self.outer is None else (*self.outer.checked_axes(), *own)


def manual_of(params: dict[str, Any]) -> Manual:
    """What the parameters of a `shard_map` say of its program's axes."""
    names = ("mesh", "manual_axes", "check_vma", "spread")
    return Manual(*[params[name] for name in names])


@contextlib.contextmanager
def manual_over(manual: Manual) -> Iterator[None]:
    """Traces what is in the block for one device along some axes of a mesh."""
    before = current.manual, current.join, current.axis_env
    sizes = manual.mesh.shape
    named = [(n, sizes[n]) for n in manual.axes if n not in manual.spread]
    current.manual = manual._replace(outer=current.manual)
    current.join = join if manual.checks else None
    current.axis_env = (*current.axis_env, *named)
    try:
        with contexts.name_axes_of(manual.mesh):
            yield
    finally:
        current.manual, current.join, current.axis_env = before


def checked_axes(names: Sequence[Any]) -> tuple[Any, ...]:
    """Those of some axes that types tell of: manual ones, where that is checked."""
    manual = current.manual
    known = () if manual is None else manual.checked_axes()
    return tuple([name for name in names if name in known])


def vma_of(x: Any) -> frozenset[Any]:
    """The axes along which a value may differ."""
    return getattr(avals.aval_of(x), "vma", frozenset())


def join(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands of one operation, cast to vary along the same axes.

    Constants stay: they have no cotangents to be summed.
    """
    first = None
    for x in args:  # in one loop: each equation that is traced comes through here
        if isinstance(x, trace.Tracer):
            vma = getattr(x.aval, "vma", first)
            if first is None:
                first = vma
            elif vma is not first and vma != first:
                return _join_different(args)
    return args


def _join_different(args: tuple[Any, ...]) -> tuple[Any, ...]:
    joined = frozenset().union(*[x.aval.vma for x in args if _has_vma(x)])
    return tuple([vary(x, joined) if _has_vma(x) else x for x in args])


def _has_vma(x: Any) -> bool:
    return isinstance(x, trace.Tracer) and hasattr(x.aval, "vma")


def vary(x: Any, axes: Any) -> Any:
    """A value cast to vary along axes, where it does not yet."""
    missing = frozenset(axes) - vma_of(x)
    return pvary_p.bind(x, axes=_in_order(missing)) if missing else x


def _in_order(axes: frozenset[Any]) -> tuple[Any, ...]:
    return tuple(sorted(axes, key=repr))


def cast_equation(operand: Any, result: Any, axes: frozenset[Any]) -> ir.Eqn:
    """`pvary` as an equation."""
    params = {"axes": _in_order(axes)}
    return ir.Eqn(pvary_p, [operand], [result], params)


# -- pvary -----------------------------------------------------------------------------


def _pvary_batch(axis: Any, args: Any, dims: Any, *, axes: Any) -> Any:
    return pvary_p.bind(*args, axes=axes), dims[0]


pvary_p = Primitive(
    "pvary",
    abstract=lambda x, *, axes: x,
    shard=sharding_rules.keep,
    vary=lambda joined, *, axes: joined | set(axes),
    lower=lambda ctx, x, *, axes: x,
    batch=_pvary_batch,
    transpose=LateRule("lax.collectives", "pvary_transpose"),
    reference=lambda x, *, axes: x,
    **families.LINEAR,
)
