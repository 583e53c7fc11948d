"""`composite`: a function under a name that compilers may know.

Operands are constants of the function, then its arguments.

Parameters:
  name, version: by which a compiler knows the operation.
  attributes: pairs of a name and a value, for the compiler.
  jaxpr: the function, for those that do not know it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, trace
from olympus._src.core.primitive import Primitive, as_abstract_says
from olympus._src.foundation import errors
from olympus._src.interpreters import ad, batching
from olympus._src.lowering import types
from olympus._src.programs import inner_programs


class Attribute:
    """An attribute's value, compared by what is written for the compiler."""

    __slots__ = ("text", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.text = _attribute_text(value)

    def __eq__(self, other: object) -> bool:
        if type(other) is not Attribute:
            return NotImplemented
        return self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return repr(self.value)


def _attribute_text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        return f"{types.scalar(np.float64(value))} : f64"
    if isinstance(value, (str, bytes)):
        return types.string(value if isinstance(value, str) else value.decode())
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([_attribute_text(v) for v in value])}]"
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        items = [f"{types.string(k)} = {_attribute_text(v)}" for k, v in value.items()]
        return f"{{{', '.join(items)}}}"
    if isinstance(value, np.dtype):
        return types.element_type(value)
    if isinstance(value, np.generic) and dtypes.is_supported(value.dtype):
        return f"{types.scalar(value)} : {types.element_type(value.dtype)}"
    if isinstance(value, np.ndarray) and dtypes.is_supported(value.dtype):
        return types.dense(value, avals_.ShapedArray(value.shape, value.dtype))
    raise TypeError(
        "composite: attributes must be numbers, strings, dtypes, NumPy arrays, or "
        f"lists and dicts of them, got a value of type {type(value).__name__}"
    )


def _run(jaxpr: Any) -> Callable[..., Any]:
    return lambda *args: ir.eval_olympuspr(jaxpr.olympuspr, jaxpr.consts, *args)


_NAME = re.compile(r"[A-Za-z]\w*(\.[\w$]+)+", re.ASCII)


def _lower(
    ctx: Any, *operands: str, name: str, version: int, attributes: Any, jaxpr: Any
) -> list[str]:
    if not _NAME.fullmatch(name):
        raise ValueError(
            'composite: name must be words joined by dots, as in "my.tangent", got '
            f"{name!r}"
        )
    # A composite has neither effects nor sizes that are known by name only.
    if jaxpr.effects or not operands or ctx.block.sizes:
        return inner_programs.lower_closed(ctx, ctx.block, jaxpr, operands)
    symbol = ctx.module.function(jaxpr.olympuspr, name)
    if ctx.module.takes_callbacks(symbol):
        return inner_programs.lower_closed(ctx, ctx.block, jaxpr, operands)
    items = [f"{types.string(k)} = {v.text}" for k, v in attributes]
    fields = [f"composite_attributes = {{{', '.join(items)}}}"] if items else []
    fields.append(f"decomposition = @{symbol}")
    if version:
        fields.append(f"version = {version} : i32")
    t = types.tensor_type
    outs = [t(a) for a in ctx.avals_out]
    kinds = outs[0] if len(outs) == 1 else f"({', '.join(outs)})"
    return ctx.block.emit_many(
        f"stablehlo.composite {types.string(name)} {', '.join(operands)} "
        f"{{{', '.join(fields)}}} : ({', '.join([t(a) for a in ctx.avals_in])}) -> "
        f"{kinds}",
        len(outs),
    )


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    """Values of the operation, with tangents of the function that it stands for."""
    outs = composite_p.bind(*primals, **params)
    _, out_tangents = ad.jvp(_run(params["jaxpr"]), primals, tangents)
    return outs, out_tangents


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    """The function itself: attributes describe operands without the mapped axis."""
    return batching.batch(_run(params["jaxpr"]), axis, args, dims)


def _print(eqn: ir.Eqn) -> Any:
    names = ("attributes", "name", "jaxpr", "version")
    return [(k, eqn.params[k]) for k in names]


composite_p = Primitive(
    "composite",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=lambda *avals, jaxpr, **params: jaxpr.out_avals,
    key_reuse=inner_programs.follow_keys,
    effects=lambda *avals, jaxpr, **params: jaxpr.effects,
    impl=lambda *args, jaxpr, **params: _run(jaxpr)(*args),
    lower=_lower,
    jvp=_jvp,
    batch=_batch,
    print=_print,
)


def composite(
    decomposition: Callable[..., Any], name: str, version: int = 0
) -> Callable[..., Any]:
    """A function under a name that compilers may know.

    A compiler that knows the name, version and attributes puts its own operation in the
    function's place; every other compiles the function. Derivatives and `vmap` go
    through the function.

    Args:
      decomposition: what the operation means; takes and returns trees of arrays.
      name: words joined by dots, as in "my.tangent".
      version: a number that is raised when the meaning changes.

    Returns:
      A function. Positional arguments are the operands; arguments by keyword are
      attributes: numbers, strings, dtypes, NumPy arrays, and lists and dicts of them;
      those that are None are left out.

    Raises:
      ValueError: the name has another form, when it is lowered.
      TypeError: an attribute is none of the above.
      UnexpectedTracerError: an attribute, or a value that the function closes over, is
        traced.

    Source: `stablehlo.composite`.

    Example:
      >>> from olympus import lax
      >>> tangent = lax.composite(lambda x: lax.sin(x) / lax.cos(x), "my.tangent")
      >>> tangent(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    inner_programs.check_callable("composite", decomposition=decomposition)
    if not isinstance(name, str):
        raise TypeError(
            'composite: name must be a string, as in "my.tangent", got '
            f"{inner_programs.value_text(name)}"
        )

    def call(*args: Any, **attributes: Any) -> Any:
        checked_attributes = _attributes(name, attributes)
        leaves, structure = inner_programs.flatten_operands("composite", "args", args)
        in_avals = [avals_.aval_of(x) for x in leaves]

        def apply(*args: Any) -> Any:
            return decomposition(*args, **attributes)

        body = inner_programs.trace_body(apply, "composite", structure, in_avals)
        if any(isinstance(x, trace.Tracer) for x in body.consts):
            raise errors.UnexpectedTracerError(
                f"composite: the function of {name!r} must not close over a traced "
                "value; pass it as an argument"
            )
        outs = composite_p.bind(
            *body.consts,
            *leaves,
            name=name,
            version=int(version),
            attributes=checked_attributes,
            jaxpr=body.close(),
        )
        return tree.tree_unflatten(body.out_tree, outs)

    return call


def _attributes(name: str, attributes: dict[str, Any]) -> tuple[Any, ...]:
    for key, value in attributes.items():
        if any(isinstance(v, trace.Tracer) for v in tree.tree_leaves(value)):
            raise errors.UnexpectedTracerError(
                f"composite: the attribute {key!r} of {name!r} must be known when the "
                "program is written, got a traced value; pass it by position"
            )
    return tuple([(k, Attribute(v)) for k, v in attributes.items() if v is not None])
