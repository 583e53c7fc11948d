"""Where the backward pass of users' operations puts cotangents."""

from __future__ import annotations

from typing import Any

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core import hi_types, refs
from olympus._src.core.primitive import LateRule
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import families

_new_ref = LateRule("refs.functions", "new_ref")


class GradAccum:
    """What collects the cotangent of one value.

    Attributes:
      aval: the type of the cotangent.
    """

    aval: Any

    def accum(self, x: Any) -> None:
        """Adds a cotangent; a `Zero` adds nothing."""
        raise NotImplementedError(f"{type(self).__name__} must implement `accum`")

    def freeze(self) -> Any:
        """The sum: a value, or a `Zero`."""
        raise NotImplementedError(f"{type(self).__name__} must implement `freeze`")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.aval.str_short()})"


class ValAccum(GradAccum):
    """Collects a cotangent as a value.

    Args:
      aval: the type of the cotangent.
      val: what it is at first; None for zero.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.experimental import hijax
      >>> total = hijax.ValAccum(olympus.typeof(onp.ones(2)))
      >>> total.accum(onp.ones(2)), total.accum(onp.ones(2))
      (None, None)
      >>> total.freeze()
      Array([2., 2.], dtype=float32)
    """

    def __init__(self, aval: Any, val: Any = None) -> None:
        self.aval = hi_types.canonical(aval)
        self.val: Any = Zero(self.aval) if val is None else val

    def accum(self, x: Any) -> None:
        if type(x) is Zero:
            return
        check_cotangent("accum", x, self.aval)
        self.val = families.add_tangents(self.val, x)

    def freeze(self) -> Any:
        return self.val


class NullAccum(GradAccum):
    """Drops cotangents that nobody needs.

    Args:
      aval: the type of the cotangent.
    """

    def __init__(self, aval: Any) -> None:
        self.aval = hi_types.canonical(aval)

    def accum(self, x: Any) -> None:
        pass

    def freeze(self) -> Any:
        raise ValueError(
            "NullAccum.freeze: the cotangent is not needed, so none was kept; use a "
            "ValAccum"
        )


class RefAccum(GradAccum):
    """Adds cotangents of arrays to a ref.

    Args:
      aval: the type of the cotangent.
      ref: the ref; None for a new one of zeros, made by the first cotangent.
    """

    def __init__(self, aval: Any, ref: Any = None) -> None:
        self.aval = aval
        self.ref = ref

    def accum(self, x: Any) -> None:
        if type(x) is Zero:
            return
        check_cotangent("accum", x, self.aval)
        self.inst()
        self.ref.addupdate(x)

    def freeze(self) -> Any:
        """What the ref holds."""
        return Zero(self.aval) if self.ref is None else refs.read_all(self.ref)

    def inst(self) -> RefAccum:
        """This accumulator, with a ref."""
        if self.ref is None:
            self.ref = _new_ref(families.instantiate(Zero(self.aval)))
        return self


def check_cotangent(what: str, x: Any, expected: Any) -> None:
    """Raises ValueError where a cotangent is of another type."""
    got = avals_.aval_of(x)
    if got is expected or refs.is_ref_type(got):
        return
    alike = not got.is_high and not expected.is_high and got.shape == expected.shape
    if not alike or got.dtype != expected.dtype:
        raise ValueError(
            f"{what}: Expected cotangent type {expected.str_short()} but got "
            f"{got.str_short()}; a cotangent has the type of the value's tangents"
        )


# -- of an operation -------------------------------------------------------------------


def for_arguments(prim: Any, nonzero: Any) -> list[GradAccum]:
    """An accumulator for each operand; one that drops where none is needed."""
    return [
        ValAccum(aval.to_cotangent()) if flag else NullAccum(aval.to_cotangent())
        for aval, flag in zip(prim.in_avals_flat, nonzero, strict=True)
    ]


def accumulate(prim: Any, cts: Any, accums: Any) -> None:
    """Adds what `vjp_bwd_retval` returned."""
    leaves = tree.tree_leaves(accums)
    flat = flatten_cotangents(prim, cts)
    for accum, ct in zip(leaves, flat, strict=True):
        if ct is not None:
            accum.accum(ct)


def flatten_cotangents(prim: Any, cts: Any) -> list[Any]:
    """Cotangents in a tuple, one for each operand; None where a whole one is zero."""
    name = type(prim).__name__
    n = len(prim.in_avals)
    if not isinstance(cts, tuple) or len(cts) != n:
        got = f"{len(cts)} values" if isinstance(cts, tuple) else f"{cts!r}"
        raise ValueError(
            f"{name}.vjp_bwd_retval: it must return a tuple of {n} cotangents, one for "
            f"each argument, got {got}; return (ct,) for one argument, and None for a "
            "cotangent that is zero"
        )
    flat: list[Any] = []
    for ct, structure in zip(cts, prim.in_tree.children(), strict=True):
        if ct is None:
            flat += [None] * structure.num_leaves
            continue
        try:
            flat += structure.flatten_up_to(ct)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name}.vjp_bwd_retval: a cotangent must have the structure of its "
                f"argument, {structure}: {error}"
            ) from None
    return flat
