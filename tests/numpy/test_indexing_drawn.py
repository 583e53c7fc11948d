"""Drawn indices: reading and writing in every mode and transformation, against NumPy.

What an index means is asked of NumPy by an array of numbers with one more place at the
end of each axis, which holds -1: positions outside are sent there.
"""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

SHAPES = [(5,), (3, 4), (2, 3, 4), (1, 4), (2, 1, 3), (4, 0), ()]
COMMON = [(2,), (2, 1), (3, 2), (1,), (0,)]


class Drawn:
    """An array's shape and an index, which may reach outside.

    Attributes:
      shape: the array's.
      items: what stands between the brackets.
      places: the number of the element that each place of the result takes, or -1.
    """

    def __init__(self, rng):
        self.shape = SHAPES[rng.integers(len(SHAPES))]
        self.items, meant = [], []
        count = rng.integers(0, len(self.shape) + 1)
        dots = rng.integers(0, count + 1) if rng.random() < 0.4 else None
        common = COMMON[rng.integers(len(COMMON))]
        behind = len(self.shape) - count
        for k in range(count + 1):
            if k == dots:
                self.items.append(...)
                # NumPy sets arrays apart by it even where it stands for no axis.
                meant.append(...)
            if k == count:
                break
            axis = k if dots is None or k < dots else k + behind
            if rng.random() < 0.15:
                self.items.append(None)
                meant.append(None)
            item = _item(rng, self.shape[axis], common)
            self.items.append(item)
            meant.append(_meant(item, self.shape[axis]))
        numbers = np.full([n + 1 for n in self.shape], -1)
        size = int(np.prod(self.shape))
        numbers[tuple(slice(n) for n in self.shape)] = np.arange(size).reshape(
            self.shape
        )
        if dots is None:
            meant.append(...)
        self.places = _inner(numbers, meant, self.shape)

    @property
    def index(self):
        return tuple(self.items)

    def split(self):
        """The index as a function of its arrays and numbers, and these."""
        moving = [k for k, i in enumerate(self.items) if isinstance(i, np.ndarray)]
        moving = [k for k in moving if self.items[k].dtype != bool]

        def join(given):
            items = list(self.items)
            for k, value in zip(moving, given, strict=True):
                items[k] = value
            return tuple(items)

        return join, [self.items[k] for k in moving]


def _item(rng, size, common):
    kind = rng.choice(["number", "slice", "array", "mask"], p=[0.3, 0.25, 0.35, 0.1])
    low, high = -size - 3, size + 3
    if kind == "slice" or (not size and kind != "mask"):
        bounds = [
            None if rng.random() < 0.3 else int(b) for b in rng.integers(-6, 7, 2)
        ]
        return slice(*bounds, rng.choice([None, 1, 2, -1, -2]))
    if kind == "mask":
        return rng.random(size) < 0.5
    if kind == "number":
        number = rng.integers(low, high)
        return int(number) if rng.random() < 0.5 else np.array(number, np.int32)
    shape = common if rng.random() < 0.7 else tuple(1 for _ in common)
    return rng.integers(low, high, shape).astype(rng.choice(["int32", "int64", "int8"]))


def _meant(item, size):
    """The same for an axis with one more place, where what is outside goes."""
    if isinstance(item, slice):
        start, stop, step = item.indices(size)
        if not range(start, stop, step):
            return slice(0, 0)
        return slice(start, None if stop < 0 else stop, step)
    if isinstance(item, np.ndarray) and item.dtype == bool:
        return np.append(item, False)
    at = np.asarray(item, np.int64)
    at = np.where(at < 0, at + size, at)
    at = np.where((at < 0) | (at >= size), size, at)
    return int(at) if isinstance(item, int) else at


def _inner(numbers, meant, shape):
    """The numbers at the places meant, without the last place of whole axes."""
    at = next(k for k, i in enumerate(meant) if i is ...)
    used = sum(i is not None for i in meant) - 1
    whole = [slice(n) for n in shape[_axes(meant[:at]) :][: len(shape) - used]]
    if whole or meant[-1] is ...:
        meant = [*meant[:at], *whole, *meant[at + 1 :]]
    return numbers[tuple(meant)]


def _axes(items):
    return sum(i is not None for i in items)


def _values(drawn, dtype=np.float32):
    size = int(np.prod(drawn.shape))
    return (np.arange(size) * 7 % 11 - 3).astype(dtype).reshape(drawn.shape)


def _read(x, places, fill):
    flat = np.append(x.ravel(), np.asarray(fill, x.dtype))
    return flat[places]


def _ways(drawn, f, x):
    """`f(x, index)` at once, with the index known to a trace, and traced itself."""
    join, moving = drawn.split()
    yield f(jnp.asarray(x), drawn.index)
    yield olympus.jit(lambda v: f(v, drawn.index))(x)
    yield olympus.jit(lambda v, *given: f(v, join(given)))(x, *moving)


def _check_reading(drawn):
    x = _values(drawn)
    wanted = _read(x, drawn.places, 77)
    if 0 in drawn.shape and (drawn.places < 0).any():
        return  # an error, which has tests of its own

    def get(v, index):
        return v.at[index].get(mode="fill", fill_value=77)

    for found in _ways(drawn, get, x):
        np.testing.assert_array_equal(found, wanted)
    if (drawn.places >= 0).all():
        for found in _ways(drawn, lambda v, index: v[index], x):
            np.testing.assert_array_equal(found, wanted)
    both = np.stack([x, -x])
    mapped = olympus.vmap(lambda v: get(v, drawn.index))(both)
    np.testing.assert_array_equal(mapped, [_read(v, drawn.places, 77) for v in both])
    join, moving = drawn.split()
    if moving:
        twice = [np.stack([m, m]) for m in moving]
        mapped = olympus.vmap(lambda *given: get(jnp.asarray(x), join(given)))(*twice)
        np.testing.assert_array_equal(mapped, [wanted, wanted])


def _check_gradient(drawn):
    x = _values(drawn)
    if 0 in drawn.shape:
        return
    weights = np.cos(np.arange(drawn.places.size)).reshape(drawn.places.shape)
    inside = drawn.places >= 0

    def loss(v):
        return (v.at[drawn.index].get(mode="fill", fill_value=0) * weights).sum()

    wanted = np.zeros(x.size)
    np.add.at(wanted, drawn.places[inside], weights[inside])
    found = np.asarray(olympus.grad(loss)(x)).ravel()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


OPERATIONS = {
    "set": None,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def _check_writing(drawn, op, rng):
    x = _values(drawn, rng.choice(["float32", "int32"]))
    places = drawn.places
    inside = places >= 0
    values = np.asarray(3, x.dtype)
    distinct = len(set(places[inside])) == inside.sum()
    if op != "set" or distinct:
        values = (np.arange(places.size) % 5 - 2).astype(x.dtype).reshape(places.shape)
    spread = np.broadcast_to(values, places.shape)
    wanted = x.copy().reshape(-1)
    if op == "set":
        wanted[places[inside]] = spread[inside]
    else:
        OPERATIONS[op].at(wanted, places[inside], spread[inside])
    wanted = wanted.reshape(x.shape)

    def write(v, index):
        return getattr(v.at[index], op)(values)

    for found in _ways(drawn, write, x):
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found, wanted)


def _drawn(rng, count):
    """Indices whose arrays broadcast together."""
    found = []
    while len(found) < count:
        try:
            found.append(Drawn(rng))
        except IndexError:  # they do not
            continue
    return found


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("number", range(36))
def test_reading_at_drawn_indices(number, rng):
    for drawn in _drawn(rng, 4):
        _check_reading(drawn)
        _check_gradient(drawn)


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("number", range(6))
def test_writing_at_drawn_indices(op, number, rng):
    for drawn in _drawn(rng, 4):
        _check_writing(drawn, op, rng)
