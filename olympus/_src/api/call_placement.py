"""Where a call of a jitted function runs: on a device, or divided over a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import sharding_arguments, signatures
from olympus._src.api.tracing import TracedProgram
from olympus._src.core import avals as avals_
from olympus._src.foundation import source_info
from olympus._src.interpreters import concrete_arrays, program_meshes
from olympus._src.lax import sharding_constraints
from olympus._src.runtime import client
from olympus._src.sharding import contexts
from olympus._src.sharding.division import (
    Division,
    devices_text,
    incompatible_devices,
)
from olympus._src.sharding.layouts import Format, Layout, check_default
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec
from olympus._src.sharding.unspecified import UNSPECIFIED


class Shardings:
    """A user's tree of shardings, as an option of `jit`; hashable.

    Args:
      places: the tree.
      option: the name of the option.

    Raises:
      NotImplementedError: a format has another layout than the default.
    """

    __slots__ = ("_hash", "key", "places")

    def __init__(self, places: Any, option: str) -> None:
        self._hash: int | None = None  # of what most functions share
        leaves, structure = tree.flatten(places, sharding_arguments.is_leaf)
        for leaf in leaves:
            layout = leaf.layout if isinstance(leaf, Format) else None
            if isinstance(layout, Layout):  # also where one device runs all programs
                check_default(layout, len(layout.major_to_minor), f"jit {option}")
        self.places = places
        self.key = tuple(leaves), structure

    def __eq__(self, other: object) -> bool:
        return type(other) is Shardings and self.key == other.key

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.key)
        return self._hash

    def __bool__(self) -> bool:
        return any(leaf is not None for leaf in self.key[0])

    @property
    def says_types(self) -> bool:
        """Whether one of them divides values along explicit axes of its own mesh."""
        named = [x for x in self.devices() if isinstance(x, NamedSharding)]
        return any(x.mesh.explicit_axes for x in named)

    def devices(self) -> list[Any]:
        """The shardings that are valid without a mesh being set."""
        kinds = PartitionSpec, type(None)
        places = [x.sharding if isinstance(x, Format) else x for x in self.key[0]]
        return [x for x in places if not isinstance(x, kinds)]


_CHOOSES_NOTHING = Shardings(None, "")


def as_option(places: Any, option: str) -> Shardings:
    """What a user gave for an option of shardings."""
    if places is None or places is UNSPECIFIED:
        return _CHOOSES_NOTHING
    chosen = tree.tree_map(
        lambda place: None if place is UNSPECIFIED else place,
        places,
        is_leaf=sharding_arguments.is_leaf,
    )
    return Shardings(chosen, option)


def in_shardings(options: Any, call: signatures.Call) -> list[Any] | None:
    """The sharding that `jit`'s option gives each leaf of a call; None without it.

    Raises:
      ValueError: the option is not a prefix of the arguments, or some are by keyword.
    """
    if not options.in_shardings:
        return None
    args, kwargs = call.structure.unflatten(call.leaves)
    if kwargs:
        raise ValueError(
            f"jit in_shardings: arguments must be positional where shardings of them "
            f"are given, got {', '.join(map(repr, kwargs))} by keyword in the call of "
            f"{_name(call)}"
        )
    places = options.in_shardings.places
    if isinstance(places, list):
        places = tuple(places)
    shardings = sharding_arguments.of_leaves(
        places, args, "jit in_shardings", "arguments"
    )
    for i, sharding in enumerate(shardings):
        if isinstance(sharding, NamedSharding):
            sharding.check_shape(
                _shape_of(call.leaves[i]), f"jit in_shardings of {call.paths()[i]}"
            )
    return shardings


def argument_avals(
    options: Any, call: signatures.Call, avals: Sequence[Any]
) -> list[Any]:
    """The types of a call's arguments, with what `in_shardings` says of them.

    An argument has the type that a sharding over explicit axes gives it, where no other
    explicit axes are set: along these its own type says all.

    Args:
      options: of `jit`.
      call: the call.
      avals: the types of its leaves.
    """
    _check_specs(options)
    if not options.in_shardings.says_types:
        return list(avals)
    chosen = in_shardings(options, call)
    if chosen is None or contexts.get_abstract_mesh().explicit_axes:
        return list(avals)
    return list(map(_divide_aval, avals, chosen))


def _divide_aval(aval: Any, sharding: Any) -> Any:
    if type(aval) is not avals_.ShapedArray or aval.explicit is not None:
        return aval
    return aval.update(sharding=sharding)


def _name(call: signatures.Call) -> str:
    return source_info.function_name(call.fun)


def _shape_of(x: Any) -> tuple[int, ...]:
    return x.shape if hasattr(x, "shape") else avals_.aval_of(x).shape


def of_call(
    options: Any,
    call: signatures.Call,
    values: Sequence[Any],
    used: Sequence[bool] | None,
) -> Any:
    """Where a call runs, as its arguments and the option `in_shardings` say.

    Args:
      options: of `jit`.
      call: the call.
      values: its leaves, as arrays or descriptions of them.
      used: which of them the program takes; None for all.

    Returns:
      A device, a `Division` over several, or None where nothing says.

    Raises:
      ValueError: arguments are on different devices, or not where the option requires.
    """
    if not client.several_devices():
        return options.device
    if options.device is not None and contexts.default_mesh.value is not None:
        raise ValueError(
            f"jit: device= and backend= must be left out where a mesh is set, got "
            f"{options.device} and {contexts.default_mesh.value} in the call of "
            f"{_name(call)}; move the arguments with olympus.device_put, outside of "
            "set_mesh"
        )
    chosen = in_shardings(options, call)
    if chosen is None:
        place = options.device or concrete_arrays.common_device(values, used)
        return _device_of_results(options) if place is None else place
    for i, (value, sharding) in enumerate(zip(values, chosen, strict=True)):
        _check_argument(call, i, value, sharding)
    own = concrete_arrays.committed_places(values, used)
    if used is not None:
        chosen = [s if u else None for s, u in zip(chosen, used, strict=True)]
    places = [p if s is None else s for p, s in zip(own, chosen, strict=True)]
    place = options.device or concrete_arrays.common_place(places)
    return _device_of_results(options) if place is None else place


def _check_specs(options: Any) -> None:
    """Raises RuntimeError for specs that no mesh gives a meaning, on one device too."""
    for name in ("in_shardings", "out_shardings"):
        places = getattr(options, name)
        if not places or not contexts.get_mesh().empty:
            continue
        for leaf in places.key[0]:
            spec = leaf.sharding if isinstance(leaf, Format) else leaf
            if isinstance(spec, PartitionSpec):
                what = f"jit {name}"
                raise RuntimeError(sharding_constraints.no_mesh_text(what, spec))


def _device_of_results(options: Any) -> Any:
    """The one device that the option `out_shardings` names, or None."""
    for place in options.out_shardings.devices():
        sharding = sharding_arguments.resolve(place, "jit out_shardings")
        if not isinstance(sharding, NamedSharding):
            return concrete_arrays.one_device(sharding, "jit out_shardings")
    return None


def _check_argument(call: signatures.Call, i: int, value: Any, sharding: Any) -> None:
    own = concrete_arrays.committed_place(value)
    if own is None or sharding is None:
        return
    own = sharding_arguments.resolve(own, "jit")
    if not _divide_alike(own, sharding, len(value.shape)):
        raise ValueError(
            f"jit in_shardings: {call.paths()[i]} must be divided as the option says, "
            f"got {own} for {sharding} in the call of {_name(call)}; move it with "
            f"olympus.device_put, or leave its sharding out of in_shardings"
        )


def _divide_alike(a: Any, b: Any, ndim: int) -> bool:
    """Whether two shardings divide arrays in the same way, over whichever devices."""
    return _way_of_division(a, ndim) == _way_of_division(b, ndim)


def _way_of_division(sharding: Any, ndim: int) -> tuple[Any, ...]:
    spec = getattr(sharding, "spec", None)
    unreduced: Any = getattr(spec, "unreduced", frozenset())
    return sharding._to_xla_hlo_sharding(ndim), unreduced, sharding.memory_kind


def out_shardings(options: Any, traced: TracedProgram) -> list[Any]:
    """The sharding that `jit`'s option gives each result of a program, or None.

    Raises:
      ValueError: the option is not a prefix of the result, or cannot divide it.
    """
    if not options.out_shardings:
        return [None] * len(traced.out_avals)
    result = traced.out_tree.unflatten(traced.out_avals)
    chosen = sharding_arguments.of_leaves(
        options.out_shardings.places, result, "jit out_shardings", "result"
    )
    paths = traced.debug_info.result_paths or ["result"] * len(chosen)
    for sharding, aval, path in zip(chosen, traced.out_avals, paths, strict=True):
        if isinstance(sharding, NamedSharding):
            what = f"jit out_shardings of {path} of {traced.name}"
            sharding.check_shape(aval.shape, what)
    return chosen


def of_program(options: Any, traced: TracedProgram, place: Any) -> Any:
    """Where a traced program runs, according to its arguments and options.

    Args:
      options: of `jit`.
      traced: the program.
      place: what `of_call` gave.

    Raises:
      ValueError: the option `out_shardings` is not a prefix of the result, or cannot
        divide it, or is for other devices.
    """
    program, consts = traced.program, traced.consts
    place = program_meshes.place_of(program, consts, place, traced.name)
    if not options.out_shardings or not client.several_devices():
        return place
    chosen = out_shardings(options, traced)
    for sharding in chosen:
        if isinstance(sharding, NamedSharding):
            n_inputs = len(traced.program.invars)
            reason = f"out_shardings of {traced.name} divide results over"
            place = program_meshes.divide(place, sharding.device_mesh, n_inputs, reason)
        elif sharding is not None:
            place = _check_one_device(place, sharding, traced.name)
    if not isinstance(place, Division):
        return place
    whole = NamedSharding(place.mesh, PartitionSpec())  # of a mesh of one device
    named = [s if s is None or isinstance(s, NamedSharding) else whole for s in chosen]
    return place._replace(out_shardings=tuple(named))


def _check_one_device(place: Any, sharding: Any, name: str) -> Any:
    device = concrete_arrays.one_device(sharding, "jit out_shardings")
    own = place.devices if isinstance(place, Division) else (place,)
    if place is not None and tuple(own) != (device,):
        raise incompatible_devices(
            f"out_shardings of {name} put results on {device}, and it runs on "
            f"{devices_text(own)}; move its arguments, or its results, with "
            "olympus.device_put"
        )
    return place or device


def constrain_arguments(options: Any, call: signatures.Call) -> list[Any]:
    """A call's leaves, constrained as the option requires, while it is traced."""
    chosen = in_shardings(options, call)
    if chosen is None:
        return list(call.leaves)
    return list(map(_constrain, call.leaves, chosen))


def constrain_results(
    options: Any, traced: TracedProgram, outs: Sequence[Any]
) -> list[Any]:
    """A program's results, constrained as the option requires."""
    return list(map(_constrain, outs, out_shardings(options, traced)))


def _constrain(x: Any, sharding: Any) -> Any:
    if not isinstance(sharding, NamedSharding):
        return x
    if sharding.mesh.explicit_axes:
        return sharding_constraints.reshard(x, sharding)
    return sharding_constraints.constrain(x, sharding, "jit shardings")
