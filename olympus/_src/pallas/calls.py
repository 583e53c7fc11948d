"""`pallas_call`: a kernel over the blocks of its arrays."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import jit as jit_
from olympus._src.api.staging import make_olympuspr
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import PyTree
from olympus._src.lax import concatenation, shaping, slicing
from olympus._src.lax import elementwise as e
from olympus._src.numpy import creation
from olympus._src.pallas import grid as grid_
from olympus._src.pallas.specs import (
    BlockDim,
    BlockSpec,
    CostEstimate,
    Grid,
    GridSpec,
    SemaphoreType,
    as_block_dim,
    no_block_spec,
    squeezed,
)
from olympus._src.refs import functions as refs

# -- memory of no meaning --------------------------------------------------------------


def new_unwritten(shape: Sequence[int], dtype: Any) -> Any:
    """What is read where nothing was written: NaN, or the least integer."""
    dtype = np.dtype(dtype)
    value: Any = 0
    if dtypes.issubdtype(dtype, np.inexact):
        value = np.nan
    elif dtypes.issubdtype(dtype, np.signedinteger):
        value = int(dtypes.iinfo(dtype).min)
    return creation.full(shape, value, dtype)


def new_scratch(memory: Any) -> Any:
    """A ref for memory of a kernel's own."""
    if isinstance(memory, SemaphoreType):
        memory = memory()
    if not hasattr(memory, "shape") or not hasattr(memory, "dtype"):
        raise TypeError(
            "pallas_call: memory of a kernel must have a shape and a dtype, got "
            f"{memory!r}; write MemorySpace.ANY(shape, dtype)"
        )
    if isinstance(getattr(memory, "memory_space", None), SemaphoreType):
        return refs.new_ref(creation.zeros(memory.shape, memory.dtype))
    return refs.new_ref(new_unwritten(memory.shape, memory.dtype))


# -- blocks ----------------------------------------------------------------------------


class _Operand:
    """An array that a kernel has blocks of, in a ref as large as whole blocks.

    Attributes:
      whole: the ref.
    """

    __slots__ = ("_dims", "_low", "_map", "_shape", "_where", "whole")

    def __init__(self, where: str, x: Any, spec: BlockSpec | None) -> None:
        self._where = where
        self._shape = avals.aval_of(x).shape
        self._dims = _block_dims(where, spec, self._shape)
        self._map = None if spec is None else spec.index_map
        self._low = (0,) * len(self._shape)
        if self._dims is not None:
            pads = [
                d.padding_of(n) for d, n in zip(self._dims, self._shape, strict=True)
            ]
            self._low = tuple([low for low, _ in pads])
            x = _pad(x, pads)
        self.whole = refs.new_ref(x)

    def find_starts(self, position: Sequence[Any]) -> Any:
        """Where a step's block begins; None where it is the whole array."""
        if self._dims is None:
            return None
        if self._map is None:
            return [np.int32(0)] * len(self._dims)
        index = self._map(*position)
        index = tuple(index) if isinstance(index, (tuple, list)) else (index,)
        if len(index) != len(self._dims):
            raise ValueError(
                f"pallas_call: the index map of {self._where} must return a number for "
                f"each of the {len(self._dims)} axes of its block, got {len(index)}; "
                "return 0 for an axis that has one block"
            )
        index = [e.convert(i, np.dtype(np.int32)) for i in index]
        return [d.first(i) for d, i in zip(self._dims, index, strict=True)]

    def read(self, starts: Any) -> Any:
        """A ref of a block of its own."""
        if starts is None:
            return self.whole
        sizes = [d.block_size for d in self._dims or ()]
        block = slicing.dynamic_slice(
            self.whole[...], starts, sizes, allow_negative_indices=False
        )
        gone = [i for i, d in enumerate(self._dims or ()) if d is squeezed]
        return refs.new_ref(shaping.squeeze(block, gone) if gone else block)

    def write(self, starts: Any, block: Any) -> None:
        """Puts back what a step left in its block."""
        if starts is None:
            return
        sizes = [d.block_size for d in self._dims or ()]
        values = shaping.reshape(block[...], sizes)
        self.whole[...] = slicing.dynamic_update_slice(
            self.whole[...], values, starts, allow_negative_indices=False
        )

    def crop(self) -> Any:
        """The array without what was put around it."""
        x = self.whole[...]
        if self._dims is None or x.shape == self._shape:
            return x
        ends = [low + n for low, n in zip(self._low, self._shape, strict=True)]
        return concatenation.slice_(x, self._low, ends)


class _Operands:
    """All arguments of a kernel, or all of its results, as a tuple of trees."""

    __slots__ = ("_leaves", "_treedef")

    def __init__(
        self, what: str, name: str, values: tuple[Any, ...], specs: Any
    ) -> None:
        leaves, self._treedef = tree.tree_flatten(values)
        rows = zip(leaves, _match_specs(name, specs, values), strict=True)
        self._leaves = [
            _Operand(f"{what} {i}", creation.asarray(x), spec)
            for i, (x, spec) in enumerate(rows)
        ]

    def read(self, position: Sequence[Any]) -> tuple[tuple[Any, ...], list[Any]]:
        """The trees of refs of blocks, and where each block begins."""
        starts = [x.find_starts(position) for x in self._leaves]
        blocks = [x.read(at) for x, at in zip(self._leaves, starts, strict=True)]
        return tree.tree_unflatten(self._treedef, blocks), starts

    def write(self, starts: list[Any], blocks: tuple[Any, ...]) -> None:
        """Puts back what a step left in its blocks."""
        leaves = self._treedef.flatten_up_to(blocks)
        for x, at, block in zip(self._leaves, starts, leaves, strict=True):
            x.write(at, block)

    def crop(self) -> Any:
        """The trees of arrays without what was put around them."""
        return tree.tree_unflatten(self._treedef, [x.crop() for x in self._leaves])


def _block_dims(
    where: str, spec: BlockSpec | None, shape: tuple[int, ...]
) -> tuple[BlockDim, ...] | None:
    if spec is None or spec.block_shape is None:
        return None
    dims = tuple([as_block_dim(d) for d in spec.block_shape])
    if len(dims) != len(shape):
        raise ValueError(
            f"pallas_call: block_shape of {where} must have a size for each of the "
            f"{len(shape)} axes of the array, of shape {shape}, got "
            f"{tuple(spec.block_shape)}; write None for an axis that the block does "
            "not have"
        )
    return dims


def _pad(x: Any, pads: Sequence[tuple[int, int]]) -> Any:
    if not any(low or high for low, high in pads):
        return x
    aval = avals.aval_of(x)
    return concatenation.pad(
        x, new_unwritten((), aval.dtype), [(low, high, 0) for low, high in pads]
    )


# -- trees of specifications -----------------------------------------------------------


def _is_spec(x: Any) -> bool:
    return x is None or x is no_block_spec or isinstance(x, BlockSpec)


def _match_specs(what: str, specs: Any, values: tuple[Any, ...]) -> list[Any]:
    """A BlockSpec, or None, for each leaf of the values."""
    if isinstance(specs, list):
        specs = tuple(specs)
    if isinstance(specs, tuple) and len(specs) != len(values):
        raise ValueError(
            f"pallas_call: {what} must have an entry for each of the {len(values)} "
            f"arrays, got {len(specs)}; pass BlockSpec() for an array that is not cut"
        )
    try:
        leaves = tree.broadcast_prefix(specs, values, is_leaf=_is_spec)
    except ValueError as error:
        raise ValueError(
            f"pallas_call: {what} must have the structure of the arrays, or be a "
            f"prefix of it: {error}"
        ) from None
    for spec in leaves:
        if not _is_spec(spec):
            raise TypeError(
                f"pallas_call: {what} must hold BlockSpecs, got {spec!r}; write "
                "BlockSpec(block_shape, index_map)"
            )
    return [None if spec is no_block_spec else spec for spec in leaves]


def _as_grid(grid: Any) -> tuple[Any, ...]:
    sizes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    return tuple([n if avals.is_array_like(n) else operator.index(n) for n in sizes])


def _check_struct(where: str, x: Any) -> None:
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        raise TypeError(
            f"pallas_call: {where} must have a shape and a dtype, got {x!r}; pass a "
            "ShapeDtypeStruct"
        )


# -- the call --------------------------------------------------------------------------


class _Call:
    """A kernel with all that says how it is called."""

    def __init__(
        self, kernel: Callable[..., None], out_shape: Any, spec: GridSpec, aliases: Any
    ) -> None:
        self.kernel, self.spec = kernel, spec
        self.grid = _as_grid(spec.grid)
        self.aliases = dict(aliases)
        self.has_many = isinstance(out_shape, (tuple, list))
        self.out_shapes = tuple(out_shape) if self.has_many else (out_shape,)
        for i, struct in enumerate(tree.tree_leaves(self.out_shapes)):
            _check_struct(f"result {i}", struct)

    def __call__(self, *args: Any) -> Any:
        results = self.run(args, self._begin_results(tree.tree_leaves(args)))
        return results if self.has_many else results[0]

    def run(self, args: tuple[Any, ...], first: list[Any]) -> Any:
        """The results, in the structure of `out_shapes`, that begin with `first`."""
        spec, n = self.spec, self.spec.num_scalar_prefetch
        out_specs = spec.out_specs
        if not self.has_many and not _is_spec(out_specs):
            out_specs = (out_specs,)
        fixed = tree.tree_map(lambda x: refs.new_ref(creation.asarray(x)), args[:n])
        inputs = _Operands("argument", "in_specs", args[n:], spec.in_specs)
        starting = tree.tree_unflatten(tree.tree_structure(self.out_shapes), first)
        outputs = _Operands("result", "out_specs", starting, out_specs)
        memory = tree.tree_map(new_scratch, spec.scratch_shapes)
        named = memory if isinstance(memory, dict) else {}
        scratch = () if named else tuple(memory)

        def step(*position: Any) -> None:
            where = (*position, *fixed)
            blocks, _ = inputs.read(where)
            outs, starts = outputs.read(where)
            self._call_kernel((*fixed, *blocks, *outs, *scratch), named)
            outputs.write(starts, outs)

        grid_.run(self.grid, step)
        return outputs.crop()

    def _call_kernel(self, kernel_refs: Sequence[Any], named: dict[str, Any]) -> None:
        out: Any = self.kernel(*kernel_refs, **named)
        if out is not None:
            raise ValueError(
                f"pallas_call: the kernel {_name_of(self.kernel)} must return None, "
                f"got a value of type {type(out).__name__}; write results to the refs "
                "that follow those of the arguments"
            )

    def _begin_results(self, args: list[Any]) -> list[Any]:
        """What results hold before the first step."""
        shapes = tree.tree_leaves(self.out_shapes)
        self._check_aliases(args, shapes)
        sources = {out: args[i] for i, out in self.aliases.items()}
        return [
            creation.asarray(sources[i])
            if i in sources
            else new_unwritten(s.shape, dtypes.canonicalize_dtype(s.dtype))
            for i, s in enumerate(shapes)
        ]

    def _check_aliases(self, args: list[Any], shapes: list[Any]) -> None:
        for i, out in self.aliases.items():
            if not 0 <= i < len(args) or not 0 <= out < len(shapes):
                raise ValueError(
                    "pallas_call: input_output_aliases must map positions of the "
                    f"{len(args)} arguments to those of the {len(shapes)} results, got "
                    f"{i}: {out}; nested arrays are counted one by one"
                )
            aval, struct = avals.aval_of(args[i]), shapes[out]
            if aval.shape != tuple(struct.shape) or aval.dtype != struct.dtype:
                raise ValueError(
                    "pallas_call: input_output_aliases must join arrays of one type, "
                    f"got {i}: {out}, of {aval.short()} and shape "
                    f"{tuple(struct.shape)} of {struct.dtype}; remove the pair"
                )


def run_over_refs(
    body: Callable[..., None], spec: GridSpec, sources: Any, targets: tuple[Any, ...]
) -> None:
    """Runs a kernel over the blocks of what refs hold, in a kernel itself."""
    call = _Call(body, targets, spec, {})
    args = tree.tree_map(lambda ref: ref[...], tuple(sources))
    first = [ref[...] for ref in tree.tree_leaves(targets)]
    results = tree.tree_leaves(call.run(args, first))
    for ref, value in zip(tree.tree_leaves(targets), results, strict=True):
        ref[...] = value


def _name_of(kernel: Any) -> str:
    kernel = getattr(kernel, "func", kernel)
    return getattr(kernel, "__name__", type(kernel).__name__)


def pallas_call(
    kernel: Callable[..., None],
    out_shape: PyTree,
    *,
    grid_spec: GridSpec | None = None,
    grid: Grid = (),
    in_specs: PyTree = no_block_spec,
    out_specs: PyTree = no_block_spec,
    scratch_shapes: PyTree = (),
    input_output_aliases: Mapping[int, int] = {},
    debug: bool = False,
    interpret: object = False,
    name: str | None = None,
    compiler_params: object = None,
    cost_estimate: CostEstimate | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Callable[..., PyTree]:
    """A function that runs a kernel on blocks of arrays, one after the other.

    For each position of the grid, the kernel is called with refs: of the blocks of the
    arguments, of the blocks of the results, and of memory of its own. It reads the
    former and writes the latter. On all platforms this is a loop that XLA compiles, so
    a kernel computes what it would on an accelerator, but more slowly than the same
    function without blocks. It may be transformed as any function may.

    Args:
      kernel: takes refs, and returns None.
      out_shape: what has a shape and a dtype, as a `ShapeDtypeStruct`, or a tree of
        those. Results that are not written are NaN, or the least integer.
      grid_spec: all of the next four.
      grid: an integer, or a tuple of them; the last axis moves fastest.
      in_specs: a `BlockSpec` for each argument; by default arguments are whole.
      out_specs: a `BlockSpec` for each result.
      scratch_shapes: memory that keeps its values from step to step, as
        `MemorySpace.ANY(shape, dtype)`; a dictionary is passed by name.
      input_output_aliases: from positions of arguments to those of results that begin
        with their values.
      debug: print the program that runs.
      interpret: accepted; kernels run as loops in any case.
      name: the name of the program; default the kernel's.
      compiler_params, cost_estimate, metadata: accepted; XLA decides by itself.

    Returns:
      A function of the arguments, which are arrays or trees of them. It returns what
      `out_shape` says, a list as a tuple.

    Raises:
      TypeError: a specification has an invalid type.
      ValueError: specifications do not fit the arrays, or the kernel returns a value.

    Example:
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> from olympus.experimental import pallas as pl
      >>> def double(x, out):
      ...     out[...] = x[...] * 2
      >>> rows = pl.BlockSpec((1, 3), lambda i: (i, 0))
      >>> x = onp.arange(6.0).reshape(2, 3)
      >>> pl.pallas_call(double, x, grid=(2,), in_specs=[rows], out_specs=rows)(x)
      Array([[ 0.,  2.,  4.],
             [ 6.,  8., 10.]], dtype=float32)
    """
    if not callable(kernel):
        raise TypeError(
            f"pallas_call: the kernel must be a function of refs, got {kernel!r}"
        )
    if grid_spec is None:
        grid_spec = GridSpec(grid, in_specs, out_specs, scratch_shapes)
    elif (grid, in_specs, out_specs, scratch_shapes) != (
        (),
        no_block_spec,
        no_block_spec,
        (),
    ):
        raise ValueError(
            "pallas_call: grid_spec says what grid, in_specs, out_specs and "
            "scratch_shapes say; pass either it or those"
        )
    call = _Call(kernel, out_shape, grid_spec, input_output_aliases)

    def run(*args: Any) -> Any:
        return call(*args)

    run.__name__ = run.__qualname__ = name or _name_of(kernel)
    compiled = jit_.jit(run)
    if not debug:
        return compiled

    @functools.wraps(run)
    def show(*args: Any) -> Any:
        print(make_olympuspr(run)(*args))
        return compiled(*args)

    return show
