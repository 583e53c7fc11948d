"""`shard_map`: functions of one device's parts of arrays."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from olympus._src import tree
from olympus._src.api import parameters
from olympus._src.calls.shard_map import (
    check_outer,
    local_avals,
    refuse_high_type,
    shard_map_p,
)
from olympus._src.core import avals as avals_
from olympus._src.core import ir
from olympus._src.foundation import source_info, tracebacks
from olympus._src.interpreters import evaluate
from olympus._src.lax import manual_axes
from olympus._src.lax.manual_axes import Manual, manual_over
from olympus._src.programs import inner_programs
from olympus._src.sharding import contexts
from olympus._src.sharding.meshes import AbstractMesh, AxisType, Mesh, unknown_axis
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec, axes_of, names_of


class _Infer:
    """The value of `in_specs` that takes the arguments' own shardings."""

    def __repr__(self) -> str:
        return "Infer"


Infer = _Infer()


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = Infer,
    mesh: Mesh | AbstractMesh | None = None,
    axis_names: Set[Any] = frozenset(),
    check_vma: bool = True,
) -> Callable[..., Any]:
    """Runs a function on each device of a mesh, on the device's parts of arrays.

    Inside of the function collectives such as `lax.psum` name the axes of the mesh.

    Args:
      f: a function of positional arguments: pytrees of arrays, which are parts.
      out_specs: how results are assembled: a tree of PartitionSpecs that is a prefix
        of the result. Along mesh axes that a spec does not name, all devices must
        return the same.
      in_specs: how arguments are divided, in the same form, as a tuple with an entry
        for each argument; default their own shardings.
      mesh: the mesh; default the one that is set.
      axis_names: the mesh axes that the function is written for; default all. Along
        the others the compiler divides the work.
      check_vma: whether types say along which axes values vary, so that a result that
        is not the same on all devices is refused, and derivatives need no more
        communication than they must.

    Returns:
      A function of whole arrays; a decorator where `f` is left out.

    Raises:
      TypeError: `f` is not callable, or a spec is not a PartitionSpec.
      ValueError: there is no mesh, it lacks an axis, an array cannot be divided, or
        `out_specs` hides that a result varies.

    Example:
      >>> import olympus, olympus.numpy as jnp
      >>> from olympus import lax
      >>> from olympus.sharding import PartitionSpec as P
      >>> mesh = olympus.make_mesh((1,), ('i',))
      >>> f = lambda x: lax.psum(x.sum(), 'i')
      >>> total = olympus.shard_map(f, mesh=mesh, in_specs=P('i'), out_specs=P())
      >>> total(jnp.arange(4.0))
      Array(6., dtype=float32)
    """
    if f is None:
        return lambda g: shard_map(
            g,
            out_specs=out_specs,
            in_specs=in_specs,
            mesh=mesh,
            axis_names=axis_names,
            check_vma=check_vma,
        )
    fun = f
    parameters.check_callable("shard_map", fun)
    _check_specs("in_specs", in_specs)
    _check_specs("out_specs", out_specs)
    if mesh is not None:
        _check_axes(mesh, axis_names, (in_specs, out_specs))

    @tracebacks.api_boundary
    def run_on_devices(*args: Any) -> Any:
        own = _mesh(mesh)
        specs = tree.tree_leaves((in_specs, out_specs), _is_spec)
        check_outer(own, specs, manual_axes.current.manual)
        manual = Manual(own, _manual_axes(own, axis_names), bool(check_vma))
        return _call(fun, manual, args, in_specs, out_specs)

    name = source_info.function_name(fun)
    run_on_devices.__name__ = run_on_devices.__qualname__ = name
    run_on_devices.__doc__ = fun.__doc__
    run_on_devices.__wrapped__ = fun  # type: ignore[attr-defined]
    return run_on_devices


def smap(
    f: Callable[..., Any] | None = None,
    /,
    *,
    in_axes: Any = Infer,
    out_axes: Any,
    axis_name: Any,
) -> Callable[..., Any]:
    """`shard_map` along one axis of the mesh that is set, which divides one axis.

    Args:
      f: a function of parts of arrays.
      in_axes: for each argument the axis that is divided, or None; a tree of them that
        is a prefix of the arguments. Default the arguments' own shardings.
      out_axes: the same for the result.
      axis_name: the axis of the mesh.

    Returns:
      A function of whole arrays; a decorator where `f` is left out.

    Raises:
      TypeError: an axis is not an integer or None.
      ValueError: as for `shard_map`.
    """

    def spec(axis: Any) -> PartitionSpec:
        if axis is None:
            return PartitionSpec()
        if type(axis) is not int or axis < 0:
            raise TypeError(
                f"smap: axes must be None or integers from 0 on, got {axis!r}"
            )
        return PartitionSpec(*[None] * axis, axis_name)

    def specs(axes: Any) -> Any:
        return tree.tree_map(spec, axes, is_leaf=lambda a: a is None)

    return shard_map(
        f,
        out_specs=specs(out_axes),
        in_specs=in_axes if in_axes is Infer else specs(in_axes),
        axis_names={axis_name},
    )


def _mesh(mesh: Mesh | AbstractMesh | None) -> Any:
    set_mesh = contexts.get_mesh()
    if isinstance(mesh, Mesh):
        return mesh
    if set_mesh.empty:
        if mesh is not None and not evaluate.is_evaluating():
            return mesh  # a program without devices, which can be traced and counted
        what = "got none" if mesh is None else f"got {mesh}"
        raise ValueError(
            f"shard_map: a mesh with devices is required, {what}; give mesh=, or write "
            "`with olympus.set_mesh(mesh):`"
        )
    if mesh is not None and mesh.axis_sizes != set_mesh.axis_sizes:
        raise ValueError(
            f"shard_map: the mesh that is set must have the axes of mesh=, got "
            f"{set_mesh} for {mesh}"
        )
    return set_mesh


def _manual_axes(mesh: Mesh, names: Set[Any]) -> tuple[Any, ...]:
    outer = manual_axes.current.manual
    known = () if outer is None else outer.all_axes()
    return tuple(
        [n for n in mesh.axis_names if (not names or n in names) and n not in known]
    )


# -- checks ----------------------------------------------------------------------------


def _is_spec(x: Any) -> bool:
    return x is None or isinstance(x, PartitionSpec)


def _check_specs(what: str, specs: Any) -> None:
    if specs is Infer:
        return
    for leaf in tree.tree_leaves(specs, _is_spec):
        if not _is_spec(leaf):
            raise TypeError(
                f"shard_map {what}: must be a tree of PartitionSpecs, got {leaf!r} of "
                f"type {type(leaf).__name__} in it"
            )


def _check_axes(mesh: Any, names: Set[Any], specs: Any) -> None:
    for name in names:
        if name not in mesh.axis_names:
            raise ValueError(unknown_axis("shard_map axis_names", name, mesh))
    for spec in tree.tree_leaves(specs, _is_spec):
        if isinstance(spec, PartitionSpec):
            NamedSharding(mesh, spec)  # which checks the names
            for name in axes_of(spec.partitions):
                if names and name not in names:
                    raise ValueError(
                        f"shard_map: specs must name axes of axis_names, got {spec} "
                        f"for {sorted(map(str, names))}; the compiler divides along "
                        "the others"
                    )


# -- calls -----------------------------------------------------------------------------


def _call(
    fun: Callable[..., Any], manual: Manual, args: Any, in_specs: Any, out_specs: Any
) -> Any:
    leaves, in_tree = tree.tree_flatten(args)
    specs = _argument_specs(args, leaves, in_specs, manual)
    avals = [avals_.aval_of(x) for x in leaves]
    paths = _paths(fun, args)
    checked = set()
    for aval, spec, path in zip(avals, specs, paths, strict=True):
        if (aval, spec) in checked:
            continue
        checked.add((aval, spec))
        if aval.is_high:
            raise refuse_high_type(aval)
        what = f"shard_map in_specs of {path}"
        NamedSharding(manual.mesh, spec).check_shape(aval.shape, what)
        _check_type(aval, spec, manual, what)
    local = local_avals(avals, specs, manual)
    with manual_over(manual):
        body = inner_programs.trace_body(fun, "shard_map", in_tree, local)
    result = body.out_tree.unflatten(body.out_avals)
    result_specs = [
        PartitionSpec() if s is None else s
        for s in tree.broadcast_prefix(
            out_specs, result, _is_spec, what="shard_map out_specs", full_name="result"
        )
    ]
    closed = _varying_as_specs(fun, body, result_specs, manual)
    outs = shard_map_p.bind(
        *body.consts,
        *leaves,
        jaxpr=closed,
        mesh=manual.mesh,
        manual_axes=manual.axes,
        check_vma=manual.checks,
        spread=manual.spread,
        in_specs=(PartitionSpec(),) * len(body.consts) + tuple(specs),
        out_specs=tuple(result_specs),
    )
    return body.out_tree.unflatten(outs)


def _argument_specs(args: Any, leaves: Any, in_specs: Any, manual: Manual) -> list[Any]:
    if in_specs is Infer:
        return [_own_spec(x, manual) for x in leaves]
    if isinstance(in_specs, list):
        in_specs = tuple(in_specs)
    specs = tree.broadcast_prefix(
        in_specs, args, _is_spec, what="shard_map in_specs", full_name="arguments"
    )
    return [PartitionSpec() if spec is None else spec for spec in specs]


def _own_spec(x: Any, manual: Manual) -> PartitionSpec:
    mesh = manual.mesh
    own = _spec_of_type(avals_.aval_of(x), manual)
    if own is not None:
        return own
    sharding = getattr(x, "sharding", None)
    if isinstance(sharding, NamedSharding) and sharding.mesh is mesh:
        return sharding.spec
    raise ValueError(
        f"shard_map: in_specs must be given where an argument is not divided over the "
        f"mesh, got {avals_.aval_of(x).short()} for {mesh}"
    )


def _spec_of_type(aval: Any, manual: Manual) -> PartitionSpec | None:
    """The spec along manual axes that a type tells; None where it does not."""
    explicit = aval.explicit
    if explicit is None:
        kinds = dict(zip(manual.mesh.axis_names, manual.mesh.axis_types, strict=True))
        is_whole = all(kinds[name] is AxisType.Explicit for name in manual.axes)
        return PartitionSpec() if is_whole else None
    if explicit.mesh.shape_tuple != manual.mesh.shape_tuple:
        return None
    entries = [
        tuple([name for name in names_of(entry) if name in manual.axes])
        for entry in explicit.spec.partitions
    ]
    return explicit.spec.update(partitions=entries)


def _check_type(aval: Any, spec: PartitionSpec, manual: Manual, what: str) -> None:
    """Raises ValueError where a type says that an argument is divided otherwise.

    Beside axes that the compiler divides it moves the argument, as along those.
    """
    if aval.explicit is None or not manual.mesh.are_all_axes_explicit:
        return
    own = _spec_of_type(aval, manual)
    names = aval.explicit.mesh.explicit_axes
    asked = [tuple([n for n in names_of(e) if n in names]) for e in spec.partitions]
    padded = PartitionSpec(*asked, *[None] * (aval.ndim - len(spec)))
    if own is None or own.partitions != padded.partitions:
        raise ValueError(
            f"{what}: along explicit axes the spec must be the type's own, got {spec} "
            f"for {aval.short()} on {aval.explicit.mesh}; leave out in_specs, or move "
            "the argument with olympus.reshard"
        )


def _paths(fun: Any, args: Any) -> list[str]:
    names, varargs = parameters.positional_names(fun)
    variadic = varargs or "args"
    names = [*names, *[f"{variadic}[{i}]" for i in range(len(args) - len(names))]]
    return [
        f"{names[path[0].idx]}{tree.keystr(path[1:])}"
        for path, _ in tree.tree_flatten_with_path(args)[0]
    ]


def _varying_as_specs(
    fun: Any, body: Any, specs: list[PartitionSpec], manual: Manual
) -> ir.ClosedOlympuspr:
    """The body's program, with results that vary along just the axes of their specs.

    Raises:
      ValueError: one varies along another axis.
    """
    paths = tree.tree_flatten_with_path(body.out_tree.unflatten(body.out_avals))[0]
    rows = list(zip(body.out_avals, specs, [path for path, _ in paths], strict=True))
    for aval, spec, path in rows:
        if aval.is_high:
            raise refuse_high_type(aval)
        what = f"shard_map out_specs of result{tree.keystr(path)}"
        NamedSharding(manual.mesh, spec).check_rank(aval.ndim, what)
        hidden = [n for n in manual.axes if n in aval.vma]
        hidden = [n for n in hidden if n not in axes_of(spec.partitions)]
        if hidden:
            names = ", ".join(map(repr, hidden))
            raise ValueError(
                f"{what} of {source_info.function_name(fun)}: along mesh axes that a "
                f"spec does not name all devices must return the same, got {spec} for "
                f"a value of type {aval.short()}, which may differ along {names}; sum "
                f"it with lax.psum(x, {hidden[0]!r}), name the axis in the spec, or "
                "pass check_vma=False"
            )
    if not manual.checks:
        return body.close()
    wanted = [
        aval.update(vma=aval.vma | {*axes_of(spec.partitions)})
        for aval, spec in zip(body.out_avals, specs, strict=True)
    ]
    return inner_programs.vary_results(body, wanted).close()
