"""`lens`: traces, compiles and measures a function, and shows what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from olympus._src import tree
from olympus._src.api import jit as jit_
from olympus._src.api import program_costs, stages
from olympus._src.api.shapes import ShapeDtypeStruct
from olympus._src.core import array_type
from olympus._src.core.trace import Tracer
from olympus._src.foundation import source_info
from olympus._src.lens import folding, measurement, page, panes, text
from olympus._src.lens.diff import LensDiff
from olympus._src.lens.nodes import Node, Places
from olympus._src.lens.panes import Excerpt
from olympus._src.lens.shown import Shown
from olympus._src.lens.terminal import Branch
from olympus._src.lowering import attributions, hlo_text, line_costs, memory_timeline
from olympus._src.lowering.operation_paths import Origin


class Stage(NamedTuple):
    """A stage of the first call.

    Attributes:
      name: what is done.
      seconds: how long it took.
    """

    name: str
    seconds: float


class Lens(Shown):
    """A program at four levels, linked line by line.

    In a notebook it shows itself; `save` writes a page that needs no network, `show`
    opens it, `diff` compares it with another, and `str` gives the costs by line.

    Attributes:
      name: of the function.
      costs: as of `Compiled.explain()`.
      times: microseconds by the name of XLA's instruction; None if it was not run.
      stages: how long tracing, lowering and compiling took.
      compiled: what was compiled; call it to run the program.
    """

    def __init__(
        self,
        name: str,
        compiled: Any,
        program: Any,
        stages_: Sequence[Stage],
        times: measurement.Times | None,
        module: hlo_text.Module,
        served: line_costs.Attributions,
        origins: Sequence[Origin | None],
    ) -> None:
        self.name = name
        self.compiled = compiled
        self.stages = tuple(stages_)
        self.times = times
        self.places = Places()
        _, built = stages.parts_of(compiled)
        lowered = built.lowered
        durations = times.instructions if times is not None else {}
        self.olympuspr = folding.fold(panes.program_nodes(program, self.places))
        self.stablehlo = folding.fold(
            panes.stablehlo_nodes(lowered.text, origins, self.places)
        )
        self.hlo = folding.fold(panes.hlo_nodes(module, served, self.places, durations))
        self.python: list[Excerpt] = panes.python_excerpts(self.places)
        self.memory = memory_timeline.timeline(module)
        self.costs = program_costs.explain_parts(
            lowered, stages.call_of(compiled).paths(), module, served, self.memory
        )
        self.memory_places = [
            self._place(served.get((module.entry, name))) for name in self.memory.names
        ]
        self.held_places = [
            self._place(served.get((v.computation, v.name))) for v in self.memory.values
        ]

    def _place(self, known: attributions.Attribution | None) -> int:
        return -1 if known is None else self.places.number(known.origin.position)

    def line_costs(self) -> dict[tuple[int, int], list[float]]:
        """Microseconds, bytes and operations by file's number and line."""
        sums: dict[tuple[int, int], list[float]] = {}
        pending: list[Node] = list(self.hlo)
        while pending:
            node = pending.pop()
            pending += node.children
            if node.place >= 0:
                file, line = self.places.spans[node.place][:2]
                row = sums.setdefault((file, line), [0.0, 0.0, 0.0])
                row[0] += node.time_us
                row[1] += node.size_bytes
                row[2] += node.flops
        return sums

    def diff(self, other: Lens) -> LensDiff:
        """What another program has otherwise, line by line, and what that costs.

        Args:
          other: a lens of another function, or of other arguments.

        Raises:
          TypeError: `other` is no lens.

        Example:
          >>> import olympus
          >>> import olympus.numpy as jnp
          >>> x = jnp.ones((64, 64))
          >>> before = olympus.lens(lambda x: jnp.tanh(x @ x), measure=False)(x)
          >>> after = olympus.lens(lambda x: jnp.tanh(x) @ x, measure=False)(x)
          >>> before.diff(after).is_same()
          False
        """
        if not isinstance(other, Lens):
            raise TypeError(
                f"Lens.diff: requires a lens, got {type(other).__name__}; write "
                "lens(f)(x).diff(lens(g)(x))"
            )
        return LensDiff(self, other)

    def to_html(self) -> str:
        """The page."""
        return page.html(self)

    def tree(self) -> Branch:
        """What terminals show."""
        return text.tree(self)

    def __str__(self) -> str:
        return text.text(self)

    def __repr__(self) -> str:
        return f"<Lens of {self.name}: {self.costs!r}>"


def lens(
    fun: Callable[..., Any], *, measure: bool | None = None, **options: Any
) -> Callable[..., Lens]:
    """Looks at what becomes of a function, from Python down to XLA's instructions.

    Args:
      fun: a function of arrays, jitted or not.
      measure: run it some ten times to measure how long each line takes. By default it
        is run if it has no side effects and all arguments are values.
      **options: of `jit`, as in `static_argnums=1`.

    Returns:
      A function of the arguments of `fun` that returns a `Lens`.

    Raises:
      TypeError: `fun` cannot be called, options are given for a jitted function, or
        it is to be measured on arguments without values.

    Example:
      >>> import olympus
      >>> import olympus.numpy as jnp
      >>> view = olympus.lens(lambda x: jnp.tanh(x @ x))(jnp.ones((64, 64)))
      >>> '</html>' in view.to_html()
      True
    """
    if not callable(fun):
        raise TypeError(
            f"lens: requires a function, got {type(fun).__name__}; write "
            "lens(f)(*args), with the arguments in a second call"
        )
    is_jitted = hasattr(fun, "trace") and hasattr(fun, "lower")
    if is_jitted and options:
        raise TypeError(
            f"lens: {', '.join(options)} would be options of jit, got a function that "
            "is jitted already; give them to its jit"
        )
    jitted: Any = fun if is_jitted else jit_.jit(fun, **options)

    def look(*args: Any, **kwargs: Any) -> Lens:
        return _look(jitted, measure, args, kwargs)

    source_info.update_wrapper(look, fun)
    return look


def _look(jitted: Any, measure: bool | None, args: Any, kwargs: Any) -> Lens:
    start = time.perf_counter()
    traced = jitted.trace(*args, **kwargs)
    after_trace = time.perf_counter()
    lowered = traced.lower()
    after_lower = time.perf_counter()
    compiled = lowered.compile()
    end = time.perf_counter()
    durations = [
        Stage("trace", after_trace - start),
        Stage("lower", after_lower - after_trace),
        Stage("compile", end - after_lower),
    ]
    _, built = stages.parts_of(compiled)
    module, served, origins = program_costs.attributed(built)
    times = None
    if _may_run(built.lowered, args, kwargs, measure):
        run = _runner(jitted, compiled, args, kwargs)
        times = measurement.measure(module, run)
    name = source_info.function_name(jitted)
    program = traced.olympuspr.olympuspr
    return Lens(name, compiled, program, durations, times, module, served, origins)


def _may_run(lowered: Any, args: Any, kwargs: Any, measure: bool | None) -> bool:
    if measure is False:
        return False
    leaves = tree.tree_leaves((args, kwargs))
    absent = [x for x in leaves if isinstance(x, (ShapeDtypeStruct, Tracer))]
    if measure and absent:
        kind = type(absent[0]).__name__
        raise TypeError(
            f"lens: measure=True requires arguments with values, got a {kind}; pass "
            "arrays, or leave measure out"
        )
    return not absent and (measure is True or not lowered.has_effects)


def _runner(
    jitted: Any, compiled: stages.Compiled, args: Any, kwargs: Any
) -> Callable[[], Any]:
    """A function that runs the program, and keeps arguments that it would take."""
    _, built = stages.parts_of(compiled)
    has_statics = tree.tree_structure((args, kwargs)) != compiled.in_tree
    # Only the jitted function moves arguments to where the compiler wants them.
    is_divided = built.lowered.division is not None
    function = jitted if has_statics or is_divided else compiled

    def run() -> None:
        arguments = args, kwargs
        if built.lowered.aliases:
            arguments = tree.tree_map(_copy, arguments)
        for leaf in tree.tree_leaves(function(*arguments[0], **arguments[1])):
            leaf.block_until_ready()

    return run


def _copy(x: Any) -> Any:
    return x.copy() if type(x) in array_type.concrete_types() else x
