"""Calls whose result types are recorded: text, the same for whoever runs it.

Those of functions are in the table of `tests/public_functions`; those of operators,
methods and dtypes are here. A template has `{f}` where a name goes. In both there are
variables where arguments go: `v` and `w` hold three numbers, `m` and `n` 2 x 3, `s` and
`t` 3 x 3, `a` and `b` one, `D` is a dtype. Everything else is constant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.public_functions import table

SHAPES = {
    "v": (3,),
    "w": (3,),
    "m": (2, 3),
    "n": (2, 3),
    "s": (3, 3),
    "t": (3, 3),
    "a": (),
    "b": (),
}
VARIABLES = {*SHAPES, "D"}

OPERATORS = {
    "v {f} w": "+ - * / // % ** & | ^ << >> == != < <= > >= @",
    "{f}v": "+ - ~",
    "{f}(v)": "abs",
    "v[{f}]": "0 None ::2 [0] v",
    "v.{f}()": """
    sum prod mean max min std var any all cumsum cumprod argmax argmin argsort sort
    ravel conj conjugate copy flatten round squeeze transpose ptp""",
    "v.{f}": "real imag T",
    "v.astype({f})": "D",
    "v.at[0].{f}(b)": "set add subtract multiply divide power min max",
    "v.at[np.array([0, 2])].{f}(b)": "set add mul min",
    "v.at[0].{f}()": "get",
    "v.at[np.array([0, 5])].{f}(mode='fill', fill_value=b)": "get",
    "v.at[0].{f}(jnp.sin)": "apply",
    "v.view({f})": "D",
    "v.clip({f})": "0 0,1.5",
    "v.dot({f})": "w",
    "v.take({f})": "np.array([0,1])",
    "v.searchsorted({f})": "b",
    "v.repeat({f})": "2",
    "v.round({f})": "1",
    "v.mean(dtype={f})": "D",
    "divmod(v, {f})": "w",
    "pow(v, {f})": "2 2.0 -1 0",
    "v ** {f}": "2 3 2.0 0.5 -1",
    "{f} ** v": "2 2.0 True",
    "jnp.{f}(a)": "float32 int8 bool_ complex64 bfloat16 uint8 float16",
    "jnp.finfo({f}).dtype": "D",
    "jnp.iinfo({f}).dtype": "D",
}


def calls() -> Iterator[str]:
    """Each call's text, once, in order."""
    of_functions = [call for e in table.ENTRIES for call in e.recorded_calls()]
    of_operators = [
        template.replace("{f}", name)
        for template, names in OPERATORS.items()
        for name in names.split()
    ]
    yield from dict.fromkeys(of_functions + of_operators)


def variables(text: str) -> tuple[str, ...]:
    """The variables of a call, in order of their first place."""
    found: list[tuple[int, str]] = []
    inner: set[str] = set()
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Lambda):
            inner |= {arg.arg for arg in node.args.args}
        if isinstance(node, ast.Name) and node.id in VARIABLES:
            found.append((node.col_offset, node.id))
    return tuple(dict.fromkeys(name for _, name in sorted(found) if name not in inner))
