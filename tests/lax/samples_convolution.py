"""Samples of convolutions."""

from __future__ import annotations

from olympus._src.lax import convolution
from tests.lax.sampling import Sample, array, bf16, c64, f32, i32

D = convolution.ConvDimensionNumbers
FIRST = D((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3))
LAST = D((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
ODD = D((2, 0, 3, 1), (1, 3, 0, 2), (1, 3, 2, 0))


def conv(lhs, rhs, dn=FIRST, strides=(1, 1), pads=((0, 0), (0, 0)), spread=(1, 1),
         holes=(1, 1), groups=1, batches=1, preferred=None, **options):  # fmt: skip
    options = {"linear": (0, 1), "tolerance": 2e-4, **options}
    return Sample(
        convolution.conv_general_dilated_p, lhs, rhs, window_strides=strides,
        padding=pads, lhs_dilation=spread, rhs_dilation=holes, dimension_numbers=dn,
        feature_group_count=groups, batch_group_count=batches, precision=None,
        preferred_element_type=preferred, out_sharding=None, **options,
    )  # fmt: skip


SAMPLES = [
    conv(array((2, 3, 5, 6)), array((4, 3, 2, 3))),
    conv(array((2, 5, 6, 3)), array((2, 3, 3, 4)), LAST, (2, 1), ((1, 0), (1, 2))),
    conv(array((3, 6, 2, 5)), array((2, 4, 3, 3)), ODD, (1, 2), ((0, 1), (2, 1))),
    conv(array((2, 3, 5, 6)), array((4, 3, 2, 2)), spread=(2, 3), holes=(1, 2),
         pads=((1, 1), (0, 2))),
    conv(array((2, 3, 5, 6)), array((4, 3, 2, 2)), pads=((-1, 2), (3, -1))),
    conv(array((2, 6, 4, 4)), array((4, 3, 2, 2)), groups=2),
    conv(array((2, 4, 4, 4)), array((8, 1, 2, 2)), groups=4, strides=(2, 2)),
    conv(array((4, 3, 4, 4)), array((6, 3, 2, 2)), batches=2),
    conv(array((2, 3, 4)), array((4, 3, 2)), D((0, 1, 2), (0, 1, 2), (0, 1, 2)), (1,),
         ((0, 0),), (1,), (1,)),
    conv(array((2, 3)), array((4, 3)), D((0, 1), (0, 1), (0, 1)), (), (), (), ()),
    conv(array((1, 2, 2, 2)), array((1, 2, 4, 4))),
    conv(array((2, 2, 3, 3), c64), array((2, 2, 2, 2), c64)),
    conv(array((2, 2, 3, 3), i32), array((2, 2, 2, 2), i32), linear=()),
    conv(array((1, 2, 3, 3), bf16), array((2, 2, 2, 2), bf16), preferred=f32,
         linear=()),
]  # fmt: skip

x = array((2, 3, 5, 5))
w = array((4, 3, 2, 2))
go = convolution.conv_general_dilated

ERRORS = [
    ("conv_general_dilated", lambda: go(x, w[0], (1, 1), "SAME")),
    ("conv_general_dilated", lambda: go(x, w[:, :2], (1, 1), "SAME")),
    ("conv_general_dilated", lambda: go(x, w.astype(i32), (1, 1), "SAME")),
    ("conv_general_dilated", lambda: go(x > 0, w > 0, (1, 1), "SAME")),
    ("conv_general_dilated", lambda: go(x, w, (1,), ((0, 0), (0, 0)))),
    ("conv_general_dilated", lambda: go(x, w, (0, 1), ((0, 0), (0, 0)))),
    ("conv_general_dilated", lambda: go(x, w, (1, 1), ((0, 0),))),
    ("conv_general_dilated", lambda: go(x, w, (1, 1), "SAME", (2, 2))),
    ("conv_general_dilated", lambda: go(x, w, (1, 1), "SAME", feature_group_count=3)),
    ("conv_general_dilated", lambda: go(x, w, (1, 1), "SAME", batch_group_count=3)),
    ("conv_general_dilated",
     lambda: go(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW"))),
    ("conv_general_dilated",
     lambda: go(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHD"))),
    ("conv_general_dilated",
     lambda: go(x, w, (1, 1), "SAME", dimension_numbers=("NCHH", "OIHW", "NCHW"))),
    ("padding", lambda: go(x, w, (1, 1), "FULL")),
    ("conv_transpose", lambda: convolution.conv_transpose(x, w, (1, 1), "FULL")),
]  # fmt: skip
