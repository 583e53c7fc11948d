"""Control flow run step by step, to find the operation that made a bad number.

Each step's program is compiled and looked at like any other, so the first that makes
such a number raises the error that names operation and line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import ir
from olympus._src.foundation import config
from olympus._src.interpreters import (
    compiled_programs,
    concrete_arrays,
    lowered_programs,
)
from olympus._src.lax import concatenation
from olympus._src.programs.scan_operands import Parts


def run(closed: ir.ClosedOlympuspr, args: Any) -> list[Any]:
    """Runs a program as one compiled unit."""
    compiled = closed.olympuspr.derived(
        ("step", config.trace_context()),
        lambda p: compiled_programs.build(
            lowered_programs.lower(ir.hoist_consts(p), (), name="step")
        ),
    )
    operands = [*closed.consts, *args]
    return compiled.run([concrete_arrays.as_array(x)._buffer for x in operands])


def scan(args: Any, params: Any) -> None:
    """Runs a scan, dropping what it collects."""
    parts = Parts(args, params)
    order = range(params["length"])
    carry = list(parts.carry)
    for i in reversed(order) if params["reverse"] else order:
        slices = [concatenation.index_in_dim(x, i, keepdims=False) for x in parts.xs]
        outs = run(params["jaxpr"], [*parts.consts, *carry, *slices])
        carry = outs[: params["num_carry"]]


def counted_scan(args: Any, params: Any) -> None:
    """Runs a scan over as many rows as the first argument says."""
    count, *operands = args
    scan(operands, {**params, "length": int(count)})


def while_loop(args: Any, params: Any) -> None:
    """Runs a while loop, also a bounded one, whose body returns rows to keep too."""
    n_test = params["cond_nconsts"]
    start = n_test + params["body_nconsts"]
    test_consts, body_consts = args[:n_test], args[n_test:start]
    carry = list(args[start:])
    steps = 0
    while bool(run(params["cond_jaxpr"], [*test_consts, *carry])[0]):
        if steps == params.get("max_steps"):
            break
        carry = run(params["body_jaxpr"], [*body_consts, *carry])[: len(carry)]
        steps += 1


def cond(args: Any, params: Any) -> None:
    """Runs the branch that is chosen."""
    index, *operands = args
    branches = params["branches"]
    chosen = int(np.clip(int(index), 0, len(branches) - 1))
    run(branches[chosen], operands)
