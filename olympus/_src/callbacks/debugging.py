"""`debug_callback` and `debug_print`: looking into a program while it runs.

They never prevent an optimisation: under vmap they run once for each
element, also for elements whose results are dropped, and gradients ignore them. In the
condition of a mapped `while_loop` they run for the elements that are not done.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.callbacks import callback as host
from olympus._src.core import effects
from olympus._src.core.array_type import PyTree
from olympus._src.core.primitive import Primitive
from olympus._src.foundation import logs
from olympus._src.lax import sharding_rules
from olympus._src.programs import inner_programs


class DebugEffect(effects.Effect):
    """The effect of looking at values, in any order."""

    __slots__ = ()
    lowerable = in_control_flow = in_remat = True

    def __repr__(self) -> str:
        return "Debug"


class OrderedDebugEffect(effects.Effect):
    """The effect of looking at values, in program order."""

    __slots__ = ()
    lowerable = in_control_flow = in_remat = True
    ordered = True

    def __repr__(self) -> str:
        return "OrderedDebug"


debug_effect = DebugEffect()
ordered_debug_effect = OrderedDebugEffect()


def _abstract(*args: Any, **params: Any) -> Any:
    return ()


def _effects(*args: Any, effect: Any, **params: Any) -> Any:
    return frozenset((effect,))


def _lower(
    ctx: Any, *operands: str, callback: Any, partitioned: bool, **params: Any
) -> Any:
    return host.lower_call(ctx, operands, callback, takes_parts=partitioned)


def _impl(*args: Any, callback: Any, **params: Any) -> Any:
    callback(*host.as_operands(args))
    return []


def _primitive(name: str, show: Callable[[Any], list[tuple[str, Any]]]) -> Primitive:
    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        return p.bind(*primals, **params), []

    def batch(axis: Any, args: Any, dims: Any, *, callback: Any, **params: Any) -> Any:
        if axis.active is not None:
            callback = host.FunctionWhere(callback)
            args, dims = [axis.active, *args], [0, *dims]
        mapped = host.MappedFunction(callback, tuple(dims), axis.size)
        return p.bind(*args, callback=mapped, **params), []

    p = Primitive(
        name,
        shard=sharding_rules.no_results,
        multiple_results=True,
        abstract=_abstract,
        effects=_effects,
        lower=_lower,
        impl=_impl,
        jvp=jvp,
        transpose=lambda cts, *args, **params: [None] * len(args),
        batch=batch,
        print=show,
        may_make_nan=False,
        needs_full_build=True,
    )
    return p


def _call_parameters(eqn: Any) -> list[tuple[str, Any]]:
    return [(k, eqn.params[k]) for k in ("callback", "effect", "partitioned")]


def _print_parameters(eqn: Any) -> list[tuple[str, Any]]:
    fmt = eqn.params["fmt"].replace("\n", "\\n")  # a text holds no line ends
    ordered = eqn.params["effect"].ordered
    partitioned = eqn.params["partitioned"]
    return [("fmt", fmt), ("ordered", ordered), ("partitioned", partitioned)]


debug_callback_p = _primitive("debug_callback", _call_parameters)
debug_print_p = _primitive("debug_print", _print_parameters)


def debug_callback(
    callback: Callable[..., None] | None = None,
    *args: PyTree,
    partitioned: bool = False,
    ordered: bool = False,
    **kwargs: PyTree,
) -> Any:
    """Calls a Python function with values of a program, each time it runs.

    Args:
      callback: takes arrays (on the CPU); its result is ignored. Without it a function
        that takes it is returned, so that options can be given first.
      *args: arrays, trees of them, and any other values, which are passed as they are.
      ordered: keep the program's order among ordered calls.
      partitioned: on several devices call once for each, with its part.
      **kwargs: more of these.

    Raises:
      TypeError: `callback` is not a function.

    Example:
      >>> import olympus
      >>> @olympus.jit
      ... def f(x):
      ...     olympus.debug.callback(lambda v: print("got", v), x)
      ...     return x + 1
      >>> y = f(2); olympus.effects_barrier()
      got 2
    """
    if callback is None:
        return functools.partial(
            debug_callback, ordered=ordered, partitioned=partitioned, **kwargs
        )
    host.check_callback("debug.callback", callback)
    operands, static, in_tree = host.split_arguments(args, kwargs)
    flat = host.HostFunction(callback, "debug.callback", static, in_tree)
    debug_callback_p.bind(*operands, **_parameters(flat, ordered, partitioned))
    return None


def _parameters(flat: Any, ordered: bool, partitioned: bool) -> dict[str, Any]:
    return {
        "callback": flat,
        "effect": ordered_debug_effect if ordered else debug_effect,
        "partitioned": bool(partitioned),
    }


# -- printing --------------------------------------------------------------------------


def debug_print(
    fmt: str | None = None,
    *args: PyTree,
    skip_format_check: bool = False,
    ordered: bool = False,
    partitioned: bool = False,
    _use_logging: bool = False,
    **kwargs: PyTree,
) -> Any:
    """Prints values of a program, each time it runs.

    Args:
      fmt: a format string with fields such as `{}` or `{name}`, for `str.format`. No
        f-string: that is formatted while tracing, before there are values. Without
        it a function that takes it is returned.
      *args: arrays, trees of them, and any other values.
      ordered: keep the program's order among ordered prints.
      partitioned: on several devices print once for each, its part.
      skip_format_check: accept arguments that `fmt` has no field for.
      **kwargs: more values, by name.

    Raises:
      TypeError: `fmt` is not a string.
      ValueError: an argument has no field in `fmt`.
      KeyError: a name in `fmt` is not given.
      IndexError: `fmt` has more fields than there are arguments.

    Example:
      >>> import olympus
      >>> @olympus.jit
      ... def f(x):
      ...     olympus.debug.print("x is {x:.2f}", x=x)
      ...     return x * x
      >>> y = f(2.0); olympus.effects_barrier()
      x is 2.00
    """
    options: dict[str, Any] = {"ordered": ordered, "partitioned": partitioned}
    if fmt is None:
        return functools.partial(
            debug_print,
            skip_format_check=skip_format_check,
            _use_logging=_use_logging,
            **options,
            **kwargs,
        )
    if not isinstance(fmt, str):
        raise TypeError(
            f"debug.print: fmt must be a string, got {inner_programs.value_text(fmt)}; "
            "write "
            'debug.print("{}", x)'
        )
    if not skip_format_check:
        _check_format(fmt, args, kwargs)
    operands, static, in_tree = host.split_arguments(args, kwargs)
    printer = Printer(fmt, _print_options(), _use_logging)
    flat = host.HostFunction(printer, "debug.print", static, in_tree)
    debug_print_p.bind(*operands, fmt=fmt, **_parameters(flat, ordered, partitioned))
    return None


def debug_log(
    fmt: str | None = None,
    *args: PyTree,
    skip_format_check: bool = False,
    ordered: bool = False,
    partitioned: bool = False,
    _use_logging: bool = True,
    **kwargs: PyTree,
) -> Any:
    """Logs values of a program, each time it runs, at the level INFO.

    Args:
      fmt: see `debug.print`.
      *args: arrays, trees of them, and any other values.
      ordered: keep the program's order among ordered prints.
      partitioned: on several devices log once for each, its part.
      skip_format_check: accept arguments that `fmt` has no field for.
      **kwargs: more values, by name.

    Raises:
      TypeError, ValueError, KeyError, IndexError: as `debug.print`.

    Source: the logger named `olympus` of Python's `logging`.

    Example:
      >>> import olympus
      >>> olympus.debug.log("x is {}", 2.0)
    """
    return debug_print(
        fmt,
        *args,
        skip_format_check=skip_format_check,
        ordered=ordered,
        partitioned=partitioned,
        _use_logging=_use_logging,
        **kwargs,
    )


class Printer:
    """Prints a text with its fields filled."""

    __slots__ = ("_fmt", "_logs", "_options")

    def __init__(self, fmt: str, options: tuple[Any, ...], use_logging: bool) -> None:
        self._fmt = fmt
        self._options = options
        self._logs = use_logging

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        with np.printoptions(**dict(self._options)):
            text = self._fmt.format(*args, **kwargs)
        if self._logs:
            logs.info(text)
        else:
            print(f"{text}\n", end="")  # in one piece: several devices may print

    def __repr__(self) -> str:
        return f"print {self._fmt!r}"


# NumPy's settings hold for a thread, and callbacks run on others.
_OPTIONS = (
    "edgeitems",
    "threshold",
    "floatmode",
    "precision",
    "suppress",
    "linewidth",
    "nanstr",
    "infstr",
    "sign",
)


def _print_options() -> tuple[Any, ...]:
    options: Any = np.get_printoptions()
    return tuple([(k, options[k]) for k in _OPTIONS])


class _Checker(string.Formatter):
    """Formats nothing, but records which arguments have a field."""

    def __init__(self) -> None:
        self.used: set[Any] = set()

    def get_value(self, key: Any, args: Any, kwargs: Any) -> Any:
        self.used.add(key)
        return super().get_value(key, args, kwargs)

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        first = field_name.replace("[", ".").split(".", 1)[0]
        key = int(first) if first.isdigit() else first
        self.get_value(key, args, kwargs)
        return None, key

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""


def _check_format(fmt: str, args: Any, kwargs: Any) -> None:
    checker = _Checker()
    try:
        checker.vformat(fmt, args, kwargs)
    except KeyError as error:
        known = ", ".join(kwargs) or "none"
        raise KeyError(
            f"debug.print: {error.args[0]!r} in {fmt!r} is not among the keyword "
            f"arguments, which are {known}"
        ) from None
    positions = [i for i in range(len(args)) if i not in checker.used]
    names = [repr(k) for k in kwargs if k not in checker.used]
    if not positions and not names:
        return
    unused = [f"argument {i}" for i in positions] + names
    raise ValueError(
        f"debug.print: fmt must have a placeholder for every argument, got {fmt!r}, "
        f"which has none for {', '.join(unused)}; add a placeholder such as {{}}, and "
        "do not use an f-string, which is formatted while tracing, before there are "
        "values"
    )
