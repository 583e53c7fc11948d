"""Gradients of thirty reads or writes of one large array, by the form of the index.

What is timed is the compiled gradient. Each form is read, `x[at]`, and written by the
methods of `x.at[at]`; alone, and mapped over a leading axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.models import Library

_STEPS, _SIZE = 30, 1000
_MASK = np.arange(_SIZE * _SIZE).reshape(_SIZE, _SIZE) % 1000 == 7
_ROWS = np.array([3, 500, 901])

# An index for each step.
FORMS = {
    "int": lambda i: i,
    "ints": lambda i: (i, i + 1),
    "rows": lambda i: slice(i, i + 5),
    "column": lambda i: (slice(None), i),
    "mask": lambda i: np.roll(_MASK, i, 1),
    "row mask": lambda i: np.arange(_SIZE) % 50 == i,
    "array": lambda i: _ROWS + i,
    "mixed": lambda i: (_ROWS + i, slice(2, 9)),
    "mixed2": lambda i: (slice(2, 9), _ROWS + i),
    "reversed": lambda i: slice(9 + i, 3 + i, -1),
}
_REPEATING = ("mask", "row mask", "array", "mixed", "mixed2")
WRITES = ("set", "add", "multiply", "min", "max")


def _read(lib: Library, form: Any, x: Any, v: Any) -> Any:
    return sum(lib.np.sin(x[form(i)] * v).sum() for i in range(_STEPS))


def _write(lib: Library, form: Any, how: str, x: Any, v: Any) -> Any:
    for i in range(_STEPS):
        x = getattr(x.at[form(i)], how)(v * (i + 1.0))
    return (x * x).sum()


def index_gradients(lib: Library) -> dict[str, Any]:
    """Run time of compiled gradients of indexing."""
    rng = np.random.default_rng(0)
    x = lib.np.asarray(rng.uniform(0.5, 1.5, (_SIZE, _SIZE)).astype("float32"))
    some = lib.np.asarray(rng.uniform(0.5, 1.5, (4, 250, 1000)).astype("float32"))
    v = lib.np.asarray(np.float32(0.75))
    vs = lib.np.asarray(np.linspace(0.5, 1.5, 4, dtype="float32"))
    cases: dict[str, Any] = {}
    for form, at in FORMS.items():
        cases[f"{form} get"] = (lambda x, v, at=at: _read(lib, at, x, v)), (x, v)
        for how in WRITES:
            if how == "multiply" and form in _REPEATING:
                continue  # which jax does not differentiate
            cases[f"{form} {how}"] = (
                (lambda x, v, at=at, how=how: _write(lib, at, how, x, v)),
                (x, v),
            )
    for how in WRITES:
        if how == "multiply":
            continue  # which jax does not differentiate once it is mapped
        cases[f"vmapped int {how}"] = (
            (
                lambda x, v, how=how: lib.top.vmap(
                    lambda x, v: _write(lib, FORMS["int"], how, x, v)
                )(x, v).sum()
            ),
            (some, vs),
        )
    timed = {}
    for name, (f, args) in cases.items():
        run = lib.top.jit(lib.top.grad(f, argnums=(0, 1)))
        timed[f"run grad of 30: {name}"] = lambda run=run, args=args: run(*args)
    return timed


GROUPS = {"index_gradients": index_gradients}
