"""Which devices exchange data in a collective, as XLA writes it, and along which axes.

XLA lists groups of devices, or gives them as a reshaped and transposed iota, or names
axes of a mesh of its own: `{{0,1},{2,3}}`, `[4,2]<=[2,4]T(1,0)` and
`mesh['a'=4,'b'=2] {'a'}`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

_LISTED = re.compile(r"replica_groups=\{((?:\{[\d,]*\},?)*)\}")
_IOTA = re.compile(r"replica_groups=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_OF_MESH = re.compile(
    r"replica_groups=mesh\[([^\]]*)\]"
    r"(?:,\s*device_ids=\(([^()]*(?:\([\d,]*\))?)\))?\s*\{([^}]*)\}"
)
_AXIS = re.compile(r"'([^']*)'(?::\((\d+)\)(\d+))?")
_PAIRS = re.compile(r"source_target_pairs=\{((?:\{\d+,\d+\},?)*)\}")


def groups(attributes: str, n_devices: int) -> np.ndarray:
    """The groups of devices that an instruction's attributes name.

    Args:
      attributes: their text.
      n_devices: how many run the program.

    Returns:
      Positions of devices, of shape (groups, members).

    Raises:
      NotImplementedError: the groups differ in size.
    """
    listed = _LISTED.search(attributes)
    if listed:
        rows = [_integers(row) for row in re.findall(r"\{([\d,]*)\}", listed[1])]
        rows = [row for row in rows if row]
        if not rows:
            return np.arange(n_devices).reshape(1, n_devices)
        if len({len(row) for row in rows}) > 1:
            raise NotImplementedError(
                f"replica_groups: groups must be of one size, got {listed[0]}"
            )
        return np.array(rows)
    iota = _IOTA.search(attributes)
    if iota:
        return _iota(iota[2], iota[3]).reshape(_integers(iota[1]))
    of_mesh = _OF_MESH.search(attributes)
    if of_mesh:
        return _groups_of_mesh(of_mesh[1], of_mesh[2], of_mesh[3])
    return np.arange(n_devices).reshape(1, n_devices)


def _integers(text: str) -> list[int]:
    return [int(n) for n in text.split(",") if n.strip()]


def _iota(sizes: str, permutation: str | None) -> np.ndarray:
    shape = _integers(sizes)
    devices = np.arange(math.prod(shape)).reshape(shape)
    return devices.transpose(_integers(permutation)) if permutation else devices


def _groups_of_mesh(axes: str, devices: str | None, used: str) -> np.ndarray:
    """Groups along axes of a mesh; part of an axis is written `'a':(before)size`."""
    sizes = {name: int(n) for name, n in re.findall(r"'([^']*)'=(\d+)", axes)}
    grid = _mesh_devices(devices, math.prod(sizes.values()))
    parts = {name: [(1, size)] for name, size in sizes.items()}
    chosen = []
    for name, before, size in _AXIS.findall(used):
        first = int(before) if before else 1
        count = int(size) if size else sizes[name]
        chosen.append((name, first))
        parts[name] = _cut(parts[name], first, count)
    keys = [(name, before) for name, pieces in parts.items() for before, _ in pieces]
    shape = [size for pieces in parts.values() for _, size in pieces]
    others = [i for i, key in enumerate(keys) if key not in chosen]
    order = others + [keys.index(key) for key in chosen]
    members = math.prod([shape[keys.index(key)] for key in chosen])
    return grid.reshape(shape).transpose(order).reshape(-1, members)


def _cut(
    pieces: list[tuple[int, int]], first: int, count: int
) -> list[tuple[int, int]]:
    """Cuts an axis, as (product of what is before, size) pieces, around one of them."""
    out = []
    for before, size in pieces:
        if before <= first < before * size:
            lead, tail = first // before, size // (first // before * count)
            out += [(before, lead)] if lead > 1 else []
            out.append((first, count))
            out += [(first * count, tail)] if tail > 1 else []
        else:
            out.append((before, size))
    return out


def _mesh_devices(text: str | None, n: int) -> np.ndarray:
    if not text:
        return np.arange(n)
    iota = re.match(r"\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
    if iota:
        return _iota(iota[1], iota[2]).reshape(-1)
    return np.array(_integers(text))


def pairs(attributes: str) -> np.ndarray:
    """The senders and receivers of a permutation, of shape (pairs, 2)."""
    match = _PAIRS.search(attributes)
    rows = re.findall(r"\{(\d+),(\d+)\}", match[1] if match else "")
    return np.array([(int(a), int(b)) for a, b in rows], np.int64).reshape(-1, 2)


def axes_of_groups(
    members: np.ndarray, sizes: Sequence[tuple[Any, int]]
) -> tuple[Any, ...]:
    """The axes of a mesh along which the members of some group differ.

    Args:
      members: positions of devices in the mesh's order, of shape (groups, members).
      sizes: names and sizes of the mesh's axes.
    """
    shape = [n for _, n in sizes]
    coordinates = np.stack(np.unravel_index(members, shape))  # (axes, groups, members)
    varies = (coordinates != coordinates[:, :, :1]).any(axis=(1, 2))
    return tuple([name for (name, _), v in zip(sizes, varies, strict=True) if v])


def axes_of_pairs(
    senders: np.ndarray, sizes: Sequence[tuple[Any, int]]
) -> tuple[Any, ...]:
    """The axes of a mesh along which senders and receivers differ."""
    coordinates = np.stack(np.unravel_index(senders, [n for _, n in sizes]))
    varies = (coordinates[..., 0] != coordinates[..., 1]).any(axis=1)
    return tuple([name for (name, _), v in zip(sizes, varies, strict=True) if v])
