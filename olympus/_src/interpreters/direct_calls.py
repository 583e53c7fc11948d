"""Functions of the library that are one program: calls that go to it at once.

The function itself checks its arguments, sorts them and calls a fused program, which
takes a few microseconds of Python. The fifth call of a kind has the function traced: by
then its program is compiled, which may be left to the fourth call (see `first_runs`),
and most kinds have no fifth. If that gives the text of a program that is loaded, then
further calls of the kind run that program directly, in C. A kind is told by the
settings, the structure and types of the arrays, and the values of all other arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from olympus._src import native, tree
from olympus._src.core import ir, reads
from olympus._src.explanations import operations
from olympus._src.foundation import caching, config, source_info, user_warnings
from olympus._src.interpreters import (
    compilation,
    concrete_arrays,
    evaluate,
    lowered_programs,
    partial_eval,
)
from olympus._src.interpreters.compiled_programs import build
from olympus._src.sharding.division import Division

F = TypeVar("F", bound=Callable[..., Any])
ArrayImpl = concrete_arrays.ArrayImpl


def direct(
    program_name: str, operands: int = 1, named: str = "", moves_data: bool = False
) -> Callable[[F], F]:
    """Has calls of a function run its one program at once, where C can find it.

    Args:
      program_name: that of the fused function that it calls.
      operands: how many of its leading arguments are arrays, even where they are
        numbers; elsewhere numbers are told by value. NumPy's arrays are so anywhere.
      named: names of further arguments that are arrays, in calls that name them.
      moves_data: the function is several operations that only move data. A program of
        them, which gives the same bits, is made if there is none.

    Returns:
      A decorator. What it gives behaves as the function, which it stands for.
    """
    names = frozenset(named.split())

    def wrap(fun: F) -> F:
        if native.calls is None:
            return fun
        learn = _learner(fun, program_name, operands, names, moves_data)
        direct_fun = native.calls.Direct(fun, learn, operands, names)
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(direct_fun, name, getattr(fun, name))
        direct_fun.__wrapped__ = getattr(fun, "__wrapped__", fun)
        caching.register(direct_fun.forget, f"direct calls of {program_name}")
        reads.declare_constant(direct_fun)
        return direct_fun

    return wrap


def is_direct(fun: Any) -> bool:
    """Whether the function is one that `direct` gave, in C."""
    return native.calls is not None and type(fun) is native.calls.Direct


def _learner(
    fun: Callable[..., Any],
    name: str,
    operands: int,
    names: frozenset[str],
    makes_program: bool,
) -> Callable[..., Any]:
    def learn(*args: Any, **kwargs: Any) -> Any:
        """The runner for calls of this kind, or None."""
        before = user_warnings.count()
        try:
            beside = _committed_array((args, tuple(kwargs.values())))
            values = [_as_operand(x, i < operands, beside) for i, x in enumerate(args)]
            named = {k: _as_operand(x, k in names, beside) for k, x in kwargs.items()}
            runner = _find_runner(fun, name, values, named, makes_program)
        except Exception:  # the function needs values, or gives no arrays
            return None
        # A function that warns goes on to warn at each call.
        return runner if user_warnings.count() == before else None

    return learn


def _committed_array(x: Any) -> ArrayImpl | None:
    """An array among the arguments that says where all are, if there is one."""
    arrays: list[ArrayImpl] = []
    _collect(x, arrays)
    return next((a for a in arrays if a._committed), None)


def _as_operand(x: Any, leading: bool, beside: ArrayImpl | None) -> Any:
    """An argument, with arrays in place of values of the host that stand for some."""
    if type(x) in (tuple, list):
        return type(x)([_as_operand(part, leading, beside) for part in x])
    if type(x) not in (concrete_arrays.HOST_TYPES if leading else (np.ndarray,)):
        return x
    if beside is None or not concrete_arrays.several_devices():
        return concrete_arrays.as_array(x)
    return concrete_arrays.operand_beside(x, beside)


def _find_runner(
    fun: Any, name: str, args: Any, kwargs: Any, makes_program: bool
) -> Any:
    arrays: list[ArrayImpl] = []
    _collect((args, tuple(kwargs.values())), arrays)
    in_avals = [x.aval for x in arrays]
    if evaluate.handle_keys(in_avals):
        return None
    # Keys tell where arrays lie. A program of one device takes them as they are.
    place = concrete_arrays.common_device(arrays)
    is_divided = isinstance(place, Division)
    if not is_divided and not concrete_arrays.are_all_on(arrays, place):
        return None
    kind: Any = None

    def run(*tracers: Any) -> list[Any]:
        nonlocal kind
        remaining = iter(tracers)
        values = [_replace(x, remaining) for x in args]
        named = {k: _replace(x, remaining) for k, x in kwargs.items()}
        out = fun(*values, **named)
        kind = type(out) if _is_row(type(out)) else None
        return [out] if kind is None else list(out)

    info = ir.DebugInfo("evaluation", name)
    program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    evaluate.forget_lines(program)
    lowered = lowered_programs.lower(program, consts, name=name, device=place)
    for options in (tuple(evaluate.eager_options(lowered)), ()):
        built = compilation.build_options_of(lowered, options)
        if compilation.is_loaded(lowered, built):
            loaded = compilation.load(lowered, built)
            return _runner(build(lowered, options, loaded), kind)
    if not makes_program or config.jit_disabled():
        return None
    code = source_info.function_code(fun)
    with operations.noted(name, in_avals, {}, place, code=code) as n:
        return _runner(n.adopt(lowered, evaluate.compile_eager(lowered)), kind)


def _runner(compiled: Any, kind: Any) -> Any:
    run = compiled.run_one if kind is None else compiled.run
    if type(run) is not native.calls.Runner:
        return None
    if kind is None or kind is list:
        return run
    return run.with_form((kind, (...,) * len(compiled.lowered.out_avals)))


def _is_row(kind: type) -> bool:
    """Whether results come in a list, a tuple or a namedtuple, one after another."""
    return kind is tuple or kind is list or tree.is_record_type(kind)


def _collect(x: Any, arrays: list[ArrayImpl]) -> None:
    """The arrays in tuples and lists, in the order in which C meets them."""
    if type(x) is ArrayImpl:
        arrays.append(x)
    elif type(x) in (tuple, list):
        for part in x:
            _collect(part, arrays)


def _replace(x: Any, values: Any) -> Any:
    """The argument with other values in place of its arrays."""
    if type(x) is ArrayImpl:
        return next(values)
    if type(x) in (tuple, list):
        return type(x)([_replace(part, values) for part in x])
    return x
