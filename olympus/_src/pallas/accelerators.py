"""What kernels name of GPUs and TPUs: memory, copies, and parameters of compilers."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, PyTree
from olympus._src.foundation.records import Record
from olympus._src.lax import contraction
from olympus._src.lax import elementwise as e
from olympus._src.lax.precision import PrecisionLike
from olympus._src.numpy import creation, manipulation
from olympus._src.pallas import calls
from olympus._src.pallas.specs import Grid, GridSpec, MakesMemory
from olympus._src.refs.functions import RefLike

# -- parameters ------------------------------------------------------------------------


class TritonParams(Record):
    """Parameters of Triton's compiler, which change nothing.

    Attributes:
      num_warps, num_stages: integers, or None.

    Example:
      >>> from olympus.experimental.pallas import triton
      >>> triton.CompilerParams(num_warps=4).num_warps
      4
    """

    def __init__(
        self, num_warps: int | None = None, num_stages: int | None = None
    ) -> None:
        self.num_warps, self.num_stages = num_warps, num_stages


class TpuParams(Record):
    """Parameters of the compiler for TPUs, by name, which change nothing.

    Example:
      >>> from olympus.experimental.pallas import tpu as pltpu
      >>> pltpu.CompilerParams(dimension_semantics=('parallel',))
      TpuParams(dimension_semantics=('parallel',))
    """

    def __init__(self, **params: object) -> None:
        self.__dict__.update(params)


class InterpretParams(TpuParams):
    """Parameters of JAX's simulation of TPUs, by name, which change nothing."""


class GridDimensionSemantics(enum.Enum):
    """Whether steps along an axis depend on each other. They are in order anyway."""

    PARALLEL = "parallel"
    CORE_PARALLEL = "core_parallel"
    SUBCORE_PARALLEL = "subcore_parallel"
    ARBITRARY = "arbitrary"


class TpuMemorySpace(MakesMemory, enum.Enum):
    """Memories of TPUs, which are all the device's memory here.

    Called with a shape and a dtype, it is memory of a kernel's own.
    """

    HBM = "hbm"
    VMEM = "vmem"
    SMEM = "smem"
    CMEM = "cmem"
    VMEM_SHARED = "vmem_shared"
    SEMAPHORE = "semaphore_mem"

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


# -- copies ----------------------------------------------------------------------------


class AsyncCopy:
    """A copy from one ref to another, which is complete once it has started.

    Example:
      >>> import olympus
      >>> from olympus.experimental import pallas as pl
      >>> from olympus.experimental.pallas import tpu as pltpu
      >>> def kernel(x, out):
      ...     def copy(done):
      ...         work = pltpu.make_async_copy(x, out, done)
      ...         work.start()
      ...         work.wait()
      ...     pl.run_scoped(copy, pltpu.SemaphoreType.DMA)
      >>> x = olympus.numpy.arange(3)
      >>> pl.pallas_call(kernel, x)(x)
      Array([0, 1, 2], dtype=int32)
    """

    __slots__ = ("_source", "_target")

    def __init__(self, source: Any, target: Any) -> None:
        self._source, self._target = source, target

    def start(self, priority: int = 0) -> None:
        """Copies."""
        del priority
        self._target[...] = self._source[...]

    def wait(self) -> None:
        """Nothing is left to wait for."""

    wait_send = wait_recv = wait


def make_async_copy(src_ref: RefLike, dst_ref: RefLike, sem: RefLike) -> AsyncCopy:
    """A copy between refs, or parts of them, to be started; see `AsyncCopy`."""
    del sem
    return AsyncCopy(src_ref, dst_ref)


def async_copy(
    src_ref: RefLike, dst_ref: RefLike, sem: RefLike, *, priority: int = 0
) -> AsyncCopy:
    """A copy between refs, or parts of them, that has started; see `AsyncCopy`."""
    copy = make_async_copy(src_ref, dst_ref, sem)
    copy.start(priority)
    return copy


def sync_copy(src_ref: RefLike, dst_ref: RefLike) -> None:
    """Copies from one ref, or a part of it, to another; see `AsyncCopy`."""
    AsyncCopy(src_ref, dst_ref).start()


def emit_pipeline(
    body: Callable[..., None],
    *,
    grid: Grid,
    in_specs: PyTree = (),
    out_specs: PyTree = (),
    **params: object,
) -> Callable[..., None]:
    """A kernel over the blocks of refs, to be called in a kernel.

    Args:
      body: takes refs of blocks, as the kernel of `pallas_call` does.
      grid, in_specs, out_specs: as for `pallas_call`.
      **params: accepted; XLA plans what is copied when.

    Returns:
      A function of refs: those that are read, one for each of `in_specs`, and then
      those that are written.

    Example:
      >>> import olympus
      >>> from olympus.experimental import pallas as pl
      >>> from olympus.experimental.pallas import tpu as pltpu
      >>> halves = [pl.BlockSpec((2,), lambda i: (i,))]
      >>> def double(x, out):
      ...     out[...] = x[...] * 2
      >>> kernel = pltpu.emit_pipeline(
      ...     double, grid=(2,), in_specs=halves, out_specs=halves)
      >>> x = olympus.numpy.arange(4)
      >>> pl.pallas_call(kernel, x)(x)
      Array([0, 2, 4, 6], dtype=int32)
    """
    sources, targets = _as_tuple(in_specs), _as_tuple(out_specs)
    spec, n = GridSpec(grid, sources, targets), len(sources)

    def run(*refs: Any) -> None:
        calls.run_over_refs(body, spec, refs[:n], refs[n:])

    return run


def _as_tuple(specs: PyTree) -> tuple[Any, ...]:
    return tuple(specs) if isinstance(specs, (tuple, list)) else (specs,)


# -- counters --------------------------------------------------------------------------


def semaphore_read(sem_or_view: RefLike) -> Array:
    """What a counter has counted."""
    return sem_or_view[...]


def semaphore_signal(
    sem_or_view: RefLike,
    inc: ArrayLike = 1,
    *,
    device_id: object = None,
    device_id_type: object = None,
    core_index: object = None,
) -> None:
    """Adds to a counter of this device."""
    if device_id is not None or core_index is not None:
        raise NotImplementedError(
            "semaphore_signal: counters of other devices and cores cannot be reached, "
            f"got device_id={device_id} and core_index={core_index}; use collectives, "
            "as lax.psum, outside of kernels"
        )
    del device_id_type
    sem_or_view[...] = sem_or_view[...] + inc


def semaphore_wait(
    sem_or_view: RefLike, value: ArrayLike = 1, *, decrement: bool = True
) -> None:
    """Takes from a counter what was signalled before; steps are in order."""
    if decrement:
        sem_or_view[...] = sem_or_view[...] - value


# -- operations ------------------------------------------------------------------------


def dot(
    a: ArrayLike,
    b: ArrayLike,
    trans_a: bool = False,
    trans_b: bool = False,
    allow_tf32: bool | None = None,
    precision: PrecisionLike = None,
) -> Array:
    """The product of two matrices, of 32 bits at least.

    Args:
      a, b: matrices.
      trans_a, trans_b: transpose them first.
      allow_tf32: fewer bits are enough, on devices that have them.
      precision: as for `lax.dot_general`.

    Raises:
      ValueError: both `allow_tf32` and `precision` are passed.
    """
    if allow_tf32 is not None:
        if precision is not None:
            raise ValueError("dot: pass either allow_tf32 or precision, got both")
        precision = "tensorfloat32" if allow_tf32 else "highest"
    a, b = creation.asarray(a), creation.asarray(b)
    dims = (((0 if trans_a else 1,), (1 if trans_b else 0,)), ((), ()))
    wide = dtypes.result_type(a, b, np.int32 if a.dtype.kind in "iu" else np.float32)
    return contraction.dot_general(
        a, b, dims, precision=precision, preferred_element_type=wide
    )


def approx_tanh(x: ArrayLike) -> Array:
    """`tanh`, with all its digits."""
    return e.tanh(x)


def reciprocal(x: ArrayLike, *, approx: bool = False, **params: object) -> Array:
    """`1 / x`, with all its digits."""
    return 1 / creation.asarray(x)


def roll(x: ArrayLike, shift: ArrayLike, axis: int, **params: object) -> Array:
    """`numpy.roll` along one axis."""
    return manipulation.roll(x, shift, axis)


def touch(ref: RefLike) -> None:
    """Does nothing: the ref's value is kept where it is used."""
    del ref


def debug_barrier() -> None:
    """Does nothing: steps are in order."""


def is_no_device() -> Literal[False]:
    """False: kernels run as programs of XLA's, on no device's own compiler."""
    return False


def with_memory_space_constraint(x: PyTree, memory_space: object) -> PyTree:
    """`x`: all memory is the device's."""
    del memory_space
    return x
