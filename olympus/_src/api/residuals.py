"""What reverse differentiation of a function keeps between its two passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src import tree
from olympus._src.api import arguments, signatures, tracing
from olympus._src.calls.pjit import pjit_p
from olympus._src.core import ir
from olympus._src.core.array_type import PyTree
from olympus._src.core.avals import AbstractValue
from olympus._src.foundation import tracebacks
from olympus._src.interpreters import ad, partial_eval
from olympus._src.lax.checkpoint_names import name_p


@tracebacks.api_boundary
def saved_residuals(
    f: Callable[..., Any], *args: PyTree, **kwargs: PyTree
) -> list[tuple[AbstractValue, str]]:
    """The values that differentiating `f` keeps for the reverse pass.

    Args:
      f: a function of arrays and pytrees of them.
      *args, **kwargs: arguments it is called with.

    Returns:
      For each value its type and, in words, where it comes from. Arguments come first,
      after arrays that `f` closes over.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.ad_checkpoint import saved_residuals
      >>> saved_residuals(olympus.checkpoint(onp.sin), 2.0)
      [(ShapedArray(float32[], weak_type=True), 'from the argument x')]
    """
    call, program = _program_of(f, args, kwargs)
    nonzero = [v.aval.to_tangent() is v.aval for v in program.invars]
    n_consts = len(program.invars) - len(call.leaves)
    nonzero[:n_consts] = [False] * n_consts
    forward, tangent, _ = ad.linearize_olympuspr(program, nonzero)
    residuals = forward.olympuspr.outvars[len(program.outvars) :]
    needed = _used_residuals(tangent.olympuspr, len(residuals))
    residuals = [v for v, n in zip(residuals, needed, strict=True) if n]
    unique = dict.fromkeys(v for v in residuals if type(v) is ir.Var)
    return _describe_residuals(forward.olympuspr, list(unique), n_consts, call.paths())


@tracebacks.api_boundary
def print_saved_residuals(
    f: Callable[..., Any], *args: PyTree, **kwargs: PyTree
) -> None:
    """Prints the values that differentiating `f` keeps for the reverse pass.

    Args: as those of `saved_residuals`.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.ad_checkpoint import print_saved_residuals
      >>> print_saved_residuals(lambda x, y: x * y, 2.0, 3.0)
      f32[] from the argument x
      f32[] from the argument y
    """
    for aval, origin in saved_residuals(f, *args, **kwargs):
        print(f"{aval.short()} {origin}")


def _program_of(f: Any, args: Any, kwargs: Any) -> tuple[signatures.Call, Any]:
    """The call, and its program with constants as first inputs."""
    leaves, structure = tree.tree_flatten((args, kwargs))
    call = signatures.Call(f, (), (), leaves, structure)
    call.avals = [arguments.abstract_argument(x, call, i) for i, x in enumerate(leaves)]
    info = call.debug_info("saved_residuals")

    run, _ = tracing.flat_function(f, call, info)
    program, _ = partial_eval.trace_to_olympuspr(run, call.avals, info)
    return call, ir.hoist_consts(program)


def _used_residuals(tangent: ir.Olympuspr, n: int) -> list[bool]:
    """Which of the first `n` inputs the derivative depends on."""
    _, used = partial_eval.dce_olympuspr(tangent, [True] * len(tangent.outvars))
    return used[:n]


def _describe_residuals(
    program: ir.Olympuspr, variables: list[Any], n_consts: int, paths: list[str]
) -> list[tuple[Any, str]]:
    """Types and origins of values of a program, in the order of computation."""
    residuals = set(variables)
    inputs = program.invars
    consts = program.constvars + inputs[:n_consts]
    origins = [(v.aval, "from a constant") for v in consts if v in residuals]
    for v, path in zip(inputs[n_consts:], paths, strict=True):
        if v in residuals:
            origins.append((v.aval, f"from the argument {path}"))
    for eqn in program.eqns:
        origin = _origin(eqn)
        origins += [(v.aval, origin) for v in eqn.outvars if v in residuals]
    return origins


def _origin(eqn: ir.Eqn) -> str:
    place = f" from {eqn.source}" if eqn.source is not None else ""
    if eqn.primitive is name_p:
        return f"named {eqn.params['name']!r}{place}"
    if eqn.primitive is pjit_p:
        return f"output of jitted function {eqn.params['name']!r}{place}"
    return f"output of {eqn.primitive.name}{place}"
