"""Products, convolutions and Fourier transforms of olympus.lax."""

from __future__ import annotations

import numpy as np

import olympus
from olympus import lax
from tests.public_functions.entries import entries
from tests.public_functions.points import M, W, X, Z, numbers, signed_values
from tests.public_functions.reasons import DISCRETE, OWN_TESTS, SAMPLES

entry = entries("lax", undrawn=SAMPLES)

IMAGE, KERNEL = signed_values(2, 5, 4, 3), signed_values(3, 2, 3, 2, seed=1)
PARTS = lax.RaggedDotDimensionNumbers((((1,), (0,)), ((), ())), [1], [])
FIRST = ("NHWC", "HWIO", "NHWC")
ENTRIES = [
    *entry("dot", smooth=[(numbers(2, 3), M), (Z, W)], types="v, w"),
    *entry(
        "batch_matmul",
        smooth=(numbers(2, 3, 2), numbers(2, 2, 3)),
        types="s[None], t[None]",
    ),
    *entry(
        "dot_general",
        smooth=[
            (
                lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))),
                numbers(2, 3, 2),
                numbers(2, 2, 3),
            ),
            (
                lambda a, b: lax.dot_general(a, b, (((0, 2), (2, 0)), ((), ()))),
                numbers(2, 3, 4),
                numbers(4, 2, 2),
            ),
        ],
        types=(
            "s, t, (((1,), (0,)), ((), ())); "
            "s, t, (((1,), (0,)), ((), ())), preferred_element_type=np.float32; "
            "s, s, (((1,), (0,)), ((), ())), preferred_element_type=D"
        ),
    ),
    *entry(
        "ragged_dot",
        smooth=(
            lambda a, b: lax.ragged_dot(a, b, np.array([1, 2])),
            signed_values(3, 4),
            signed_values(2, 4, 2),
        ),
        types="s, t[None], np.array([3])",
    ),
    *entry(
        "ragged_dot_general",
        smooth=(
            lambda a, b: lax.ragged_dot_general(a, b, np.array([1, 2]), PARTS),
            signed_values(2, 4),
            signed_values(4, 3),
        ),
        types=(
            "s, t[None], np.array([3]),"
            " lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])"
        ),
    ),
    *entry(
        "conv_general_dilated_local",
        smooth=(
            lambda a, b: lax.conv_general_dilated_local(
                a, b, (1,), "VALID", (2,), dimension_numbers=("NWC", "WIO", "NWC")
            ),
            signed_values(2, 4, 2),
            signed_values(3, 4, 2),
        ),
        unrecorded=OWN_TESTS,
    ),
    *entry(
        "with_sharding_constraint",
        smooth=(
            lambda x: lax.with_sharding_constraint(
                x, olympus.device_put(np.zeros(1)).sharding
            ),
            M,
        ),
        unrecorded=OWN_TESTS,
    ),
    *entry(
        "conv_general_dilated",
        smooth=[
            (
                lambda a, b: lax.conv_general_dilated(
                    a, b, (1, 2), ((1, 0), (2, 1)), (2, 1), (1, 2), FIRST
                ),
                IMAGE,
                KERNEL,
            ),
            (
                lambda a, b: lax.conv_general_dilated(
                    a, b, (1, 1), "SAME", feature_group_count=3, dimension_numbers=FIRST
                ),
                IMAGE,
                signed_values(2, 2, 1, 6),
            ),
            (
                lambda a, b: lax.conv_general_dilated(
                    a, b, (1, 1), "VALID", batch_group_count=2, dimension_numbers=FIRST
                ),
                IMAGE,
                KERNEL,
            ),
        ],
        types="s[None, None], t[None, None], (1, 1), 'VALID'",
    ),
    *entry(
        "conv",
        smooth=(
            lambda a, b: lax.conv(a, b, (1, 1), "SAME"),
            signed_values(1, 2, 4, 3),
            signed_values(3, 2, 2, 2),
        ),
        types="s[None, None], t[None, None], (1, 1), 'SAME'",
    ),
    *entry(
        "conv_with_general_padding",
        smooth=(
            lambda a, b: lax.conv_with_general_padding(
                a, b, (1, 1), ((1, 0), (0, 1)), (1, 1), (1, 1)
            ),
            signed_values(1, 2, 4, 3),
            signed_values(3, 2, 2, 2),
        ),
        types=(
            "s[None, None], t[None, None], (1, 1), ((1, 0), (0, 1)), (1, 1), (1, 1)"
        ),
    ),
    *entry(
        "conv_transpose",
        smooth=(lambda a, b: lax.conv_transpose(a, b, (2, 2), "SAME"), IMAGE, KERNEL),
        types="s[None, :], t[None, :], (1,), 'VALID'",
    ),
    *entry(
        "conv_general_dilated_patches",
        smooth=(
            lambda a: lax.conv_general_dilated_patches(a, (2, 2), (1, 1), "SAME"),
            signed_values(1, 2, 4, 3),
        ),
        types="s[None, None], (2, 2), (1, 1), 'VALID'",
    ),
    *entry(
        "fft",
        smooth=[
            (lambda x, kind=kind: lax.fft(x, kind, (4,)), Z) for kind in ("FFT", "IFFT")
        ]
        + [(lambda x: lax.fft(x, "RFFT", (5,)), X)],
        types="v, 'fft', (3,); v, 'rfft', (3,); v, 'irfft', (3,)",
    ),
    *entry(
        """conv_dimension_numbers conv_general_permutations conv_general_shape_tuple
        conv_shape_tuple conv_transpose_shape_tuple padtype_to_pads""",
        smooth=DISCRETE,
        unrecorded=OWN_TESTS,
    ),
]
