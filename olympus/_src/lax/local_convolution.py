"""Patches, convolutions with a kernel for each, and shapes of transposed ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Padding, Shape
from olympus._src.lax import contraction, convolution, families
from olympus._src.lax import precision as precision_
from olympus._src.lax.convolution import ConvGeneralDilatedDimensionNumbers
from olympus._src.lax.precision import PrecisionLike


def conv_general_dilated_patches(
    lhs: ArrayLike,
    filter_shape: Shape,
    window_strides: Shape,
    padding: Padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The patches a convolution would see, along the axis of features.

    Args:
      lhs: input.
      filter_shape: size of a patch along each spatial axis.
      window_strides: step of the window along each spatial axis.
      padding: see `conv_general_dilated`.
      lhs_dilation: distance of the input's elements.
      rhs_dilation: distance of a patch's elements.
      dimension_numbers: the layouts; see `conv_dimension_numbers`.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.
      preferred_element_type: dtype of the result.

    Returns:
      An array whose axis of features runs over features, then over a patch's elements.

    Example:
      >>> lax.conv_general_dilated_patches(
      ...     jnp.ones((1, 2, 5, 5)), (3, 3), (1, 1), "VALID"
      ... ).shape
      (1, 18, 3, 3)
    """
    aval = avals.aval_of(lhs)
    size = math.prod(filter_shape)
    rank = 2 + len(filter_shape)
    dn = convolution.conv_dimension_numbers(aval.shape, (1,) * rank, dimension_numbers)
    features = aval.shape[dn.lhs_spec[1]]
    one_hot = np.eye(size, dtype=aval.dtype).reshape(size, 1, *filter_shape)
    kernel = np.tile(one_hot, (features, *[1] * (rank - 1)))
    kernel = np.transpose(kernel, np.argsort(dn.rhs_spec))
    return convolution.conv_general_dilated(
        lhs,
        kernel,
        window_strides,
        padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        dimension_numbers=dn,
        feature_group_count=features,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_local(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Shape,
    padding: Padding,
    filter_shape: Shape,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: PrecisionLike = None,
) -> Array:
    """A convolution with a different kernel at each position of the result.

    Args:
      lhs: input, of a batch axis, an axis of features and spatial axes.
      rhs: kernels; its spatial axes are those of the result, and its axis of input
        features counts all elements of a window, features first.
      window_strides: steps along the spatial axes.
      padding: 'SAME', 'VALID', or a pair (before, after) for each spatial axis.
      filter_shape: sizes of the window.
      lhs_dilation: spacing put between elements of the input.
      rhs_dilation: spacing put between elements of the window.
      dimension_numbers: see `conv_dimension_numbers`.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.

    Returns:
      Array in the layout of `dimension_numbers`.

    Raises:
      TypeError: sizes do not agree.

    Source: `stablehlo.convolution` of patches, and `stablehlo.dot_general`.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> x = np.arange(4, dtype='float32').reshape(1, 1, 4)
      >>> kernels = np.array([[[1, 0, 2], [1, 0, 2]]], 'float32')
      >>> lax.conv_general_dilated_local(x, kernels, (1,), 'VALID', (2,))
      Array([[[ 1.,  0., 10.]]], dtype=float32)
    """
    exact = precision_.canonical_precision(precision)
    dilations = lhs_dilation, rhs_dilation
    window = tuple(filter_shape), tuple(window_strides), padding, *dilations
    own = dimension_numbers, precision_.first_precision(exact)
    patches = conv_general_dilated_patches(lhs, *window, *own)
    kinds = avals.aval_of(lhs), avals.aval_of(rhs)
    numbers = convolution.conv_dimension_numbers(
        kinds[0].shape, kinds[1].shape, dimension_numbers
    )
    _, features, *places = numbers.out_spec
    _, inputs, *kernel_places = numbers.rhs_spec
    contracted, batch = ((features,), (inputs,)), (tuple(places), tuple(kernel_places))
    products = contraction.dot_general(patches, rhs, (contracted, batch), exact)
    # The axes come as places, batch, output features.
    order = [0] * len(numbers.out_spec)
    for position, axis in enumerate((*places, *numbers.out_spec[:2])):
        order[axis] = position
    return families.transpose_p.bind(products, permutation=tuple(order))


def conv_transpose_shape_tuple(
    lhs_shape: Shape,
    rhs_shape: Shape,
    window_strides: Shape,
    padding: Padding,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers,
) -> tuple[int, ...]:
    """The shape of a transposed convolution of arrays in any layout.

    Args:
      lhs_shape: shape of the input.
      rhs_shape: shape of the kernel.
      window_strides: how far apart elements of the input are put.
      padding: 'SAME', 'VALID', or a pair of numbers for each spatial axis.
      dimension_numbers: see `conv_dimension_numbers`.

    Raises:
      ValueError: an unknown padding.

    Example:
      >>> from olympus import lax
      >>> layout = ('NHWC', 'HWIO', 'NHWC')
      >>> lax.conv_transpose_shape_tuple(
      ...     (1, 8, 8, 3), (3, 3, 3, 4), (2, 2), 'SAME', layout)
      (1, 16, 16, 4)
    """
    numbers = convolution.conv_dimension_numbers(
        lhs_shape, rhs_shape, dimension_numbers
    )
    lhs = [lhs_shape[d] for d in numbers.lhs_spec]
    rhs = [rhs_shape[d] for d in numbers.rhs_spec]
    if isinstance(padding, str):
        pads = [
            convolution.transpose_pads(k, s, padding)
            for k, s in zip(rhs[2:], window_strides, strict=True)
        ]
    else:
        pads = [(low, high) for low, high in padding]
    wide = [
        convolution.dilated_size(size, step)
        for size, step in zip(lhs[2:], window_strides, strict=True)
    ]
    plain = convolution.conv_shape_tuple((*lhs[:2], *wide), rhs, (1,) * len(pads), pads)
    return convolution.order_by_spec(plain, numbers.out_spec)
