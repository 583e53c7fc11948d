"""How a kernel's arrays are cut into blocks, and where it has memory of its own."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import ArrayLike, DTypeLike, PyTree
from olympus._src.foundation.records import Record

# The sizes of a grid's axes, or the only one; arrays are known when a program runs.
Grid = int | ArrayLike | Sequence[int | ArrayLike]


# -- sizes of blocks along an axis -----------------------------------------------------


class Blocked(Record):
    """A block of `block_size` positions; its index counts blocks. The same as an int.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.Blocked(8)
      Blocked(block_size=8)
    """

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size

    def first(self, index: Any) -> Any:
        """Where the block of an index begins."""
        return index * self.block_size

    def padding_of(self, size: int) -> tuple[int, int]:
        """What an axis lacks before and after for all blocks to be whole."""
        return 0, max(-size % self.block_size, self.block_size - size)

    def __str__(self) -> str:
        return f"Blocked({self.block_size})"


class Element(Record):
    """A block of `block_size` positions; its index counts elements, so blocks overlap.

    Attributes:
      block_size: how many positions.
      padding: how many positions of no meaning are put before and after the axis.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.Element(8, padding=(1, 1))
      Element(block_size=8, padding=(1, 1))
    """

    def __init__(self, block_size: int, padding: tuple[int, int] = (0, 0)) -> None:
        self.block_size, self.padding = block_size, padding

    def first(self, index: Any) -> Any:
        """Where the block of an index begins."""
        return index

    def padding_of(self, size: int) -> tuple[int, int]:
        """What is put before and after."""
        low, high = self.padding
        return low, max(high, self.block_size - size - low)

    def __str__(self) -> str:
        padding = "" if self.padding == (0, 0) else f", padding={self.padding}"
        return f"Element({self.block_size}{padding})"


class Squeezed(Record):
    """One position, along an axis that the block does not have. The same as None.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.squeezed
      Squeezed()
    """

    def first(self, index: Any) -> Any:
        """The position."""
        return index

    def padding_of(self, size: int) -> tuple[int, int]:
        """What an axis lacks: one position, where it has none."""
        return 0, max(1 - size, 0)

    @property
    def block_size(self) -> int:
        """One."""
        return 1


squeezed = Squeezed()
BlockDim = Blocked | Element | Squeezed


def as_block_dim(size: Any) -> BlockDim:
    """The size of a block along an axis, of what a user may write.

    Raises:
      TypeError: it is no size.
    """
    if size is None:
        return squeezed
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        return Blocked(int(size))
    if isinstance(size, BlockDim):
        return size
    raise TypeError(
        "BlockSpec: a size in block_shape must be an integer, None, or one of Blocked, "
        f"Element and Squeezed, got {size!r}; write None for an axis that the block "
        "does not have"
    )


# -- how values move -------------------------------------------------------------------


class RevisitMode(enum.Enum):
    """When a block that is named twice in turn is copied again."""

    IMMEDIATE = "immediate"
    ANY = "any"


class Buffered(Record):
    """How many buffers a block has. Nothing here depends on it: XLA plans memory."""

    def __init__(
        self,
        buffer_count: int,
        use_lookahead: bool = False,
        revisit: RevisitMode | None = None,
        prefetched_count: int = 0,
    ) -> None:
        self.buffer_count, self.use_lookahead = buffer_count, use_lookahead
        self.revisit, self.prefetched_count = revisit, prefetched_count


# -- memory ----------------------------------------------------------------------------


class MemoryRef(Record):
    """Memory of a kernel's own: a shape, a dtype and a space.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.MemorySpace.ANY((2, 3), 'float32').shape
      (2, 3)
    """

    def __init__(self, inner_aval: avals.ShapedArray, memory_space: object) -> None:
        self.inner_aval, self.memory_space = inner_aval, memory_space

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.inner_aval.shape

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self.inner_aval.dtype

    def get_array_aval(self) -> Any:
        """The type of the array that the memory holds."""
        return self.inner_aval


class MakesMemory:
    """A space, which is called with a shape and a dtype for memory in it."""

    def __call__(self, shape: Sequence[int], dtype: DTypeLike) -> MemoryRef:
        """Memory of a shape and a dtype in this space."""
        dtype = dtypes.canonicalize_dtype(dtype, allow_extended_dtype=True)
        return MemoryRef(avals.ShapedArray(tuple(shape), dtype), self)


class SemaphoreType(enum.Enum):
    """Counters of copies and signals, which begin at 0.

    Called with a shape, it is memory of that many.

    Example:
      >>> from olympus.experimental.pallas import tpu as pltpu
      >>> pltpu.SemaphoreType.DMA((2,)).shape
      (2,)
    """

    REGULAR = "regular"
    DMA = "dma"
    BARRIER = "barrier"

    def __call__(self, shape: Sequence[int] = ()) -> MemoryRef:
        """Counters of a shape."""
        return MemoryRef(avals.ShapedArray(tuple(shape), np.dtype(np.int32)), self)


class MemorySpace(MakesMemory, enum.Enum):
    """Where a kernel's memory is. All of it is the device's memory here.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.MemorySpace.ANY
      <MemorySpace.ANY: 'any'>
    """

    KEY = "key"
    INDEX = "index"
    ERROR = "error"
    ANY = "any"
    DEFAULT = "default"

    def __str__(self) -> str:
        return self.value


# -- specifications --------------------------------------------------------------------


class BlockSpec(Record):
    """Which block of an array each step of the grid has.

    Attributes:
      block_shape: for each axis of the array an int, None for an axis that the block
        does not have, or `Blocked`, `Element`, `Squeezed`. None is the whole array.
      index_map: takes the step's position in the grid and returns the block's index
        along each axis; None always names the first block.
      memory_space: accepted; all memory is the device's.
      pipeline_mode: accepted; XLA plans what is copied when.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.BlockSpec((8, 128), lambda i, j: (i, j)).block_shape
      (8, 128)
    """

    def __init__(
        self,
        block_shape: Sequence[Any] | None = None,
        index_map: Callable[..., Any] | None = None,
        pipeline_mode: Buffered | None = None,
        *,
        memory_space: object = None,
    ) -> None:
        self.block_shape, self.index_map = block_shape, index_map
        self.memory_space, self.pipeline_mode = memory_space, pipeline_mode


class _NoBlockSpec:
    """No specification: all arrays are whole."""

    def __repr__(self) -> str:
        return "NoBlockSpec"


no_block_spec = _NoBlockSpec()


class GridSpec(Record):
    """A grid, the blocks of what goes in and out, and memory of the kernel's own.

    Attributes:
      grid: sizes of the grid's axes; the last one moves fastest.
      in_specs, out_specs: trees of `BlockSpec`.
      scratch_shapes: tree of `MemoryRef`, which keep their values from step to step.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.GridSpec(grid=(4,), in_specs=[pl.BlockSpec((8,), lambda i: (i,))]).grid
      (4,)
    """

    # How many arguments the index maps may read.
    num_scalar_prefetch = 0

    def __init__(
        self,
        grid: Grid = (),
        in_specs: PyTree = no_block_spec,
        out_specs: PyTree = no_block_spec,
        scratch_shapes: PyTree = (),
    ) -> None:
        self.grid, self.scratch_shapes = grid, scratch_shapes
        self.in_specs, self.out_specs = in_specs, out_specs


class PrefetchScalarGridSpec(GridSpec):
    """A `GridSpec` whose index maps also take refs of the first arguments.

    Attributes:
      num_scalar_prefetch: how many arguments.

    Example:
      >>> from olympus.experimental.pallas import tpu as pltpu
      >>> pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(4,)).grid
      (4,)
    """

    def __init__(
        self,
        num_scalar_prefetch: int,
        grid: Grid = (),
        in_specs: PyTree = no_block_spec,
        out_specs: PyTree = no_block_spec,
        scratch_shapes: PyTree = (),
    ) -> None:
        super().__init__(grid, in_specs, out_specs, scratch_shapes)
        self.num_scalar_prefetch = num_scalar_prefetch


class CostEstimate(Record):
    """What a kernel costs, as its author says.

    Attributes:
      flops, transcendentals: operations.
      bytes_accessed: bytes read and written.
      remote_bytes_transferred: bytes exchanged with other devices.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.CostEstimate(flops=10, transcendentals=0, bytes_accessed=80).flops
      10
    """

    def __init__(
        self,
        flops: int,
        transcendentals: int,
        bytes_accessed: int,
        remote_bytes_transferred: int = 0,
    ) -> None:
        self.flops, self.transcendentals = flops, transcendentals
        self.bytes_accessed = bytes_accessed
        self.remote_bytes_transferred = remote_bytes_transferred
