"""Python functions as parameters of primitives, for operations with rules of users.

While values are computed such an operation carries the user's function itself, and each
interpreter calls it, or makes a transformed function of it for the interpreter below.
A trace that records a program turns it into a program once (`stage`), and from there on
the operation carries that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, primitive, trace
from olympus._src.core import effects as effects_
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.foundation import errors, source_info
from olympus._src.interpreters import (
    ad,
    batching,
    concrete_arrays,
    evaluate,
    partial_eval,
)
from olympus._src.interpreters import discharge as discharging
from olympus._src.interpreters.discharge import Context
from olympus._src.lax import families, manual_axes
from olympus._src.programs import inner_programs

current = trace.current


class Function:
    """A function of flat values, shown by the name of the user's function.

    It has no hash, so that no cache keeps it, or the values it closes over, alive.

    Args:
      call: what it does.
      fun: the user's function that it stands for.
    """

    __slots__ = ("call", "fun")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, call: Callable[..., Any], fun: Any) -> None:
        self.call = call
        self.fun = fun

    def __call__(self, *args: Any) -> Any:
        # What it does stands on its own lines, not on that of the operation it is for.
        outer, current.position = current.position, None
        try:
            return self.call(*args)
        finally:
            current.position = outer

    def derived(self, call: Callable[..., Any]) -> Function:
        """Another function that stands for the same one of the user."""
        return Function(call, self.fun)

    def __repr__(self) -> str:
        return source_info.function_name(self.fun)


class FunctionPrimitive(primitive.Primitive):
    """An operation that libraries may apply to wrapped functions, and then values.

    Args:
      name: the printed name.
      enter: makes its operands and parameters of theirs.
      facts: see `Primitive`.
    """

    __slots__ = ("_enter",)

    def __init__(self, name: str, *, enter: Any, **facts: Any) -> None:
        super().__init__(name, file=source_info.defining_file(), **facts)
        self._enter = enter

    def bind(self, *args: Any, **params: Any) -> Any:
        if "subfuns" in params:  # how newer libraries give them
            args = (*params.pop("subfuns"), *args)
        if args and hasattr(args[0], "call_wrapped"):
            args, params = self._enter(args, params)
        return super().bind(*args, **params)


def run(call: Any, args: Sequence[Any]) -> Any:
    """Results of a `Function` or a program, in the current interpreter."""
    if type(call) is ir.ClosedOlympuspr:
        return ir.eval_olympuspr(call.olympuspr, call.consts, *args)
    return call(*args)


def stage(
    p: Any, what: str, trace: Any, args: Sequence[Any], params: dict[str, Any]
) -> Any:
    """The rule `stage` of a primitive with the parameter `call_jaxpr`.

    Args:
      p: the primitive.
      what: the public function, for messages.
      trace: records the equation.
      args: `num_consts` values that the functions close over, then the arguments.
      params: of the application.
    """
    if isinstance(trace, ad.TangentTape):
        # A linear function of tangents: its operations are what will be transposed.
        return run(params["call_jaxpr"], args)
    return record(p, what, trace, args, params)


def is_recorded(trace: Any, params: dict[str, Any]) -> bool:
    """Whether a function is about to be traced to a program."""
    call = params["call_jaxpr"]
    return type(call) is Function and not isinstance(trace, ad.TangentTape)


def record(
    p: Any, what: str, trace: Any, args: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Records an equation with the program of the function; see `stage`."""
    call = params["call_jaxpr"]
    if type(call) is ir.ClosedOlympuspr:
        return trace.record(p, args, params)
    info = ir.DebugInfo(what, describe(call.fun))
    in_avals = [avals_.aval_of(x) for x in args]
    program, consts = partial_eval.trace_to_olympuspr(call, in_avals, info)
    closed = ir.ClosedOlympuspr(ir.hoist_consts(program))
    params = dict(params, call_jaxpr=closed)
    params["num_consts"] += len(consts)
    return trace.record(p, [*consts, *args], params)


# -- rules that do not depend on what the user's rule is for ---------------------------


def abstract(*args: Any, call_jaxpr: Any, **params: Any) -> Any:
    """The rule `abstract`, of the program."""
    return call_jaxpr.out_avals


follow_keys = inner_programs.follow_keys


def effects(*args: Any, call_jaxpr: Any, **params: Any) -> Any:
    """The rule `effects`, of the program."""
    inside = call_jaxpr.effects
    if inside:
        info = call_jaxpr.olympuspr.debug_info
        name = "custom rules" if info is None else info.func_name
        effects_.check_allowed(name, inside, "in_custom_rules")
    return inside


def impl(*args: Any, call_jaxpr: Any, **params: Any) -> Any:
    """The rule `impl`: calls the function."""
    return run(call_jaxpr, args)


def lower(ctx: Any, *operands: str, call_jaxpr: Any, **params: Any) -> Any:
    """The rule `lower`: writes the program's equations in place of the call."""
    return inner_programs.lower_closed(ctx, ctx.block, call_jaxpr, operands)


def discharge(context: Context, args: Any, **params: Any) -> Any:
    """The rule `discharge`: where nothing is differentiated, the program counts."""
    p = context.primitive
    closed = params["call_jaxpr"]
    takes_refs = any(ref is not None for ref in context.refs)
    if context.keeps_rules:
        if takes_refs:
            raise discharging.CustomRuleOnRefs(
                f"{p.name}: a function with a custom rule that is given a ref must not "
                "be differentiated or mapped inside a loop or branch; take the call "
                "out of the loop, or pass it what the ref holds"
            )
        return _bind_without_refs(p, args, params), [None] * len(args)
    if type(closed) is not ir.ClosedOlympuspr:  # functions, where nothing is recorded
        raise errors.InternalError(f"{p.name} holds a function in a program")
    own = [*closed.consts, *args]
    context.check_distinct(p.name, closed.olympuspr)
    without = discharging.discharge(closed.olympuspr, False)
    program = without.closed.olympuspr
    outs = ir.eval_olympuspr(program, (), *without.consts, *own)
    outs, last = without.split(outs)
    n = len(closed.consts)
    return outs, without.last_of(last, len(own))[n:]


def _bind_without_refs(p: Any, args: Any, params: dict[str, Any]) -> list[Any]:
    """Applies an operation whose program has refs of its own; its rules stay."""
    call = params["call_jaxpr"]
    own, consts = inner_programs.absorb(call)
    without = discharging.discharge(own.olympuspr)
    new = [*without.consts, *consts]
    params = dict(params, call_jaxpr=without.closed)
    params["num_consts"] += len(new)
    return p.bind(*new, *args, **params)


def transpose(cts: Any, *args: Any, call_jaxpr: Any, **params: Any) -> Any:
    """The rule `transpose`, of a function that is linear: its operations are
    transposed one by one.
    """
    linear = [type(x) is Linear for x in args]
    nonzero = [type(ct) is not Zero for ct in cts]
    program, in_nonzero = ad.transpose_olympuspr(call_jaxpr.olympuspr, linear, nonzero)
    known = [x for x in args if type(x) is not Linear]
    nonzero_cts = [ct for ct in cts if type(ct) is not Zero]
    in_cts = run(program, [*known, *nonzero_cts])
    return inner_programs.assign_cotangents(args, in_nonzero, in_cts)


# -- vmap ------------------------------------------------------------------------------


class Mapped:
    """Results of a function and of its rules under one mapped axis.

    Whichever runs first settles where the results have the axis; the others follow. In
    a program the rules may run long after the function, and a result that does not
    depend on what is mapped may have a tangent that does, so there each result gets it.

    Args:
      axis: the mapped axis.
      in_dims: where the operands have it.
      force: each result gets it here too.
    """

    __slots__ = ("axis", "dims", "needed")

    def __init__(
        self, axis: Any, in_dims: Sequence[int | None], *, force: bool = False
    ) -> None:
        self.axis = axis
        self.dims: list[int | None] | None = None
        mapped = any(d is not None for d in in_dims)
        self.needed = mapped and (force or evaluate.is_staging())

    def run(
        self, fun: Callable[..., Any], args: Sequence[Any], dims: Sequence[int | None]
    ) -> list[Any]:
        """Runs the function itself."""
        return self.settle(*batching.batch(fun, self.axis, args, dims))

    def settle(self, outs: Sequence[Any], dims: Sequence[int | None]) -> list[Any]:
        """The results with their mapped axes where they were settled to be."""
        if self.dims is None:
            self.dims = [
                0 if d is None and self.needed and not avals_.aval_of(x).is_high else d
                for x, d in zip(outs, dims, strict=True)
            ]
        return [
            with_axis(x, d, out_dim, self.axis.size)
            for x, d, out_dim in zip(outs, dims, self.dims, strict=True)
        ]


def with_axis(x: Any, dim: int | None, target: int | None, size: int) -> Any:
    """A value with its mapped axis at `target`, repeated if it has none."""
    if dim == target:
        return x
    if target is None:
        raise errors.UnexpectedTracerError(
            "vmap: a rule of a function without mapped arguments closes over a "
            "mapped value; pass it to the function as an argument, and handle it in "
            "the rule"
        )
    if dim is None:
        return families.insert_axis(x, target, size)
    return families.move_axis(x, dim, target)


# -- checks that the rules share -------------------------------------------------------


def derive_function(call: Any, new: Callable[..., Any], name: str) -> Function:
    """A function in place of `call`, a `Function` or a program of that name."""
    if type(call) is ir.ClosedOlympuspr:
        return Function(new, Named(name, call.olympuspr.debug_info))
    return call.derived(new)


class Named:
    """A placeholder for a user's function of which only a program is left."""

    __slots__ = ("__name__", "location")

    def __init__(self, name: str, info: Any) -> None:
        self.__name__ = name
        self.location = "" if info is None else info.func_location


def describe(fun: Any) -> str:
    """A user's function, and where it was written, as "f at file:line"."""
    name, place = source_info.function_name(fun), location(fun)
    return f"{name} at {place}" if place else name


def location(fun: Any) -> str:
    """Where a user's function was written, as "file:line"."""
    if type(fun) is Named:
        return fun.location
    return source_info.function_location(fun)


def replace_float0(t: Any) -> Any:
    """A tangent; one that can only be zero, as those of integers, becomes a Zero."""
    if type(t) is Zero:
        return t
    aval = avals_.aval_of(t)
    return Zero(aval) if avals_.is_float0(aval) else t


def literals_as_arrays(values: Sequence[Any]) -> list[Any]:
    """Numbers that a program wrote in place, as arrays: rules of users read shapes."""
    return [
        concrete_arrays.as_array(x) if type(x) in dtypes.python_scalar_dtypes else x
        for x in values
    ]


def check_fixed(what: str, name: str, tangents: Sequence[Any]) -> None:
    """Raises UnexpectedTracerError where a value closed over is differentiated.

    Args:
      what: `custom_jvp` or `custom_vjp`.
      name: the user's function.
      tangents: of the values that it closes over.
    """
    nonzero = [t for t in map(replace_float0, tangents) if type(t) is not Zero]
    if nonzero:
        listed = ", ".join([avals_.aval_of(t).short() for t in nonzero])
        raise errors.UnexpectedTracerError(
            f"{what}: {name} is differentiated with respect to a value that it closes "
            f"over, of type {listed}, but its rule says how it depends on its "
            "arguments only; pass the value as an argument, and handle it in the rule"
        )


def vary_as(what: str, name: str, x: Any, aval: Any) -> Any:
    """What a rule gives for a value, which must vary along manual axes as that does.

    Args:
      what: of the rule, for messages.
      name: the user's function.
      x: the tangent or cotangent, or a Zero.
      aval: the type of the value.

    Raises:
      TypeError: it varies along an axis along which all devices have one value.
    """
    if type(x) is Zero or current.join is None:
        return x
    expected: frozenset[Any] = getattr(aval, "vma", frozenset())
    own = manual_axes.vma_of(x)
    if own <= expected:
        return manual_axes.vary(x, expected)
    axes = ", ".join(map(repr, sorted(own - expected, key=repr)))
    raise TypeError(
        f"{what}: what the rule of {name} gives for a value of type {aval.short()} "
        f"must be the same on all devices along {axes}, as the value is, got "
        f"{avals_.aval_of(x).short()}; sum it in the rule, with lax.psum(..., {axes})"
    )


def check_results(
    what: str, name: str, rule: Function, outs: Sequence[Any], call: Any
) -> None:
    """Raises TypeError where the types of a rule's results are not the function's."""
    avals = [avals_.aval_of(x) for x in outs]
    if len(avals) == len(call.out_avals) and all(
        map(inner_programs.same_type, avals, call.out_avals)
    ):
        return
    listed = ", ".join([a.short() for a in avals])
    expected = ", ".join([a.short() for a in call.out_avals])
    raise TypeError(
        f"{what}: the rule {rule!r} must return the results of {name} first, of types "
        f"({expected}), got ({listed}); compute them as {name} does"
    )
