"""Lowering rules that are calls of functions of other languages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.callbacks import foreign_calls
from olympus._src.callbacks.foreign_calls import Layouts


class ForeignRule:
    """A lowering rule of a primitive: a call of a registered function.

    It is a rule as it is, and may be called in rules that build MLIR operations.

    Args:
      target: the name that the function is registered by.
      operand_layouts, result_layouts: for each array a `Layout`, the order of its axes
        with the smallest strides first, or None; default row-major.
      config: attributes by name, or text for the older interface.
      open_layouts: whether layouts are left to the compiler.
      options: `has_side_effect`, `operand_output_aliases` and `api_version`.

    Raises:
      TypeError: there is no such option.
    """

    # Called with olympus's own context, it writes text.
    writes_text = True

    def __init__(
        self,
        target: str,
        *,
        operand_layouts: Layouts | None,
        result_layouts: Layouts | None,
        config: Any,
        open_layouts: bool,
        options: dict[str, Any],
    ) -> None:
        self._target = target
        self._layouts = operand_layouts, result_layouts
        self._open_layouts = open_layouts
        self._legacy_config = config if isinstance(config, str) else None
        self._attributes = {} if isinstance(config, str) else dict(config or {})
        options = dict(options)
        self._has_side_effect = bool(options.pop("has_side_effect", False))
        self._aliases = dict(options.pop("operand_output_aliases", None) or {})
        default = 0 if isinstance(config, str) else foreign_calls.TYPED
        self._api_version = options.pop("api_version", default)
        if options:
            raise TypeError(f"ffi_lowering: there is no option {min(options)!r}")

    def write(
        self,
        avals_in: Sequence[Any],
        avals_out: Sequence[Any],
        params: dict[str, Any],
        read: Callable[[Any], Any] = lambda value: value,
    ) -> str:
        """The attributes of the call, as text.

        Args:
          avals_in, avals_out: types of operands and results.
          params: attributes by name.
          read: what attributes are turned to before they are written.
        """
        values = {k: read(v) for k, v in {**self._attributes, **params}.items()}
        return foreign_calls.call_attributes(
            avals_in,
            avals_out,
            target_name=self._target,
            attributes=foreign_calls.write_attributes(self._target, values),
            layouts=None
            if self._open_layouts
            else (
                self._orders("operand", self._layouts[0], avals_in),
                self._orders("result", self._layouts[1], avals_out),
            ),
            aliases=tuple(sorted(self._aliases.items())),
            api_version=self._api_version,
            legacy_config=self._legacy_config,
            has_side_effect=self._has_side_effect,
        )

    def _orders(self, which: str, layouts: Layouts | None, avals: Sequence[Any]) -> Any:
        if layouts is not None:
            # Plain orders begin with the smallest strides here, as XLA writes them.
            layouts = [
                tuple(reversed(x)) if isinstance(x, (list, tuple)) else x
                for x in layouts
            ]
        return foreign_calls.read_orders(self._target, which, layouts, avals)

    def __call__(self, ctx: Any, *operands: Any, **params: Any) -> Any:
        if hasattr(ctx, "call_foreign"):
            return list(ctx.call_foreign(self, operands, params).results)
        text = self.write(ctx.avals_in, ctx.avals_out, params)
        outs = ctx.block.op(
            "stablehlo.custom_call", operands, ctx.avals_in, ctx.avals_out, text
        )
        return outs if ctx.eqn.primitive.multiple_results else outs[0]
