"""Operations of users on values of any types, with rules that are methods.

`HiPrim` is what users derive from. An instance is one operation on operands of fixed
types; applying it binds `call_hi_primitive`, whose parameter it is. Programs keep that
equation until they are compiled, and then hold what `expand` applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core import hi_types, high_values, ir, trace
from olympus._src.core.primitive import Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Linear
from olympus._src.custom_rules import hi_accumulators, hi_derivatives
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.programs import call_rules

current = trace.current


class HiPrim:
    """An operation that a user defines, on arrays and on values of high types.

    Derive a class from it whose `__init__` sets three attributes and then calls
    `super().__init__()`:

    - `in_avals`: a tuple with the type of each argument, or a tree of types;
    - `out_aval`: the type of the result, or a tree of types;
    - `params`: a dict of what else the operation depends on; each entry becomes an
      attribute.

    and that has the methods that are needed: `expand` computes the result, by
    operations on arrays; `jvp` is for forward mode, `vjp_fwd` and `vjp_bwd_retval` (or
    `vjp_bwd`) for reverse mode, `lin` and `linearized` for `linearize`, `transpose` for
    operations that are linear in operands, `batch` for `vmap`. Classes write
    `lin, linearized = linearize_from_jvp` and the like where one follows from another.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.experimental import hijax
      >>> class Cube(hijax.HiPrim):
      ...     def __init__(self, x):
      ...         self.in_avals, self.out_aval, self.params = (x,), x, {}
      ...         super().__init__()
      ...     def expand(self, x):
      ...         return x ** 3
      ...     def vjp_fwd(self, nzs_in, x):
      ...         return self(x), x
      ...     def vjp_bwd_retval(self, x, ct):
      ...         return (ct * 3 * x ** 2,)
      >>> def cube(x):
      ...     return Cube(olympus.typeof(x))(x)
      >>> olympus.grad(cube)(2.0)
      Array(12., dtype=float32, weak_type=True)
      >>> olympus.make_olympuspr(cube)(2.0)
      { lambda ; a:f32[]. let b:f32[] = Cube a in (b,) }
    """

    in_avals: Any
    out_aval: Any
    params: dict[str, Any]
    in_avals_flat: list[Any]
    out_avals_flat: list[Any]
    in_tree: Any
    out_tree: Any
    effects: ClassVar[frozenset[Any]] = frozenset()
    skip_linearization_on_zero_tangents = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        high_values.note_use()

    def __init__(self) -> None:
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise AttributeError(
                    f"{type(self).__name__}: subclass __init__ should set "
                    f"`self.{name}` before it calls super().__init__()"
                )
        types, self.in_tree = tree.tree_flatten(self.in_avals)
        self.in_avals_flat = [self._type(a, "in_avals") for a in types]
        types, self.out_tree = tree.tree_flatten(self.out_aval)
        self.out_avals_flat = [self._type(a, "out_aval") for a in types]
        if not isinstance(self.in_avals, tuple):
            raise TypeError(
                f"{type(self).__name__}: in_avals must be a tuple with an entry for "
                f"each argument, got {self.in_avals!r}; write (x,) for one argument"
            )
        for name, value in self.params.items():
            setattr(self, name, value)
        self.check(*self.in_avals)

    def _type(self, aval: Any, what: str) -> Any:
        if not isinstance(aval, avals_.AbstractValue):
            raise TypeError(
                f"{type(self).__name__}: {what} must hold types of values, such as "
                f"olympus.typeof(x), got {aval!r} of type {type(aval).__name__}"
            )
        return hi_types.canonical(aval)

    def __call__(self, *args: Any) -> Any:
        """Applies the operation in the current interpreter."""
        if not hasattr(self, "in_tree"):
            raise AttributeError(
                f"{type(self).__name__}: subclass __init__ should call "
                "super().__init__(), after it has set in_avals, out_aval and params"
            )
        leaves, structure = tree.tree_flatten(args)
        if structure != self.in_tree:
            raise TypeError(
                f"{type(self).__name__}: arguments must have the structure of "
                f"in_avals, {self.in_tree}, got {structure}"
            )
        for i, x in enumerate(leaves):
            if not avals_.is_array_like(x):
                path = tree.keystr(tree.tree_flatten_with_path(args)[0][i][0])
                raise TypeError(
                    f"{type(self).__name__}: argument args{path} must be a value of "
                    f"type {self.in_avals_flat[i].short()}, got {x!r} of type "
                    f"{type(x).__name__}; register its class with register_hitype"
                )
        outs = call_hi_primitive_p.bind(*_as_values(leaves), prim=self)
        return self.out_tree.unflatten(outs)

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if type(other) is not type(self) or other.in_tree != self.in_tree:
            return False
        try:
            same = other.params == self.params
        except ValueError:  # arrays among them, which are not compared
            return False
        return same and other.in_avals_flat == self.in_avals_flat

    def __hash__(self) -> int:
        items = tuple(self.params.items())
        return hash((type(self), tuple(self.in_avals_flat), items))

    def __repr__(self) -> str:
        shown = " ".join([f"{k}={v}" for k, v in self.pp_params().items()])
        return f"{type(self).__name__}[{shown}]" if shown else type(self).__name__

    # -- what users write --------------------------------------------------------------

    def check(self, *arg_tys: Any) -> None:
        """Raises TypeError where the operation cannot have operands of these types."""

    def expand(self, *args: Any) -> Any:
        """The result, computed by other operations; high values are users' objects."""
        raise NotImplementedError(f"subclass {type(self)} must implement `expand`")

    def pp_params(self) -> dict[str, Any]:
        """The parameters that a printed program shows."""
        return self.params

    @hi_derivatives.unwritten
    def jvp(self, primals: Any, tangents: Any) -> Any:
        """The result and its tangent; tangents may be `Zero`s.

        Args:
          primals: a tuple of the arguments.
          tangents: a tuple of their tangents.
        """
        raise NotImplementedError(
            f"for jvp support, subclass {type(self)} must implement `jvp`"
        )

    @hi_derivatives.unwritten
    def lin(self, nzs_in: Any, *primals: Any) -> Any:
        """The result, and a tree of what `linearized` needs.

        Args:
          nzs_in: a tuple of flags, whether the tangent of an argument may be nonzero.
          *primals: the arguments.
        """
        raise NotImplementedError(_unwritten_lin(self))

    @hi_derivatives.unwritten
    def linearized(self, residuals: Any, *tangents: Any) -> Any:
        """The tangent of the result, linear in tangents, which may be `Zero`s."""
        raise NotImplementedError(_unwritten_lin(self))

    @hi_derivatives.unwritten
    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> Any:
        """The result, and a tree of what the backward pass needs; see `lin`."""
        raise NotImplementedError(
            f"for grad support, subclass {type(self)} must implement `vjp_fwd`, or "
            "derive its reverse-mode rules from its jvp or lin rules by setting "
            "`vjp_fwd, vjp_bwd_retval = vjp_from_jvp` (or `= vjp_from_lin`)"
        )

    def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Any:
        """A tuple of the arguments' cotangents: `Zero` or None for a zero one."""
        raise NotImplementedError(
            f"for grad support, subclass {type(self)} must implement `vjp_bwd` or "
            "`vjp_bwd_retval`, or derive its reverse-mode rules by setting "
            "`vjp_fwd, vjp_bwd_retval = vjp_from_jvp` (or `= vjp_from_lin`)"
        )

    def vjp_bwd_retval_logs(self, res: Any, outgrad: Any, /) -> Any:
        """The arguments' cotangents, and a dict of what else it tells: nothing."""
        return self.vjp_bwd_retval(res, outgrad), {}

    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> None:
        """Adds the arguments' cotangents to accumulators, one for each argument."""
        cts = self.vjp_bwd_retval(res, outgrad)
        hi_accumulators.accumulate(self, cts, arg_accums)

    def transpose(self, out_ct: Any, *maybe_accums: Any) -> None:
        """Adds cotangents of the operands that the operation is linear in.

        Args:
          out_ct: the cotangent of the result.
          *maybe_accums: for each argument an accumulator, where it is linear; else its
            value.
        """
        raise NotImplementedError(
            f"for transpose support, subclass {type(self)} must implement `transpose`"
        )

    def batch(self, axis_data: Any, args: Any, dims: Any) -> Any:
        """The results for all elements of a mapped axis, and where they have it.

        Args:
          axis_data: the mapped axis, with its `size` and `name`.
          args: a tuple of the arguments.
          dims: for each where it has the mapped axis: an int, a `MappingSpec` for a
            high type, None where it has none.
        """
        raise NotImplementedError(
            f"for vmap support, subclass {type(self)} must implement `batch`"
        )

    def dce(self, used_outs: Any, live_ins: Any) -> Any:
        """What is left of the operation where some results are not used.

        Args:
          used_outs: for each result whether it is used.
          live_ins: for each argument whether it is there.

        Returns:
          Which results, and which arguments, another operation has, and that; None for
          it where nothing is used.
        """
        del live_ins
        used = any(tree.tree_leaves(used_outs))
        return used, used, self if used else None

    def staging(self, trace: Any, source_info: Any, *args: Any) -> Any:
        """What a trace records for an application: by default, an equation."""
        del source_info
        leaves = tree.tree_leaves(args)
        outs = trace.record(call_hi_primitive_p, leaves, {"prim": self})
        return self.out_tree.unflatten(outs)

    def remat(self, trace: Any, *args: Any) -> Any:
        """The operation where `checkpoint` computes it again: by default, itself."""
        del trace
        return self(*args)

    def physicalize(self, ctx: Any, *args: Any) -> Any:
        """The result by operations on arrays of words: by default, as `expand`."""
        del ctx
        return self.expand(*args)


def _as_values(leaves: Sequence[Any]) -> list[Any]:
    """What a user's rule gets: arrays in place of numbers, unless they are recorded."""
    if evaluate.is_staging() or not any(isinstance(x, _NUMBERS) for x in leaves):
        return list(leaves)
    return [
        concrete_arrays.as_array(x) if isinstance(x, _NUMBERS) else x for x in leaves
    ]


_NUMBERS = (bool, int, float, complex, np.generic)


def _unwritten_lin(prim: HiPrim) -> str:
    return (
        f"for linearize support, subclass {type(prim)} must implement `lin` and "
        "`linearized`, or derive them from its `jvp` rule by setting "
        "`lin, linearized = linearize_from_jvp`"
    )


# -- rules -----------------------------------------------------------------------------


def _abstract(*avals: Any, prim: HiPrim) -> Any:
    del avals
    return prim.out_avals_flat


def _effects(*avals: Any, prim: HiPrim) -> Any:
    del avals
    return frozenset(prim.effects)


def _expand(*args: Any, prim: HiPrim) -> list[Any]:
    """The rules `impl` and `to_low`."""
    out = prim.expand(*prim.in_tree.unflatten(args))
    outs, structure = tree.tree_flatten(out)
    if structure != prim.out_tree:
        raise TypeError(
            f"{type(prim).__name__}.expand: it must return a result of the structure "
            f"of out_aval, {prim.out_tree}, got {structure}"
        )
    return outs


def _stage(trace_: Any, args: Any, params: Any) -> Any:
    prim = params["prim"]
    if type(prim).staging is HiPrim.staging:
        return trace_.record(call_hi_primitive_p, args, params)
    out = prim.staging(trace_, current.position, *prim.in_tree.unflatten(args))
    return prim.out_tree.flatten_up_to(out)


def _jvp(primals: Any, tangents: Any, *, prim: HiPrim) -> Any:
    unflatten = prim.in_tree.unflatten
    pair = prim.jvp(unflatten(primals), unflatten(tangents))
    out, tangent = hi_derivatives.check_pair(prim, "jvp", pair, "its tangent")
    outs = hi_derivatives.results(prim, "jvp", out)
    return outs, hi_derivatives.tangents(prim, "jvp", tangent)


def _linearize(primals: Any, tangents: Any, *, prim: HiPrim) -> Any:
    nonzero = call_rules.nonzero_flags(tangents)
    has_own_vjp = hi_derivatives.is_written(
        prim, "vjp_fwd"
    ) and not hi_derivatives.is_derived_vjp(type(prim))
    if has_own_vjp and not current.pushes_forward:
        return _linearize_by_vjp(prim, nonzero, primals, tangents)
    if not current.pushes_forward and not hi_derivatives.is_linearizable(prim):
        prim.vjp_fwd(*_unflatten_call(prim, nonzero, primals))  # raises its error
    outs, linear = hi_derivatives.linearize(prim, nonzero, primals)
    slopes = call_rules.nonzero_values(tangents)
    return outs, lambda: linear.apply(slopes)


def _unflatten_call(prim: HiPrim, nonzero: Any, primals: Any) -> tuple[Any, ...]:
    """What rules of reverse mode take: flags, and the arguments."""
    return prim.in_tree.unflatten(nonzero), *prim.in_tree.unflatten(primals)


def _linearize_by_vjp(prim: HiPrim, nonzero: Any, primals: Any, tangents: Any) -> Any:
    pair = prim.vjp_fwd(*_unflatten_call(prim, nonzero, primals))
    out, res = hi_derivatives.check_pair(prim, "vjp_fwd", pair, "residuals")
    outs = hi_derivatives.results(prim, "vjp_fwd", out)
    leaves, res_tree = tree.tree_flatten(res)
    slopes = call_rules.nonzero_values(tangents)

    def apply() -> list[Any]:
        return hi_pullback_p.bind(
            *leaves, *slopes, prim=prim, nonzero=nonzero, res_tree=res_tree
        )

    return outs, apply


def _transpose(cts: Any, *args: Any, prim: HiPrim) -> Any:
    accums = [
        hi_accumulators.ValAccum(_cotangent_type(x.aval)) if type(x) is Linear else x
        for x in args
    ]
    out_ct = prim.out_tree.unflatten(_as_values(cts))
    prim.transpose(out_ct, *prim.in_tree.unflatten(accums))
    return [
        accum.freeze() if type(x) is Linear else None
        for x, accum in zip(args, accums, strict=True)
    ]


def _cotangent_type(aval: Any) -> Any:
    """The type of cotangents of a tangent."""
    return aval.to_cotangent() if hasattr(aval, "to_cotangent") else aval


def _batch(axis: Any, args: Any, dims: Any, *, prim: HiPrim) -> Any:
    if all(d is None for d in dims):
        return call_hi_primitive_p.bind(*args, prim=prim), [None] * len(
            prim.out_avals_flat
        )
    unflatten = prim.in_tree.unflatten
    pair = prim.batch(axis, unflatten(args), unflatten(dims))
    out, out_dims = hi_derivatives.check_pair(
        prim, "batch", pair, "where it has the mapped axis"
    )
    outs = hi_derivatives.results(prim, "batch", out)
    name = type(prim).__name__
    return outs, tree.broadcast_axes(
        f"{name}.batch", "out_dims", out_dims, prim.out_tree, full_name="the result"
    )


def _dce(used: list[bool], eqn: ir.Eqn) -> Any:
    prim = eqn.params["prim"]
    if type(prim).dce is HiPrim.dce or not any(used):
        if any(used) or eqn.effects:
            return [True] * len(eqn.invars), eqn
        return [False] * len(eqn.invars), None
    live = prim.in_tree.unflatten([True] * len(eqn.invars))
    outs, ins, smaller = prim.dce(prim.out_tree.unflatten(used), live)
    if smaller is None:
        return [False] * len(eqn.invars), None
    outs = tree.broadcast_prefix(outs, prim.out_tree.unflatten(used))
    ins = tree.broadcast_prefix(ins, live)
    new = eqn.replace(
        invars=call_rules.select(list(eqn.invars), ins),
        outvars=call_rules.select(list(eqn.outvars), outs),
        params={"prim": smaller},
    )
    return list(ins), new


def _print(eqn: ir.Eqn) -> Any:
    return list(eqn.params["prim"].pp_params().items())


class _OfUser(Primitive):
    """An operation that programs show by the name of the user's class."""

    __slots__ = ()

    def printed_name(self, eqn: Any) -> str:
        name = type(eqn.params["prim"]).__name__
        return name if self is call_hi_primitive_p else f"{name}.vjp_bwd"


call_hi_primitive_p: Primitive = _OfUser(
    "call_hi_primitive",
    multiple_results=True,
    is_high=True,
    vary=as_abstract_says,
    abstract=_abstract,
    effects=_effects,
    impl=_expand,
    to_low=_expand,
    stage=_stage,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    dce=_dce,
    print=_print,
)


# -- the linear part of `vjp_fwd`, which is only there to be transposed ----------------


def _pullback_abstract(*avals: Any, prim: HiPrim, **params: Any) -> Any:
    return [hi_types.canonical(aval.to_tangent()) for aval in prim.out_avals_flat]


def _refuse_pushforward(*args: Any, prim: HiPrim, **params: Any) -> Any:
    raise NotImplementedError(
        f"{type(prim).__name__}: tangents cannot be pushed through `vjp_fwd`, which is "
        "for reverse mode (grad, vjp, jacrev): write `lin` and `linearized`, or `jvp`"
    )


def _pullback_transpose(
    cts: Any, *args: Any, prim: HiPrim, nonzero: Any, res_tree: Any
) -> Any:
    n = res_tree.num_leaves
    if any(type(x) is Linear for x in args[:n]):
        raise _refuse_pushforward(prim=prim)
    res = res_tree.unflatten(args[:n])
    accums = hi_accumulators.for_arguments(prim, nonzero)
    out_ct = prim.out_tree.unflatten(_as_values(cts))
    prim.vjp_bwd(res, out_ct, *prim.in_tree.unflatten(accums))
    sums = [a.freeze() for a, flag in zip(accums, nonzero, strict=True) if flag]
    linear = args[n:]
    own = [
        ct if type(x) is Linear else None for ct, x in zip(sums, linear, strict=True)
    ]
    return [None] * n + own


hi_pullback_p = _OfUser(
    "hi_pullback",
    multiple_results=True,
    is_high=True,
    vary=as_abstract_says,
    abstract=_pullback_abstract,
    impl=_refuse_pushforward,
    to_low=_refuse_pushforward,
    batch=lambda axis, args, dims, **params: _refuse_pushforward(*args, **params),
    transpose=_pullback_transpose,
    print=_print,
)
