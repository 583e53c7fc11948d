"""Types of families of functions, for type checkers; nothing here runs.

Where one function defines several, such as `zeros` and `ones`, its result has one of
these types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, overload

from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Axes,
    Axis,
    DTypeLike,
    OptionalArray,
    Placement,
    Shape,
    SupportsShape,
)
from olympus._src.lax.precision import PrecisionLike

# Elementwise functions of one and of two arrays, given by position.
Unary = Callable[[ArrayLike], Array]
Binary = Callable[[ArrayLike, ArrayLike], Array]


class UnaryWithOut(Protocol):
    """An elementwise function that has the parameter `out`, which must be None."""

    def __call__(self, x: ArrayLike, /, out: None = None) -> Array: ...


class AtLeast(Protocol):
    """`atleast_1d` and its siblings: one array for one, else a tuple of them."""

    @overload
    def __call__(self, ary: ArrayLike, /) -> Array: ...
    @overload
    def __call__(self, *arys: ArrayLike) -> Array | tuple[Array, ...]: ...


class Filled(Protocol):
    """`zeros`, `ones`, `empty`."""

    def __call__(
        self,
        shape: int | Shape,
        dtype: DTypeLike | None = None,
        *,
        device: Placement = None,
        out_sharding: Placement = None,
    ) -> Array: ...


class FilledLike(Protocol):
    """`zeros_like`, `ones_like`."""

    def __call__(
        self,
        a: ArrayLike | SupportsShape,
        dtype: DTypeLike | None = None,
        shape: int | Shape | None = None,
        *,
        device: Placement = None,
        out_sharding: Placement = None,
    ) -> Array: ...


class Window(Protocol):
    """`hamming` and its siblings."""

    def __call__(self, M: int) -> Array: ...


class TrianglePositions(Protocol):
    """`tril_indices`, `triu_indices`."""

    def __call__(
        self, n: int, k: int = 0, m: int | None = None
    ) -> tuple[Array, Array]: ...


class Cumulative(Protocol):
    """`cumsum` and its siblings."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array: ...


class CumulativeOfStandard(Protocol):
    """`cumulative_sum`, `cumulative_prod`."""

    def __call__(
        self,
        x: ArrayLike,
        /,
        *,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        include_initial: bool = False,
    ) -> Array: ...


class PositionOf(Protocol):
    """`argmax` and its siblings."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
    ) -> Array: ...


class NanExtreme(Protocol):
    """`nanmax`, `nanmin`."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axes = None,
        out: None = None,
        keepdims: bool = False,
        initial: OptionalArray = None,
        where: OptionalArray = None,
    ) -> Array: ...


class NanFold(Protocol):
    """`nansum`, `nanprod`."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: OptionalArray = None,
        where: OptionalArray = None,
    ) -> Array: ...


class NanSpread(Protocol):
    """`nanvar`, `nanstd`."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        ddof: int = 0,
        keepdims: bool = False,
        where: OptionalArray = None,
        mean: OptionalArray = None,
    ) -> Array: ...


class Quantile(Protocol):
    """`quantile` and its siblings."""

    def __call__(
        self,
        a: ArrayLike,
        q: ArrayLike,
        axis: Axes = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: OptionalArray = None,
    ) -> Array: ...


class SequenceProduct(Protocol):
    """`convolve`, `correlate`."""

    def __call__(
        self,
        a: ArrayLike,
        v: ArrayLike,
        mode: str = ...,
        *,
        precision: PrecisionLike = None,
        preferred_element_type: DTypeLike | None = None,
    ) -> Array: ...
