"""`export`: a jitted function as a program that leaves the process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import reverse_mode, shapes
from olympus._src.api.jit import jit
from olympus._src.core import ir, trace
from olympus._src.export import (
    calling,
    checks,
    divisions,
    outlining,
    portable_modules,
)
from olympus._src.export.checks import DisabledSafetyCheck
from olympus._src.export.exported import (
    Exported,
    maximum_supported_calling_convention_version,
    minimum_supported_calling_convention_version,
)
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.foundation import lazy_names, tracebacks
from olympus._src.interpreters import concrete_arrays, portable
from olympus._src.lowering import dimension_variables
from olympus._src.sharding.division import Division


def default_export_platform() -> str:
    """The default platform that programs are exported for.

    Returns:
      The default device's: 'cpu', 'cuda', 'rocm' or 'tpu'.

    Example:
      >>> from olympus import export
      >>> export.default_export_platform() in ("cpu", "cuda", "rocm", "tpu")
      True
    """
    return concrete_arrays.default_platform()


def export(
    fun_jit: Callable[..., Any],
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[DisabledSafetyCheck] = (),
    _override_lowering_rules: Sequence[tuple[Any, Any]] | None = None,
) -> Callable[..., Exported]:
    """Turns a jitted function into a program to store and call elsewhere.

    Args:
      fun_jit: what `olympus.jit` returned.
      platforms: the platforms to lower for: 'cpu', 'cuda', 'rocm', 'tpu'; they need not
        be available. None for the default device's.
      disabled_checks: checks that are left out.

    Returns:
      A function that takes the function's arguments, arrays or `ShapeDtypeStruct`s, and
      returns an `Exported`.

    Raises:
      ValueError: `fun_jit` is not jitted, or calls kernels without a guarantee.
      NotImplementedError: it calls back to Python.

    Example:
      >>> import numpy as np
      >>> import olympus
      >>> from olympus import export
      >>> f = olympus.jit(lambda x: 2 * x + 1)
      >>> data = export.export(f)(olympus.ShapeDtypeStruct((3,), "float32")).serialize()
      >>> export.deserialize(data).call(np.arange(3, dtype="float32"))
      Array([1., 3., 5.], dtype=float32)
    """
    jitted: Any = fun_jit
    has_stages = hasattr(jitted, "trace") and hasattr(jitted, "lower")
    if not has_stages or not lazy_names.is_stage_of(jitted.trace, jitted):
        raise ValueError(
            f"export: the function to be exported must be the result of `jit`, got "
            f"{fun_jit!r}; write export(olympus.jit(f))(...)"
        )
    if _override_lowering_rules:
        raise NotImplementedError(
            "export: lowering rules cannot be replaced for one export; give the "
            "operation the rule itself"
        )
    names = _platforms(platforms)
    disabled = _disabled_checks(disabled_checks)

    @tracebacks.api_boundary
    def of_arguments(*args: Any, **kwargs: Any) -> Exported:
        return _export_traced(jitted.trace(*args, **kwargs), names, disabled)

    return of_arguments


def _platforms(platforms: Sequence[str] | None) -> tuple[str, ...]:
    choices = (
        () if platforms is None or isinstance(platforms, str) else tuple(platforms)
    )
    if isinstance(platforms, str) or not all(isinstance(p, str) for p in choices):
        raise TypeError(
            "export: platforms must be a sequence of names, as in ('cpu', 'cuda'), got "
            f"{platforms!r}"
        )
    names = choices or (default_export_platform(),)
    if "gpu" in names:
        raise ValueError(
            "export: platforms must be given by exact names, got 'gpu'; use 'cuda' or "
            "'rocm', or both"
        )
    if len(set(names)) < len(names):
        raise ValueError(f"export: platforms must differ, got {names}; name each once")
    return names


def _disabled_checks(checks_off: Sequence[Any]) -> tuple[DisabledSafetyCheck, ...]:
    disabled_checks = tuple(checks_off)
    for check in disabled_checks:
        if not isinstance(check, DisabledSafetyCheck):
            raise TypeError(
                "export: disabled_checks must be DisabledSafetyChecks, got "
                f"{check!r}; make one by DisabledSafetyCheck.platform() or "
                ".custom_call(name)"
            )
    return disabled_checks


def _calling_convention() -> int:
    version = compiler.export_calling_convention_version.value
    low = minimum_supported_calling_convention_version
    high = maximum_supported_calling_convention_version
    if not low <= version <= high:
        raise ValueError(
            f"export: olympus_export_calling_convention_version must be from {low} to "
            f"{high}, got {version}"
        )
    return version


def _export_traced(
    traced: Any, platforms: Sequence[str], disabled: Sequence[DisabledSafetyCheck]
) -> Exported:
    """The program of a traced function; all exports are made here."""
    return _export_divided(traced, platforms, disabled, traced.division())


def _export_divided(
    traced: Any,
    platforms: Sequence[str],
    disabled: Sequence[DisabledSafetyCheck],
    division: Division | None,
) -> Exported:
    """The program of a traced function, divided over devices."""
    version = _calling_convention()
    closed = traced.olympuspr
    division = divisions.abstract(division, closed.olympuspr.in_avals)
    lowered = _lower(traced, platforms, division)
    division = divisions.abstract(lowered.division, closed.olympuspr.in_avals)
    checks.check_custom_calls(portable_modules.custom_calls(lowered.text), disabled)
    in_avals, out_avals = closed.olympuspr.in_avals, closed.out_avals
    in_avals, out_avals = [[_plain(a) for a in row] for row in (in_avals, out_avals)]
    ins: Sequence[Any] = [None] * len(in_avals)
    outs: Sequence[Any] = [None] * len(out_avals)
    if division is not None:
        ins, outs = division.in_shardings, division.out_shardings
    return Exported(
        fun_name=traced.fun_name,
        in_tree=traced.in_tree,
        in_avals=in_avals,
        out_tree=traced.out_tree,
        out_avals=out_avals,
        _in_named_shardings=ins,
        _out_named_shardings=outs,
        in_shardings_hlo=list(map(divisions.to_hlo, ins, in_avals)),
        out_shardings_hlo=list(map(divisions.to_hlo, outs, out_avals)),
        nr_devices=1 if division is None else division.mesh.size,
        platforms=platforms,
        ordered_effects=lowered.effects,
        unordered_effects=_unordered_effects(closed.effects),
        disabled_safety_checks=disabled,
        mlir_module_serialized=portable_modules.to_portable(lowered.text),
        constants=lowered.consts,
        calling_convention_version=version,
        module_kept_var_idx=[i for i, is_kept in enumerate(lowered.kept) if is_kept],
        uses_global_constants=len(platforms) > 1,
        _get_vjp=lambda exported: _export_vjp(exported, closed, division),
    )


def _plain(aval: Any) -> Any:
    """The type without what explicit axes divide, which shardings say."""
    return aval.update(sharding=None)


def _lower(
    traced: Any, platforms: Sequence[str], division: Division | None
) -> portable.PortableProgram:
    """The program as StableHLO; it must not need this process."""
    closed = traced.olympuspr
    for c in closed.consts:
        if isinstance(c, trace.Tracer):
            raise trace.leak_error(c, "export")
    donated = set(traced.donate_argnums)
    program = closed.olympuspr
    if division is None:
        program = outlining.outline(program, platforms[0])
    lowered = portable.lower(
        program,
        closed.consts,
        name=traced.fun_name,
        platforms=platforms,
        donated=[i in donated for i in range(len(tree.tree_leaves(traced.in_avals)))],
        keep_unused=traced.keep_unused,
        result_names=closed.olympuspr.debug_info.result_paths,
        arg_paths=calling.argument_paths(traced.in_avals),
        solve_sizes=dimension_variables.Arguments,
        division=division,
    )
    if lowered.callbacks:
        raise NotImplementedError(
            f"export: {traced.fun_name!r} must not call back to Python, got a program "
            "with callbacks (pure_callback, io_callback, debug.print): they do not "
            "exist in another process; remove them"
        )
    return lowered


def _unordered_effects(effects: Any) -> list[Any]:
    return sorted((e for e in effects if not e.ordered), key=repr)


def _export_vjp(
    exported: Exported, closed: ir.ClosedOlympuspr, division: Division | None
) -> Exported:
    """The program of the reverse derivative of an exported program."""
    n = len(exported.in_avals)

    def fun_vjp(*args_and_cotangents: Any) -> tuple[Any, ...]:
        _, pullback = reverse_mode.vjp(
            lambda *args: ir.eval_olympuspr(closed.olympuspr, closed.consts, *args),
            *args_and_cotangents[:n],
        )
        return tuple(pullback(list(args_and_cotangents[n:])))

    fun_vjp.__name__ = f"{exported.fun_name}_vjp"
    in_avals = closed.olympuspr.in_avals
    vjp_avals = [*in_avals, *[a.to_cotangent() for a in closed.out_avals]]
    structs = [shapes.struct_of(a) for a in vjp_avals]
    traced = jit(fun_vjp, keep_unused=False).trace(*structs)
    return _export_divided(
        traced,
        exported.platforms,
        exported.disabled_safety_checks,
        divisions.of_derivative(division),
    )
