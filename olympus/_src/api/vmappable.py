"""Containers of a user's own type whose elements `vmap` maps.

A container says by a spec, in place of an axis, how it is mapped: `to_elt` makes of it
what the mapped function sees, and `from_elt` a container of what that returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core import trace
from olympus._src.interpreters import batching
from olympus._src.lax import families, reductions, shaping


class _Vmappable(NamedTuple):
    spec_type: type
    axis_size_type: type
    to_elt: Callable[..., Any]
    from_elt: Callable[..., Any]
    make_iota: Callable[..., Any] | None


_types: dict[type, _Vmappable] = {}


def register_vmappable(
    data_type: type,
    spec_type: type,
    axis_size_type: type,
    to_elt: Callable[..., Any],
    from_elt: Callable[..., Any],
    make_iota: Callable[[Any], Any] | None,
) -> None:
    """Has `vmap` map containers of a type.

    Args:
      data_type: the type of containers; they may, but need not, be trees.
      spec_type: what stands for them in `in_axes` and `out_axes`; may be int.
      axis_size_type: the type of the size of the mapped axis: int.
      to_elt: `to_elt(handler, get_index, container, spec)` gives what the mapped
        function gets; `handler(array, axis)` is an element of an array, or of a
        container in it, and `get_index()` the element's number.
      from_elt: `from_elt(handler, axis_size, value, spec)` makes a container of what
        the function returns; `handler(axis_size, value, axis)` is an array of elements.
      make_iota: makes the numbers of all elements of a size; None for a range.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.interpreters import batching
      >>> class Columns:
      ...     def __init__(self, values): self.values = values
      >>> class Over:
      ...     axis = 1
      >>> batching.register_vmappable(
      ...     Columns, Over, int,
      ...     lambda handler, index, x, spec: handler(x.values, spec.axis),
      ...     lambda handler, size, y, spec: Columns(handler(size, y, spec.axis)),
      ...     None)
      >>> olympus.vmap(onp.sum, in_axes=Over(), axis_size=2)(Columns(onp.ones((3, 2))))
      Array([3., 3.], dtype=float32)
      >>> batching.unregister_vmappable(Columns)
    """
    _types[data_type] = _Vmappable(
        spec_type, axis_size_type, to_elt, from_elt, make_iota
    )


def unregister_vmappable(data_type: type) -> None:
    """Undoes `register_vmappable`; does nothing for a type that is not registered."""
    _types.pop(data_type, None)


def is_container(x: object) -> bool:
    """Whether a value is of a registered type."""
    return type(x) in _types


def element_of(
    container: Any, handler: Callable[..., Any], get_index: Any, spec: Any
) -> Any:
    """What the mapped function gets of a container; see `register_vmappable`."""
    return _types[type(container)].to_elt(handler, get_index, container, spec)


def is_spec(x: object) -> bool:
    """Whether a value says how some registered type is mapped."""
    specs = [v.spec_type for v in _types.values() if v.spec_type is not int]
    return isinstance(x, tuple(specs))


def is_needed(args: Any, axes: Any) -> bool:
    """Whether a call has a container, or a spec for one, in it."""
    if not _types:
        return False
    leaves = tree.tree_leaves((args, axes), is_leaf=_is_leaf)
    return any(is_container(x) or _is_own_spec(x) for x in leaves)


def _is_leaf(x: object) -> bool:
    return is_container(x) or _is_own_spec(x)


def _is_own_spec(x: object) -> bool:
    return type(x) is not int and x is not None and is_spec(x)


def flatten(value: Any) -> tuple[list[Any], Any]:
    """Leaves and structure of a tree in which containers are leaves."""
    return tree.tree_flatten(value, is_leaf=is_container)


def size_along(x: Any, axis: Any) -> int | None:
    """How many elements a leaf has, where it tells."""
    if axis is None or not hasattr(x, "shape") or type(axis) is not int:
        return None
    shape = x.shape
    return shape[axis] if -len(shape) <= axis < len(shape) else None


class Elements:
    """The elements of arrays and containers, in one call of `vmap`.

    Args:
      name: the mapped function, for messages.
      axis: the mapped axis.
    """

    __slots__ = ("_name", "_trace", "axis")

    def __init__(self, name: str, axis: batching.AxisData) -> None:
        self._name = name
        self._trace: Any = None
        self.axis = axis

    def run(
        self, fun: Callable[..., Any], leaves: Sequence[Any], axes: Sequence[Any]
    ) -> Any:
        """The function's result for an element of each leaf."""
        result: Any = None

        def call() -> list[Any]:
            nonlocal result
            self._trace = trace.current.trace
            rows = zip(leaves, axes, strict=True)
            result = fun(*[self.to_element(x, axis) for x, axis in rows])
            return []

        batching.batch(call, self.axis, (), ())
        return result

    def _index(self, container: Any) -> Any:
        own = _types[type(container)].make_iota
        size = self.axis.size
        with trace.set_current(self._trace.parent):
            numbers = shaping.iota("int32", size) if own is None else own(size)
        return self._trace.wrap(numbers, 0)

    def to_element(self, x: Any, axis: Any) -> Any:
        """What the function sees of an array or container."""
        if is_container(x):
            return element_of(x, self.to_element, lambda: self._index(x), axis)
        if axis is None:
            return x
        if type(axis) is not int or not avals_.is_array_like(x):
            raise TypeError(
                f"vmap: an argument of {self._name} of type {type(x).__name__} cannot "
                f"be mapped by {axis!r}; arrays are mapped by an int, and containers "
                "of a type given to register_vmappable by a spec of theirs"
            )
        shape = avals_.aval_of(x).shape
        size = size_along(x, axis)
        if size != self.axis.size:
            raise ValueError(
                f"vmap: the mapped axes of the arguments of {self._name} must have one "
                f"size, got {size} for axis {axis} of an array of shape {shape}, and "
                f"{self.axis.size}; use None in in_axes for what all elements share"
            )
        return self._trace.wrap(x, axis % len(shape))

    def from_element(self, size: Any, y: Any, axis: Any) -> Any:
        """The array or container of all elements of a result."""
        if type(axis) is not int and axis is not None:
            return self._build(size, y, axis)
        if is_container(y):
            return _types[type(y)].from_elt(self.from_element, size, y, axis)
        if not avals_.is_array_like(y):
            raise TypeError(
                f"vmap: {self._name} must return arrays and containers that can be "
                f"mapped, got {y!r} of type {type(y).__name__}"
            )
        x, dim = self._trace.split(y)
        if axis is None:
            if dim is not None:
                raise ValueError(
                    f"vmap: a result of {self._name} depends on mapped arguments, got "
                    "None for it in out_axes; give it an axis"
                )
            return x
        ndim = avals_.aval_of(x).ndim + (dim is None)
        if not -ndim <= axis < ndim:
            raise ValueError(
                f"vmap: out_axes for a result of {self._name} must be below {ndim}, "
                f"got {axis}"
            )
        if dim is None:
            return families.insert_axis(x, axis % ndim, size)
        return families.move_axis(x, dim, axis % ndim)

    def sum_of(self, y: Any) -> Any:
        """The sum of a result over all elements, or what is the same for all."""
        x, dim = self._trace.split(y)
        return x if dim is None else reductions.reduce_sum(x, (dim,))

    def _build(self, size: Any, y: Any, spec: Any) -> Any:
        """A container of elements; by the result's type, or else by the spec's."""
        own = _types.get(type(y))
        if own is None:
            own = next(v for v in _types.values() if isinstance(spec, v.spec_type))
        return own.from_elt(self.from_element, size, y, spec)
