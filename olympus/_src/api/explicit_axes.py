"""Explicit axes of a mesh: moving values, and leaving a function to the compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src import tree
from olympus._src.api import parameters, placement, sharding_arguments
from olympus._src.api.jit import jit
from olympus._src.core import avals as avals_
from olympus._src.core import explicit_shardings
from olympus._src.core.array_type import PyTree
from olympus._src.foundation import source_info, tracebacks
from olympus._src.interpreters import evaluate
from olympus._src.lax import sharding_constraints
from olympus._src.sharding import contexts
from olympus._src.sharding.meshes import AxisType, Mesh, unknown_axis
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import UNCONSTRAINED


def reshard(xs: PyTree, out_shardings: PyTree) -> PyTree:
    """The same values, divided over a mesh as shardings say.

    Along explicit axes the types of the results say so. Derivatives are divided as the
    values are.

    Args:
      xs: a pytree of arrays.
      out_shardings: a NamedSharding, or a PartitionSpec for the mesh that is set; or a
        tree of them that is a prefix of `xs`.

    Returns:
      A pytree of the same structure.

    Raises:
      TypeError: a leaf of `out_shardings` is no sharding over a mesh.
      ValueError: there is no mesh for a spec, a mesh cannot divide a value evenly, or
        `out_shardings` is not a prefix of `xs`.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus.sharding import PartitionSpec as P
      >>> mesh = olympus.make_mesh((1,), ('x',))
      >>> with olympus.set_mesh(mesh):
      ...     print(olympus.typeof(olympus.reshard(np.zeros(4), P('x'))))
      float32[4@x]
    """
    leaves, structure = tree.tree_flatten(xs)
    places = tree.broadcast_prefix(
        out_shardings,
        xs,
        sharding_arguments.is_leaf,
        what="reshard out_shardings",
        full_name="xs",
    )
    rows = zip(leaves, places, strict=True)
    return structure.unflatten([_reshard(x, place) for x, place in rows])


def _reshard(x: Any, place: Any) -> Any:
    what = "reshard out_shardings"
    sharding = sharding_constraints.resolve(place, what, x)
    if sharding is None:
        raise TypeError(f"{what}: must be a PartitionSpec or a NamedSharding, got None")
    if UNCONSTRAINED in sharding.spec.partitions and not sharding.mesh.auto_axes:
        raise ValueError(
            f"{what}: UNCONSTRAINED is for axes that the compiler divides, got "
            f"{sharding.spec} for {sharding.mesh}, which has none; write None"
        )
    sharding.check_shape(avals_.aval_of(x).shape, "reshard")
    roles = [explicit_shardings.roles_of(avals_.aval_of(x))[0], sharding.spec.unreduced]
    moves = evaluate.is_evaluating() and isinstance(sharding.mesh, Mesh)
    if moves and not any(roles):
        return placement.place_on(x, sharding)
    return sharding_constraints.reshard(x, sharding)


def auto_axes(
    f: Callable[..., Any] | None = None,
    /,
    *,
    axes: Any = None,
    out_sharding: PyTree = None,
) -> Callable[..., Any]:
    """Leaves it to the compiler how a function's values are divided.

    Inside of the function explicit axes of the mesh are automatic: types do not tell of
    them, and every operation is allowed.

    Args:
      f: a function of pytrees of arrays.
      axes: the name of a mesh axis, or several; default all.
      out_sharding: how results are divided along these axes: a tree of PartitionSpecs
        that is a prefix of the result. It may be given in the call instead.

    Returns:
      A function like `f`; a decorator where `f` is left out.

    Raises:
      TypeError: `out_sharding` is given neither here nor in the call.

    Example:
      >>> import olympus, olympus.numpy as jnp
      >>> from olympus.sharding import PartitionSpec as P
      >>> mesh = olympus.make_mesh((1,), ('x',))
      >>> with olympus.set_mesh(mesh):
      ...     x = olympus.reshard(jnp.array([3.0, 1.0]), P('x'))
      ...     print(olympus.sharding.auto_axes(jnp.sort, out_sharding=P('x'))(x))
      [1. 3.]
    """
    if f is None:
        return lambda g: auto_axes(g, axes=axes, out_sharding=out_sharding)
    parameters.check_callable("auto_axes", f)
    return _wrap("auto_axes", f, _Region(f, axes, AxisType.Auto), out_sharding)


def explicit_axes(
    f: Callable[..., Any] | None = None,
    /,
    *,
    axes: Any = None,
    in_sharding: PyTree = None,
) -> Callable[..., Any]:
    """Has types say how a function's values are divided along automatic axes.

    Args:
      f: a function of pytrees of arrays.
      axes: the name of a mesh axis, or several; default all.
      in_sharding: how arguments are divided along these axes: a tree of PartitionSpecs
        that is a prefix of the tuple of arguments. It may be given in the call instead.

    Returns:
      A function like `f`, whose results are again divided by the compiler; a decorator
      where `f` is left out.

    Raises:
      TypeError: `in_sharding` is given neither here nor in the call.
    """
    if f is None:
        return lambda g: explicit_axes(g, axes=axes, in_sharding=in_sharding)
    parameters.check_callable("explicit_axes", f)
    return _wrap("explicit_axes", f, _Region(f, axes, AxisType.Explicit), in_sharding)


def _wrap(what: str, f: Any, region: _Region, default: Any) -> Callable[..., Any]:
    argument = "out_sharding" if what == "auto_axes" else "in_sharding"

    @tracebacks.api_boundary
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        places = kwargs.pop(argument, default)
        if places is None:
            raise TypeError(
                f"{what}: {argument} must be given, in {what} or in the call of "
                f"{source_info.function_name(f)}; write {argument}=P(...)"
            )
        return region.call(places, args, kwargs)

    source_info.update_wrapper(wrapped, f)
    return wrapped


class _Region:
    """A function in which some axes of the mesh have another type.

    Attributes:
      fun: it.
      axes: the names that the user gave, or None for all.
      kind: the type that they have inside.
    """

    __slots__ = ("_programs", "axes", "fun", "kind")

    def __init__(self, fun: Callable[..., Any], axes: Any, kind: AxisType) -> None:
        self.fun = fun
        self.axes = (axes,) if isinstance(axes, str) else axes
        self.kind = kind
        self._programs: dict[Any, Any] = {}

    def call(self, places: Any, args: Any, kwargs: Any) -> Any:
        """Applies the function; outside of traces as one compiled program."""
        if not evaluate.is_evaluating():
            return self._apply(places, args, kwargs)
        leaves, structure = tree.flatten(places, sharding_arguments.is_leaf)
        key = (tuple(leaves), structure)
        program = self._programs.get(key)
        if program is None:
            program = jit(lambda args, kwargs: self._apply(places, args, kwargs))
            self._programs[key] = program
        return program(args, kwargs)

    def _apply(self, places: Any, args: Any, kwargs: Any) -> Any:
        mesh = self._mesh((args, kwargs))
        names = mesh.axis_names if self.axes is None else tuple(self.axes)
        for name in names:
            if name not in mesh.axis_names:
                raise ValueError(unknown_axis("auto_axes axes", name, mesh))
        inner = mesh.abstract_mesh.update_axis_types(
            {n: self.kind for n in names if n not in mesh.manual_axes}
        )
        if self.kind is AxisType.Explicit:
            return self._apply_explicit(mesh, inner, names, places, args, kwargs)
        args, kwargs = tree.tree_map(
            lambda x: sharding_constraints.leave_to_compiler(x, names), (args, kwargs)
        )
        with contexts.use_abstract_mesh(inner):
            result = self.fun(*args, **kwargs)
        return _divide("auto_axes out_sharding", mesh, places, result, "result")

    def _apply_explicit(
        self, mesh: Any, inner: Any, names: Any, places: Any, args: Any, kwargs: Any
    ) -> Any:
        with_types = mesh.update(axis_types=inner.axis_types)
        args = _divide(
            "explicit_axes in_sharding", with_types, places, args, "arguments"
        )
        with contexts.use_abstract_mesh(inner):
            result = self.fun(*args, **kwargs)
        return tree.tree_map(
            lambda x: sharding_constraints.leave_to_compiler(x, names), result
        )

    def _mesh(self, values: Any) -> Any:
        mesh = sharding_constraints.current_mesh()
        if not mesh.empty:
            return mesh
        for x in tree.tree_leaves(values):
            explicit = getattr(avals_.aval_of(x), "explicit", None)
            if explicit is not None:
                return explicit.mesh
        raise ValueError(
            "auto_axes: a mesh is required, got none; write `with "
            "olympus.set_mesh(mesh):`"
        )


def _divide(what: str, mesh: Any, places: Any, values: Any, full_name: str) -> Any:
    """Values, divided over a mesh as a tree of specs says."""
    if isinstance(places, list):
        places = tuple(places)
    leaves, structure = tree.tree_flatten(values)
    specs = tree.broadcast_prefix(
        places, values, sharding_arguments.is_leaf, what=what, full_name=full_name
    )
    outs = []
    for x, spec in zip(leaves, specs, strict=True):
        sharding = spec
        if spec is not None and not isinstance(spec, NamedSharding):
            sharding = NamedSharding(mesh, spec)
        if sharding is None:
            raise TypeError(f"{what}: must be PartitionSpecs, got None")
        sharding.check_shape(avals_.aval_of(x).shape, what)
        outs.append(sharding_constraints.reshard(x, sharding))
    return structure.unflatten(outs)
