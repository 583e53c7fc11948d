"""`shard_map`: a program that each device of a mesh runs on its parts of operands."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from olympus._src.calls import shard_map_batching
from olympus._src.core import avals as avals_
from olympus._src.core import effects as effects_
from olympus._src.core import explicit_shardings, ir, trace
from olympus._src.core.primitive import LateRule, Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Linear
from olympus._src.interpreters import ad, discharge
from olympus._src.lax import collectives, elementwise, shaping
from olympus._src.lax.manual_axes import Manual, manual_of, manual_over
from olympus._src.lax.sharding_constraints import find_misfit
from olympus._src.lowering import module as lowering
from olympus._src.lowering import partitioning, types
from olympus._src.programs import call_rules, inner_programs
from olympus._src.sharding import tiling
from olympus._src.sharding.meshes import AbstractMesh, AxisType
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec, axes_of, names_of

# -- types -----------------------------------------------------------------------------


def local_avals(
    avals: Sequence[Any], specs: Sequence[PartitionSpec], manual: Manual
) -> list[Any]:
    """The types of one device's parts of values."""
    return _map_pairs(lambda a, s: _local_aval(a, s, manual), avals, specs)


def _global_avals(
    avals: Sequence[Any], specs: Sequence[PartitionSpec], manual: Manual
) -> list[Any]:
    """The types of values of which the devices have parts of some types."""
    return _map_pairs(lambda a, s: _global_aval(a, s, manual), avals, specs)


def _map_pairs(
    change: Callable[[Any, Any], Any], avals: Sequence[Any], specs: Sequence[Any]
) -> list[Any]:
    """`change` of each pair, called once for equal ones: most parameters are alike."""
    pairs = list(zip(avals, specs, strict=True))
    changed = {pair: change(*pair) for pair in dict.fromkeys(pairs)}
    return [changed[pair] for pair in pairs]


def _local_aval(aval: Any, spec: PartitionSpec, manual: Manual) -> Any:
    """The type of one device's part of a value."""
    counts = _counts(spec, manual, aval.ndim)
    shape = tuple([n // k for n, k in zip(aval.shape, counts, strict=True)])
    vma = frozenset(axes_of(spec.partitions)) if manual.checks else frozenset()
    explicit = aval.explicit
    if explicit is not None:  # along the other axes of the mesh
        explicit = explicit_shardings.with_axis_types(
            explicit, dict.fromkeys(manual.axes, AxisType.Manual)
        )
    return aval.update(shape=shape, vma=aval.vma | vma, sharding=explicit)


def _global_aval(aval: Any, spec: PartitionSpec, manual: Manual) -> Any:
    """The type of a value of which the devices have parts of a type."""
    counts = _counts(spec, manual, aval.ndim)
    shape = tuple([n * k for n, k in zip(aval.shape, counts, strict=True)])
    sharding = _global_sharding(aval, spec, manual)
    return aval.update(shape=shape, vma=aval.vma - set(manual.axes), sharding=sharding)


def _global_sharding(aval: Any, spec: PartitionSpec, manual: Manual) -> Any:
    """How explicit axes divide a value: those of the spec, then those of the parts."""
    if not manual.mesh.explicit_axes:
        return None
    mesh = manual.mesh.abstract_mesh
    outer = trace.current.manual
    if outer is not None:
        names = [n for n in outer.all_axes() if n in mesh.axis_names]
        mesh = mesh.update_axis_types(dict.fromkeys(names, AxisType.Manual))
    if not mesh.explicit_axes:
        return None
    rows = itertools.zip_longest(
        spec.partitions, explicit_shardings.entries_of(aval), fillvalue=None
    )
    entries = [(*names_of(own), *names_of(inner)) for own, inner in rows]
    return NamedSharding(mesh, PartitionSpec(*entries))


def _counts(spec: PartitionSpec, manual: Manual, ndim: int) -> tuple[int, ...]:
    return tiling.part_counts(manual.mesh.shape, spec.partitions, ndim)


def _abstract(
    *args: Any, jaxpr: Any, mesh: Any, manual_axes: Any, check_vma: bool,
    out_specs: Any, **_: Any,
) -> Any:  # fmt: skip
    manual = Manual(mesh, manual_axes, check_vma)
    return _global_avals(jaxpr.out_avals, out_specs, manual)


def _effects(*args: Any, jaxpr: Any, **_: Any) -> Any:
    return jaxpr.effects


# -- lowering --------------------------------------------------------------------------


def _lower(
    ctx: Any, *operands: str, jaxpr: Any, mesh: Any, manual_axes: Any,
    check_vma: bool, in_specs: Any, out_specs: Any, **_: Any,
) -> Any:  # fmt: skip
    if isinstance(mesh, AbstractMesh):
        raise ValueError(
            f"shard_map: a mesh with devices is required to compile, got {mesh}; give "
            "mesh=, or write `with olympus.set_mesh(mesh):`"
        )
    module, program = ctx.module, jaxpr.olympuspr
    symbol = module.mesh(mesh)
    outer = module.manual
    check_outer(mesh, (*in_specs, *out_specs), outer)
    module.manual = _manual_within(outer, mesh, manual_axes)
    try:
        if mesh.size == 1:  # its part is the whole; a region could not use tokens
            return lowering.lower_program(module, ctx.block, program, (), operands)
        block = ctx.block.inner()
        ordered = effects_.ordered(program.effects)
        tokens = [types.token_type()] * len(ordered)
        in_types = [*tokens, *map(types.tensor_type, program.in_avals)]
        names = block.arguments(in_types)
        block.tokens.update(zip(ordered, names, strict=False))
        outs = lowering.lower_program(module, block, program, (), names[len(ordered) :])
        outs = [block.tokens[e] for e in ordered] + outs
    finally:
        module.manual = outer
    region = block.region((), (), outs, [*tokens, *program.out_avals], "sdy.return")
    is_partial = len(manual_axes) < len(mesh.axis_names)
    bound = ", ".join(
        [f"{name}: {text}" for name, text in zip(names, in_types, strict=True)]
    )
    of_token = partitioning.sharding_text(symbol, PartitionSpec(), 0)
    shardings = [
        ", ".join(
            [of_token for _ in ordered]
            + [
                partitioning.sharding_text(
                    symbol, s, a.storage.ndim, is_open=is_partial
                )
                for s, a in zip(specs, avals, strict=True)
            ]
        )
        for specs, avals in ((in_specs, ctx.avals_in), (out_specs, ctx.avals_out))
    ]
    manual_names = [n for n in mesh.axis_names if n in manual_axes]
    axes = ", ".join(map(partitioning.axis_text, manual_names))
    operands = (*[ctx.block.tokens[e] for e in ordered], *operands)
    inputs = ", ".join([*tokens, *map(types.tensor_type, ctx.avals_in)])
    outputs = ", ".join([*tokens, *map(types.tensor_type, ctx.avals_out)])
    results = ctx.block.emit_many(
        f"sdy.manual_computation({', '.join(operands)}) in_shardings=[{shardings[0]}] "
        f"out_shardings=[{shardings[1]}] manual_axes={{{axes}}} ({bound}) {region} : "
        f"({inputs}) -> ({outputs})",
        len(tokens) + len(ctx.avals_out),
    )
    ctx.block.tokens.update(zip(ordered, results, strict=False))
    return results[len(ordered) :]


def check_outer(mesh: Any, specs: Iterable[Any], outer: Manual | None) -> None:
    """Checks what a function within another one, which sees parts, is run on.

    XLA would refuse it in its own words, or end the process.

    Args:
      mesh: the mesh of the inner function.
      specs: the specs of its arguments and results, or other things.
      outer: what the outer function is manual along; None where there is none.

    Raises:
      ValueError: the mesh is another one, or a spec names an axis of the outer one.
    """
    if outer is None:
        return
    misfit = find_misfit(mesh, specs, outer)
    if misfit is mesh:
        raise ValueError(
            "shard_map: within a function of shard_map the mesh must be the outer one, "
            f"with its devices, got {mesh} within {outer.mesh}; leave out mesh="
        )
    if misfit is not None:
        raise ValueError(
            "shard_map: within a function of shard_map specs must not name the "
            f"axes that the outer one is written for, got {misfit}; the arguments "
            "are parts along them already, so leave them out"
        )


def _manual_within(outer: Any, mesh: Any, axes: tuple[Any, ...]) -> Manual:
    known = () if outer is None else outer.axes
    return Manual(mesh, (*known, *axes), True)


# -- derivatives -----------------------------------------------------------------------


def _jvp(primals: Any, tangents: Any, *, jaxpr: Any, **params: Any) -> Any:
    nonzero = call_rules.nonzero_flags(tangents)
    manual = manual_of(params)

    def differentiate(p: ir.Olympuspr) -> Any:
        with manual_over(manual):
            return ad.jvp_olympuspr(p, nonzero)

    program, out_nonzero = jaxpr.olympuspr.derived(
        ("shard_map jvp", nonzero, manual), differentiate
    )
    slopes = call_rules.nonzero_values(tangents)
    specs = dict(params)
    specs["in_specs"] += call_rules.select(params["in_specs"], nonzero)
    specs["out_specs"] += call_rules.select(params["out_specs"], out_nonzero)
    outs = _bind_with_consts(program, [*primals, *slopes], specs)
    n = len(out_nonzero)
    return outs[:n], _tangents(out_nonzero, outs[n:], outs[:n])


def _bind_with_consts(
    closed: ir.ClosedOlympuspr, operands: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Applies the primitive to a program whose constants all devices have whole."""
    closed, consts = inner_programs.absorb(closed)
    specs = (PartitionSpec(),) * len(consts) + tuple(params["in_specs"])
    params = {**params, "in_specs": specs}
    return shard_map_p.bind(*consts, *operands, jaxpr=closed, **params)


def _tangents(nonzero: Any, slopes: Any, outs: Any) -> list[Any]:
    return call_rules.fill_zeros(nonzero, slopes, list(map(avals_.aval_of, outs)))


def _linearize(primals: Any, tangents: Any, *, jaxpr: Any, **params: Any) -> Any:
    """Runs the program once; its residuals are stacked over the devices."""
    nonzero = call_rules.nonzero_flags(tangents)
    manual = manual_of(params)
    key = nonzero, manual, params["in_specs"], trace.current.pushes_forward
    split = jaxpr.olympuspr.derived(
        ("shard_map linearized", *key),
        lambda p: _Split(p, nonzero, manual, params["in_specs"]),
    )
    n = len(jaxpr.out_avals)
    first = dict(params)
    first["out_specs"] += split.specs
    outs = _bind_with_consts(split.forward, primals, first)
    kept = [primals[i] for i in split.inputs] + outs[n:]
    kept_specs = tuple([params["in_specs"][i] for i in split.inputs]) + split.specs
    slopes = call_rules.nonzero_values(tangents)
    second = dict(params)
    second["in_specs"] = kept_specs + call_rules.select(params["in_specs"], nonzero)
    is_nonzero = [zero is None for zero in split.zeros]
    second["out_specs"] = call_rules.select(params["out_specs"], is_nonzero)

    def apply() -> list[Any]:
        out_slopes = _bind_with_consts(split.linear, [*kept, *slopes], second)
        return _tangents(is_nonzero, out_slopes, outs[:n])

    return outs[:n], apply


class _Split:
    """The derivative of a body as two: one returns residuals, one is linear.

    Attributes:
      forward: returns the results, and residuals, of which each has an axis.
      linear: takes residuals that are inputs, the others, and tangents.
      inputs: which inputs are residuals.
      specs: how the other residuals are divided: their first axis over all that varies.
      zeros: for each result a Zero where its tangent is zero, or None.
    """

    def __init__(
        self,
        program: ir.Olympuspr,
        nonzero: Sequence[bool],
        manual: Manual,
        in_specs: Sequence[PartitionSpec],
    ) -> None:
        with manual_over(manual):
            forward, linear, self.zeros = ad.linearize_olympuspr(program, nonzero)
            body = forward.olympuspr
            n = len(program.outvars)
            positions: dict[Any, int] = {v: i for i, v in enumerate(body.invars)}
            residuals = body.outvars[n:]
            is_input = [type(v) is not ir.Literal and v in positions for v in residuals]
            self.inputs = [
                positions[v] for v, i in zip(residuals, is_input, strict=True) if i
            ]
            others = [v for v, i in zip(residuals, is_input, strict=True) if not i]
            axes = _differing_axes([body], in_specs, manual)
            specs = {
                aval: _stack_spec(aval, axes, manual)
                for aval in dict.fromkeys([v.aval for v in others])
            }
            self.specs = tuple([specs[v.aval] for v in others])
            small = body.replace(outvars=[*body.outvars[:n], *others])
            self.forward = ir.ClosedOlympuspr(small, forward.consts)
            tail = linear.olympuspr
            residual_vars, slopes = (
                tail.invars[: len(residuals)],
                tail.invars[len(residuals) :],
            )
            first = [v for v, i in zip(residual_vars, is_input, strict=True) if i]
            first += [v for v, i in zip(residual_vars, is_input, strict=True) if not i]
            tail = tail.replace(invars=first + slopes)
            self.linear = ir.ClosedOlympuspr(tail, linear.consts)
            lacks_axis = [not _has_free_axis(v.aval) for v in others]
            if any(lacks_axis):
                self._stack(n, lacks_axis)

    def _stack(self, n: int, lacks_axis: list[bool]) -> None:
        """Gives residuals an axis in front, and takes it away where they are used."""
        flags = [False] * n + lacks_axis
        expand = _trace(
            lambda *xs: _map_flagged(_expand, xs, flags), self.forward.out_avals
        )
        self.forward = _compose(self.forward, expand)
        avals = self.linear.olympuspr.in_avals
        flags = [False] * len(self.inputs) + lacks_axis
        flags += [False] * (len(avals) - len(flags))
        squeeze = _trace(
            lambda *xs: _map_flagged(_squeeze, xs, flags),
            _map_flagged(_stacked_aval, avals, flags),
        )
        self.linear = _compose(squeeze, self.linear)


def _has_free_axis(aval: Any) -> bool:
    """Whether the devices' values can be put together along the first axis."""
    return aval.ndim > 0 and aval.explicit is None


def _map_flagged(
    change: Callable[[Any], Any], xs: Sequence[Any], flags: Sequence[bool]
) -> list[Any]:
    rows = zip(xs, flags, strict=True)
    return [change(x) if is_flagged else x for x, is_flagged in rows]


def _expand(x: Any) -> Any:
    return shaping.expand_dims(x, (0,))


def _squeeze(x: Any) -> Any:
    return shaping.squeeze(x, (0,))


def _stacked_aval(aval: Any) -> Any:
    return aval.update(shape=(1, *aval.shape))


def _stack_spec(aval: Any, axes: tuple[Any, ...], manual: Manual) -> PartitionSpec:
    return PartitionSpec(tuple([n for n in axes if not manual.checks or n in aval.vma]))


def _differing_axes(
    programs: Sequence[ir.Olympuspr],
    specs: Sequence[PartitionSpec],
    manual: Manual,
) -> tuple[Any, ...]:
    """The manual axes along which values may differ, or be combined.

    Along an axis that neither specs nor the programs name all devices do the same.
    """
    if any(p.effects for p in programs):  # which devices may answer differently
        return manual.axes
    named = frozenset().union(*map(ir.axis_names, programs))
    named = named.union(*[axes_of(s.partitions) for s in specs])
    return tuple([n for n in manual.axes if n in named])


def _trace(run: Callable[..., Any], in_avals: Sequence[Any]) -> ir.ClosedOlympuspr:
    return inner_programs.retrace(run, in_avals, None, "shard_map", "body")


def _compose(first: ir.ClosedOlympuspr, then: ir.ClosedOlympuspr) -> ir.ClosedOlympuspr:
    """The program of one program and then another, of all results of the first."""
    head, tail = first.olympuspr, then.olympuspr
    env: dict[Any, Any] = dict(zip(tail.invars, head.outvars, strict=True))

    def read(v: Any) -> Any:
        return v if type(v) is ir.Literal else env.get(v, v)

    eqns = [eqn.replace(invars=list(map(read, eqn.invars))) for eqn in tail.eqns]
    program = ir.Olympuspr(
        [*head.constvars, *tail.constvars],
        head.invars,
        list(map(read, tail.outvars)),
        [*head.eqns, *eqns],
        debug_info=tail.debug_info,
    )
    return ir.ClosedOlympuspr(program, [*first.consts, *then.consts])


def _transpose(cts: Any, *args: Any, jaxpr: Any, **params: Any) -> Any:
    linear = tuple([type(x) is Linear for x in args])
    nonzero = call_rules.nonzero_flags(cts)
    manual = manual_of(params)
    ct_specs = call_rules.select(params["out_specs"], nonzero)
    linear_specs = call_rules.select(params["in_specs"], linear)
    all_specs = params["in_specs"], params["out_specs"]

    def transpose(p: ir.Olympuspr) -> Any:
        with manual_over(manual):
            program, in_nonzero = ad.transpose_olympuspr(p, linear, nonzero)
            if not manual.checks:
                n_known = len(linear) - sum(linear)
                back = call_rules.select(linear_specs, in_nonzero)
                # The transposed program names what rules of users refer to.
                programs = p, program.olympuspr
                axes = _differing_axes(programs, [*all_specs[0], *all_specs[1]], manual)
                sizes = manual.mesh.shape
                program = _rescale(program, n_known, ct_specs, back, axes, sizes)
            return program, in_nonzero

    program, in_nonzero = jaxpr.olympuspr.derived(
        ("shard_map transposed", linear, nonzero, manual, *all_specs),
        transpose,
    )
    known = [x for x in args if type(x) is not Linear]
    is_known = [not is_linear for is_linear in linear]
    known_specs = call_rules.select(params["in_specs"], is_known)
    specs = dict(params)
    specs["in_specs"] = known_specs + ct_specs
    specs["out_specs"] = call_rules.select(linear_specs, in_nonzero)
    operands = [*known, *call_rules.nonzero_values(cts)]
    in_cts = _bind_with_consts(program, operands, specs)
    return inner_programs.assign_cotangents(args, in_nonzero, in_cts)


def _rescale(
    program: ir.ClosedOlympuspr,
    n_known: int,
    ct_specs: Any,
    specs: Any,
    axes: tuple[Any, ...],
    sizes: Any,
) -> ir.ClosedOlympuspr:
    """A transposed program where types do not say what varies.

    Then each sum over an axis has a sum as its transpose. A cotangent that all devices
    along some of `axes` have is divided among them, and those of a value that all have
    are summed.
    """

    def divide(*xs: Any) -> list[Any]:
        shares = [
            _divide(ct, math.prod([sizes[n] for n in _unused_axes(spec, axes)]))
            for ct, spec in zip(xs[n_known:], ct_specs, strict=True)
        ]
        return [*xs[:n_known], *shares]

    def add(*outs: Any) -> list[Any]:
        rows = zip(outs, specs, strict=True)
        return [_sum_over(out, _unused_axes(spec, axes)) for out, spec in rows]

    shares = _trace(divide, program.olympuspr.in_avals)
    return _compose(_compose(shares, program), _trace(add, program.out_avals))


def _unused_axes(spec: PartitionSpec, axes: tuple[Any, ...]) -> tuple[Any, ...]:
    used = axes_of(spec.partitions)
    return tuple([n for n in axes if n not in used])


def _divide(x: Any, n: int) -> Any:
    if n == 1:
        return x
    return elementwise.div(x, np.asarray(n).astype(avals_.aval_of(x).dtype)[()])


def _sum_over(x: Any, axes: tuple[Any, ...]) -> Any:
    if not axes:
        return x
    return collectives.psum_p.bind(x, axes=axes, axis_index_groups=None)


# -- refs ------------------------------------------------------------------------------


def _discharge(
    context: discharge.Context, args: Any, *, jaxpr: Any, **params: Any
) -> Any:
    """What is written leaves as it came: divided by the same spec."""
    closed, own_consts = inner_programs.absorb(jaxpr)
    context = context.with_consts(own_consts)
    context.check_distinct("shard_map", closed.olympuspr)
    manual = manual_of(params)
    with manual_over(manual):
        without = discharge.discharge(closed.olympuspr, context.keeps_rules)
    consts = [*without.consts, *own_consts]
    specs = (PartitionSpec(),) * len(consts) + params["in_specs"]
    params["in_specs"] = specs
    params["out_specs"] += tuple([specs[i] for i in without.written])
    outs = shard_map_p.bind(*consts, *args, jaxpr=without.closed, **params)
    outs, last = without.split(outs)
    return outs, without.last_of(last, len(own_consts) + len(args))[len(own_consts) :]


# -- checks ----------------------------------------------------------------------------


def _checkify(checks: Any, *args: Any, jaxpr: Any, **params: Any) -> Any:
    """Each device has a state; that of the first which failed counts."""
    manual = manual_of(params)
    with manual_over(manual):
        checked = checks.program(jaxpr, manual)
        if checked is not None:
            closed = _with_stacked_states(checked)
    if checked is None:
        return shard_map_p.bind(*args, jaxpr=jaxpr, **params)
    consts = [*checked.consts, *jaxpr.consts]
    params["in_specs"] = (PartitionSpec(),) * len(consts) + params["in_specs"]
    params["out_specs"] = (PartitionSpec(manual.axes),) * checked.size + params[
        "out_specs"
    ]
    outs = shard_map_p.bind(*consts, *args, jaxpr=closed, **params)
    state = checks.last_failed(outs[: checked.size])
    checks.join_checked(checked, state)
    return outs[checked.size :]


def _with_stacked_states(checked: Any) -> ir.ClosedOlympuspr:
    """A checked program whose state has an axis in front, along all devices."""
    whole = ir.hoist_consts(checked.program)

    def run(*xs: Any) -> list[Any]:
        outs = ir.eval_olympuspr(whole, (), *xs)
        state = [shaping.expand_dims(x, (0,)) for x in outs[: checked.size]]
        return [*state, *outs[checked.size :]]

    return _trace(run, whole.in_avals)


# -- dead code -------------------------------------------------------------------------


def _dce(used: list[bool], eqn: ir.Eqn) -> Any:
    return call_rules.drop_unused(used, eqn, ("in_specs",), ("out_specs",))


def _print(eqn: ir.Eqn) -> Any:
    names = ("check_vma", "in_specs", "manual_axes", "mesh", "out_specs", "jaxpr")
    return [(k, str(eqn.params[k]) if k == "mesh" else eqn.params[k]) for k in names]


def refuse_high_type(aval: Any) -> NotImplementedError:
    """The error for a value of a high type that goes in or out."""
    return NotImplementedError(
        "shard_map: arguments and results must be arrays, which specs divide, got the "
        f"high type {aval.short()}; pass the arrays it is made of, and make the value "
        "inside"
    )


shard_map_p = Primitive(
    "shard_map",
    multiple_results=True,
    abstract=_abstract,
    key_reuse=inner_programs.follow_keys,
    effects=_effects,
    vary=as_abstract_says,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=shard_map_batching.batch,
    dce=_dce,
    discharge=_discharge,
    to_low=LateRule("calls.hi_lowering", "shard_map"),
    checkify=_checkify,
    print=_print,
    needs_full_build=True,
)
