"""Grids and rows by index notation: mgrid, ogrid, r_, c_, s_, index_exp."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.numpy import (
    creation,
    index_routines,
    join_split,
    manipulation,
    promotion,
    ranges,
)
from olympus._src.numpy.promotion import aval_of

s_ = np.s_
index_exp = np.index_exp


def _line(item: slice) -> Any:
    """The numbers a slice stands for; an imaginary step counts them."""
    start = 0 if item.start is None else item.start
    step = 1 if item.step is None else item.step
    if isinstance(step, complex):
        return ranges.linspace(start, item.stop, int(abs(step)))
    return ranges.arange(start, item.stop, step)


class Mesh:
    """Full coordinates of a grid: `mgrid[0:2, 0:3]`. Source: NumPy, `numpy.mgrid`."""

    _name = "mgrid"
    _sparse = False

    def __repr__(self) -> str:
        return self._name

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _line(key)
        lines = [_line(k) for k in key]
        grid = index_routines.meshgrid(*lines, indexing="ij", sparse=self._sparse)
        if self._sparse:
            return _promote_lines(grid)
        return join_split.stack(_promote_lines(grid)) if grid else creation.zeros(0)


def _promote_lines(lines: Any) -> list[Any]:
    """Whatever dtypes bounds and steps have, also where dtypes must agree."""
    if not lines:
        return []
    dtype, weak = dtypes.standard_result(*[dtypes.dtype_and_weak(x) for x in lines])
    return [promotion.cast(x, dtype, weak) for x in lines]


class OpenMesh(Mesh):
    """Open coordinates of a grid: `ogrid[0:2, 0:3]`. Source: NumPy, `numpy.ogrid`."""

    _name = "ogrid"
    _sparse = True


mgrid = Mesh()
ogrid = OpenMesh()


# The axis that a vector lacks of a matrix of one row, or of one column.
_MATRICES = {"r": 0, "c": 1}


class Rows:
    """Arrays joined along the first axis: `r_[a, 1]`. Source: NumPy, `numpy.r_`."""

    _name = "r_"
    _defaults = (0, 1, -1)  # the axis, the least rank, and where its axes are put

    def __repr__(self) -> str:
        return self._name

    def __getitem__(self, key: Any) -> Any:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, place = self._defaults
        matrix = self._matrix(items)
        if items and isinstance(items[0], str):
            axis, ndmin, place = self._directive(items.pop(0), axis, ndmin, place)
        parts = [self._part(item, ndmin, place) for item in items]
        joined = join_split.concatenate(parts, axis)
        if matrix is None or aval_of(joined).ndim != 1:
            return joined
        return manipulation.expand_dims(joined, _MATRICES[matrix])

    def _matrix(self, items: list[Any]) -> str | None:
        is_named = bool(items) and isinstance(items[0], str) and items[0] in _MATRICES
        return items.pop(0) if is_named else None

    def _directive(self, text: str, axis: int, ndmin: int, place: int) -> Any:
        numbers = [int(n) for n in text.split(",")]
        fields = dict(zip(("axis", "ndmin", "place"), numbers, strict=False))
        return (
            fields.get("axis", axis),
            fields.get("ndmin", ndmin),
            fields.get("place", place),
        )

    def _part(self, item: Any, ndmin: int, place: int) -> Any:
        x = _line(item) if isinstance(item, slice) else creation.asarray(item)
        rank = aval_of(x).ndim
        missing = max(ndmin, 1) - rank
        if missing <= 0:
            return x
        if isinstance(item, slice) or rank:
            before = place if place >= 0 else place + missing + 1
            after = tuple(range(before, before + rank))
            new = tuple([i for i in range(missing + rank) if i not in after])
            return manipulation.expand_dims(x, new)
        return manipulation.expand_dims(x, tuple(range(missing)))


class Columns(Rows):
    """Arrays joined as columns: `c_[a, b]`. Source: NumPy, `numpy.c_`."""

    _name = "c_"
    _defaults = (-1, 2, 0)


r_ = Rows()
c_ = Columns()
