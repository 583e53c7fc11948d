"""Other forms of operations, chosen where XLA's own kernels on the CPU are slow
or wrong.
"""

from olympus._src.foundation.late_files import load_late

load_late(
    __name__,
    "contraction cropped_convolution grouped_convolution long_top_k short_sort "
    "thresholds top_k_kernel window_reductions",
)
