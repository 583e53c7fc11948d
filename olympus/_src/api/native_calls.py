"""Calls through the part in C: what it needs of the Python side, and what it gives.

`Caller` is the base of what users call: C's, or one in Python of the same methods that
knows nothing, so that every call takes the Python path.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any

import numpy as np

from olympus._src import native, tree
from olympus._src.core import scalar_types, trace
from olympus._src.foundation import caching, config, tracebacks
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.interpreters.compiled_programs import CompiledProgram
from olympus._src.runtime import (
    client,
    guards,
    host_results,
    kernel_use,
    shardings,
    staging,
    transfer,
)
from olympus._src.sharding import contexts
from olympus._src.sharding.division import Division

IS_NATIVE = native.calls is not None
_PLAIN_NODES = (tuple, list, dict)


class PythonCaller:
    """The base of what users call where the part in C was not built."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else PythonBoundCaller(self, instance)

    def keep(
        self, entry: Any, order: Any, place: Any, /, *args: Any, **kwargs: Any
    ) -> bool:
        """Whether the entry is kept for calls like this one."""
        del entry, order, place, args, kwargs
        return False

    def look_up(self, table: Any, nums: Any, names: Any, /) -> None:
        """Says where programs are found, and which arguments are static."""


class PythonBoundCaller:
    """A jitted function as a method of an instance."""

    def __init__(self, function: Any, instance: Any) -> None:
        self.__func__ = function
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        return self.__func__.__doc__

    def __getattr__(self, name: str) -> Any:
        return _bound_attribute(self.__func__, self.__self__, name)

    def __eq__(self, other: object) -> bool:
        if type(other) is not PythonBoundCaller:
            return NotImplemented
        same = self.__func__ is other.__func__
        return same and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__)))


def _bound_attribute(function: Any, instance: Any, name: str) -> Any:
    """An attribute of a jitted method; the stages take the instance first."""
    attribute = getattr(function, name)
    if name in ("trace", "lower", "eval_shape"):
        return lambda *args, **kwargs: attribute(instance, *args, **kwargs)
    return attribute


_place_numbers: dict[Any, int] = {}
_new_numbers = itertools.count()
_MAX_PLACES = 4096


def _place_number(sharding: Any) -> int:
    """A number that equal shardings share, and no others, at any time."""
    number = _place_numbers.get(sharding)
    if number is None:
        if len(_place_numbers) >= _MAX_PLACES:
            _place_numbers.clear()  # equal ones get new numbers then
        number = _place_numbers.setdefault(sharding, next(_new_numbers))
    return number


def place_of_hosts(device: Any) -> int | None:
    """The number of the place where a program takes values of the host.

    Args:
      device: where it runs; None for the default device, or a `Division`.

    Returns:
      None where it takes them anywhere.
    """
    if not client.several_devices() or isinstance(device, Division):
        return None
    target = client.default_device() if device is None else device
    return _place_number(shardings.placement_of(target).sharding)


Caller: Any = native.calls.Caller if IS_NATIVE else PythonCaller

if IS_NATIVE:
    native.calls.connect(
        array_type=concrete_arrays.ArrayImpl,
        current=trace.current,
        eval_trace=evaluate.eval_trace(),
        trace_context=config.trace_context,
        exact=caching.exact,
        as_operand=concrete_arrays.as_operand,
        operand_beside=concrete_arrays.operand_beside,
        scalars=concrete_arrays.scalars,
        default_mesh=contexts.default_mesh,
        host_types=concrete_arrays.HOST_TYPES,
        record_types=tree.record_types,
        flatten=tree.flatten,
        bound_attribute=_bound_attribute,
        hide=tracebacks.hide,
        place_number=_place_number,
        staged_types=concrete_arrays.staged_types,
        find_staged_type=concrete_arrays.find_staged_type,
        slots=staging.free_slots,
        add_slot=staging.add,
        delete_buffer=transfer.delete_buffer,
        memory_type=host_results.HostMemory,
        copy_to_memory=host_results.copy_to_memory,
        generic=np.generic,
        ndarray=np.ndarray,
        dtype=np.dtype,
        scalar_type=scalar_types.ScalarType,
    )
    native.calls.use_staging(not guards.are_active())
    kernel_use.apply()


class Entry:
    """What a call of a known kind runs.

    Attributes:
      call: gives the results of the buffers of the arguments.
    """

    __slots__ = ("call",)

    def __init__(self, call: Callable[[list[Any]], Any]) -> None:
        self.call = call


# -- arguments -------------------------------------------------------------------------


def leaf_order(
    leaves: Sequence[Any], args: Any, kwargs: Any
) -> tuple[bool, tuple[int, ...] | None]:
    """Where the leaves of a call are among those that a walk over it meets.

    A walk takes dicts and keywords in their own order, where trees sort them.

    Args:
      leaves: of the call, in the order of trees.
      args, kwargs: those that are not static, in the user's order.

    Returns:
      Whether the call can be walked, and for each leaf its place in the walk; None
      where these are in order.
    """
    met: list[Any] = []
    positional = tuple([_number_leaves(x, met) for x in args])
    named = {k: _number_leaves(v, met) for k, v in kwargs.items()}
    order = tuple([place.number for place in tree.flatten((positional, named))[0]])
    # A class may flatten to other leaves each time.
    if len(order) != len(met) or len(order) != len(leaves):
        return False, None
    if any(met[i] is not x for i, x in zip(order, leaves, strict=True)):
        return False, None
    return True, None if order == tuple(range(len(order))) else order


class _Place:
    """The number of a leaf in a walk; equal to nothing else."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def _number_leaves(x: Any, met: list[Any]) -> Any:
    """The tree with the place of each leaf, in the order of a walk, in its stead.

    Args:
      x: the tree.
      met: takes the leaves in that order.

    Returns:
      The tree; a tuple stands for an object of a registered class.
    """
    kind = type(x)
    if x is None:
        return None
    if kind is dict and type(next(iter(x), "")) is str:
        return {k: _number_leaves(v, met) for k, v in x.items()}
    if kind is tuple or kind is list:
        return kind([_number_leaves(v, met) for v in x])
    if tree.is_record_type(kind):
        # The fields, past methods of the class: it may define its own iteration.
        fields = tuple.__iter__(x)
        return tuple.__new__(kind, [_number_leaves(v, met) for v in fields])
    leaves = tree.flatten(x)[0]
    places = tuple([_Place(len(met) + i) for i in range(len(leaves))])
    met += leaves
    return places


# -- results ---------------------------------------------------------------------------


def runner(structure: Any, compiled: CompiledProgram) -> Callable[[list[Any]], Any]:
    """Runs a program on buffers; its results in a structure, the function's own."""
    if tree.is_one_leaf(structure):
        return compiled.run_one
    run: Any = compiled.run
    unflatten = structure.unflatten
    if IS_NATIVE and type(run) is native.calls.Runner:
        return run.with_form(_form(structure))
    return lambda buffers: unflatten(run(buffers))


def _form(structure: Any) -> Any:
    """How C puts results together; see `build` in `native/results.h`."""
    data = structure.node_data()
    if data is None:
        return ...
    kind, names = data
    if kind is NoneType:
        return None
    if kind not in _PLAIN_NODES and not tree.is_record_type(kind):
        return structure.unflatten, structure.num_leaves
    forms = [_form(child) for child in structure.children()]
    return (kind, tuple(forms), tuple(names)) if kind is dict else (kind, tuple(forms))
