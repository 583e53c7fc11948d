"""First-order primitives by family, each defined in one place."""

from olympus._src.foundation.late_files import load_late

load_late(
    __name__,
    "axis_groups bessel comparators convolution convolution_layouts "
    "convolution_reference division elementwise_rules half_turns "
    "layout_constraints manual_axes memory_kinds nan_extremes packed_argmax "
    "prefixes ragged_lowering random_bits runs scatter scatter_functions "
    "separate_calls shifting single_windows slicing small_integers sort_keys "
    "sorting stacking window_lowering windows",
)
