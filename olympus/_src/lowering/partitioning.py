"""Meshes and shardings in Shardy, the dialect that partitions programs.

Source: the Shardy dialect (`sdy`) of OpenXLA: `sdy.mesh`, `sdy.sharding` and
`sdy.sharding_constraint`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from olympus._src.lowering import types
from olympus._src.sharding.specs import UNCONSTRAINED, PartitionSpec, names_of

_ONE_DEVICE = "<[], device_ids=[{}]>"


def one_device_text(position: int) -> str:
    """The axes of the mesh of one device only, from its number in the program."""
    return _ONE_DEVICE.format(position)


def is_of_one_device(axes: str) -> bool:
    """Whether `one_device_text` gave the axes of a mesh."""
    return axes.startswith(_ONE_DEVICE.split("{", 1)[0])


def axes_text(shape: Sequence[tuple[Any, int]]) -> str:
    """The axes of a mesh, from names and sizes, as in `<["x"=4]>`."""
    axes = ", ".join([f"{axis_text(name)}={size}" for name, size in shape])
    return f"<[{axes}]>"


def mesh_size(axes: str) -> int:
    """The number of devices of a mesh, from what `axes_text` gives."""
    return math.prod([int(size) for size in re.findall(r'"=(\d+)', axes)])


def mesh_text(symbol: str, axes: str) -> str:
    """The operation that declares a mesh of axes."""
    return f"sdy.mesh @{symbol} = {axes}"


def on_one_device(symbol: str, n_results: int) -> str:
    """The attribute of an operation that one device runs, on whole operands.

    Args:
      symbol: of the mesh of that device.
      n_results: how many results it has; one without any has a sharding all the same.
    """
    rows = [f"<@{symbol}, []>"] * max(n_results, 1)
    return f"sdy.sharding = #sdy.sharding_per_value<[{', '.join(rows)}]>"


def axis_text(name: Any) -> str:
    """A mesh axis's name, another text for each name.

    XLA ends the process at names with letters that MLIR would escape. So these are
    written as bytes; names that are not strings are printed, behind a mark.
    """
    if isinstance(name, str):
        return f'"{_escape(name)}"'
    return f'"#{_escape(repr(name))}"'


def _escape(text: str) -> str:
    return "".join([c if c in _PLAIN else _bytes_text(c) for c in text])


_PLAIN = frozenset(map(chr, range(32, 127))) - frozenset('"\\%#')


def _bytes_text(char: str) -> str:
    return "".join([f"%{byte:02X}" for byte in char.encode(errors="surrogatepass")])


def sharding_text(
    symbol: str, spec: PartitionSpec, ndim: int, is_open: bool = False
) -> str:
    """A spec for arrays of `ndim` axes, as in `<@mesh, [{"x"}, {}]>`.

    Axes that the spec leaves to the compiler are open, and all where `is_open` says
    that it may divide them further.
    """
    entries = list(spec.partitions) + [None] * (ndim - len(spec.partitions))
    entries = [_entry_text(e, is_open) for e in entries]
    text = f"<@{symbol}, [{', '.join(entries)}]"
    if spec.unreduced:
        axes = ", ".join(sorted(map(axis_text, spec.unreduced)))
        text += f", unreduced={{{axes}}}"
    return text + ">"


def _entry_text(entry: Any, is_open: bool) -> str:
    names = list(map(axis_text, names_of(entry)))
    if is_open or entry is UNCONSTRAINED:
        names.append("?")
    return f"{{{', '.join(names)}}}"


def attribute(symbol: str, spec: PartitionSpec, aval: Any) -> str:
    """A spec as an attribute of an argument or a result of the program."""
    return (
        f"sdy.sharding = #sdy.sharding{sharding_text(symbol, spec, aval.storage.ndim)}"
    )


def constraint(symbol: str, spec: PartitionSpec, operand: str, aval: Any) -> str:
    """The operation that constrains a value to a spec."""
    division = sharding_text(symbol, spec, aval.storage.ndim)
    kind = types.tensor_type(aval)
    return f"sdy.sharding_constraint {operand} {division} : {kind}"


def keep_whole(ctx: Any, operand: str, aval: Any, axes: Sequence[int]) -> str:
    """A value of which each device holds some axes whole, in a divided program.

    XLA divides the others as it likes. For operations that it divides wrongly along
    these.

    Args:
      ctx: what the lowering rule was given.
      operand: the name of the value.
      aval: its type.
      axes: the axes.
    """
    mesh = _mesh_to_divide(ctx)
    if mesh is None or not axes:
        return operand
    spec = PartitionSpec(
        *[None if i in axes else UNCONSTRAINED for i in range(aval.ndim)]
    )
    text: str = ctx.block.emit(constraint(ctx.module.mesh(mesh), spec, operand, aval))
    return text


def divide_evenly(ctx: Any, operand: str, aval: Any) -> str:
    """A value of which no axis is divided that cannot be so evenly, whoever divides it.

    XLA pads the parts of others. Some operations then read the padding.

    Args:
      ctx: what the lowering rule was given.
      operand: the name of the value.
      aval: its type.
    """
    return keep_whole(ctx, operand, aval, uneven_axes(ctx, aval))


def hide(ctx: Any, operand: str, aval: Any) -> str:
    """A value that XLA does not look through before it has divided a program.

    It drops a clamp of the position of an update, since the update is moved inside
    anyhow; then it divides the update and moves each part by itself.
    """
    if ctx.module.divided_over is None:
        return operand
    kind = types.tensor_type(aval)
    return str(ctx.block.emit(f"stablehlo.optimization_barrier {operand} : {kind}"))


def uneven_axes(ctx: Any, aval: Any) -> list[int]:
    """The axes that some of the mesh's axes may divide into parts of several sizes."""
    mesh = _mesh_to_divide(ctx)
    if mesh is None:
        return []
    manual = ctx.module.manual
    sizes = [s for name, s in mesh.shape_tuple if not manual or name not in manual.axes]
    n = math.prod(sizes)
    return [i for i, size in enumerate(aval.shape) if type(size) is not int or size % n]


def _mesh_to_divide(ctx: Any) -> Any:
    """The mesh that XLA divides values of a program over; None where it does not."""
    mesh, manual = ctx.module.divided_over, ctx.module.manual
    if mesh is None or manual is None:
        return mesh
    if len(manual.axes) == len(manual.mesh.axis_names):
        return None  # nothing is left to divide along
    return manual.mesh


# Operations that XLA divides wrongly in some cases; their rules know which, and keep
# operands whole where a program is divided. Of pads and slices, those with numbers
# below 0, interior padding and strides.
_WRONGLY_DIVIDED = (
    r"stablehlo\.(?:convolution|(?:\w+_)?gather|(?:\w+_)?scatter|dynamic_\w+|fft|"
    r"reduce_window|pad .*(?:-\d|interior = .*[1-9])|slice .*:\d+:\d)"
)


def has_wrongly_divided(text: str) -> bool:
    """Whether a module's text has operations that are divided wrongly as they stand."""
    return re.search(_WRONGLY_DIVIDED, text) is not None


def batch_rule(avals: Sequence[Any], n_operands: int, n_batch: int) -> str:
    """Attributes of a call of a kernel that devices can run on parts of the batch.

    XLA requires both: the rule says that the first axes of all operands and results
    belong together and no others, and the number that the kernel takes fewer of them.

    Args:
      avals: types of the operands, then of the results.
      n_operands: how many of them are operands.
      n_batch: how many first axes are of the batch.
    """
    batch = [_factor(i) for i in range(n_batch)]
    sizes = dict(zip(batch, avals[0].shape, strict=False))
    rows = []
    for aval in avals:
        own = [_factor(len(sizes) + i) for i in range(aval.ndim - n_batch)]
        sizes.update(zip(own, aval.shape[n_batch:], strict=True))
        # Numbers, which all matrices share, have no axis of the batch.
        rows.append(f"[{', '.join(batch[: aval.ndim] + own)}]")
    operands, results = ", ".join(rows[:n_operands]), ", ".join(rows[n_operands:])
    counts = ", ".join([f"{name}={size}" for name, size in sizes.items()])
    return (
        f"sdy.sharding_rule = #sdy.op_sharding_rule<({operands})->({results}) "
        f'{{{counts}}}, custom>, mhlo.frontend_attributes = {{num_batch_dims = "'
        f'{n_batch}"}}'
    )


def _factor(i: int) -> str:
    """The name of the axis of a number in a rule: i to z, then z_1 and so on."""
    return chr(ord("i") + i) if i < 18 else f"z_{i - 17}"
