"""Loops that write to refs, and single writes and reads of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.models import Library


def refs(lib: Library) -> dict[str, Any]:
    """What it costs to read and write refs, in programs and outside."""
    top, lax, wait = lib.top, lib.lax, lib.wait
    matrix = top.new_ref(lib.np.zeros((1000, 1000)))
    line = top.new_ref(lib.np.zeros(1000))

    @top.jit
    def fill(matrix: Any) -> Any:
        def step(i: Any, carry: Any) -> Any:
            matrix[i] = matrix[i - 1] * 0.5 + carry
            return carry + 1.0

        return lax.fori_loop(1, 1000, step, 0.0)

    @top.jit
    def scatter(line: Any) -> Any:
        def step(i: Any, carry: Any) -> Any:
            line[i % 1000] = line[(i * 7) % 1000] + 1.0
            return carry

        return lax.fori_loop(0, 10_000, step, 0.0)

    def running(x: Any) -> Any:
        ref = top.new_ref(x)

        def step(i: Any, carry: Any) -> Any:
            ref[i] = lib.np.sin(ref[i]) * carry
            return carry + ref[i]

        return lax.fori_loop(0, 1000, step, 1.0)

    gradient = top.jit(top.grad(running))
    x = lib.np.asarray(np.linspace(0, 1, 1000, dtype=np.float32))
    count = top.jit(lambda ref: ref.__setitem__(0, ref[0] + 1.0))

    def write_and_wait() -> None:
        count(line)
        wait(line[...])

    def write_outside() -> None:
        line[3] = 2.0
        wait(line[...])

    return {
        "ref loop over rows": lambda: wait(fill(matrix)),
        "ref loop over numbers": lambda: wait(scatter(line)),
        "ref gradient of a loop": lambda: wait(gradient(x)),
        "ref jit write, read all": write_and_wait,
        "ref write outside, read all": write_outside,
        "ref read a number": lambda: wait(line[5]),
    }


GROUPS = {"refs": refs}
