"""`pmap`: a function mapped over a leading axis, one element on each device."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import jit as jit_
from olympus._src.api import parameters, process_blocks
from olympus._src.api.shard_map import shard_map
from olympus._src.core import avals as avals_
from olympus._src.core.array_type import PyTree
from olympus._src.foundation import source_info, tracebacks
from olympus._src.lax import families, shaping
from olympus._src.runtime import client
from olympus._src.runtime.array import ArrayImpl
from olympus._src.runtime.versions import Device
from olympus._src.sharding.meshes import Mesh
from olympus._src.sharding.specs import PartitionSpec


def pmap(
    fun: Callable[..., Any],
    axis_name: Hashable | None = None,
    *,
    in_axes: PyTree = 0,
    out_axes: PyTree = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
) -> Callable[..., Any]:
    """Maps a function over an axis of its arguments, one element on each device.

    It is `jit` of `shard_map` over a mesh of one axis, without that axis inside. In new
    programs, prefer `jit` with shardings, or `shard_map`.

    In a program of several processes all of them call it. Each gives one element for
    each of its own devices, and gets theirs back; collectives are over all devices.

    Args:
      fun: a function of arrays and pytrees of them.
      axis_name: what collectives inside call the axis.
      in_axes: for each positional argument the axis that is mapped, None for a value
        that all devices get; or trees of those. Arguments by keyword are mapped over
        their first axis.
      out_axes: the same for the result: where the mapped axis is, or None for the
        result of the first device alone.
      static_broadcasted_argnums: positions of arguments that are Python values.
      devices: the devices; default the first of the platform, or all of them where the
        program has several processes.
      backend: the platform.
      axis_size: the size of the axis in all processes, which is checked.
      donate_argnums: positions of arguments whose memory results may take over.

    Returns:
      A function of `fun`'s signature, with `lower`.

    Raises:
      TypeError: `fun` is not callable, or an axis is not an integer or None.
      ValueError: no argument is mapped, their sizes differ, or there are too few
        devices.

    Example:
      >>> import olympus, olympus.numpy as jnp
      >>> olympus.pmap(lambda x: 2 * x)(jnp.ones((1, 3)))
      Array([[2., 2., 2.]], dtype=float32)
    """
    parameters.check_callable("pmap", fun)
    static = parameters.as_positions(
        "pmap", static_broadcasted_argnums, "static_broadcasted_argnums"
    )
    donated = parameters.as_positions("pmap", donate_argnums, "donate_argnums")
    for what, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        _check_axes(what, axes)
    mapping = _Mapping(fun, axis_name, in_axes, out_axes, static, donated)
    known = list(devices) if devices is not None else None

    def resolve(args: Any, kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """The program, its arguments, and what makes this process's results of its."""
        chosen = tuple(client.devices(backend) if known is None else known)
        here = tuple([d for d in chosen if d.process_index == client.process_index()])
        if here == chosen:
            size = mapping.size(args, kwargs, axis_size)
            return mapping.program(size, chosen), args, kwargs, lambda result: result
        if axis_size not in (None, len(chosen)):
            raise ValueError(
                f"pmap: axis_size must be the number of devices of all processes, got "
                f"{axis_size} for {len(chosen)}"
            )
        blocks = process_blocks.Blocks(mapping.name, chosen, here)
        blocks.check(mapping.size(args, kwargs, None))
        to_delete = tree.tree_leaves([args[i] for i in donated])
        args, kwargs = mapping.map_operands(blocks.join, args, kwargs)

        def finish(result: Any) -> Any:
            for x in to_delete:
                if type(x) is ArrayImpl:  # its parts are donated already
                    x.delete()
            return mapping.map_results(blocks.own, result)

        return mapping.program(len(chosen), chosen), args, kwargs, finish

    @tracebacks.api_boundary
    def run_on_devices(*args: Any, **kwargs: Any) -> Any:
        program, args, kwargs, finish = resolve(args, kwargs)
        return finish(program(*args, **kwargs))

    def lower(*args: Any, **kwargs: Any) -> Any:
        """Traces and lowers for these arguments."""
        program, args, kwargs, _ = resolve(args, kwargs)
        return program.lower(*args, **kwargs)

    name = source_info.function_name(fun)
    run_on_devices.__name__ = run_on_devices.__qualname__ = name
    run_on_devices.__doc__ = fun.__doc__
    run_on_devices.__wrapped__ = fun  # type: ignore[attr-defined]
    run_on_devices.lower = lower  # type: ignore[attr-defined]
    return run_on_devices


def _check_axes(what: str, axes: Any) -> None:
    for leaf in tree.tree_leaves(axes, _is_none):
        if leaf is not None and type(leaf) is not int:
            raise TypeError(
                f"pmap {what}: must be an int, None or a tree of them, got {leaf!r}"
            )


def _is_none(x: Any) -> bool:
    return x is None


class _Mapping:
    """A function that is mapped, and its programs by devices."""

    def __init__(
        self,
        fun: Callable[..., Any],
        axis_name: Hashable | None,
        in_axes: Any,
        out_axes: Any,
        static: tuple[int, ...],
        donated: tuple[int, ...],
    ) -> None:
        self.fun = fun
        self.name = "_pmap_axis" if axis_name is None else axis_name
        self.in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
        self.out_axes = out_axes
        self.static = static
        self.donated = donated
        self._programs: dict[tuple[Device, ...], Any] = {}

    def _dynamic(self, args: Any) -> tuple[Any, ...]:
        static = {i % len(args) for i in self.static} if args else set()
        return tuple([x for i, x in enumerate(args) if i not in static])

    def _axes(self, args: Any, kwargs: Any) -> list[int | None]:
        """The mapped axis of each leaf, or None."""
        in_axes, n = self.in_axes, len(args) + len(self.static)
        if isinstance(in_axes, tuple):
            if len(in_axes) != n:
                raise ValueError(
                    f"pmap in_axes: must have an entry for each positional argument, "
                    f"got {len(in_axes)} for {n}"
                )
            static = {i % n for i in self.static}
            in_axes = tuple([a for i, a in enumerate(in_axes) if i not in static])
        axes = tree.broadcast_prefix(
            in_axes, args, _is_none, what="pmap in_axes", full_name="arguments"
        )
        return axes + [0] * len(tree.tree_leaves(kwargs))

    def size(self, args: Any, kwargs: Any, expected: int | None) -> int:
        """The size of the mapped axis.

        Raises:
          ValueError: there is none, or arguments differ in it.
        """
        dynamic = self._dynamic(args)
        sizes: dict[int, int] = {}
        leaves = tree.tree_leaves((dynamic, kwargs))
        for leaf, axis in zip(leaves, self._axes(dynamic, kwargs), strict=True):
            shape = np.shape(leaf) if not hasattr(leaf, "shape") else leaf.shape
            if axis is None:
                continue
            if not -len(shape) <= axis < len(shape):
                raise ValueError(
                    f"pmap: the mapped axis must be an axis of the argument, got axis "
                    f"{axis} of {avals_.aval_of(leaf).short()}; give in_axes=None for "
                    "a value that all devices get"
                )
            sizes[shape[axis]] = axis
        name = source_info.function_name(self.fun)
        if not sizes:
            raise ValueError(
                f"pmap: at least one argument of {name} must have a mapped axis, got "
                f"in_axes={self.in_axes}"
            )
        if len(sizes) > 1 or expected not in (None, *sizes):
            listed = ", ".join(map(str, sizes))
            raise ValueError(
                f"pmap: mapped axes of arguments of {name} must have one size"
                f"{'' if expected is None else f', axis_size={expected}'}, got {listed}"
            )
        return next(iter(sizes))

    def map_operands(
        self, f: Callable[[Any, int | None], Any], args: Any, kwargs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A function of the arguments that are arrays and their axes; others stay."""
        fixed = {i % len(args): args[i] for i in self.static} if args else {}
        dynamic = self._dynamic(args)
        leaves, structure = tree.tree_flatten((dynamic, kwargs))
        rows = zip(leaves, self._axes(dynamic, kwargs), strict=True)
        positional, named = structure.unflatten([f(x, axis) for x, axis in rows])
        whole = list(positional)
        for i in sorted(fixed):
            whole.insert(i, fixed[i])
        return tuple(whole), named

    def program(self, size: int, devices: tuple[Device, ...]) -> Any:
        """The jitted function over the first devices."""
        if size > len(devices):
            raise ValueError(
                f"pmap: a mapped axis of size {size} requires as many devices, got "
                f"{len(devices)}; map over the rest with vmap inside, or on the CPU "
                f"set OLYMPUS_NUM_CPU_DEVICES={size} before the program starts"
            )
        own = devices[:size]
        program = self._programs.get(own)
        if program is None:
            program = jit_.jit(
                self._over(Mesh(np.array(own, object), (self.name,))),
                static_argnums=self.static or None,
                donate_argnums=self.donated or None,
            )
            self._programs[own] = program
        return program

    def _over(self, mesh: Mesh) -> Callable[..., Any]:
        static = self.static

        def run(*args: Any, **kwargs: Any) -> Any:
            fixed = {i % len(args): args[i] for i in static} if args else {}
            dynamic = tuple([x for i, x in enumerate(args) if i not in fixed])
            leaves, structure = tree.tree_flatten((dynamic, kwargs))
            axes = [
                None if axis is None else axis % avals_.aval_of(leaf).ndim
                for leaf, axis in zip(leaves, self._axes(dynamic, kwargs), strict=True)
            ]

            def local(*parts: Any) -> Any:
                elements = [
                    x if axis is None else shaping.squeeze(x, (axis,))
                    for x, axis in zip(parts, axes, strict=True)
                ]
                positional, named = structure.unflatten(elements)
                whole = list(positional)
                for i in sorted(fixed):
                    whole.insert(i, fixed[i])
                return self.map_results(_in_front, self.fun(*whole, **named))

            outs = shard_map(
                local,
                mesh=mesh,
                in_specs=tuple([self._spec(axis) for axis in axes]),
                out_specs=tree.tree_map(
                    lambda axis: self._spec(None if axis is None else 0),
                    self.out_axes,
                    is_leaf=_is_none,
                ),
                check_vma=False,
            )(*leaves)
            return self.map_results(_from_front, outs)

        run.__name__ = run.__qualname__ = source_info.function_name(self.fun)
        run.__signature__ = _signature_of(self.fun)  # type: ignore[attr-defined]
        run.__wrapped__ = self.fun  # type: ignore[attr-defined]
        return run

    def map_results(self, f: Callable[[Any, int | None], Any], result: Any) -> Any:
        """A function of the results and their mapped axes, which may be None."""
        outs, structure = tree.tree_flatten(result)
        axes = tree.broadcast_prefix(
            self.out_axes, result, _is_none, what="pmap out_axes", full_name="result"
        )
        rows = zip(outs, axes, strict=True)
        return structure.unflatten([f(x, axis) for x, axis in rows])

    def _spec(self, axis: int | None) -> PartitionSpec:
        if axis is None:
            return PartitionSpec()
        return PartitionSpec(*[None] * axis, self.name)


def _in_front(x: Any, axis: int | None) -> Any:
    return x if axis is None else shaping.expand_dims(x, (0,))


def _from_front(x: Any, axis: int | None) -> Any:
    if axis is None:
        return x
    return families.move_axis(x, 0, axis % avals_.aval_of(x).ndim)


_any_signature = inspect.signature(lambda *args, **kwargs: None)


def _signature_of(fun: Callable[..., Any]) -> inspect.Signature:
    return parameters.read_signature(fun) or _any_signature
