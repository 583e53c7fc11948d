"""Saving and loading trees of arrays, as users call it."""

from __future__ import annotations

import concurrent.futures
import importlib
import os
from collections.abc import Callable, Generator
from typing import Any

from olympus._src import tree
from olympus._src.api import shapes, sharding_arguments
from olympus._src.array_serialization import indexing, loading, saving
from olympus._src.core.array_type import PyTree
from olympus._src.foundation import tracebacks

Path = str | os.PathLike[str]

# One thread, so that the saves of all processes happen in one order.
_worker = concurrent.futures.ThreadPoolExecutor(1, "olympus saves")


class PyTreeFuture(concurrent.futures.Future[Any]):
    """A save or a load that goes on; it can be awaited.

    Attributes:
      pytree: the tree, with a `ShapeDtypeStruct` for each array.
    """

    pytree: PyTree

    def __init__(self, pytree: PyTree) -> None:
        super().__init__()
        self.pytree = pytree

    def __await__(self) -> Generator[Any, None, Any]:
        asyncio = importlib.import_module("asyncio")  # large; who awaits has it
        awaited: Generator[Any, None, Any] = asyncio.wrap_future(self).__await__()
        return awaited


def _start(run: Callable[[], Any], pytree: PyTree) -> PyTreeFuture:
    """Runs a function after all that were started before it."""
    future = PyTreeFuture(pytree)

    def work() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = run()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    _worker.submit(work)
    return future


def _refuse_specs(ts_specs: Any, what: str) -> None:
    if ts_specs is not None:
        raise ValueError(
            f"{what}: ts_specs must be None, got {ts_specs!r}; saves have one format "
            "and do not use tensorstore"
        )


# -- saving ----------------------------------------------------------------------------


@tracebacks.api_boundary
def save(
    data: PyTree,
    directory: Path,
    *,
    overwrite: bool = True,
    ts_specs: PyTree | None = None,
) -> None:
    """Saves a tree of arrays in a folder.

    All processes of a program call it, and each writes the parts on its devices; they
    need a file system that they share. A save replaces the former one in the folder at
    its end: if it is interrupted, the former one is whole.

    Args:
      data: a pytree of arrays and numbers; arrays of one process only must be the same
        in all.
      directory: the folder, which is made if it is missing.
      overwrite: whether a former save in it may be replaced.
      ts_specs: for JAX's programs; must be None.

    Raises:
      TypeError: a leaf is not an array or a number.
      ValueError: the tree has nodes of a type without a registered serialization, or
        processes save different trees.
      FileExistsError: there is a save, and `overwrite` is False.
      OSError: a file could not be written; in the other processes a RuntimeError.

    Example:
      >>> import tempfile
      >>> import numpy as np
      >>> from olympus.experimental.array_serialization import pytree_serialization
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     pytree_serialization.save({'w': np.arange(3), 'step': 7}, folder)
      ...     pytree_serialization.load(folder)
      {'step': Array(7, dtype=int32...), 'w': Array([0, 1, 2], dtype=int32)}
    """
    start_save(data, directory, overwrite, ts_specs, "save").result()


@tracebacks.api_boundary
def nonblocking_save(
    data: PyTree,
    directory: Path,
    *,
    overwrite: bool = True,
    ts_specs: PyTree | None = None,
) -> PyTreeFuture:
    """As `save`, in the background.

    It waits until the arrays are computed and returns; they may be donated afterwards.
    Saves of a process happen one after another.

    Args:
      data: as of `save`.
      directory: as of `save`.
      overwrite: as of `save`.
      ts_specs: as of `save`.

    Returns:
      A future, whose `result()` waits for the end and raises what `save` raises, and
      whose `pytree` has the types of the arrays.
    """
    return start_save(data, directory, overwrite, ts_specs, "nonblocking_save")


def start_save(
    data: PyTree,
    directory: Path,
    overwrite: bool,
    ts_specs: Any,
    what: str,
    on_commit: Callable[[], None] | None = None,
) -> PyTreeFuture:
    """Starts a save; `on_commit` is called by process 0 when it counts."""
    _refuse_specs(ts_specs, what)
    folder = os.fspath(directory)
    if not overwrite and os.path.exists(os.path.join(folder, indexing.NAME)):
        raise FileExistsError(
            f"{what}: directory must not hold a save where overwrite is False, got "
            f"{folder}; choose another folder, or overwrite=True"
        )
    planned = saving.plan(data, folder, on_commit)
    avals = iter([leaf.aval for leaf in planned.leaves])
    types = tree.tree_map(lambda x: shapes.struct_of(next(avals)), data)
    return _start(lambda: saving.run(planned), types)


# -- loading ---------------------------------------------------------------------------


@tracebacks.api_boundary
def load(
    directory: Path,
    shardings: PyTree = None,
    *,
    mask: PyTree | None = None,
    ts_specs: PyTree | None = None,
) -> PyTree:
    """Loads a tree of arrays that `save` wrote, onto any devices.

    The mesh and the number of processes may be others than those of the save. Each
    process reads what its devices hold.

    Args:
      directory: the folder.
      shardings: a sharding, a device, or a `ShapeDtypeStruct` with a sharding, whose
        dtype the result has; or a tree of them that is a prefix of the saved one. None
        is the default device.
      mask: a tree of booleans that is a prefix of the saved one; arrays at False are
        not read.
      ts_specs: for JAX's programs; must be None.

    Returns:
      The tree, with None in place of the arrays that `mask` leaves out.

    Raises:
      FileNotFoundError: there is no finished save, or one of its files is missing.
      ValueError: a file is damaged, a sharding cannot divide an array, or a tree is no
        prefix of the saved one.
      TypeError: an array has a dtype of 64 bits, which is not enabled.

    Example:
      >>> import tempfile
      >>> import olympus, numpy as np
      >>> from olympus.experimental.array_serialization import pytree_serialization
      >>> from olympus.sharding import NamedSharding, PartitionSpec as P
      >>> mesh = olympus.make_mesh((1,), ('x',))
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     pytree_serialization.save({'w': np.arange(4)}, folder)
      ...     pytree_serialization.load(folder, NamedSharding(mesh, P('x')))
      {'w': Array([0, 1, 2, 3], dtype=int32)}
    """
    return _prepare_load(directory, shardings, mask, ts_specs, "load")[0]()


@tracebacks.api_boundary
def nonblocking_load(
    directory: Path,
    shardings: PyTree = None,
    *,
    mask: PyTree | None = None,
    ts_specs: PyTree | None = None,
) -> PyTreeFuture:
    """As `load`, in the background.

    Args:
      directory: as of `load`.
      shardings: as of `load`.
      mask: as of `load`.
      ts_specs: as of `load`.

    Returns:
      A future, whose `result()` is the tree and raises what `load` raises, and whose
      `pytree` has the types of the saved arrays.
    """
    what = "nonblocking_load"
    return _start(*_prepare_load(directory, shardings, mask, ts_specs, what))


@tracebacks.api_boundary
def load_pytreedef(directory: Path) -> PyTree:
    """The saved tree, with a `ShapeDtypeStruct` for each array; reads the index only.

    Args:
      directory: the folder of a save.

    Raises:
      FileNotFoundError: there is no finished save.
      ValueError: its index is damaged.
    """
    index = indexing.read(os.fspath(directory), "load_pytreedef")
    return _types_of(index)


def _types_of(index: indexing.Index) -> PyTree:
    types = [shapes.struct_of(leaf.aval) for leaf in index.leaves]
    return index.treedef.unflatten(types)


def _prepare_load(
    directory: Path, shardings: PyTree, mask: PyTree, ts_specs: Any, what: str
) -> tuple[Callable[[], PyTree], PyTree]:
    """A function that loads, and the types of the saved arrays."""
    _refuse_specs(ts_specs, what)
    folder = os.fspath(directory)
    index = indexing.read(folder, what)
    types = _types_of(index)
    places = tree.broadcast_prefix(
        shardings, types, _is_place, what=f"{what} shardings", full_name="the tree"
    )
    chosen = [True] * len(places)
    if mask is not None:
        chosen = tree.broadcast_prefix(
            mask, types, what=f"{what} mask", full_name="the tree"
        )
    rows = list(zip(index.leaves, map(_resolve, places), chosen, strict=True))
    files = os.path.join(folder, index.folder)

    def run() -> PyTree:
        return index.treedef.unflatten(
            [
                _load_leaf(files, leaf, place) if is_chosen else None
                for leaf, place, is_chosen in rows
            ]
        )

    return run, types


def _is_place(x: Any) -> bool:
    return sharding_arguments.is_leaf(x) or isinstance(x, shapes.ShapeDtypeStruct)


def _resolve(place: Any) -> tuple[Any, Any]:
    """The sharding that an argument describes, and the type where it gives one."""
    if isinstance(place, shapes.ShapeDtypeStruct):
        return place.sharding, place
    return sharding_arguments.resolve(place, "load shardings"), None


def _load_leaf(files: str, leaf: indexing.Leaf, place: tuple[Any, Any]) -> Any:
    sharding, expected = place
    if expected is not None and tuple(expected.shape) != leaf.aval.shape:
        raise ValueError(
            f"load: the shape of a ShapeDtypeStruct must be that of the saved array, "
            f"got {tuple(expected.shape)} for {leaf.aval.str_long()} at "
            f"data{leaf.path}; reshape or pad the array after loading"
        )
    dtype = None if expected is None else expected.dtype
    return loading.load(files, leaf, sharding, dtype)
