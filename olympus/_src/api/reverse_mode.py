"""`vjp`, `linear_transpose`, `fwd_and_bwd`: derivatives that pull cotangents back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import (
    accumulation,
    derivative_checks,
    forward_mode,
    parameters,
)
from olympus._src.api import differentiation as common
from olympus._src.api import jit as jit_
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir
from olympus._src.core.array_type import PyTree
from olympus._src.foundation import source_info, tracebacks
from olympus._src.interpreters import ad, discharge, partial_eval

# -- vjp -------------------------------------------------------------------------------


class NotNeeded:
    """In `VJP.args_res`: an argument that the backward pass does not use."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NotNeeded()"


class NotSaveable:
    """In `VJP.args_res`: an argument that is needed but was not kept.

    It must be put back before the backward pass.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "NotSaveable()"


tree.register_pytree_node(NotNeeded, lambda x: ((), None), lambda _, __: NotNeeded())
tree.register_pytree_node(
    NotSaveable, lambda x: ((), None), lambda _, __: NotSaveable()
)


class Backward:
    """What a backward pass does, without the values that it uses.

    Attributes:
      fun: the function that was differentiated, for messages.
      program: the linear program of tangents.
      outs: for each result a Zero, or None where the program has an output for it.
      out_avals: types of the results' cotangents.
      sources: for each constant of the program the argument it is, or None.
      in_tree, out_tree: structures of the arguments and of the result.
    """

    __slots__ = (
        "fun",
        "in_tree",
        "out_avals",
        "out_tree",
        "outs",
        "program",
        "sources",
    )

    def __init__(
        self,
        fun: Any,
        linear: ad.LinearProgram,
        sources: Sequence[int | None],
        out_avals: Sequence[Any],
        in_tree: Any,
        out_tree: Any,
    ) -> None:
        self.fun = fun
        self.program = linear.program
        self.outs = linear.outs
        self.sources = sources
        self.out_avals = out_avals
        self.in_tree = in_tree
        self.out_tree = out_tree

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Backward):
            return NotImplemented
        return (
            self.in_tree == other.in_tree
            and self.out_tree == other.out_tree
            and self.sources == other.sources
            and self.out_avals == other.out_avals
            and common.linear_alike(self, other)
        )

    def __hash__(self) -> int:
        return hash((self.in_tree, self.out_tree, len(self.program.eqns)))

    def run(self, consts: Sequence[Any], cotangent: Any) -> Any:
        """The arguments' cotangents, in their structure."""
        flat = self.flatten(cotangent)
        linear = ad.LinearProgram(self.program, list(consts), self.outs)
        return self.in_tree.unflatten(map(common.as_result, linear.transpose(flat)))

    def flatten(self, cotangent: Any) -> list[Any]:
        """The leaves of the result's cotangent, checked."""
        flat, ct_structure = tree.tree_flatten(cotangent)
        if ct_structure != self.out_tree:
            result = f"the result of {source_info.function_name(self.fun)}"
            raise ValueError(
                derivative_checks.mismatch(
                    "vjp", result, "the cotangent", self.out_tree, cotangent
                )
            )
        derivative_checks.check_types(
            flat, self.out_avals, self._complain, any_for_float0=True
        )
        return flat

    def _complain(self, i: int, expected: Any, actual: Any) -> Exception:
        path = parameters.leaf_path(self.out_tree, i)
        return ValueError(
            f"vjp: the cotangent{path} must be {expected.short()}, as the result{path} "
            f"of {source_info.function_name(self.fun)} is, got {actual.short()}"
        )


class VJP:
    """The derivative's transpose at one point, as `vjp` returns it.

    It is a function of the result's cotangent, and a pytree whose leaves are the values
    that the forward pass kept; so it can be passed in and out of jitted functions.

    Attributes:
      args_res: for each leaf of the arguments its value, `NotNeeded()` where the
        backward pass does not use it, or `NotSaveable()`.
      opaque_residuals: the other values kept.
      out_nzs: for each leaf of the result, whether it depends on the arguments.
    """

    __slots__ = ("args_res", "backward", "opaque_residuals")

    def __init__(
        self, backward: Backward, args_res: list[Any], opaque_residuals: list[Any]
    ) -> None:
        self.backward = backward
        self.args_res = args_res
        self.opaque_residuals = opaque_residuals

    def __call__(self, *cotangent: Any) -> Any:
        try:
            return self._pull(cotangent)
        except Exception as error:
            tracebacks.hide(error)
            raise

    def _pull(self, cotangents: Any) -> Any:
        name = source_info.function_name(self.backward.fun)
        if len(cotangents) != 1:
            raise TypeError(
                f"vjp: the pullback of {name} takes one argument, a cotangent in the "
                f"structure of the result {self.backward.out_tree}, got "
                f"{len(cotangents)} arguments; for a tuple of results pass a tuple"
            )
        missing = [
            parameters.argument_path(self.backward.fun, self.backward.in_tree, i)
            for i in sorted({i for i in self.backward.sources if i is not None})
            if isinstance(self.args_res[i], NotSaveable)
        ]
        if missing:
            raise ValueError(
                f"vjp: the pullback of {name} needs the arguments that were not saved, "
                f"{', '.join(missing)}; put them back in args_res before the call"
            )
        opaque = iter(self.opaque_residuals)
        consts = [
            next(opaque) if i is None else self.args_res[i]
            for i in self.backward.sources
        ]
        return self.backward.run(consts, cotangents[0])

    def with_refs(self, *targets: Any) -> accumulation.RefPullback:
        """The pullback that adds cotangents to refs in place of returning them.

        Args:
          *targets: in the structure of the arguments; each leaf a ref of the shape and
            dtype of the leaf's cotangent, `ad.GradValue()` for a cotangent that is
            returned, or `ad.DontWant()` for one that is not needed.

        Returns:
          A function of the result's cotangent, a pytree as this one is. It returns a
          tuple in the structure of the arguments: `ad.GradRef()` where a cotangent was
          added, the cotangent, or `ad.DidntWant()`.

        Raises:
          ValueError: the structure, a shape or a dtype does not agree.
          TypeError: a target is something else.

        Example:
          >>> import olympus
          >>> total = olympus.new_ref(1.0)
          >>> value, pullback = olympus.vjp(olympus.numpy.square, 3.0)
          >>> pullback.with_refs(total)(1.0), total[...].item()
          ((GradRef(),), 7.0)
        """
        return accumulation.pull_to_refs(
            self,
            self.backward.fun,
            self.backward.in_tree,
            self.backward.program.in_avals,
            targets,
        )

    def replace(self, **changes: Any) -> VJP:
        """The same with `args_res` or `opaque_residuals` replaced."""
        args_res = changes.pop("args_res", self.args_res)
        opaque = changes.pop("opaque_residuals", self.opaque_residuals)
        if changes:
            raise TypeError(
                "VJP.replace: only args_res and opaque_residuals can be replaced, got "
                f"{min(changes)}"
            )
        return VJP(self.backward, list(args_res), list(opaque))

    @property
    def in_tree(self) -> Any:
        """Structure of the tuple of arguments."""
        return self.backward.in_tree

    @property
    def out_tree(self) -> Any:
        """Structure of the result."""
        return self.backward.out_tree

    @property
    def out_nzs(self) -> tuple[bool, ...]:
        """For each leaf of the result, whether it depends on the arguments."""
        return tuple([o is None for o in self.backward.outs])

    @property
    def olympuspr(self) -> ir.Olympuspr:
        """The linear program that is transposed."""
        return self.backward.program

    @property
    def jaxpr(self) -> ir.Olympuspr:
        """The same, under the name that JAX gives it."""
        return self.olympuspr

    def __repr__(self) -> str:
        name = source_info.function_name(self.backward.fun)
        return (
            f"VJP({name}, args_res={self.args_res}, "
            f"opaque_residuals={self.opaque_residuals})"
        )


def _unflatten_vjp(backward: Backward, children: Iterable[Any]) -> VJP:
    args_res, opaque_residuals = children
    return VJP(backward, args_res, opaque_residuals)


tree.register_pytree_node(
    VJP, lambda f: ((f.args_res, f.opaque_residuals), f.backward), _unflatten_vjp
)


@tracebacks.api_boundary
def vjp(
    fun: Callable[..., Any],
    *primals: PyTree,
    has_aux: bool = False,
    reduce_axes: Sequence[Any] = (),
    saveable_args: PyTree = True,
    in_nzs: Any = None,
) -> tuple[Any, ...]:
    """The value of a function at a point, and its pullback there.

    Args:
      fun: a function of arrays and pytrees of them.
      *primals: its arguments; integers and booleans are accepted.
      has_aux: `fun` returns a pair, of which the second is passed through.
      reduce_axes: no longer supported.
      saveable_args: a bool for each argument, or nested tuples of bools: whether the
        transpose may keep it. Those that it may not keep but needs must be put back
        in its `args_res` before it is called.
      in_nzs: a bool for each argument, or nested tuples of bools: whether its cotangent
        is computed; the others are zero. None computes all.

    Returns:
      The result, and a function from its cotangent (same structure, shapes and dtypes)
      to a tuple of the arguments' cotangents; with `has_aux` also the auxiliary value.
      Cotangents of integers have dtype `float0`.

    Raises:
      TypeError: `fun` is not callable, or returns what is not an array.

    Source: Griewank and Walther, Evaluating Derivatives, chapter 3.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> value, pullback = olympus.vjp(onp.multiply, 2.0, 3.0)
      >>> print(value, *pullback(1.0))
      6.0 3.0 2.0
    """
    parameters.check_callable("vjp", fun)
    derivative_checks.check_reduce_axes("vjp", reduce_axes)
    leaves, structure = tree.tree_flatten(primals)
    nonzero = forward_mode.flags("vjp", "in_nzs", in_nzs, primals, structure)
    saveable = forward_mode.flags(
        "vjp", "saveable_args", saveable_args, primals, structure
    )
    out, pullback, aux = differentiate(fun, leaves, structure, has_aux, nonzero)
    if not all(saveable):
        pullback.args_res = [
            x if s or isinstance(x, NotNeeded) else NotSaveable()
            for x, s in zip(pullback.args_res, saveable, strict=True)
        ]
    return (out, pullback, aux) if has_aux else (out, pullback)


def differentiate(
    fun: Any, leaves: Any, structure: Any, has_aux: bool, nonzero: Any = None
) -> tuple[Any, VJP, Any]:
    """The result of a function, its derivative's transpose, and the auxiliary value."""
    leaves, outs, linear, out_info = common.linearize_leaves(
        "vjp", fun, leaves, structure, has_aux, nonzero
    )
    out_avals = [avals_.aval_of(x).to_tangent() for x in outs]
    position = {id(x): i for i, x in enumerate(leaves)}
    sources = [position.get(id(c)) for c in linear.consts]
    args_res: list[Any] = [NotNeeded() for _ in leaves]
    for i in sources:
        if i is not None:
            args_res[i] = leaves[i]
    opaque = [c for c, i in zip(linear.consts, sources, strict=True) if i is None]
    record = Backward(fun, linear, sources, out_avals, structure, out_info.structure)
    value = out_info.structure.unflatten(map(common.as_result, outs))
    return value, VJP(record, args_res, opaque), out_info.aux


def fwd_and_bwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    jitted: bool = True,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The forward and the backward pass of a function, as two functions.

    Each is compiled once, also where they are not part of one jitted function.

    Args:
      fun: a function of arrays and pytrees of them.
      argnums: the argument or arguments to differentiate with respect to.
      has_aux: `fun` returns a pair of its result and an auxiliary value.
      jitted: compile both; else they run operation by operation.

    Returns:
      `fwd(*args)`, which returns the result and what to keep, with `has_aux` also the
      auxiliary value; and `bwd(kept, cotangent)`, which returns the cotangent of the
      chosen argument, or a tuple of them for several.

    Raises:
      TypeError: `fun` is not callable, `argnums` is not an int or sequence of ints.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> fwd, bwd = olympus.fwd_and_bwd(onp.multiply, argnums=(0, 1))
      >>> value, kept = fwd(2.0, 3.0)
      >>> print(value, *bwd(kept, 1.0))
      6.0 3.0 2.0
    """
    parameters.check_callable("fwd_and_bwd", fun)
    positions = parameters.as_argnums("fwd_and_bwd", argnums)
    single = hasattr(argnums, "__index__")

    @tracebacks.api_boundary
    def fwd(*args: Any) -> Any:
        chosen = parameters.resolve_positions(
            "fwd_and_bwd", fun, positions, len(args), ValueError
        )
        call = common.of_chosen(fun, args, {}, chosen)
        call.__name__, call.__wrapped__ = source_info.function_name(fun), fun
        return vjp(call, *[args[i] for i in chosen], has_aux=has_aux)

    @tracebacks.api_boundary
    def bwd(f_vjp: VJP, cotangent: Any) -> Any:
        if not isinstance(f_vjp, VJP):
            raise TypeError(
                f"bwd: the first argument must be what fwd kept, got {type(f_vjp)}; "
                "call bwd(kept, cotangent)"
            )
        arg_cts = f_vjp(cotangent)
        return arg_cts[0] if single else arg_cts

    return (jit_.jit(fwd), jit_.jit(bwd)) if jitted else (fwd, bwd)


# -- transposes of linear functions ----------------------------------------------------


@tracebacks.api_boundary
def linear_transpose(
    fun: Callable[..., Any], *primals: PyTree, reduce_axes: Sequence[Any] = ()
) -> Callable[..., Any]:
    """The transpose of a linear function.

    The function is traced but not evaluated, so it must be linear in its arguments as
    a program: operations on them need a transpose. Constants that it adds have no
    effect.

    Args:
      fun: the linear function, of floats and complex numbers or of integers alone.
      *primals: the types of its arguments: arrays, or anything with a shape and dtype.
      reduce_axes: no longer supported.

    Returns:
      A function from a value of the type of `fun(*primals)` to a tuple of values of the
      types of `primals`.

    Raises:
      TypeError: dtypes that have no transpose.
      NotImplementedError: when the transpose is applied, for an operation without one.

    Example:
      >>> import olympus
      >>> scalar = olympus.ShapeDtypeStruct((), "float32")
      >>> transposed = olympus.linear_transpose(lambda x, y: 2 * x - y, scalar, scalar)
      >>> print(*transposed(1.0))
      2.0 -1.0
    """
    parameters.check_callable("linear_transpose", fun)
    derivative_checks.check_reduce_axes("linear_transpose", reduce_axes)
    leaves, in_tree = tree.tree_flatten(primals)
    in_avals = [_type_of(x) for x in leaves]
    flat, out_info = common.on_leaves("linear_transpose", fun, fun, in_tree, False)
    info = ir.DebugInfo.of("linear_transpose", fun)
    program, consts = partial_eval.trace_to_olympuspr(flat, in_avals, info)
    program, consts = discharge.of_arrays("linear_transpose", program, consts, True)
    _check_linear_dtypes(fun, in_avals, program.out_avals)
    name = source_info.function_name(fun)
    out_tree = out_info.structure

    def complain(i: int, expected: Any, actual: Any) -> Exception:
        path = parameters.leaf_path(out_tree, i)
        return TypeError(
            f"linear_transpose: the cotangent{path} must be {expected.short()}, as the "
            f"result{path} of {name} is, got {actual.short()}"
        )

    @tracebacks.api_boundary
    def transposed(cotangent: Any) -> Any:
        flat, ct_structure = tree.tree_flatten(cotangent)
        if ct_structure != out_tree:
            result = f"the result of {name}"
            raise TypeError(
                derivative_checks.mismatch(
                    "linear_transpose", result, "the cotangent", out_tree, cotangent
                )
            )
        derivative_checks.check_types(flat, program.out_avals, complain)
        cts = ad.backward_pass(program, consts, flat)
        return in_tree.unflatten(map(common.as_result, cts))

    return transposed


def _type_of(x: Any) -> Any:
    if avals_.is_array_like(x):
        return avals_.aval_of(x)
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        weak = bool(getattr(x, "weak_type", False))
        return avals_.ShapedArray(x.shape, dtypes.canonicalize_dtype(x.dtype), weak)
    raise TypeError(
        f"linear_transpose: arguments must be arrays or have a shape and a dtype, got "
        f"{x!r} of type {type(x)}; describe one by olympus.ShapeDtypeStruct"
    )


def _check_linear_dtypes(fun: Any, ins: Sequence[Any], outs: Sequence[Any]) -> None:
    for kind in (np.inexact, np.integer):
        if all(dtypes.issubdtype(a.dtype, kind) for a in (*ins, *outs)):
            return
    raise TypeError(
        "linear_transpose: only functions from floating or complex arguments to "
        "floating or complex results, or from integers to integers, have a "
        f"transpose, but {source_info.function_name(fun)} takes "
        f"{', '.join(a.short() for a in ins)} to "
        f"{', '.join(a.short() for a in outs)}; convert its arguments"
    )
