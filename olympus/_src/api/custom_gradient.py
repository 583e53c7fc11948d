"""`custom_gradient` and `closure_convert`: rules for what functions close over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from olympus._src import tree
from olympus._src.api import custom_calls
from olympus._src.api.custom_vjp import custom_vjp
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, trace
from olympus._src.core.array_type import Array, PyTree
from olympus._src.foundation import source_info
from olympus._src.programs import inner_programs

P = ParamSpec("P")
R = TypeVar("R")


class _Converted:
    """A function as a program; values that it closed over are its last arguments."""

    __slots__ = (
        "__name__",
        "_chosen",
        "_consts",
        "_in_tree",
        "_out_tree",
        "_program",
    )

    def __init__(
        self, body: inner_programs.Body, in_tree: Any, chosen: list[int]
    ) -> None:
        self._program = body.program
        self._in_tree = in_tree
        self._out_tree = body.out_tree
        self._chosen = chosen
        # The values that it is given are not kept: it may outlive their trace.
        self._consts = [None if i in chosen else x for i, x in enumerate(body.consts)]
        self.__name__ = source_info.function_name(body.fun)

    def __repr__(self) -> str:
        return f"<{self.__name__}, converted by closure_convert>"

    def __call__(self, *args: Any) -> Any:
        count = len(tree.treedef_children(self._in_tree))
        if len(args) != count + len(self._chosen):
            raise TypeError(
                f"closure_convert: {self.__name__} takes {count} arguments and the "
                f"{len(self._chosen)} values that it closed over, got {len(args)}"
            )
        leaves, structure = tree.tree_flatten(args[:count])
        if structure != self._in_tree:
            where = inner_programs.structure_mismatch(
                structure, self._in_tree, "args", "example_args"
            )
            raise TypeError(
                f"closure_convert: {self.__name__} must be called with arguments like "
                f"its examples, got {where}"
            )
        consts = list(self._consts)
        for i, x in zip(self._chosen, args[count:], strict=True):
            consts[i] = x
        outs = ir.eval_olympuspr(self._program, consts, *leaves)
        return self._out_tree.unflatten(outs)


def _convert(
    what: str, fun: Any, example_args: Any, choose: Callable[[Any], bool]
) -> tuple[_Converted, list[Any]]:
    """A function as a program, and the chosen ones of the values it closes over."""
    leaves, in_tree = inner_programs.flatten_operands(
        what, "example_args", example_args
    )
    in_avals = [avals_.aval_of(x) for x in leaves]
    body = inner_programs.trace_body(fun, what, in_tree, in_avals)
    chosen = [i for i, x in enumerate(body.consts) if choose(x)]
    hoisted = [body.consts[i] for i in chosen]
    return _Converted(body, in_tree, chosen), hoisted


def closure_convert(
    fun: Callable[..., Any], *example_args: PyTree
) -> tuple[Callable[..., Any], list[Array]]:
    """Makes the traced values that a function closes over arguments of it.

    Rules of `custom_jvp` and `custom_vjp` cannot refer to values of a closure.
    A function that takes another, and has such rules, converts it and passes the values
    on as arguments. The function is traced to a program for the types of the examples.

    Args:
      fun: a function of arrays and pytrees of them.
      *example_args: arrays, or trees of them, of the types that it will be called with.

    Returns:
      A pair: a function of the same arguments followed by the values, and a list of the
      values, which are floating point values that are being traced.

    Raises:
      TypeError: `fun` is not a function, or examples are not arrays.

    Example:
      >>> import olympus
      >>> def slope(y):
      ...     converted, values = olympus.closure_convert(lambda x: x * y, 1.0)
      ...     return converted(2.0, *values)
      >>> print(olympus.grad(slope)(3.0))
      2.0
    """
    custom_calls.check_rule("closure_convert", "fun", fun)
    return _convert("closure_convert", fun, example_args, _may_move)


def _may_move(x: Any) -> bool:
    """Whether a value may have a tangent."""
    if not isinstance(x, trace.Tracer):
        return False
    return x.aval.to_tangent().dtype != dtypes.float0


@overload
def custom_gradient(
    fun: Callable[P, tuple[R, Callable[..., Any]]],
    *,
    with_logs: bool = ...,
    remat: bool = ...,
    with_accums: bool = ...,
) -> Callable[P, R]: ...
@overload
def custom_gradient(
    fun: None = ...,
    *,
    with_logs: bool = ...,
    remat: bool = ...,
    with_accums: bool = ...,
) -> Callable[[Callable[P, tuple[R, Callable[..., Any]]]], Callable[P, R]]: ...
def custom_gradient(
    fun: Callable[P, tuple[Any, Callable[..., Any]]] | None = None,
    *,
    with_logs: bool = False,
    remat: bool = False,
    with_accums: bool = False,
) -> Callable[..., Any]:
    """Gives a function a reverse-mode derivative that it returns with its value.

    Args:
      fun: returns a pair of its result and a function from the result's cotangent to a
        tuple of the arguments' cotangents (for one argument, also that cotangent
        itself). The function may use intermediate values; it is traced, so
        Python cannot branch on its values.
      with_logs, remat, with_accums: not available; they must be False.

    Returns:
      A function of the same arguments that returns the result. Without `fun`, a
      decorator.

    Raises:
      TypeError: `fun` is not a function, or does not return such a pair.
      NotImplementedError: an option is set.

    Example:
      >>> import olympus
      >>> @olympus.custom_gradient
      ... def f(x, y):
      ...     return x * y, lambda ct: (ct * y, 10 * ct * x)
      >>> print(olympus.grad(f, 1)(3.0, 4.0))
      30.0
    """
    options = {"with_logs": with_logs, "remat": remat, "with_accums": with_accums}
    chosen = [name for name, value in options.items() if value]
    if chosen:
        raise NotImplementedError(
            f"custom_gradient: {', '.join(chosen)} must be False, got True; use "
            "custom_vjp, and checkpoint around it to save less"
        )
    if fun is None:
        return custom_gradient
    custom_calls.check_rule("custom_gradient", "fun", fun)
    return _with_gradient(fun)


def _with_gradient(fun: Callable[..., Any]) -> custom_vjp[..., Any]:
    def value(*args: Any, **kwargs: Any) -> Any:
        return _pair(fun, fun(*args, **kwargs))[0]

    def fwd(*args: Any) -> Any:
        out, rule = _pair(fun, fun(*args))
        cotangent = tree.tree_map(_cotangent_example, out)
        return out, _convert("custom_gradient", rule, (cotangent,), lambda x: True)

    def bwd(residuals: Any, ct: Any) -> Any:
        rule, values = residuals
        cotangents = rule(tree.tree_map(_without_float0, ct), *values)
        return cotangents if isinstance(cotangents, (tuple, list)) else (cotangents,)

    custom_calls.copy_names(value, fun)
    wrapped = custom_vjp(value)
    wrapped.defvjp(fwd, bwd)
    return wrapped


def _pair(fun: Any, pair: Any) -> Any:
    if isinstance(pair, (tuple, list)) and len(pair) == 2 and callable(pair[1]):
        return pair
    raise TypeError(
        f"custom_gradient: {inner_programs.fun_text(fun)} must return a pair of its "
        "result and a function of the result's cotangent, got "
        f"{inner_programs.value_text(pair)}"
    )


def _cotangent_example(x: Any) -> Any:
    return custom_calls.concrete_zero(_cotangent_aval(x))


def _cotangent_aval(x: Any) -> Any:
    aval = avals_.aval_of(x).to_tangent()
    return aval.update(dtype=bool) if avals_.is_float0(aval) else aval


def _without_float0(ct: Any) -> Any:
    """Cotangents of integers, which programs cannot hold, as False."""
    if avals_.is_float0(avals_.aval_of(ct)):
        return custom_calls.concrete_zero(_cotangent_aval(ct))
    return ct
