"""Sizes from which on, or up to which, a kernel of this package replaces XLA's own.

Beside each stands the measurement that set it. Cases in quotes are those of `python -m
bench`; the decisions are in docs/decisions. Where no measurement is known any more, it
says so: whoever moves such a number measures first. All are of the CPU and jaxlib 0.10
where no other device is named.
"""

from __future__ import annotations

# -- products of many tiny matrices (`contraction`; decision 18) -----------------------

# Multiplications of one product up to which XLA writes it out itself: 3 x 3 by 3 x 3.
UNROLLED_PRODUCT = 27
# "matmul 10000 x 4x4": 0.1 ms, not 5. From 8 x 8 on the library that XLA calls wins.
LARGEST_PRODUCT = 7**3
MOST_PRODUCT_TERMS = 7
FEWEST_PRODUCTS = 64  # matrices; measurement not recorded
# Elements of each first matrix up to which it is transposed for the library, which
# takes 0.65 us more for each that lies the other way: 2000 of 8 x 8 take 0.25 ms, not
# 1.5, 200 of 32 x 32 0.3, not 0.4 to 0.6; 64 of 64 x 64 are equal.
LARGEST_TRANSPOSED = 32**2

# -- convolutions (`grouped_convolution`; decision 18) ---------------------------------

# Multiplications below which compiling more operations, 0.1 s for a sum of nine
# products, costs more than they save.
DEPTHWISE_WORK = 2**18  # "depthwise 3x3" (8 x 56 x 56 x 64): 1 ms, not 42
SINGLE_WORK = 2**15  # of one channel to one; "convolve 1e5 with 31": 0.2 ms, not 5
GROUPED_WORK = 2**16  # kernel gradients, 8 groups: 3 ms, not 300; bound not recorded
# Those of a kernel without groups, from which on its gradient costs more than a sum of
# products for each element of the kernel; measurement not recorded.
DENSE_WORK = 2**29
# Elements of a kernel, each of which is a term of the sum: compile time; not recorded.
MOST_KERNEL_ELEMENTS = 64

# -- sorts and largest elements (`short_sort`, `top_k_kernel`; decision 17) ------------

# Sums and maxima over more elements are no longer unrolled: counting for lines of 64 in
# one sum takes 80 ms, in place of 12.
UNROLLED_SUM = 32
# "sort 50000x16": 1.5 ms, not 10. That 48 is the end is not recorded.
LONGEST_SORTED_LINE = 48
# Below this a sort takes 50 us, which does not repay 40 to 120 ms of compiling.
FEWEST_SORTED = 1 << 12
# "top_k 4 of 50000x64": 3 ms, not 19. Bounds not recorded.
MOST_LARGEST = 8
LONGEST_TOP_K_LINE = 1024
FEWEST_TOP_K = 1 << 12  # as of a sort: it compiles for 50 to 140 ms

# On an H100, jaxlib 0.11.2: 10 of 1e5 take 0.47 ms, by a sort 0.26; 1 of 128 000 0.14,
# by a sort 0.22; 10 of 1e6 1.8 ms, by a sort 0.31 (`long_top_k`).
FEWEST_SORTED_WHOLE = 1 << 18

# -- windows (`window_reductions`; decisions 18 and 27) --------------------------------

# Elements of all windows, below which nothing is gained; "sum pooling 3x3, stride 1"
# (8 x 56 x 56 x 64): 1.3 ms, not 5.
FOLD_WORK = 2**20
# The same of windows that share no element, by a maximum that keeps NaN. What comes
# before is then part of the kernel: relu and 2x2 of 8 x 32 x 32 x 16 compile in 29 ms,
# not 47, and run in 18 us, not 78; 4 x 14 x 14 x 16 in 31 ms, not 49, and 2.7 us, not
# 8.5; 2 x 6 x 6 x 3 in 36 ms, not 45. Windows of more elements only from this work on.
MOST_APART = 16
APART_WORK = 2**14
FEWEST_FOLDED = 5  # elements of a window; measurement not recorded
LONGEST_WINDOW = 16  # along one axis: compile time; not recorded
# Of gradients of maxima, except of windows that share no element and have at most so
# many. Those win at any size: 2x2 of 1 x 14 x 14 x 8 takes 2 us, not 6, and compiles in
# 60 ms, not 200. Of others the places are kept, which small loops on jaxlib 0.12 do
# badly: 3x3, stride 2, of 4 x 20 x 20 x 8 150 us a step, not 95; outside 38, not 79.
FEWEST_KEPT = 4
SCATTER_WORK = 2**16
MOST_SCATTERED = 25  # elements of a window; 5x5, stride 1: 2.5 ms, not 13

# -- reads of runs (`runs`) ------------------------------------------------------------

# Bytes of a result, from which on writing it once for each axis costs more than reading
# position by position: 32 x 64 x 64 x 16 padded along two axes, 0.7 ms, not 1.6. Below,
# stencils of slices win: of 1000 x 1000, 1.0 ms, not 2.7.
BYTES_READ_BY_POSITION = 1 << 22
