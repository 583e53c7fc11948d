"""User functions as functions of flat NumPy arrays, and the operation that calls them.

Leaves of the arguments that are not arrays, such as strings, stay on the host: the
program carries only the arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import array_type, dtypes
from olympus._src.core import avals as avals_
from olympus._src.core import effects as effects_
from olympus._src.foundation import source_info
from olympus._src.interpreters import concrete_arrays
from olympus._src.lowering import attributes, builder, partitioning, types
from olympus._src.programs import inner_programs
from olympus._src.runtime import callback as runtime
from olympus._src.runtime import client, placement, versions
from olympus._src.runtime.shardings import SingleDeviceSharding
from olympus._src.sharding.specs import PartitionSpec

OlympusRuntimeError = versions.XlaRuntimeError


class HostFunction:
    """A user's function with flat array arguments and flat results.

    Args:
      fun: the user's function; it is given arrays.
      what: the public function it was given to.
      static: for each leaf of the arguments a one-tuple of its value, or None for an
        array.
      in_tree: the structure of `(args, kwargs)`.
      out_tree: the structure of the result; None where it is ignored.
      out_avals: types of the results.
    """

    __slots__ = ("fun", "in_tree", "out_avals", "out_tree", "static", "what")

    def __init__(
        self,
        fun: Callable[..., Any],
        what: str,
        static: tuple[Any, ...],
        in_tree: Any,
        out_tree: Any = None,
        out_avals: tuple[Any, ...] = (),
    ) -> None:
        self.fun = fun
        self.what = what
        self.static = static
        self.in_tree = in_tree
        self.out_tree = out_tree
        self.out_avals = out_avals

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        host_arrays = map(as_host_array, arrays)
        leaves = [next(host_arrays) if s is None else s[0] for s in self.static]
        args, kwargs = self.in_tree.unflatten(leaves)
        out = self.fun(*args, **kwargs)
        return () if self.out_tree is None else self._results(out)

    def with_results(self, out_avals: Sequence[Any]) -> HostFunction:
        """The same function, whose results have other types."""
        return HostFunction(
            self.fun,
            self.what,
            self.static,
            self.in_tree,
            self.out_tree,
            tuple(out_avals),
        )

    def _results(self, out: Any) -> list[np.ndarray]:
        leaves, structure = tree.tree_flatten(out)
        if structure != self.out_tree and not self._takes_sequence(out):
            raise TypeError(
                f"{self.what}: {_describe_function(self.fun)} must return the "
                f"structure {self.out_tree}, got {structure}; return what "
                "result_shape_dtypes says"
            )
        return [
            self._result(x, aval)
            for x, aval in zip(leaves, self.out_avals, strict=True)
        ]

    def _takes_sequence(self, out: Any) -> bool:
        """Whether `out` differs from what is declared in its lists and tuples only."""
        numbers = range(self.out_tree.num_leaves)
        declared = _sequence_leaves(self.out_tree.unflatten(numbers))
        leaves = _sequence_leaves(out)
        return declared == list(numbers) and len(leaves) == len(declared)

    def _result(self, x: Any, aval: Any) -> np.ndarray:
        avals_.check_not_masked(x)
        if type(x) is int and dtypes.kind(aval.dtype) in "iu":
            avals_.check_range(x, aval.dtype)
        array = np.asarray(x)
        fits = array.dtype == aval.dtype or dtypes.is_python_scalar(x)
        if not fits and dtypes.is_supported(array.dtype):
            fits = dtypes.canonicalize_dtype(array.dtype) == aval.dtype
        if array.shape != aval.shape or not fits:
            raise TypeError(
                f"{self.what}: {_describe_function(self.fun)} must return "
                f"{aval.short()}, got {array.dtype}{list(array.shape)}; convert "
                "the result, or declare its type in result_shape_dtypes"
            )
        return np.ascontiguousarray(array, aval.dtype).reshape(aval.shape)

    def __repr__(self) -> str:
        named = (
            hasattr(self.fun, "__name__") or source_info.function_code(self.fun) is None
        )
        label = source_info.function_name(self.fun) if named else self.fun
        return f"<host function {label}>"


def _sequence_leaves(x: Any) -> list[Any]:
    """The elements of nested lists and tuples, in order; `x` itself if it is none."""
    if type(x) not in (list, tuple):
        return [x]
    return [leaf for item in x for leaf in _sequence_leaves(item)]


class MappedFunction:
    """A function called for each element along a mapped axis, in order.

    Args:
      inner: the function of one element; its results are ignored.
      dims: where each argument has the axis; None for no axis.
      size: the size of the axis; a device that is given parts calls for theirs.
    """

    __slots__ = ("dims", "inner", "size")

    def __init__(self, inner: Any, dims: tuple[int | None, ...], size: int) -> None:
        self.inner = inner
        self.dims = dims
        self.size = size

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        rows = [_rows(x, d) for x, d in zip(arrays, self.dims, strict=True)]
        for i in range(self._size_of(arrays)):
            self.inner(*[row(i) for row in rows])
        return ()

    def _size_of(self, arrays: Sequence[Any]) -> int:
        pairs = zip(arrays, self.dims, strict=True)
        sizes = {np.shape(x)[d] for x, d in pairs if d is not None}
        if len(sizes) > 1:
            raise ValueError(
                "callback: with partitioned=True all parts must have one size along "
                f"the mapped axis, got {sorted(sizes)}; leave partitioned=True out"
            )
        return sizes.pop() if sizes else self.size

    def __repr__(self) -> str:
        return f"{self.inner!r} mapped {self.size} times"


class FunctionWhere:
    """A function called where its first argument, a boolean, is true.

    Args:
      inner: the function of the other arguments; its results are ignored.
    """

    __slots__ = ("inner",)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __call__(self, active: Any, *arrays: Any) -> Sequence[Any]:
        if active:
            self.inner(*arrays)
        return ()

    def __repr__(self) -> str:
        return f"{self.inner!r} where active"


def _rows(x: Any, dim: int | None) -> Callable[[int], Any]:
    """A function that returns the operand of each member of a batch."""
    if dim is None:
        return lambda i: x
    if not _is_opaque(x):
        stacked = np.moveaxis(np.asarray(x), dim, 0)
        return lambda i: stacked[i]
    words = np.moveaxis(np.asarray(concrete_arrays.storage_of(x)), dim, 0)
    shape = x.shape[:dim] + x.shape[dim + 1 :]
    return lambda i: _with_words(words[i], x.aval.update(shape=shape))


def _is_opaque(x: Any) -> bool:
    return type(x) in array_type.concrete_types() and dtypes.is_extended(x.dtype)


def _with_words(words: Any, aval: Any) -> Any:
    """Keys, or other values with opaque elements, on the CPU.

    Args:
      words: of all of them, or of one device's part.
      aval: the type of all of them.
    """
    part = avals_.ShapedArray(words.shape[: aval.ndim], aval.dtype)
    return concrete_arrays.with_aval(as_host_array(words), part)


class FunctionOfKeys:
    """A host function some of whose operands are random keys: programs pass words.

    Args:
      inner: takes the arrays.
      avals: types of the operands.
    """

    __slots__ = ("avals", "inner")

    def __init__(self, inner: Any, avals: tuple[Any, ...]) -> None:
        self.inner = inner
        self.avals = avals

    def __call__(self, *arrays: Any) -> Any:
        return self.inner(
            *[
                _with_words(x, aval) if dtypes.is_extended(aval.dtype) else x
                for x, aval in zip(arrays, self.avals, strict=True)
            ]
        )

    def __repr__(self) -> str:
        return repr(self.inner)


def as_host_array(x: Any) -> Any:
    """An operand as the user's function gets it: an array on one device of the CPU."""
    if type(x) in array_type.concrete_types():
        return _on_one_cpu(x)
    x = np.asarray(x)
    aval = avals_.ShapedArray(x.shape, x.dtype)
    return placement.put(x, aval, client.host_device())


def _on_one_cpu(x: Any) -> Any:
    device = x.single_device
    if device is not None and device.platform == "cpu":
        return x
    if not (x.is_fully_addressable or x.is_fully_replicated):
        return x  # of which other processes have parts
    storage = concrete_arrays.storage_of(x)
    moved = concrete_arrays.on_chosen_device(storage, client.host_device())
    return concrete_arrays.with_aval(moved, x.aval.update(sharding=None))


def check_callback(what: str, callback: Any) -> None:
    """Raises TypeError unless `callback` can be called."""
    remedy = "pass the function itself, not its result"
    inner_programs.check_callable(what, remedy, callback=callback)


def check_sharding(what: str, sharding: Any) -> None:
    """Raises TypeError unless `sharding` is of one device, or None."""
    if sharding is not None and not isinstance(sharding, SingleDeviceSharding):
        raise TypeError(
            f"{what}: sharding must be a SingleDeviceSharding, got {sharding!r}; leave "
            "it out, or write SingleDeviceSharding(device)"
        )


def split_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], tuple[Any, ...], Any]:
    """The arrays among arguments, the other leaves, and the structure of all."""
    leaves, structure = tree.tree_flatten((args, kwargs))
    arrays = [avals_.is_array_like(x) for x in leaves]
    static = tuple([None if a else (x,) for x, a in zip(leaves, arrays, strict=True)])
    return [x for x, a in zip(leaves, arrays, strict=True) if a], static, structure


def as_operands(args: Sequence[Any]) -> list[Any]:
    """Arguments of a host function that is called at once, as arrays."""
    return [concrete_arrays.as_array(x) for x in args]


def _describe_function(fun: Any) -> str:
    place = source_info.function_location(fun)
    name = source_info.function_name(fun)
    return name if place.startswith("<no") else f"{name} at {place}"


# -- lowering --------------------------------------------------------------------------


def lower_call(
    ctx: Any,
    operands: Sequence[str],
    host: Any,
    sharding: Any = None,
    takes_parts: bool = False,
) -> list[str]:
    """Writes the custom call that reaches a host function.

    The text names the function by its place among the program's callbacks, and these by
    a number that the program is given when it runs: programs that differ only in the
    functions they call are compiled once. A call with ordered effects keeps its place
    among others of them.

    Args:
      ctx: of the lowering rule.
      operands: names of the arguments.
      host: takes and returns flat arrays.
      sharding: of the device that calls, in a divided program; None for the first.
      takes_parts: each device of a divided program calls, with its parts; then there
        are no results.
    """
    effects = ctx.eqn.effects
    ordered = effects_.ordered(effects)
    for aval in ctx.avals_out:
        if dtypes.is_extended(aval.dtype):
            raise NotImplementedError(
                f"callback: results must be of numbers, got {aval.short()}; return the "
                "words of keys, for random.wrap_key_data"
            )
    if any(dtypes.is_extended(aval.dtype) for aval in ctx.avals_in):
        host = FunctionOfKeys(host, tuple(ctx.avals_in))
    results = tuple([(a.shape, a.dtype) for a in ctx.avals_out])
    index = len(ctx.module.callbacks)
    ctx.module.callbacks.append(runtime.HostCall(host, results, tokens=len(ordered)))
    token = types.token_type()
    mesh = ctx.module.divided_over
    is_divided = mesh is not None and mesh.size > 1
    is_automatic = is_divided and ctx.module.manual is None
    is_whole = is_automatic and not takes_parts
    target = runtime.target if is_whole or not is_automatic else runtime.target_of_parts
    if is_automatic and takes_parts and ordered:
        raise NotImplementedError(
            f"{ctx.eqn.primitive.name}: with partitioned=True every device calls, in "
            "no order; leave out ordered=True, or partitioned=True"
        )
    if is_whole:
        operands = _gather(ctx, operands, ctx.avals_in)
    number = _no_number(ctx) if is_divided else ctx.block.callbacks()
    names = ctx.block.op(
        "stablehlo.custom_call",
        [*[ctx.block.tokens[e] for e in ordered], *operands, number],
        [*[token] * len(ordered), *ctx.avals_in, builder.CALLBACKS_TYPE],
        [token] * len(ordered) + ctx.avals_out,
        f'call_target_name = "{target(ctx.platform)}", '
        f"{_layouts(ctx, len(ordered))}, "
        f"{runtime.attributes(index, has_side_effect=bool(effects))}"
        f"{_division(ctx, len(ordered), sharding) if is_divided else ''}",
    )
    ctx.block.tokens.update(zip(ordered, names, strict=False))
    outs = names[len(ordered) :]
    return _gather(ctx, outs, ctx.avals_out) if is_whole else outs


def lower_buffer_call(
    ctx: Any,
    operands: Sequence[str],
    fun: Any,
    aliases: Sequence[tuple[int, int]],
) -> list[str]:
    """Writes the custom call of a function that works on the memory of its results.

    Args:
      ctx: of the lowering rule.
      operands: names of the arguments.
      fun: takes the context and buffers.
      aliases: numbers of operands that share memory with results, and of those.
    """
    mesh = ctx.module.divided_over
    if mesh is not None and mesh.size > 1:
        raise NotImplementedError(
            "buffer_callback: the program must run on one device, got one that is "
            "divided over a mesh; use pure_callback"
        )
    index = len(ctx.module.callbacks)
    ctx.module.callbacks.append(runtime.BufferCall(fun))
    number = ctx.block.callbacks()
    text = (
        f'call_target_name = "{runtime.target_of_buffers(ctx.platform)}", '
        f"{runtime.attributes(index, has_side_effect=bool(ctx.eqn.effects))}"
    )
    if aliases:  # the number of the callbacks is the first operand
        shifted = [(i + 1, o) for i, o in aliases]
        text += f", {attributes.output_aliases(shifted, len(ctx.avals_out))}"
    operand_layouts = ", ".join([_EMPTY_LAYOUT, *map(_layout, ctx.avals_in)])
    result_layouts = ", ".join(map(_layout, ctx.avals_out))
    return ctx.block.op(
        "stablehlo.custom_call",
        [number, *operands],
        [builder.CALLBACKS_TYPE, *ctx.avals_in],
        ctx.avals_out,
        f"{text}, operand_layouts = [{operand_layouts}], "
        f"result_layouts = [{result_layouts}]",
    )


def _gather(ctx: Any, names: Sequence[str], avals: Sequence[Any]) -> list[str]:
    """Values as all devices have them: between those of one device and divided ones.

    XLA can go from these to the others at once, but logs that it is slow.
    """
    symbol = ctx.module.mesh(ctx.module.divided_over)
    whole = PartitionSpec()
    return [
        ctx.block.emit(partitioning.constraint(symbol, whole, name, aval))
        for name, aval in zip(names, avals, strict=True)
    ]


def _no_number(ctx: Any) -> str:
    """In place of the number of a table: a divided program is compiled with its own."""
    return ctx.block.constant(np.int32(0), avals_.ShapedArray((), np.dtype("int32")))


def _division(ctx: Any, tokens: int, sharding: Any) -> str:
    """An attribute that makes one device call, with the whole operands.

    In `shard_map` every device calls, with its parts.
    """
    manual = ctx.module.manual
    if manual is None:
        symbol = ctx.module.one_device(_position(ctx, sharding))
        n_results = tokens + len(ctx.avals_out)
        return f", {partitioning.on_one_device(symbol, n_results)}"
    free = [name for name in manual.mesh.axis_names if name not in manual.axes]
    if any(manual.mesh.shape[name] > 1 for name in free):
        raise NotImplementedError(
            f"callback: in shard_map it must be of all axes of the mesh, got "
            f"axis_names without {', '.join(map(repr, free))} of {manual.mesh}; leave "
            "axis_names out, or call it outside of shard_map"
        )
    return ""


def _position(ctx: Any, sharding: Any) -> int:
    """The number of the device that calls in the program; 0 where none was chosen."""
    if sharding is None:
        return 0
    mesh, (device,) = ctx.module.divided_over, sharding.device_set
    if device not in mesh.flat_devices:
        raise ValueError(
            f"{ctx.eqn.primitive.name}: sharding must be of a device of the program, "
            f"got {device} for one over {mesh}; leave sharding out, or use one of "
            "mesh.devices"
        )
    return int(mesh.flat_devices.index(device))


_EMPTY_LAYOUT = "dense<> : tensor<0xindex>"


def _layouts(ctx: Any, tokens: int) -> str:
    """Rows first for each operand and result, as NumPy has them."""
    empty, number = [_EMPTY_LAYOUT] * tokens, [_EMPTY_LAYOUT]
    operands = ", ".join(empty + [_layout(a) for a in ctx.avals_in] + number)
    results = ", ".join(empty + [_layout(a) for a in ctx.avals_out])
    return f"operand_layouts = [{operands}], result_layouts = [{results}]"


def _layout(aval: Any) -> str:
    aval = aval.storage
    if not aval.ndim:
        return _EMPTY_LAYOUT
    order = ", ".join(map(str, range(aval.ndim - 1, -1, -1)))
    return f"dense<[{order}]> : tensor<{aval.ndim}xindex>"
