"""The index of a save: the tree, the arrays' types, and which file holds which part."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from olympus._src.array_serialization import boxes, shard_files
from olympus._src.array_serialization.boxes import Box
from olympus._src.export import arrays, trees
from olympus._src.export.json_fields import Fields
from olympus._src.foundation.container import Unreadable

NAME = "index.json"
_FORMAT = "olympus arrays"
_VERSION = 1
_FOLDER = re.compile(r"arrays-[0-9a-f]{16}")
_FILE = re.compile(r"[0-9]+\.[0-9]+")


class Shard(NamedTuple):
    """A part of an array in a file.

    Attributes:
      file: its name, as in '3.0': number of the leaf, number of the part.
      box: which part it is, of the stored elements.
      checksums: the CRC-32 of each of its blocks.
    """

    file: str
    box: Box
    checksums: list[int]


class Leaf(NamedTuple):
    """An array of the tree.

    Attributes:
      path: how users write it, as in `['layers'][0]`.
      aval: its type.
      shards: its parts, which do not overlap.
    """

    path: str
    aval: Any
    shards: list[Shard]


class Index(NamedTuple):
    """What a save holds.

    Attributes:
      folder: the name of the folder of files, inside of the save's own.
      treedef: the structure.
      leaves: its arrays, in order.
    """

    folder: str
    treedef: Any
    leaves: list[Leaf]


def is_folder(name: str) -> bool:
    """Whether a name is one of a folder of files."""
    return _FOLDER.fullmatch(name) is not None


# -- writing ---------------------------------------------------------------------------


def write_shards(shards: Sequence[Shard]) -> list[Any]:
    """The parts of an array as data for JSON."""
    return [{"file": s.file, "box": s.box, "crc32": s.checksums} for s in shards]


def pack(folder: str, tree_nodes: list[Any], leaves: Sequence[Leaf]) -> bytes:
    """The bytes of an index."""
    contents = {
        "folder": folder,
        "tree": tree_nodes,
        "leaves": [
            {
                "path": leaf.path,
                "type": arrays.write_aval(leaf.aval),
                "shards": write_shards(leaf.shards),
            }
            for leaf in leaves
        ],
    }
    whole = {
        "format": _FORMAT,
        "version": _VERSION,
        "sha256": digest(contents),
        "contents": contents,
    }
    return json.dumps(whole, separators=(",", ":")).encode()


def digest(contents: Any) -> str:
    """The digest of data of JSON, whatever the order of its names."""
    text = json.dumps(contents, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# -- reading ---------------------------------------------------------------------------


def read(directory: str, what: str) -> Index:
    """The index of a save.

    Args:
      directory: the save's folder.
      what: the function, for messages.

    Raises:
      FileNotFoundError: there is no index.
      Unreadable: it is damaged, or of another kind or version.
    """
    path = os.path.join(directory, NAME)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(
            f"{what}: directory must hold a finished save, got no {path}; write one by "
            "array_serialization.pytree_serialization.save"
        ) from None
    try:
        return _unpack(data)
    except Unreadable as error:
        raise Unreadable(f"{what}: {path} is not intact: {error}") from None


def _unpack(data: bytes) -> Index:
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it must be JSON, got other bytes: {error}") from None
    fields = Fields(parsed, "index")
    if fields.text("format") != _FORMAT:
        raise fields.wrong("format", repr(_FORMAT), fields.text("format"))
    fields.integer("version", _VERSION, _VERSION)
    contents = fields.inner("contents")
    if fields.text("sha256") != digest(contents.values):
        raise Unreadable("its contents must have the digest in it, got another")
    folder = contents.text("folder")
    if not is_folder(folder):
        raise contents.wrong("folder", "a folder of files", folder)
    treedef = trees.from_json(contents.items("tree"))
    leaves = contents.each("leaves", _read_leaf, treedef.num_leaves)
    return Index(folder, treedef, leaves)


def _read_leaf(value: Any, where: str) -> Leaf:
    fields = Fields(value, where)
    aval = arrays.read_aval(fields.values.get("type"), f"{where}.type")
    shards = [
        read_shard(each, aval.storage, f"{where}.shards[{i}]")
        for i, each in enumerate(fields.items("shards"))
    ]
    return Leaf(fields.text("path"), aval, shards)


def read_shard(value: Any, storage: Any, where: str) -> Shard:
    """The part of an array that `write_shards` wrote."""
    fields = Fields(value, where)
    name = fields.text("file")
    if not _FILE.fullmatch(name):
        raise fields.wrong("file", "the name of a file", name)
    rows = fields.items("box", len(storage.shape))
    for row, n in zip(rows, storage.shape, strict=True):
        numbers = type(row) is list and [type(i) for i in row] == [int, int]
        if not numbers or not 0 <= row[0] <= row[1] <= n:
            raise fields.wrong("box", f"in an array of shape {storage.shape}", rows)
    checksums = fields.items("crc32")
    box = tuple([tuple(row) for row in rows])
    n_blocks = shard_files.count_blocks(boxes.size(box) * storage.dtype.itemsize)
    if len(checksums) != n_blocks or any(type(c) is not int for c in checksums):
        raise fields.wrong("crc32", f"a list of {n_blocks} integers", checksums)
    return Shard(name, box, checksums)


def check_cover(leaf: Leaf) -> None:
    """Raises Unreadable where the parts of an array do not make the whole."""
    total = sum(boxes.size(shard.box) for shard in leaf.shards)
    if total != leaf.aval.storage.size:
        raise Unreadable(
            f"the parts of data{leaf.path} must make an array of type "
            f"{leaf.aval.str_long()}, got {total} elements"
        )
