"""Exported programs from bytes, which are checked before they are used."""

from __future__ import annotations

import functools
from typing import Any

from olympus._src.core.symbolic import dimensions
from olympus._src.core.symbolic.dim_scope import SymbolicScope
from olympus._src.export import (
    arrays,
    divisions,
    effects,
    portable_modules,
    serialization,
    trees,
)
from olympus._src.export.checks import DisabledSafetyCheck
from olympus._src.export.exported import (
    Exported,
    maximum_supported_calling_convention_version,
    minimum_supported_calling_convention_version,
)
from olympus._src.export.json_fields import Fields
from olympus._src.export.trees import require
from olympus._src.foundation import container, tracebacks
from olympus._src.foundation.container import Unreadable

_VERSIONS = range(serialization.VERSION, serialization.VERSION + 1)
_MOST_DERIVATIVES = 64


@tracebacks.api_boundary
def deserialize(blob: bytes | bytearray, *, isolate: bool | None = None) -> Exported:
    """Reads an exported program from the bytes of `Exported.serialize`.

    The bytes hold a program, but no Python code: reading them runs nothing but the
    functions that were registered for types of nodes.

    Args:
      blob: the bytes.
      isolate: whether to read the modules in a separate process first, for 0.3 s.
        Forged bytes may make MLIR read memory out of bounds; then that process ends,
        and this one raises an error. None does so for modules that this user's
        processes have neither written nor read before; False trusts the bytes.

    Raises:
      ValueError: they are damaged, of another kind or version, or name what is not
        here; says what.
      TypeError: `blob` is not bytes.

    Example:
      >>> import olympus
      >>> from olympus import export
      >>> data = export.export(olympus.jit(lambda x: x + 1))(1.0).serialize()
      >>> export.deserialize(data).call(2.0)
      Array(3., dtype=float32, weak_type=True)
    """
    if not isinstance(blob, (bytes, bytearray, memoryview)):
        raise TypeError(
            f"export.deserialize: blob must be bytes, got {type(blob).__name__}; read "
            "the file in binary mode"
        )
    try:
        outer = _Outer()
        program = _read(bytes(blob), outer)
    except Unreadable as error:
        raise ValueError(f"export.deserialize: {error}") from error.__cause__
    if isolate is not False:
        _screen(outer.modules, isolate is True)
    return program


def _screen(modules: list[bytes], again: bool) -> None:
    try:
        portable_modules.screen(modules, again)
    except ValueError as error:
        message = f"export.deserialize: {serialization.KIND}: {error}"
        raise ValueError(message) from None


class _Outer:
    """What a derivative shares with the program that it is part of.

    Attributes:
      scope: of symbolic sizes; None until there are some.
      constants: those that were read, in order.
      derivatives: how many may follow.
      modules: of the program and its derivatives.
    """

    __slots__ = ("constants", "derivatives", "modules", "scope")

    def __init__(self) -> None:
        self.scope: SymbolicScope | None = None
        self.constants: list[Any] = []
        self.modules: list[bytes] = []
        self.derivatives = _MOST_DERIVATIVES


def _read(data: bytes, outer: _Outer) -> Exported:
    packed = container.unpack(data, serialization.KIND, _VERSIONS)
    fields, sections = Fields(packed.fields, serialization.KIND), packed.sections
    if outer.scope is None and fields.has("constraints"):
        outer.scope = _read_scope(fields)
    in_tree, in_avals, out_tree, out_avals = _read_signature(fields, outer.scope)
    platforms = fields.texts("platforms")
    require(0 < len(platforms) == len(set(platforms)), "platforms must differ")
    require(serialization.MODULE in sections, "there must be a module")
    outer.modules.append(sections[serialization.MODULE])
    n, ins, outs = _read_division(fields, in_avals, out_avals)
    return Exported(
        fun_name=fields.text("fun_name"),
        in_tree=in_tree,
        in_avals=in_avals,
        out_tree=out_tree,
        out_avals=out_avals,
        _in_named_shardings=ins,
        _out_named_shardings=outs,
        in_shardings_hlo=list(map(divisions.to_hlo, ins, in_avals)),
        out_shardings_hlo=list(map(divisions.to_hlo, outs, out_avals)),
        nr_devices=n,
        platforms=platforms,
        ordered_effects=fields.each("ordered_effects", effects.read_effect),
        unordered_effects=fields.each("unordered_effects", effects.read_effect),
        disabled_safety_checks=[
            DisabledSafetyCheck(text) for text in fields.texts("disabled_safety_checks")
        ],
        mlir_module_serialized=sections[serialization.MODULE],
        constants=_constants(fields, sections, outer.constants),
        calling_convention_version=fields.integer(
            "calling_convention_version",
            minimum_supported_calling_convention_version,
            maximum_supported_calling_convention_version,
        ),
        module_kept_var_idx=_check_kept(
            fields.items("module_kept_var_idx"), len(in_avals)
        ),
        uses_global_constants=fields.flag("uses_global_constants"),
        _get_vjp=_read_vjp(sections.get(serialization.VJP), in_avals, out_avals, outer),
    )


def _read_signature(fields: Fields, scope: SymbolicScope | None) -> tuple[Any, ...]:
    """Structure and types of arguments and of results, which must fit each other."""
    read_aval = functools.partial(arrays.read_aval, scope=scope)
    in_avals = fields.each("in_avals", read_aval)
    out_avals = fields.each("out_avals", read_aval)
    in_tree = trees.from_json(fields.items("in_tree"))
    out_tree = trees.from_json(fields.items("out_tree"))
    require(in_tree.num_leaves == len(in_avals), "in_tree must fit in_avals")
    require(out_tree.num_leaves == len(out_avals), "out_tree must fit out_avals")
    require(_is_call(in_tree), "in_tree must be that of (args, kwargs)")
    named = dimensions.shape_variables(a.shape for a in in_avals)
    needed = dimensions.shape_variables(a.shape for a in out_avals)
    require(set(needed) <= set(named), "sizes of out_avals must follow from in_avals")
    return in_tree, in_avals, out_tree, out_avals


def _read_division(
    fields: Fields, in_avals: list[Any], out_avals: list[Any]
) -> tuple[int, list[Any], list[Any]]:
    """The number of devices, and how they divide arguments and results."""
    n = fields.integer("nr_devices", 1, divisions.MAX_DEVICES)
    if n == 1:
        return n, [None] * len(in_avals), [None] * len(out_avals)
    rows = []
    for name, avals in (("in_shardings", in_avals), ("out_shardings", out_avals)):
        row = fields.each(name, divisions.read_sharding, len(avals))
        divisions.check_shardings(row, avals, n)
        rows.append(row)
    return n, rows[0], rows[1]


def _read_scope(fields: Fields) -> SymbolicScope:
    """The scope of all symbolic sizes of the program and its derivatives."""
    constraints = fields.texts("constraints")
    try:
        return SymbolicScope(constraints)
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise Unreadable(f"{fields.where}.constraints: {error}") from error


def _is_call(in_tree: Any) -> bool:
    """Whether it is the structure of a tuple of a tuple and a dict with string keys."""
    root, parts = in_tree.node_data(), in_tree.children()
    if root is None or root[0] is not tuple or len(parts) != 2:
        return False
    kinds = [part.node_data() for part in parts]
    if None in kinds or [kind[0] for kind in kinds] != [tuple, dict]:
        return False
    return all(type(key) is str for key in kinds[1][1])


def _check_kept(positions: list[Any], n: int) -> list[int]:
    are_numbers = all(type(i) is int and 0 <= i < n for i in positions)
    good = are_numbers and sorted(set(positions)) == positions
    require(good, "module_kept_var_idx must be numbers of arguments, in order")
    return positions


def _constants(fields: Fields, sections: Any, known: list[Any]) -> list[Any]:
    """The constants: a type and a section for each, or the number of a known one."""
    out = []
    for i, written in enumerate(fields.items("constants")):
        if type(written) is int:
            require(
                0 <= written < len(known), "constants must be known by their number"
            )
            out.append(known[written])
            continue
        name = f"{serialization.CONSTANT} {i}"
        aval = arrays.read_aval(written, f"{fields.where}.constants[{i}]")
        require(name in sections, f"there must be a section {name!r}")
        out.append(arrays.read_array(sections[name], aval, None, name))
        known.append(out[-1])
    return out


def _read_vjp(
    data: bytes | None, in_avals: list[Any], out_avals: list[Any], outer: _Outer
) -> Any:
    """What gives the derivative; None where there is none."""
    if data is None:
        return None
    outer.derivatives -= 1
    require(outer.derivatives >= 0, f"derivatives must be at most {_MOST_DERIVATIVES}")
    vjp = _read(data, outer)
    cotangents = [a.to_tangent() for a in out_avals]
    same = _plain(vjp.in_avals) == _plain([*in_avals, *cotangents])
    same = same and _plain(vjp.out_avals) == _plain([a.to_tangent() for a in in_avals])
    require(same, "the derivative must take and return what fits the types")
    return lambda exported: vjp


def _plain(avals: Any) -> list[Any]:
    return [a.strip_weak_type() for a in avals]
