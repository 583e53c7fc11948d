"""`vmap`: a function applied along an axis of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from olympus._src import tree
from olympus._src.api import parameters, vmappable
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, explicit_shardings, ir, trace
from olympus._src.core.array_type import PyTree
from olympus._src.core.high_values import MappingSpec
from olympus._src.foundation import config, source_info, tracebacks
from olympus._src.interpreters import batching, concrete_arrays, evaluate
from olympus._src.lax import families, reductions
from olympus._src.programs import inner_programs, parameter_names
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec, names_of

F = TypeVar("F", bound=Callable[..., Any])


def vmap(
    fun: F,
    in_axes: int | Sequence[Any] | None = 0,
    out_axes: PyTree = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | None = None,
    sum_match: bool = False,
) -> F:
    """Maps a function over axes of its arguments, without a loop.

    Args:
      fun: a function of arrays and pytrees of them.
      in_axes: for each positional argument the axis to map, None for none, or a tree of
        those that is a prefix of the argument; one int applies to all. Negative axes
        count from the end. Keyword arguments are mapped over axis 0.
      out_axes: where each result gets the mapped axis; a prefix of the result's tree.
        None where the result does not depend on the mapped arguments.
      axis_name: a name collectives such as `lax.psum` may use inside `fun`.
      axis_size: the size of the axis, where no argument has it.
      spmd_axis_name: the axes of a mesh that the mapped axis is spread over.
      sum_match: results that depend on mapped arguments and have None in `out_axes` are
        summed over the mapped axis.

    Returns:
      A function of arguments with one more axis.

    Raises:
      TypeError: `in_axes` or `out_axes` are not ints, None, or containers of those; a
        mapped argument or a result is not an array; `axis_size`, where something
        depends on it, is not an int.
      ValueError: mapped axes do not exist or differ in size, or trees of axes do not
        fit the arguments or the result; `axis_size` is negative.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> olympus.vmap(onp.dot)(onp.ones((2, 3)), onp.ones((2, 3)))
      Array([3., 3.], dtype=float32)
    """
    parameters.check_callable("vmap", fun)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    _check_axes("in_axes", in_axes)
    _check_axes("out_axes", out_axes)
    if spmd_axis_name is not None and not isinstance(spmd_axis_name, tuple):
        spmd_axis_name = (spmd_axis_name,)
    hash((axis_name, spmd_axis_name))  # names are keys
    mapping = _Mapping(fun, in_axes, out_axes, axis_name, axis_size, spmd_axis_name)
    mapping.sum_match = sum_match

    def mapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return mapping.apply(args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise

    source_info.update_wrapper(mapped, fun)
    return mapped  # type: ignore[return-value]


class _Mapping:
    """A function and how it is mapped."""

    __slots__ = (
        "axis_name",
        "axis_size",
        "fun",
        "in_axes",
        "out_axes",
        "spmd_axis_name",
        "sum_match",
    )

    def __init__(
        self,
        fun: Callable[..., Any],
        in_axes: Any,
        out_axes: Any,
        axis_name: Any,
        axis_size: int | None,
        spmd_axis_name: Any,
    ) -> None:
        self.fun = fun
        self.in_axes = in_axes
        self.out_axes = out_axes
        self.axis_name = axis_name
        self.axis_size = axis_size
        self.spmd_axis_name = spmd_axis_name
        self.sum_match = False

    @property
    def name(self) -> str:
        """The function's name, for messages."""
        return source_info.function_name(self.fun)

    def apply(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs the function on all elements at once."""
        if vmappable.is_needed((args, kwargs), (self.in_axes, self.out_axes)):
            return self._apply_to_elements(args, kwargs)
        leaves, structure = tree.tree_flatten((args, kwargs))
        dims = self._dims(args, structure)
        runs_now = not evaluate.is_staging()
        for i, (x, dim) in enumerate(zip(leaves, dims, strict=True)):
            if dim is not None:
                dims[i] = self._dim(x, dim, i, args, kwargs)
                if runs_now and not isinstance(x, trace.Tracer):
                    leaves[i] = _convert_mapped(x)  # once, and not in each operation
        size = self._size(leaves, dims, args, kwargs)
        axis = batching.AxisData(
            self.axis_name,
            size,
            self.spmd_axis_name,
            explicit=self._division(leaves, dims, args, kwargs),
        )
        out_structure: Any = None

        def flat(*inputs: Any) -> list[Any]:
            nonlocal out_structure
            inner_args, inner_kwargs = structure.unflatten(inputs)
            result = self.fun(*inner_args, **inner_kwargs)
            outs, out_structure = tree.tree_flatten(result)
            if not all(map(avals_.is_array_like, outs)):
                raise self._bad_result(result)
            return outs

        info = ir.DebugInfo.of("vmap", self.fun) if config.check_leaks() else None
        outs, out_dims = batching.batch(flat, axis, leaves, dims, info)
        out_axes = tree.broadcast_axes(
            "vmap", "out_axes", self.out_axes, out_structure, full_name="result"
        )
        results = []
        for i, (x, dim, w) in enumerate(zip(outs, out_dims, out_axes, strict=True)):
            if _is_mapping_spec(dim) or _is_mapping_spec(w):
                self._check_out_spec(dim, w, out_structure, i)
            elif w is None:
                if dim is not None and not self.sum_match:
                    raise self._mapped_result(out_structure, i)
                if dim is not None:
                    x = reductions.reduce_sum(x, (dim,))
            elif dim is None:
                _check_size(size)
                position = self._position(x, w, 1, out_structure, i)
                x = families.insert_axis(x, position, size)
                x = batching.divide_axis(x, position, axis)
            elif dim != w:
                position = self._position(x, w, 0, out_structure, i)
                x = families.move_axis(x, dim, position)
            results.append(x)
        return out_structure.unflatten(results)

    def _apply_to_elements(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`apply` where some arguments or results are containers of a user's type."""
        leaves, structure = vmappable.flatten((args, kwargs))
        axes = self._dims(args, structure)
        size = self.axis_size
        _check_size(size)
        for x, axis in zip(leaves, axes, strict=True):
            size = vmappable.size_along(x, axis) if size is None else size
        if size is None:
            raise ValueError(
                f"vmap: the size of the mapped axis of {self.name} must be given, "
                "since no array has it; give it as axis_size"
            )
        of_arrays = [
            None
            if vmappable.is_container(x) or vmappable.size_along(x, axis) is None
            else axis
            for x, axis in zip(leaves, axes, strict=True)
        ]
        axis_data = batching.AxisData(
            self.axis_name,
            size,
            self.spmd_axis_name,
            explicit=self._division(leaves, of_arrays, args, kwargs),
        )
        elements = vmappable.Elements(self.name, axis_data)

        def call(*inputs: Any) -> Any:
            inner_args, inner_kwargs = structure.unflatten(inputs)
            return self.fun(*inner_args, **inner_kwargs)

        outs, out_structure = vmappable.flatten(elements.run(call, leaves, axes))
        out_axes = tree.broadcast_axes(
            "vmap", "out_axes", self.out_axes, out_structure, full_name="result"
        )
        results = [
            elements.sum_of(y)
            if axis is None and self.sum_match and not vmappable.is_container(y)
            else elements.from_element(size, y, axis)
            for y, axis in zip(outs, out_axes, strict=True)
        ]
        return out_structure.unflatten(results)

    def _dims(self, args: tuple[Any, ...], structure: Any) -> list[Any]:
        """The mapped axis of each leaf; keyword arguments are mapped over axis 0."""
        in_axes = self.in_axes
        args_structure, kwargs_structure = structure.children()
        kwargs_dims = [0] * kwargs_structure.num_leaves
        if not isinstance(in_axes, tuple):
            return [in_axes] * args_structure.num_leaves + kwargs_dims
        if len(in_axes) != len(args):
            raise ValueError(
                f"vmap: in_axes must have an entry for each positional argument of "
                f"{self.name}, got {len(in_axes)} entries for {len(args)} positional "
                "arguments; those given by keyword are mapped over axis 0"
            )
        if hasattr(in_axes, "_fields"):
            in_axes = tuple(in_axes)
        axes = tree.broadcast_axes("vmap", "in_axes", in_axes, args_structure)
        return axes + kwargs_dims

    def _dim(self, x: Any, dim: Any, i: int, args: Any, kwargs: Any) -> Any:
        """A mapped axis, counted from the front; a spec of a high type as it is."""
        if type(dim) is not int and isinstance(dim, MappingSpec):
            self._check_spec(x, dim, i, args, kwargs)
            return dim
        if not avals_.is_array_like(x):
            path = self._path(i, args, kwargs)
            raise TypeError(
                f"vmap: argument {path} of {self.name} must be an array to be mapped "
                f"over axis {dim}, got {inner_programs.value_text(x)} of type "
                f"{type(x).__name__}; use None in in_axes, or close over it"
            )
        aval = avals_.aval_of(x)
        if aval.is_high:
            raise ValueError(
                "vmap was requested to map a value of non-array type "
                f"{aval.short()} along axis {dim}: argument "
                f"{self._path(i, args, kwargs)} of {self.name} must have a "
                "MappingSpec in in_axes; give axis_size too"
            )
        ndim = aval.ndim
        if not -ndim <= dim < ndim:
            path = self._path(i, args, kwargs)
            need = dim + 1 if dim >= 0 else -dim
            raise ValueError(
                f"vmap: argument {path} of {self.name} must have at least {need} "
                f"{'axis' if need == 1 else 'axes'} to be mapped over axis {dim}, got "
                f"{aval.short()}; use None in in_axes if all elements share it"
            )
        return dim % ndim

    def _check_spec(self, x: Any, dim: Any, i: int, args: Any, kwargs: Any) -> None:
        if avals_.is_array_like(x) and avals_.aval_of(x).is_high:
            return
        raise ValueError(
            f"vmap: argument {self._path(i, args, kwargs)} of {self.name} must be of a "
            f"high type to be mapped by {dim!r}, got {inner_programs.value_text(x)}; "
            "give an axis of the array in in_axes"
        )

    def _size(self, leaves: Any, dims: Any, args: Any, kwargs: Any) -> int:
        size = self.axis_size
        # Libraries pass on whatever they have, where no array and no name asks for it.
        if self.axis_name is not None or any(dim is not None for dim in dims):
            _check_size(size)
        for x, dim in zip(leaves, dims, strict=True):
            if type(dim) is not int:
                continue
            own = avals_.aval_of(x).shape[dim]
            if size is None:
                size = own
            elif own != size:
                raise self._sizes_differ(leaves, dims, args, kwargs)
        if size is not None:
            return size
        got = "in_axes None for all of them" if leaves else "no arrays"
        if any(dim is not None for dim in dims):
            got = "values of high types only, whose sizes are not known"
        raise ValueError(
            f"vmap: at least one argument of {self.name} must be mapped, got {got}; "
            "map one, or give axis_size"
        )

    def _division(self, leaves: Any, dims: Any, args: Any, kwargs: Any) -> Any:
        """How explicit axes of a mesh divide the mapped axis, or None."""
        known: dict[Any, tuple[int, Any]] = {}
        for i, (x, dim) in enumerate(zip(leaves, dims, strict=True)):
            if type(dim) is int:
                aval = avals_.aval_of(x)
                entry = explicit_shardings.entries_of(aval)[dim]
                known.setdefault(entry, (i, aval))
        if set(known) <= {None}:
            return None
        if len(known) > 1:
            listed = " and ".join(
                [
                    f"{self._path(i, args, kwargs)} of type {aval.short()}"
                    for i, aval in known.values()
                ]
            )
            raise ValueError(
                f"vmap: mapped axes of all arguments of {self.name} must be divided "
                f"alike, got {listed}; reshard one, as in olympus.reshard(x, P(...))"
            )
        ((entry, (i, aval)),) = known.items()
        asked = self.spmd_axis_name
        if asked is not None and asked != names_of(entry):
            raise ValueError(
                "vmap spmd_axis_name: must be the axes that types say divide the "
                f"mapped axis, got {asked} for {self._path(i, args, kwargs)} of type "
                f"{aval.short()}; leave it out, or reshard the argument"
            )
        return NamedSharding(aval.explicit.mesh, PartitionSpec(entry))

    # -- messages ------------------------------------------------------------------

    def _path(self, i: int, args: Any, kwargs: Any) -> str:
        """The name of the argument that leaf `i` belongs to, and where it is in it."""
        return _argument_paths(self.fun, args, kwargs)[i]

    def _sizes_differ(
        self, leaves: Any, dims: Any, args: Any, kwargs: Any
    ) -> ValueError:
        by_size: dict[int, list[str]] = {}
        paths = _argument_paths(self.fun, args, kwargs)
        for path, x, dim in zip(paths, leaves, dims, strict=True):
            if type(dim) is int:
                aval = avals_.aval_of(x)
                by_size.setdefault(aval.shape[dim], []).append(
                    f"axis {dim} of argument {path} of type {aval.short()}"
                )
        lines = [] if self.axis_size is None else [f"  axis_size={self.axis_size}"]
        for size, places in sorted(by_size.items(), key=lambda item: -len(item[1])):
            listed = "\n          ".join(places[:_MOST_SHOWN])
            more = len(places) - _MOST_SHOWN
            tail = f"\n          and {more} more" if more > 0 else ""
            lines.append(f"  size {size}: {listed}{tail}")
        return ValueError(
            f"vmap: the mapped axes of the arguments of {self.name} must have one "
            "size, got\n" + "\n".join(lines) + "\nUse None in in_axes for arguments "
            "that all elements share."
        )

    def _bad_result(self, result: Any) -> TypeError:
        pairs = tree.tree_flatten_with_path(result)[0]
        path, leaf = next(p for p in pairs if not avals_.is_array_like(p[1]))
        return TypeError(
            f"vmap: {inner_programs.fun_text(self.fun)} must return arrays, got "
            f"{inner_programs.value_text(leaf)} of type {type(leaf).__name__} at "
            f"result{tree.keystr(path)}; return numbers and arrays only"
        )

    def _mapped_result(self, structure: Any, i: int) -> ValueError:
        return ValueError(
            f"vmap: {_result_path(structure, i)} of {self.name} depends on mapped "
            "arguments, got None for it in out_axes; give it an axis"
        )

    def _check_out_spec(self, dim: Any, wanted: Any, structure: Any, i: int) -> None:
        """Raises ValueError where a value of a high type is mapped in another way."""
        if dim != wanted:
            raise ValueError(
                f"at vmap out_axes, got axis spec {wanted!r} but output was batched on "
                f"axis {dim!r}: {_result_path(structure, i)} of {self.name} must have "
                f"{dim!r} in out_axes"
            )

    def _position(self, x: Any, axis: int, new: int, structure: Any, i: int) -> int:
        """Where a result gets the mapped axis, counted from the front."""
        ndim = avals_.aval_of(x).ndim + new
        if not -ndim <= axis < ndim:
            own = ndim - 1
            raise ValueError(
                f"vmap: out_axes for {_result_path(structure, i)} of {self.name} must "
                f"be below {ndim}, since it has {own} "
                f"{'axis' if own == 1 else 'axes'} and the mapped one, got {axis}"
            )
        return axis % ndim


_MOST_SHOWN = 3


def _convert_mapped(x: Any) -> Any:
    """A mapped argument as an array; values without numbers stay as they are."""
    aval = avals_.aval_of(x)
    if aval.is_high or aval.dtype == dtypes.float0:
        return x
    return concrete_arrays.as_operand(x)


def _is_mapping_spec(x: Any) -> bool:
    return x is not None and type(x) is not int and isinstance(x, MappingSpec)


def _is_axis(x: Any) -> bool:
    if x is None or type(x) is int:
        return True
    return isinstance(x, MappingSpec) or vmappable.is_spec(x)


def _check_axes(name: str, axes: Any) -> None:
    """Raises TypeError unless these are axes, or a container of axes."""
    if _is_axis(axes):
        return
    if name == "in_axes" and not isinstance(axes, tuple):
        raise TypeError(
            "vmap: in_axes must be an int, None, or a tuple with an entry for each "
            f"positional argument, got {axes!r} of type {type(axes).__name__}"
        )
    for leaf in tree.tree_leaves(axes):
        if not _is_axis(leaf):
            raise TypeError(
                f"vmap: {name} must be an int, None, or a container of those, got "
                f"{leaf!r} of type {type(leaf).__name__}"
                + (f" in {axes!r}" if leaf is not axes else "")
            )


def _check_size(size: Any) -> None:
    if size is None:
        return
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise TypeError(
            f"vmap: axis_size must be an int, got {size!r} of type "
            f"{type(size).__name__}"
        )
    if size < 0:
        raise ValueError(f"vmap: axis_size must not be negative, got {size}")


def _argument_paths(fun: Any, args: Any, kwargs: Any) -> list[str]:
    """A path for each leaf of a call's arguments, by the function's own names."""
    names = parameter_names.parameter_names(fun, len(args)) + sorted(kwargs)
    values = [*args, *[kwargs[name] for name in sorted(kwargs)]]
    return parameter_names.leaf_paths(names, values)


def _result_path(structure: Any, i: int) -> str:
    """The place of leaf `i` in a result."""
    path = tree.leaf_key_paths(structure)[i]
    return f"result{tree.keystr(path)}" if path else "the result"
