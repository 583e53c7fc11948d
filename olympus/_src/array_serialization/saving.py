"""Saving: every process writes its shards; then process 0 replaces the index.

The index names the folder with the files, which is new in each save. So a save counts
from the moment at which its index takes the place of the former one, and until then
the former save is whole.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import secrets
import shutil
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.api import distributed, placement
from olympus._src.array_serialization import boxes, indexing, shard_files
from olympus._src.array_serialization.boxes import Box
from olympus._src.array_serialization.indexing import Leaf, Shard
from olympus._src.core import dtypes, trace
from olympus._src.export import bundle_files, trees
from olympus._src.foundation.container import Unreadable
from olympus._src.interpreters import concrete_arrays

_WHAT = "array_serialization.save"
_saves = itertools.count()  # all processes make the same saves in the same order


class Piece(NamedTuple):
    """A shard that this process writes.

    Attributes:
      file: its name.
      box: which part of the stored elements it is.
      values: its elements.
    """

    file: str
    box: Box
    values: np.ndarray


class LeafPlan(NamedTuple):
    """What a process does for one array.

    Attributes:
      path: how users write it.
      aval: its type.
      pieces: what this process writes.
      digest: of a value that every process must have for itself; None for an array
        whose parts are divided among processes.
    """

    path: str
    aval: Any
    pieces: list[Piece]
    digest: int | None


class Plan(NamedTuple):
    """What a process does in one save.

    Attributes:
      number: of the save, the same in all processes.
      directory: where it goes.
      tree_nodes: the structure.
      leaves: its arrays.
      on_commit: called by process 0 when the save counts.
    """

    number: int
    directory: str
    tree_nodes: list[Any]
    leaves: list[LeafPlan]
    on_commit: Callable[[], None] | None


# -- what is to be written -------------------------------------------------------------


def plan(
    data: Any, directory: str, on_commit: Callable[[], None] | None = None
) -> Plan:
    """What this process has to write; waits until the arrays are computed.

    The arrays may be donated or deleted afterwards.

    Raises:
      TypeError: a leaf is not an array or a number.
      ValueError: a type of node is not registered for serialization.
    """
    rows, treedef = tree.tree_flatten_with_path(data)
    nodes = trees.to_json(treedef, _WHAT)
    leaves = [_plan_leaf(i, tree.keystr(path), x) for i, (path, x) in enumerate(rows)]
    return Plan(next(_saves), directory, nodes, leaves, on_commit)


def _plan_leaf(number: int, path: str, x: Any) -> LeafPlan:
    if isinstance(x, trace.Tracer):
        raise trace.leak_error(x, _WHAT)
    if type(x) is not concrete_arrays.ArrayImpl:
        x = _as_array(path, x)
    stored = concrete_arrays.storage_of(x)
    if placement.process_count() > 1 and stored.is_fully_addressable:
        return _plan_own(number, path, x.aval, np.asarray(stored))
    shape = stored.shape
    values = {shard.device: shard for shard in stored.addressable_shards}
    distinct = [p for p in stored.sharding.parts(shape) if p.replica_id == 0]
    pieces = [
        Piece(
            f"{number}.{i}",
            boxes.from_slices(part.slices, shape),
            np.asarray(values[part.device].data),
        )
        for i, part in enumerate(distinct)
        if part.is_local
    ]
    return LeafPlan(path, x.aval, pieces, None)


def _plan_own(number: int, path: str, aval: Any, values: np.ndarray) -> LeafPlan:
    """The plan of a value that every process has: process 0 writes it."""
    digest = zlib.crc32(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
    piece = Piece(f"{number}.0", boxes.whole(values.shape), values)
    pieces = [piece] if placement.process_index() == 0 else []
    return LeafPlan(path, aval, pieces, digest)


def _as_array(path: str, x: Any) -> Any:
    try:
        array = concrete_arrays.as_array(x)
    except TypeError:
        raise TypeError(
            f"{_WHAT}: the leaves of data must be arrays, numbers or None, got "
            f"{type(x).__name__} at data{path}; leave it out, or register its type as "
            "a node of trees"
        ) from None
    own = getattr(x, "dtype", None)
    if own is None or own.newbyteorder("=") == array.dtype:
        return array
    # Integers that fit keep their values.
    if dtypes.kind(own) not in "iu" or not np.array_equal(np.asarray(array), x):
        raise TypeError(
            f"{_WHAT}: arrays must keep their values, got dtype {own} at data{path}, "
            f"which becomes {dtypes.long_name(array.dtype)}; convert it yourself, or "
            "set olympus_enable_x64"
        )
    return array


# -- writing ---------------------------------------------------------------------------


def run(planned: Plan) -> None:
    """Carries out this process's part of a save; returns when the save counts.

    Raises:
      OSError: a file could not be written, in this process.
      RuntimeError: another process could not write.
      ProcessFailureError: another process failed.
    """
    is_first = placement.process_index() == 0
    stages = _Stages(planned)
    new_folders: list[str] = []  # of this process
    data = b""
    with _discard_on_error(new_folders):
        with stages.run("start") as stage:
            if is_first:
                stage.text = _make_folder(planned.directory, new_folders)
        folder = os.path.join(planned.directory, stage.texts[0])
        with stages.run("write") as stage:
            stage.text = _write_pieces(planned, folder)
        with stages.run("merge"):
            if is_first:
                data = _merge(planned, folder, stage.texts)
    with stages.run("commit"):
        if is_first:
            _replace_index(planned.directory, os.path.basename(folder), data)
            if planned.on_commit is not None:
                planned.on_commit()


@contextlib.contextmanager
def _discard_on_error(folders: list[str]) -> Iterator[None]:
    """A block whose failure removes folders, which it may add to the list."""
    try:
        yield
    except BaseException:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        raise


class _Stage:
    """A part of a save after which all processes wait for each other.

    Attributes:
      text: what this process says to the others; assigned in the block.
      texts: what all have said; known after the block.
    """

    __slots__ = ("text", "texts")

    def __init__(self) -> None:
        self.text = ""
        self.texts: list[str] = []


class _Stages:
    """The stages of a save: an error in one process is one in all."""

    def __init__(self, planned: Plan) -> None:
        self._planned = planned

    @contextlib.contextmanager
    def run(self, name: str) -> Iterator[_Stage]:
        """A block whose errors the other processes are told."""
        stage, error = _Stage(), None
        try:
            yield stage
        except Exception as raised:
            error = raised
        told = json.dumps([None if error is None else str(error), stage.text])
        key = f"save {self._planned.number} {name}"
        told_by_all = [json.loads(text) for text in distributed.exchange(key, told)]
        if error is not None:
            raise error
        for number, (message, _) in enumerate(told_by_all):
            if message is not None:
                raise RuntimeError(
                    f"{_WHAT}: all processes must write their parts of "
                    f"{self._planned.directory}, got an error in process {number}: "
                    f"{message}"
                )
        stage.texts = [text for _, text in told_by_all]


def _make_folder(directory: str, new_folders: list[str]) -> str:
    """Makes a new folder for files, and adds it to a list; returns its name."""
    os.makedirs(directory, exist_ok=True)
    name = f"arrays-{secrets.token_hex(8)}"
    folder = os.path.join(directory, name)
    new_folders.append(folder)
    os.mkdir(folder)
    return name


def _process_index(number: int) -> str:
    return f"process-{number}.json"


def _write_pieces(planned: Plan, folder: str) -> str:
    """Writes this process's shards and a list of them; returns the list's digest."""
    leaves = []
    for leaf in planned.leaves:
        shards = [
            Shard(
                p.file, p.box, shard_files.write(os.path.join(folder, p.file), p.values)
            )
            for p in leaf.pieces
        ]
        leaves.append([leaf.digest, indexing.write_shards(shards)])
    common = [
        planned.tree_nodes,
        [str(leaf.aval.str_long()) for leaf in planned.leaves],
    ]
    own = {"common": indexing.digest(common), "leaves": leaves}
    path = os.path.join(folder, _process_index(placement.process_index()))
    bundle_files.write_file(path, json.dumps(own).encode())
    return indexing.digest(own)


def _merge(planned: Plan, folder: str, digests: list[str]) -> bytes:
    """The index of all processes' shards, once it is known that they are there."""
    lists = [_read_process(folder, k, text) for k, text in enumerate(digests)]
    for number, each in enumerate(lists):
        if each["common"] != lists[0]["common"]:
            raise ValueError(
                f"{_WHAT}: all processes must save the same tree of types, got another "
                f"in process {number} than in process 0"
            )
    leaves = []
    for i, leaf in enumerate(planned.leaves):
        rows = [each["leaves"][i] for each in lists]
        _check_equal(leaf, [row[0] for row in rows])
        shards = [
            indexing.read_shard(shard, leaf.aval.storage, leaf.path)
            for row in rows
            for shard in row[1]
        ]
        merged = Leaf(leaf.path, leaf.aval, shards)
        indexing.check_cover(merged)
        leaves.append(merged)
    for number in range(len(lists)):
        os.unlink(os.path.join(folder, _process_index(number)))
    _sync_folder(folder)
    return indexing.pack(os.path.basename(folder), planned.tree_nodes, leaves)


def _replace_index(directory: str, name: str, data: bytes) -> None:
    """Makes the files of a folder the ones that count, and removes all others."""
    bundle_files.write_file(os.path.join(directory, indexing.NAME), data)
    _sync_folder(directory)
    for other in os.listdir(directory):
        path = os.path.join(directory, other)
        if indexing.is_folder(other) and other != name:
            shutil.rmtree(path, ignore_errors=True)
        elif other.startswith(f".{indexing.NAME}."):  # of an interrupted save
            with contextlib.suppress(OSError):
                os.unlink(path)


def _read_process(folder: str, number: int, digest: str) -> Any:
    path = os.path.join(folder, _process_index(number))
    try:
        with open(path, "rb") as file:
            listed = json.load(file)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{_WHAT}: all processes must write to one folder, got no {path} of "
            f"process {number}; use a file system that all machines share"
        ) from None
    if indexing.digest(listed) != digest:
        raise Unreadable(f"{_WHAT}: {path} must be as it was written, got other bytes")
    return listed


def _check_equal(leaf: LeafPlan, digests: list[Any]) -> None:
    others = [k for k, each in enumerate(digests) if each != digests[0]]
    if others:
        raise ValueError(
            f"{_WHAT}: an array that is not divided over processes must be the same in "
            f"all, got other values at data{leaf.path} in process {others[0]} than in "
            "process 0; divide it over a mesh of all processes, or save it elsewhere"
        )


def _sync_folder(path: str) -> None:
    """Makes the names in a folder last through the loss of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
