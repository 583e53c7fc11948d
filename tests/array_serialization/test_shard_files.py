"""Files of one shard: boxes are read from the blocks that hold them, and no others."""

from __future__ import annotations

import numpy as np
import pytest

import olympus.numpy as jnp
from olympus._src.array_serialization import boxes, shard_files
from olympus._src.foundation.container import Unreadable
from tests import sampling

SHAPES = [(), (7,), (5, 6), (3, 4, 5), (1, 9, 1), (2, 3, 2, 4)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(shard_files, "BLOCK_BYTES", 16)


def draw_box(shape, rng):
    starts = [int(rng.integers(0, n)) for n in shape]
    return tuple(
        [
            (a, int(rng.integers(a + 1, n + 1)))
            for a, n in zip(starts, shape, strict=True)
        ]
    )


def blocks_of(values, box):
    """The blocks of the elements of a box, by their positions one by one."""
    positions = np.arange(values.size).reshape(values.shape)[boxes.slices(box)]
    return set((positions * values.dtype.itemsize // 16).ravel().tolist())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int4", "complex64", "bool"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_boxes(shape, dtype, tmp_path):
    rng = sampling.generator(f"boxes {shape} {dtype}")
    values = rng.integers(0, 2, shape).astype(jnp.dtype(dtype))
    path = str(tmp_path / "file")
    checksums = shard_files.write(path, values)
    assert len(checksums) == shard_files.count_blocks(values.nbytes)
    intact = (tmp_path / "file").read_bytes()
    for _ in range(6):
        box = draw_box(shape, rng)
        read = lambda box=box: shard_files.read(  # noqa: E731
            path, values.dtype, shape, box, checksums
        )
        np.testing.assert_array_equal(read(), values[boxes.slices(box)])
        at = int(rng.integers(0, len(intact)))
        damaged = bytearray(intact)
        damaged[at] ^= 64
        (tmp_path / "file").write_bytes(damaged)
        if at // 16 in blocks_of(values, box):
            with pytest.raises(
                Unreadable, match=f"bytes {at // 16 * 16} to .* differs"
            ):
                read()
        else:
            np.testing.assert_array_equal(read(), values[boxes.slices(box)])
        (tmp_path / "file").write_bytes(intact)


def test_a_file_of_another_length(tmp_path):
    path = tmp_path / "file"
    values = np.arange(6.0)
    checksums = shard_files.write(str(path), values)
    whole = path.read_bytes()
    for data in (whole[:-1], whole + b"x", b""):
        path.write_bytes(data)
        message = f"it has {len(data)} bytes instead of 48"
        with pytest.raises(Unreadable, match=message):
            shard_files.read(str(path), values.dtype, (6,), ((0, 1),), checksums)
    path.unlink()
    with pytest.raises(FileNotFoundError, match="must exist, got no such file"):
        shard_files.read(str(path), values.dtype, (6,), ((0, 1),), checksums)
