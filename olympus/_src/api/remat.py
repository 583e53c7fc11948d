"""`checkpoint`: derivatives that compute intermediate values again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

from olympus._src import tree
from olympus._src.api import arguments, parameters, signatures, tracing
from olympus._src.core import bindings, ir, trace
from olympus._src.foundation import config, errors, source_info, tracebacks
from olympus._src.interpreters import partial_eval
from olympus._src.programs import inner_programs, parameter_names
from olympus._src.remat import remat as remat_

_WHAT = "checkpoint / remat"


P = ParamSpec("P")
R = TypeVar("R")


def checkpoint(
    fun: Callable[P, R],
    *,
    prevent_cse: bool | Sequence[Any] = True,
    policy: Callable[..., Any] | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Callable[P, R]:
    """The same function, whose derivative computes intermediate values again.

    Differentiating a function keeps, from its run until the gradient is computed, every
    value that a derivative depends on. Of the function returned here only the arguments
    are kept, and what `policy` allows; the rest is computed again when the gradient
    needs it. That takes less memory and more time. `remat` is another name for it.

    Args:
      fun: a function of arrays and pytrees of them.
      prevent_cse: keep the compiler from merging the second computation with the first,
        which would keep the values after all. Where they are always separate, as in the
        body of a `scan`, False lets it optimise more. A tuple with an entry for each
        positional argument (a bool, or a tree of them) sets it for each.
      policy: which intermediate values to keep; see `olympus.checkpoint_policies`.
      static_argnums: positions of arguments that are Python values.
      static_argnames: names of keyword arguments that are Python values.

    Returns:
      A function of the same arguments and results.

    Raises:
      TypeError: `fun` is not callable, `policy` neither a hashable callable nor None,
        or `prevent_cse` neither a bool nor a tuple.
      ValueError: when it is called, if `static_argnums` names no argument.

    Source: Griewank and Walther, "Algorithm 799: revolve" (2000), on what to keep and
      what to compute again.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> @olympus.checkpoint
      ... def f(x):
      ...     return onp.sin(onp.sin(x))
      >>> olympus.ad_checkpoint.print_saved_residuals(f, 2.0)
      f32[] from the argument x
      >>> print(olympus.grad(f)(2.0))
      -0.25563914
    """
    parameters.check_callable("checkpoint", fun)
    if policy is not None and not callable(policy):
        raise TypeError(
            f"checkpoint: policy must be a function or None, got {policy!r}; see "
            "olympus.checkpoint_policies"
        )
    if getattr(policy, "__hash__", None) is None:
        raise TypeError(
            f"checkpoint: policy must be hashable, got {policy!r}; define __hash__ as "
            "well as __eq__ in its class"
        )
    if not isinstance(prevent_cse, (bool, tuple, list)):
        raise TypeError(
            "checkpoint: prevent_cse must be a bool, or a tuple with an entry for each "
            f"argument, got {prevent_cse!r}"
        )
    static = _Static(static_argnums, static_argnames)

    @tracebacks.api_boundary
    def recomputing(*args: Any, **kwargs: Any) -> Any:
        call = static.bind(fun, args, kwargs)
        traced = _cached_trace(fun, call)
        flags = _flags(prevent_cse, call, len(traced.consts))
        operands = [*traced.consts, *call.leaves]
        outs = remat_.bind(
            traced.program,
            operands,
            policy=policy,
            prevent_cse=flags,
        )
        outs = inner_programs.keep_numbers(outs, traced.program, operands)
        return traced.out_tree.unflatten(outs)

    for attribute in ("__module__", "__doc__"):
        setattr(recomputing, attribute, getattr(fun, attribute, None))
    recomputing.__name__ = recomputing.__qualname__ = source_info.function_name(fun)
    recomputing.__wrapped__ = fun  # type: ignore[attr-defined]
    return recomputing


remat = checkpoint


# -- arguments -------------------------------------------------------------------------


class _Static:
    """Which arguments are Python values."""

    __slots__ = ("names", "nums")

    def __init__(self, nums: Any, names: Any) -> None:
        self.nums = parameters.as_positions("checkpoint", nums, "static_argnums")
        self.names = parameters.as_names("checkpoint", names, "static_argnames")

    def bind(self, fun: Any, args: Any, kwargs: Any) -> signatures.Call:
        """Splits a call's arguments into static ones and leaves."""
        chosen = self._positions(fun, len(args))
        static_args = tuple([(i, args[i]) for i in chosen])
        static_kwargs = tuple([(k, v) for k, v in kwargs.items() if k in self.names])
        args = tuple([x for i, x in enumerate(args) if i not in chosen])
        kwargs = {k: v for k, v in kwargs.items() if k not in self.names}
        leaves, structure = tree.tree_flatten((args, kwargs))
        call = signatures.Call(fun, static_args, static_kwargs, leaves, structure)
        call.avals = [arguments.argument_aval(x, call, i) for i, x in enumerate(leaves)]
        return call

    def _positions(self, fun: Any, count: int) -> list[int]:
        def refuse(i: int) -> Exception:
            return ValueError(
                f"checkpoint: static_argnums must name positional arguments, got {i} "
                f"in a call of {source_info.function_name(fun)} with {count} of them"
            )

        positions = set(parameters.count_from_start(self.nums, count, refuse))
        if self.names:
            names = parameter_names.parameter_names(fun, count)
            positions.update(i for i, name in enumerate(names) if name in self.names)
        return sorted(positions)


def _flags(prevent_cse: Any, call: signatures.Call, n_consts: int) -> Any:
    """`prevent_cse` for each operand."""
    if isinstance(prevent_cse, bool):
        return prevent_cse
    args, kwargs = call.structure.unflatten(call.leaves)
    flags = tree.broadcast_prefix(
        (tuple(prevent_cse), True), (args, kwargs), what="checkpoint prevent_cse"
    )
    return (*[True] * n_consts, *map(bool, flags))


# -- tracing ---------------------------------------------------------------------------


class _Traced:
    """A function as a program whose constants come first among its inputs."""

    __slots__ = ("consts", "out_tree", "program")

    def __init__(self, program: Any, consts: list[Any], out_tree: Any) -> None:
        self.program = program
        self.consts = consts
        self.out_tree = out_tree


_programs = bindings.Remembered(512, "checkpointed functions")


def _cached_trace(fun: Any, call: signatures.Call) -> _Traced:
    """The program of a call; calls of one function object share one.

    Calls that share a program share everything derived from it, and the compiler is
    given its text once. Functions that close over arrays are traced at each call.
    """
    key = (call.key(), config.trace_context(), trace.current.axis_context())
    inner_programs = _programs.programs_of(fun)
    try:
        traced: _Traced | None = inner_programs.get(key)
    except TypeError:  # a static argument that has no hash
        return _trace(fun, call)
    if traced is None:
        traced = _trace(fun, call)
        if not traced.consts:  # arrays must not live as long as the cache
            inner_programs.keep(key, traced)
    return traced


def _trace(fun: Any, call: signatures.Call) -> _Traced:
    info = call.debug_info(_WHAT)
    run, results = tracing.flat_function(fun, call, info)
    try:
        program, consts = partial_eval.trace_to_olympuspr(run, call.avals, info)
    except _CONVERSIONS as error:
        error.args = (f"{error}\n{_CURE}", *error.args[1:])
        raise
    return _Traced(ir.hoist_consts(program), consts, results.tree)


_CONVERSIONS = (
    errors.ConcretizationTypeError,
    errors.TracerArrayConversionError,
    errors.TracerIntegerConversionError,
)
_CURE = (
    "Arguments of a checkpointed function are traced; give those that are Python "
    "values by static_argnums or static_argnames of olympus.checkpoint."
)
