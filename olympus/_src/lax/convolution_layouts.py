"""Whether the operands of a convolution fit, and which layout was probably meant."""

from __future__ import annotations

from typing import Any

_NAME = "lax.conv_general_dilated"


def _layout_cure(lhs: Any, rhs: Any, dn: Any, groups: int) -> str:
    """What to write if the channels seem to be last."""
    rank = lhs.ndim
    if rank < 3:
        return ""
    if tuple(dn.lhs_spec) != tuple(range(rank)):
        return _explicit_layout_cure(lhs, rhs, dn, groups)
    channels, letters = lhs.shape[-1], "DHW"[-(rank - 2) :]
    fits = {channels} & {rhs.shape[1] * groups, rhs.shape[-2] * groups}
    if not fits:
        return ""
    kernel = "OI" + letters if rhs.shape[1] * groups == channels else letters + "IO"
    return (
        "; if the input's channels are last, pass dimension_numbers="
        f"('N{letters}C', '{kernel}', 'N{letters}C')"
    )


def _explicit_layout_cure(lhs: Any, rhs: Any, dn: Any, groups: int) -> str:
    """Where the features are by dimension_numbers, and where they seem to be."""
    here, kernel_here = dn.lhs_spec[1], dn.rhs_spec[1]
    text = (
        f"; by dimension_numbers they are axis {here} of the input and axis "
        f"{kernel_here} of the kernel"
    )
    wanted = rhs.shape[kernel_here] * groups
    axes = [d for d, size in enumerate(lhs.shape) if size == wanted and d != here]
    if not axes:
        return text
    return (
        f"{text}; if axis {axes[0]} of the input, of size {wanted}, holds them, write "
        f"C there, or move it with numpy.moveaxis(x, {axes[0]}, {here})"
    )


def check_groups(lhs: Any, rhs: Any, dn: Any, groups: int, batches: int) -> None:
    """Raises unless groups of features or of the batch divide both operands."""
    n, features = (lhs.shape[d] for d in dn.lhs_spec[:2])
    out_features, in_features = (rhs.shape[d] for d in dn.rhs_spec[:2])
    if groups < 1 or batches < 1 or (groups > 1 and batches > 1):
        raise ValueError(
            f"{_NAME}: feature_group_count and batch_group_count must be positive and "
            f"one of them 1, got {groups} and {batches}"
        )
    if features != in_features * groups or out_features % groups:
        raise ValueError(
            f"{_NAME}: the input's features must be feature_group_count times the "
            f"kernel's input features, and divide its output features; got {features} "
            f"of {lhs.short()}, {in_features} and {out_features} of {rhs.short()} and "
            f"feature_group_count={groups}{_layout_cure(lhs, rhs, dn, groups)}"
        )
    if n % batches or out_features % batches:
        raise ValueError(
            f"{_NAME}: batch_group_count must divide the batch and the output features"
            f", got {batches}, {n} of {lhs.short()} and {out_features} of {rhs.short()}"
        )
