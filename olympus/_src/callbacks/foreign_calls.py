"""`ffi_call`: functions of other languages as operations of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.callbacks import vmap_methods
from olympus._src.callbacks.host_calls import declared_type, io_effect
from olympus._src.core import avals as avals_
from olympus._src.core import effects, ir
from olympus._src.core.array_type import PyTree
from olympus._src.core.primitive import Primitive
from olympus._src.lowering import attributes as attributes_
from olympus._src.lowering import types
from olympus._src.programs import inner_programs
from olympus._src.sharding.layouts import Format, Layout

# From this version of the interface on, attributes are typed.
TYPED = 4
Layouts = Sequence[Any]


def _abstract(*args: Any, result_avals: Any, **params: Any) -> Any:
    return result_avals


def _effects(*args: Any, has_side_effect: bool, **params: Any) -> Any:
    return frozenset((io_effect,)) if has_side_effect else effects.no_effects


def _jvp(primals: Any, tangents: Any, *, target_name: str, **params: Any) -> Any:
    raise ValueError(
        f"ffi_call: a call of {target_name!r} has no derivative; define one by "
        "wrapping the call in olympus.custom_jvp or olympus.custom_vjp"
    )


def _lower(
    ctx: Any,
    *operands: str,
    target_name: str,
    attributes: tuple[tuple[str, str], ...],
    input_layouts: Any,
    output_layouts: Any,
    input_output_aliases: Any,
    custom_call_api_version: int,
    legacy_backend_config: str | None,
    has_side_effect: bool,
    **params: Any,
) -> list[str]:
    text = call_attributes(
        ctx.avals_in,
        ctx.avals_out,
        target_name=target_name,
        attributes=attributes,
        layouts=(input_layouts, output_layouts),
        aliases=input_output_aliases,
        api_version=custom_call_api_version,
        legacy_config=legacy_backend_config,
        has_side_effect=has_side_effect,
    )
    return ctx.block.op(
        "stablehlo.custom_call", operands, ctx.avals_in, ctx.avals_out, text
    )


def call_attributes(
    avals_in: Sequence[Any],
    avals_out: Sequence[Any],
    *,
    target_name: str,
    attributes: Sequence[tuple[str, str]],
    layouts: tuple[Any, Any] | None,
    aliases: Any,
    api_version: int,
    legacy_config: str | None,
    has_side_effect: bool,
) -> str:
    """The attributes of the operation `stablehlo.custom_call`, as text.

    Args:
      avals_in, avals_out: types of its operands and results.
      target_name: the name that the function is registered by.
      attributes: what it is given beside arrays, as text by name.
      layouts: orders of the axes of operands, and of results; None leaves them open.
      aliases: which operands lend their memory to which results.
      api_version: of XLA's interface; attributes are typed from 4 on.
      legacy_config: the text that functions before that are given.
      has_side_effect: whether it must happen even if its results are unused.
    """
    config = types.string(legacy_config or "")
    if api_version >= TYPED:
        items = [f"{types.string(k)} = {v}" for k, v in attributes]
        config = "{" + ", ".join(items) + "}"
    parts = [
        f"call_target_name = {types.string(target_name)}",
        f"api_version = {api_version} : i32",
        f"backend_config = {config}",
    ]
    if layouts is not None:
        parts += [
            f"operand_layouts = {_layouts(avals_in, layouts[0])}",
            f"result_layouts = {_layouts(avals_out, layouts[1])}",
        ]
    if has_side_effect:
        parts.append("has_side_effect = true")
    if aliases:
        parts.append(attributes_.output_aliases(aliases, len(avals_out)))
    return ", ".join(parts)


def _layouts(avals: Sequence[Any], layouts: Sequence[tuple[int, ...]]) -> str:
    """Orders of axes, the densest first, as XLA writes them."""
    texts = []
    for aval, order in zip(avals, layouts, strict=True):
        axes = [*order, *range(aval.ndim, aval.storage.ndim)]
        items = ", ".join(map(str, reversed(axes)))
        dense = f"[{items}]" if items else ""
        texts.append(f"dense<{dense}> : tensor<{len(axes)}xindex>")
    return f"[{', '.join(texts)}]"


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    def widen(size: int, args: Sequence[Any]) -> dict[str, Any]:
        wider = [
            avals_.ShapedArray((size, *a.shape), a.dtype)
            for a in params["result_avals"]
        ]
        in_avals = [avals_.aval_of(x) for x in args]
        check_aliases(
            f"ffi_call of {params['target_name']!r} under vmap",
            dict(params["input_output_aliases"]),
            in_avals,
            wider,
        )
        orders = [
            order if len(order) == aval.ndim else _with_rows(order)
            for order, aval in zip(params["input_layouts"], in_avals, strict=True)
        ]
        return {
            "result_avals": tuple(wider),
            "input_layouts": tuple(orders),
            "output_layouts": tuple(map(_with_rows, params["output_layouts"])),
        }

    what = "ffi_call", repr(params["target_name"])
    return vmap_methods.batch(ffi_call_p, what, axis, args, dims, params, widen)


def _with_rows(order: tuple[int, ...]) -> tuple[int, ...]:
    """The order of axes, with one more that has the largest strides."""
    return (0, *[i + 1 for i in order])


def _print(eqn: ir.Eqn) -> Any:
    shown = ("target_name", "attributes", "has_side_effect", "vmap_method")
    return [(k, eqn.params[k]) for k in shown]


ffi_call_p = Primitive(
    "ffi_call",
    multiple_results=True,
    abstract=_abstract,
    effects=_effects,
    lower=_lower,
    jvp=_jvp,
    batch=_batch,
    print=_print,
    needs_full_build=True,
)


# -- what users call -------------------------------------------------------------------


def ffi_call(
    target_name: str,
    result_shape_dtypes: PyTree,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_layouts: Layouts | None = None,
    output_layouts: Layouts | None = None,
    input_output_aliases: dict[int, int] | None = None,
    custom_call_api_version: int = TYPED,
    legacy_backend_config: str | None = None,
) -> Callable[..., Any]:
    """A function that calls one of another language, from compiled programs.

    Args:
      target_name: the name that it is registered by, with `register_ffi_target`.
      result_shape_dtypes: the type of its result, as a `ShapeDtypeStruct`, or a
        sequence of types of several.
      has_side_effect: the call must happen even if its result is unused.
      vmap_method: what `vmap` does: 'sequential' (one call for each element, in a
        loop), 'sequential_unrolled' (without a loop), 'expand_dims' (one call;
        arguments that are not mapped get a leading axis of size 1), 'broadcast_all'
        (one call; all arguments get the mapped axis in front).
      input_layouts: for each argument the order of its axes in memory, that with the
        largest strides first, or None; default row-major.
      output_layouts: the same for each result; for one result its order alone.
      input_output_aliases: numbers of arguments whose memory the function may use for
        results, and the numbers of those.
      custom_call_api_version: of XLA's interface; before 4 without attributes.
      legacy_backend_config: the text that functions before version 4 are given.

    Returns:
      A function of arrays; what it is given by keyword are attributes, constants of the
      program: numbers, strings, NumPy arrays, sequences and mappings of those. Python's
      integers arrive as 64 bits, its floats in double precision.

    Raises:
      TypeError: an attribute has no form that functions of other languages can read.
      ValueError: aliases of other types, an interface that XLA does not have,
        attributes with an old one, or a configuration's text with the present one.

    Source: `stablehlo.custom_call`; XLA's foreign function interface.

    Example:
      >>> import numpy as np
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> kind = olympus.ShapeDtypeStruct((2, 2), 'float32')
      >>> info = olympus.ShapeDtypeStruct((), 'int32')
      >>> factor = olympus.ffi.ffi_call('lapack_spotrf_ffi', (kind, info))
      >>> lower, _ = factor(onp.eye(2) * 4, uplo=np.uint8(ord('L')))
      >>> lower
      Array([[2., 0.],
             [0., 2.]], dtype=float32)
    """
    if not isinstance(target_name, str):
        raise TypeError(
            f"ffi_call: target_name must be a string, got {target_name!r}; register "
            "the function with register_ffi_target, and pass its name"
        )
    if custom_call_api_version not in range(TYPED + 1):
        raise ValueError(
            f"ffi_call: custom_call_api_version must be from 0 to {TYPED}, got "
            f"{custom_call_api_version!r}; leave it out for XLA's typed interface"
        )
    if legacy_backend_config is not None and custom_call_api_version >= TYPED:
        raise ValueError(
            "ffi_call: legacy_backend_config needs a custom_call_api_version before "
            f"{TYPED}, got {custom_call_api_version}; pass attributes by keyword"
        )
    vmap_methods.check("ffi_call", vmap_method)
    what = f"ffi_call of {target_name!r}"
    kinds, structure = result_types(what, result_shape_dtypes)
    single = tree.is_one_leaf(structure)
    if single and output_layouts is not None and not _is_nested(output_layouts):
        output_layouts = [output_layouts]

    def call(*args: Any, **attributes: Any) -> Any:
        if attributes and custom_call_api_version < TYPED:
            raise ValueError(
                f"ffi_call: attributes of {target_name!r} need "
                f"custom_call_api_version=4, got {custom_call_api_version}; "
                "pass legacy_backend_config instead"
            )
        for i, x in enumerate(args):
            if not avals_.is_array_like(x):
                raise TypeError(
                    f"ffi_call: argument {i} of {target_name!r} must be an array, got "
                    f"{inner_programs.value_text(x)}; pass other values by keyword"
                )
        in_avals = [avals_.aval_of(x) for x in args]
        outs = ffi_call_p.bind(
            *args,
            target_name=target_name,
            result_avals=kinds,
            attributes=write_attributes(target_name, attributes),
            vmap_method=vmap_method,
            has_side_effect=bool(has_side_effect),
            input_layouts=read_orders(target_name, "input", input_layouts, in_avals),
            output_layouts=read_orders(target_name, "output", output_layouts, kinds),
            input_output_aliases=check_aliases(
                what, input_output_aliases or {}, in_avals, kinds
            ),
            custom_call_api_version=custom_call_api_version,
            legacy_backend_config=legacy_backend_config,
        )
        return outs[0] if single else structure.unflatten(outs)

    return call


def result_types(what: str, declared: PyTree) -> tuple[tuple[Any, ...], Any]:
    """The declared types of results, flat, and their structure."""
    leaves, structure = tree.tree_flatten(declared)
    return tuple([declared_type(what, x) for x in leaves]), structure


def write_attributes(name: str, values: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Attributes as text, which can be compared."""
    what = f"ffi_call of {name!r}"
    return tuple(
        [
            (k, attributes_.attribute(f"{what}, {k}", v))
            for k, v in sorted(values.items())
        ]
    )


def _is_nested(layouts: Layouts) -> bool:
    return not isinstance(layouts, Layout | Format) and any(
        not isinstance(x, int) for x in layouts
    )


def read_orders(
    name: str, which: str, layouts: Layouts | None, avals: Sequence[Any]
) -> tuple[tuple[int, ...], ...]:
    """For each array the order of its axes, that with the largest strides first."""
    if layouts is None:
        return tuple([tuple(range(a.ndim)) for a in avals])
    if len(layouts) != len(avals):
        raise ValueError(
            f"ffi_call: {which}_layouts of {name!r} must have one entry for "
            f"each array, got {len(layouts)} for {len(avals)}; pass None for the "
            "default order"
        )
    return tuple(
        [_order(name, which, x, aval) for x, aval in zip(layouts, avals, strict=True)]
    )


def _order(name: str, which: str, layout: Any, aval: Any) -> tuple[int, ...]:
    if isinstance(layout, Format):
        layout = layout.layout
    if isinstance(layout, Layout):
        layout = layout.major_to_minor
    order = tuple(range(aval.ndim)) if layout is None else tuple(layout)
    if sorted(order) != list(range(aval.ndim)):
        raise ValueError(
            f"ffi_call: {which}_layouts of {name!r} must be orders of all axes, got "
            f"{order} for {aval.short()}; a matrix by rows is (0, 1)"
        )
    return order


def check_aliases(
    what: str, aliases: dict[int, int], ins: Sequence[Any], outs: Sequence[Any]
) -> tuple[tuple[int, int], ...]:
    """Which arguments lend their memory to which results, in order."""
    for i, o in aliases.items():
        if not 0 <= i < len(ins) or not 0 <= o < len(outs):
            raise ValueError(
                f"{what}: input_output_aliases must be numbers of "
                f"arguments and results, got {i}: {o} for {len(ins)} and {len(outs)}"
            )
        if not inner_programs.same_type(ins[i], outs[o]):
            raise ValueError(
                f"{what}: input_output_aliases must pair equal types, "
                f"got argument {i} of type {ins[i].short()} and result {o} of type "
                f"{outs[o].short()}"
            )
    return tuple(sorted(aliases.items()))
