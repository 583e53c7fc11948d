"""Calls of what XLA's compiler for GPUs expands itself, or gives to cuDNN.

Source: the custom calls `__op$...` and `__cudnn$...` of XLA, whose configurations are
JSON of its messages `GpuBackendConfig`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from olympus._src.lowering import types


def emit(
    block: Any,
    name: str,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    out_avals: Sequence[Any],
    config: Mapping[str, Any],
    *,
    orders: Mapping[int, Sequence[int]] | None = None,
    attributes: str = "",
) -> list[str]:
    """Writes a call.

    Args:
      block: where.
      name: of what is called.
      operands: names of the operands.
      in_avals: their types.
      out_avals: the types of the results.
      config: the fields of the configuration.
      orders: the layouts of results, by their numbers, as axes from the fastest to the
        slowest; others are in rows.
      attributes: more attributes, as text.
    """
    orders = orders or {}
    rows = [_layout(range(aval.ndim)[::-1]) for aval in in_avals]
    results = [
        _layout(orders.get(i, range(aval.ndim)[::-1]))
        for i, aval in enumerate(out_avals)
    ]
    text = (
        f"call_target_name = {types.string(name)}, api_version = 2 : i32, "
        f"backend_config = {types.string(json.dumps(config))}, "
        f"operand_layouts = [{', '.join(rows)}], "
        f"result_layouts = [{', '.join(results)}]"
    )
    text += f", {attributes}" if attributes else ""
    return list(block.op("stablehlo.custom_call", operands, in_avals, out_avals, text))


def _layout(order: Sequence[int]) -> str:
    return f"dense<{types.int_list(list(order))}> : tensor<{len(order)}xindex>"
