"""A lens on a call that is given as text, on a command line or in a notebook."""

from __future__ import annotations

import ast
from typing import Any

from olympus._src.lens.view import Lens, lens


def look_at(source: str, namespace: dict[str, Any], name: str = "<lens>") -> Lens:
    """Runs statements, the last of which is a call, and looks at what is called.

    Args:
      source: Python code that ends in a call, as in `y = f(x)` or `f(x)`.
      namespace: its global names.
      name: of the source, in messages.

    Raises:
      ValueError: the last statement is no call.
      SyntaxError: it is not Python.
    """
    tree = ast.parse(source, name)
    call = _last_call(tree)
    if call is None:
        raise ValueError(
            f"lens: the last statement must be a call, as in f(x), got {source!r}; "
            "write the call of the function to look at"
        )
    before = ast.Module(tree.body[:-1], [])
    exec(compile(before, name, "exec"), namespace)
    function = _evaluate(call.func, namespace, name)
    keywords = [k.value for k in call.keywords]
    names: list[str | None] = [k.arg for k in call.keywords]
    listed = ast.Call(
        ast.Name("_lens_arguments", ast.Load()),
        call.args,
        [ast.keyword(n, v) for n, v in zip(names, keywords, strict=True)],
    )
    ast.copy_location(listed, call)
    ast.fix_missing_locations(listed)
    scope = {**namespace, "_lens_arguments": lambda *a, **k: (a, k)}
    args, kwargs = _evaluate(listed, scope, name)
    return lens(function)(*args, **kwargs)


def _last_call(tree: ast.Module) -> ast.Call | None:
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, (ast.Expr, ast.Assign, ast.AnnAssign)):
        return None
    return last.value if isinstance(last.value, ast.Call) else None


def _evaluate(node: ast.expr, namespace: dict[str, Any], name: str) -> Any:
    return eval(compile(ast.Expression(node), name, "eval"), namespace)


def load_ipython_extension(shell: Any) -> None:
    """Adds the magics `%lens` and `%%lens`: `%load_ext olympus`."""

    def magic(line: str, cell: str | None = None) -> Lens:
        source = line if cell is None else cell
        return look_at(source, shell.user_ns)

    shell.register_magic_function(magic, "line_cell", "lens")
