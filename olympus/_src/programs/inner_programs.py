"""Tracing, lowering and running the programs that control-flow primitives hold.

The functions a user gives to `cond`, `while_loop` or `scan` are traced to programs
without constants: arrays and outer tracers they close over become operands.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import array_type, bindings, dtypes, high_values, ir, refs, trace
from olympus._src.core import avals as avals_
from olympus._src.core import effects as effects_
from olympus._src.core.primitive import takes_primitive
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.explanations import operations
from olympus._src.explanations.records import Root
from olympus._src.foundation import config, source_info
from olympus._src.interpreters import (
    compiled_programs,
    concrete_arrays,
    evaluate,
    lowered_programs,
    partial_eval,
)
from olympus._src.lax import elementwise, manual_axes
from olympus._src.lowering import module as lowering
from olympus._src.programs import parameter_names


class Body:
    """A user's function as a program.

    Attributes:
      fun: the function, for messages.
      program: its constants are still `constvars`.
      consts: their values; some may be tracers.
      trees: the structure of each of its results (one, unless it was split).
    """

    __slots__ = ("consts", "fun", "program", "trees")

    def __init__(self, fun: Any, program: Any, consts: list[Any], trees: Any) -> None:
        self.fun = fun
        self.program = program
        self.consts = consts
        self.trees = trees

    @property
    def out_tree(self) -> Any:
        """The structure of the only result."""
        return self.trees[0]

    @property
    def out_avals(self) -> list[Any]:
        """Types of all leaves of the results."""
        return self.program.out_avals

    def close(self) -> ir.ClosedOlympuspr:
        """The program with its constants as first inputs."""
        return ir.ClosedOlympuspr(ir.hoist_consts(self.program))


def trace_body(
    fun: Callable[..., Any],
    what: str,
    in_tree: Any,
    in_avals: Sequence[Any],
    split: Callable[[Any], Sequence[Any]] | None = None,
) -> Body:
    """Traces a user's function, or finds the program that this object gave before.

    Args:
      fun: a function of trees of arrays.
      what: the public function it was given to.
      in_tree: the structure of the tuple of its arguments.
      in_avals: types of the leaves.
      split: makes several results of the one that `fun` returns.
    """
    key = _signature(what, in_tree, in_avals, split)
    programs = bindings.NOTHING if key is None else _traces.programs_of(fun)
    body = programs.get(key)
    operations.expect_compilations(None)
    if body is None:
        body = _trace_body(fun, what, in_tree, in_avals, split)
        if _may_be_kept(body[1]):
            programs.keep(key, body)
    program, consts, trees = body
    return Body(fun, program, list(consts), trees)


# By the function object: a new one is always traced, whatever it has in common with
# others.
_traces = bindings.Remembered(1024, "bodies of loops and branches")
_MAX_KEPT_BYTES = 1 << 16


def _may_be_kept(consts: Sequence[Any]) -> bool:
    """Whether constants are arrays, and few enough to be kept with their program."""
    if any(isinstance(x, trace.Tracer) for x in consts):
        return False
    return sum(map(_nbytes, consts)) <= _MAX_KEPT_BYTES


def _nbytes(x: Any) -> int:
    aval = avals_.aval_of(x)
    if aval.is_high:
        return avals_.count_bytes(aval)
    return math.prod(aval.shape) * aval.dtype.itemsize


def _signature(what: str, in_tree: Any, in_avals: Sequence[Any], split: Any) -> Any:
    """The key of a program of one function; None where none is kept."""
    if config.check_leaks():
        return None
    settings = (config.trace_context(), trace.current.axis_context())
    key = (what, in_tree, tuple(in_avals), split is None, settings)
    try:
        hash(key)
    except TypeError:  # a node of the tree, or its static data
        return None
    return key


def _trace_body(
    fun: Any, what: str, in_tree: Any, in_avals: Sequence[Any], split: Any
) -> tuple[Any, list[Any], list[Any]]:
    trees: list[Any] = []

    def run(*leaves: Any) -> list[Any]:
        args = in_tree.unflatten(leaves)
        try:
            result = fun(*args)
        except TypeError as error:
            if was_refused(error):
                raise wrong_count(what, fun, error, len(args)) from None
            raise
        parts = (result,) if split is None else split(result)
        outs: list[Any] = []
        for part in parts:
            leaves_out, structure = tree.tree_flatten(part)
            _check_results(what, fun, part, leaves_out)
            outs += leaves_out
            trees.append(structure)
        return outs

    paths = _Paths(fun, in_tree)
    info = ir.DebugInfo.of(what, fun, paths)
    noted = None
    if not evaluate.is_staging():
        noted = operations.noted_body(fun, in_tree, in_avals, paths.roots)
    with noted or contextlib.nullcontext():
        program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    return program, consts, trees


def was_refused(error: TypeError) -> bool:
    """Whether the call itself failed, of a function that takes other arguments."""
    text = str(error)
    here = error.__traceback__
    inner = here is not None and here.tb_next is not None
    return not inner and ("() takes " in text or "() missing " in text)


def wrong_count(
    what: str, fun: Any, error: TypeError, count: int, names: str = ""
) -> TypeError:
    """The error for a function that does not take the arguments it is called with."""
    got = str(error).split("() ", 1)[1]
    taken = f"{count} argument{'s' * (count != 1)}{names}"
    return TypeError(
        f"{what}: {fun_text(fun)} must take {taken}, got a function that {got}"
    )


def _check_results(what: str, fun: Any, result: Any, leaves: list[Any]) -> None:
    if all(map(avals_.is_array_like, leaves)):
        return
    for path, leaf in tree.tree_flatten_with_path(result)[0]:
        if not avals_.is_array_like(leaf):
            raise TypeError(
                f"{what}: {fun_text(fun)} must return arrays, got a value of type "
                f"{type(leaf).__name__} at result{tree.keystr(path)}; return numbers "
                "and arrays only"
            )


class _Paths(Sequence[str]):
    """A path for each leaf of a body's arguments, computed on demand."""

    __slots__ = ("_names", "_parameters", "_tree")

    def __init__(self, fun: Any, structure: Any) -> None:
        # Not the function: the program is kept for as long as the function lives.
        self._parameters = parameter_names.code_of(fun)
        self._tree = structure
        self._names: list[str] | None = None

    def __getitem__(self, i: Any) -> Any:
        if self._names is None:
            args = self._tree.children()
            names = parameter_names.names_in_code(*self._parameters, len(args))
            self._names = parameter_names.structure_paths(names, args)
        return self._names[i]

    def __len__(self) -> int:
        return self._tree.num_leaves

    def roots(self) -> list[Root]:
        """The arguments by name."""
        args = self._tree.children()
        names = parameter_names.names_in_code(*self._parameters, len(args))
        return [Root(n, "", a) for n, a in zip(names, args, strict=True)]


def pair_splitter(what: str, name: str, fun: Any) -> Callable[[Any], Sequence[Any]]:
    """Splits the pair of a solution and auxiliary values that a method returns."""

    def split(result: Any) -> Sequence[Any]:
        if isinstance(result, (tuple, list)) and len(result) == 2:
            return result
        raise TypeError(
            f"{what}: with has_aux=True {name} {fun_text(fun)} must return a pair of "
            f"the solution and auxiliary values, got {value_text(result)}; return (x, "
            "None) for nothing more"
        )

    return split


# -- operands --------------------------------------------------------------------------


def check_callable(
    what: str, remedy: str = "wrap a value as `lambda *_: value`", /, **functions: Any
) -> None:
    """Raises TypeError for an argument that should be a function."""
    for name, fun in functions.items():
        if not callable(fun):
            raise TypeError(
                f"{what}: {name} must be a function, got {value_text(fun)}; {remedy}"
            )


def check_operands(what: str, name: str, value: Any) -> None:
    """Raises TypeError for a leaf that is not an array."""
    for path, leaf in tree.tree_flatten_with_path(value)[0]:
        if not avals_.is_array_like(leaf):
            raise TypeError(
                f"{what}: {name}{tree.keystr(path)} must be an array or a number, got "
                f"{value_text(leaf)}; close over values that are not arrays"
            )


def flatten_operands(what: str, name: str, value: Any) -> tuple[list[Any], Any]:
    """Leaves and structure of a tree of arrays."""
    leaves, structure = tree.tree_flatten(value)
    if not all(map(avals_.is_array_like, leaves)):
        check_operands(what, name, value)
    return leaves, structure


def split_by_sizes(items: Sequence[Any], sizes: Sequence[int]) -> list[list[Any]]:
    """Items in groups of the sizes."""
    groups, start = [], 0
    for n in sizes:
        groups.append(list(items[start : start + n]))
        start += n
    return groups


def assign_cotangents(
    args: Sequence[Any], flows: Sequence[bool], nonzero_cts: Sequence[Any]
) -> list[Any]:
    """A cotangent for each linear operand, and None for each other one.

    Args:
      args: operands, of which those of type Linear are linear.
      flows: for each linear one whether its cotangent is not zero.
      nonzero_cts: the cotangents that are not.
    """
    flags, values = iter(flows), iter(nonzero_cts)
    return [
        (next(values) if next(flags) else Zero(x.aval)) if type(x) is Linear else None
        for x in args
    ]


def fill_mapped(args: Sequence[Any], dims: Sequence[Any], rows: Any) -> list[Any]:
    """Operands with elements in place of those that are mapped, one after another."""
    elements = iter(rows)
    return [x if d is None else next(elements) for x, d in zip(args, dims, strict=True)]


def retrace(
    run: Callable[..., list[Any]], in_avals: Sequence[Any], origin: Any, *names: str
) -> ir.ClosedOlympuspr:
    """The program of a function that stands for another program.

    Args:
      run: the function, of flat arguments.
      in_avals: their types.
      origin: the program whose names messages have; None for none.
      names: the transformation and the function, for messages if there is none.
    """
    info = forget_argument_names(origin.olympuspr.debug_info) if origin else None
    info = info or ir.DebugInfo(*names)
    return ir.ClosedOlympuspr(*partial_eval.trace_to_olympuspr(run, in_avals, info))


def value_text(value: Any) -> str:
    """A value in a message: its type if it is an array or long."""
    if isinstance(value, (array_type.Array, np.ndarray)):
        return avals_.aval_of(value).short()
    text = repr(value)
    return text if len(text) <= 60 else f"a value of type {type(value).__name__}"


def fun_text(fun: Any) -> str:
    """A function in a message: its name and place."""
    place = source_info.function_location(fun)
    name = source_info.function_name(fun)
    return f"{name} at {place}" if place and not place.startswith("<no") else name


aval_of = avals_.aval_of


def same_type(x: Any, y: Any) -> bool:
    """Whether two avals agree up to weakness, and to where on a mesh they vary."""
    if x is y:
        return True
    x, y = x.strip_weak_type(), y.strip_weak_type()
    if x is y:
        return True
    nowhere: frozenset[Any] = frozenset()
    if getattr(x, "vma", nowhere) == getattr(y, "vma", nowhere):
        return False
    return bool(x.update(vma=nowhere) is y.update(vma=nowhere))


def promote_carry(
    values: list[Any], in_avals: Sequence[Any], out_avals: Sequence[Any]
) -> list[Any] | None:
    """Initial values that adapt to what replaces them.

    A weak dtype does; and what is the same on all devices of a mesh, where what
    replaces it is not.

    Returns:
      The values, or None where nothing changes.
    """
    if len(in_avals) != len(out_avals):
        return None
    new = list(values)
    changed = False
    for i, (before, after) in enumerate(zip(in_avals, out_avals, strict=True)):
        if after.vma - before.vma:
            new[i] = manual_axes.vary(new[i], after.vma)
            changed = True
        if not before.weak_type or same_type(before, after):
            continue
        dtype, _ = dtypes.lattice_result(
            (before.dtype, before.weak_type), (after.dtype, after.weak_type)
        )
        if dtype != before.dtype:
            new[i] = elementwise.convert(new[i], dtype)
            changed = True
    return new if changed else None


def vary_results(body: Body, required: Sequence[Any]) -> Body:
    """The body with first results that vary along all axes that some types do."""
    missing = [r.vma - a.vma for a, r in zip(body.out_avals, required, strict=False)]
    if not any(missing):
        return body
    program = body.program.derived(
        ("varying", tuple(missing)),
        lambda p: with_varying_results(p, [*missing]),
    )
    return Body(body.fun, program, body.consts, body.trees)


def with_varying_results(
    program: ir.Olympuspr, missing: Sequence[frozenset[Any]]
) -> ir.Olympuspr:
    """A program whose first results vary along more axes."""
    outvars = list(program.outvars)
    eqns = list(program.eqns)
    for i, axes in enumerate(missing):
        if axes:
            aval = outvars[i].aval
            new = ir.Var(aval.update(vma=aval.vma | axes))
            eqns.append(manual_axes.cast_equation(outvars[i], new, axes))
            outvars[i] = new
    return program.replace(eqns=eqns, outvars=outvars)


# -- constants -------------------------------------------------------------------------


def share_consts(
    programs: Sequence[tuple[ir.Olympuspr, Sequence[Any]]],
) -> tuple[list[ir.ClosedOlympuspr], list[Any]]:
    """Gives programs one list of constants as first inputs.

    Args:
      programs: pairs of a program and the values of its constants.

    Returns:
      The programs without constants, and the constants, each once.
    """
    values: dict[int, Any] = {}
    for _, consts in programs:
        for x in consts:
            values.setdefault(id(x), x)
    shared = list(values.values())
    closed = []
    for program, consts in programs:
        own = {id(x): v for x, v in zip(consts, program.constvars, strict=True)}
        first = [
            own[key] if key in own else ir.Var(avals_.aval_of(x))
            for key, x in values.items()
        ]
        hoisted = ir.hoist_consts(program)
        others = hoisted.invars[len(program.constvars) :]
        info = hoisted.debug_info
        if info is not None and info.arg_names is not None:
            names = [""] * len(first)
            names += list(info.arg_names)[len(program.constvars) :]
            info = info.with_names(names, info.result_paths)
        open_ = hoisted.replace(invars=first + others, debug_info=info)
        closed.append(ir.ClosedOlympuspr(open_))
    return closed, shared


def absorb(closed: ir.ClosedOlympuspr) -> tuple[ir.ClosedOlympuspr, list[Any]]:
    """A program's constants as first inputs, and their values."""
    if not closed.consts:
        return closed, []
    return ir.ClosedOlympuspr(ir.hoist_consts(closed.olympuspr)), closed.consts


def passed_on(x: Any) -> Any:
    """An operand as a result: an array, whatever array-like it was given as."""
    if isinstance(x, trace.Tracer) or type(x) in array_type.concrete_types():
        return x
    if high_values.are_in_use() and high_values.is_high_value(x):
        return x
    return concrete_arrays.as_array(x)


def loop_invariant_result(x: Any) -> Any:
    """A carry that no step changes, as a result: Python's numbers stay numbers."""
    return x if type(x) in dtypes.python_scalar_dtypes else passed_on(x)


def keep_numbers(
    outs: Sequence[Any], program: ir.Olympuspr, args: Sequence[Any]
) -> list[Any]:
    """Results of a program, in which Python numbers stay as they are.

    Args:
      outs: what the program returned; traced results stay traced.
      program: whose results may be inputs and literals.
      args: what its inputs were.
    """
    inputs: dict[ir.Atom, Any] = dict(zip(program.invars, args, strict=True))
    return [
        _as_number(v.val if type(v) is ir.Literal else inputs.get(v), x)
        for v, x in zip(program.outvars, outs, strict=True)
    ]


def _as_number(value: Any, result: Any) -> Any:
    number = type(value) in dtypes.python_scalar_dtypes
    return value if number and not isinstance(result, trace.Tracer) else result


def unflatten_solution(
    outs: Sequence[Any],
    solved: Body,
    leaves: Sequence[Any],
    structure: Any,
    has_aux: bool,
) -> Any:
    """The solution of a user's solver; with its auxiliary result where there is one.

    Args:
      outs: flat results.
      solved: the solver's program.
      leaves: the operand that the solution is like.
      structure: that of the solution.
      has_aux: whether the solver returns a pair.
    """
    outs = keep_numbers(outs, solved.program, leaves)
    solution = structure.unflatten(outs[: len(leaves)])
    if not has_aux:
        return solution
    return solution, solved.trees[1].unflatten(outs[len(leaves) :])


def forget_argument_names(info: Any) -> Any:
    """The debug info of a program whose inputs are no longer those of the user."""
    return None if info is None else info.with_names()


# -- lowering and running --------------------------------------------------------------


def lower_closed(
    ctx: Any, block: Any, closed: ir.ClosedOlympuspr, args: Sequence[str]
) -> list[str]:
    """Writes a program's equations in `block`; returns the names of its results."""
    variables = closed.olympuspr.constvars
    consts = [
        block.constant(np.asarray(c), v.aval)
        for c, v in zip(closed.consts, variables, strict=True)
    ]
    return lowering.lower_program(ctx.module, block, closed.olympuspr, consts, args)


def compiled_impl() -> Callable[..., Any]:
    """A rule that runs one application of a primitive as a compiled program.

    The executable is kept with the program among its parameters; for a new program that
    lowers to the same text, it is found by that.
    """

    @takes_primitive
    def impl(p: Any, *args: Any, **params: Any) -> list[Any]:
        arrays = list(map(concrete_arrays.as_operand, args))
        avals = tuple([a.aval for a in arrays])
        places = _places_of(arrays)
        program = _program_of(p, avals, places, params)
        device = None
        if concrete_arrays.several_devices():
            used = _used_operands(program, places)
            device = concrete_arrays.common_device(arrays, used)
            arrays = concrete_arrays.on_device(arrays, device, used)
        compiled = _executable_of(program, p.name, params, device)
        firsts = sorted(set(places))
        buffers = [arrays[i]._buffer for i in firsts]
        if config.debug_key_reuse.value:
            return evaluate.follow_run(compiled, [args[i] for i in firsts], buffers)
        return compiled.run(buffers)

    return impl


def _places_of(args: Sequence[Any]) -> tuple[int, ...]:
    """For each operand the first place where it stands: a ref is one input."""
    places = list(range(len(args)))
    if refs.are_in_use():
        first: dict[int, int] = {}
        for i, x in enumerate(args):
            if type(x) is refs.Ref:
                places[i] = first.setdefault(id(x), i)
    return tuple(places)


def _used_operands(program: ir.Olympuspr, places: Sequence[int]) -> list[bool]:
    """Which operands of one application its program takes."""
    firsts = sorted(set(places))
    used = dict(zip(firsts, partial_eval.used_inputs(program), strict=True))
    return [used[place] for place in places]


def _program_of(p: Any, avals: Any, places: Any, params: Any) -> ir.Olympuspr:
    """The program of one application, kept with the first of its programs."""

    def make(_: Any) -> ir.Olympuspr:
        variables = [ir.Var(a) for a in avals]
        inputs = [variables[i] for i in places]
        out_avals, effects = p.results(avals, params)
        outs = [ir.Var(aval) for aval in out_avals]
        eqn = ir.Eqn(p, inputs, outs, params, effects)
        first = [variables[i] for i in sorted(set(places))]
        return ir.Olympuspr((), first, outs, [eqn], effects)

    holder, key = None, []
    for name, value in params.items():
        for item in value if isinstance(value, tuple) else (value,):
            if type(item) is not ir.ClosedOlympuspr:
                key.append((name, item))
            elif item.consts:
                return make(None)
            elif holder is None:
                holder = item.olympuspr
            else:
                key.append((name, item.olympuspr))
    if holder is None:
        return make(None)
    whole_key = ("applied", p, avals, places, tuple(key), config.trace_context())
    return holder.derived(whole_key, make)


def _executable_of(program: ir.Olympuspr, name: str, params: Any, device: Any) -> Any:
    """The executable of the program of one application, kept with it."""

    def build(program: ir.Olympuspr) -> Any:
        avals = [v.aval for v in program.eqns[0].invars]
        with operations.noted_application(name, avals, params, device) as note:
            lowered = lowered_programs.lower(program, (), name=name, device=device)
            return note.adopt(lowered, compiled_programs.build(lowered))

    return program.derived(("compiled", device, config.trace_context()), build)


def follow_keys(uses: Any, eqn: ir.Eqn, operands: Sequence[Any]) -> Any:
    """The rule `key_reuse` of operations that apply their program once."""
    params = eqn.params
    held = params["jaxpr"] if "jaxpr" in params else params["call_jaxpr"]
    return uses.apply(held, operands)


def join_effects(what: str, *programs: ir.ClosedOlympuspr) -> frozenset[Any]:
    """The effects of programs inside `what`, which must allow them."""
    joined = frozenset().union(*(p.effects for p in programs))
    effects_.check_allowed(what, joined, "in_control_flow")
    return joined


def batch_with_hoisted_effects(
    p: Any, axis: Any, args: Any, dims: Any, params: Any
) -> Any:
    """Batches an operation with the effects moved out that can be.

    Returns:
      Results and where they are mapped, or None where no effect can be moved.
    """
    for program in ir.subprograms(params):
        for effect in program.effects:
            if effect.hoist is not None:
                return effect.hoist(p, axis, args, dims, params)
    return None


def refuse_unmasked(what: str, *programs: ir.ClosedOlympuspr) -> None:
    """Raises for effects that elements of a loop would have after they are done."""
    refused = [e for p in programs for e in p.effects if not e.speculative]
    if refused:
        raise NotImplementedError(
            f"{what}: under vmap with a mapped condition the body also runs for "
            f"elements that are done, which {refused[0]!r} effects do not allow; map "
            "with lax.map"
        )


def check_operand_types(
    what: str, args: Sequence[Any], expected: Sequence[Any]
) -> None:
    """Raises TypeError where operands do not fit a program's inputs."""
    if len(args) != len(expected):
        raise TypeError(f"{what}: {len(expected)} operands are needed, got {len(args)}")
    for i, (aval, want) in enumerate(zip(args, expected, strict=True)):
        if not same_type(aval, want):
            raise TypeError(
                f"{what}: operand {i} has type {aval.short()}, its program takes "
                f"{want.short()}"
            )


# -- explanations ----------------------------------------------------------------------


def structure_mismatch(
    first: Any, second: Any, first_name: str, second_name: str
) -> str:
    """Where two structures differ, in words."""
    mismatches = tree.treedef_errors(first, second)
    return "; and ".join(m.describe(first_name, second_name) for m in mismatches[:3])


def type_mismatches(
    structure: Any, actual: Sequence[Any], expected: Sequence[Any], root: str
) -> list[str]:
    """`root['path'] got f32[4], expected f32[3]` for each leaf whose types differ."""
    paths = tree.leaf_key_paths(structure)
    return [
        f"at {root}{tree.keystr(path)} got {g.short()}, expected {w.short()}"
        for path, g, w in zip(paths, actual, expected, strict=True)
        if not same_type(g, w)
    ]


def _type_cure(actual: Sequence[Any], expected: Sequence[Any]) -> str:
    """How to make types equal: the dtypes by a conversion, the shapes first."""
    if have_equal_shapes(actual, expected):
        return "convert the result, as with astype"
    return "return an array of that shape, as with sum or reshape"


def have_equal_shapes(actual: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Whether types are of equal shapes, where types of users have none."""
    shapes, others = (
        [getattr(a, "shape", None) for a in types] for types in (actual, expected)
    )
    return shapes == others


def check_carry(
    what: str, name: str, body: Body, structure: Any, required: Sequence[Any]
) -> None:
    """Raises TypeError where a body returns a carry of another type."""
    actual = body.out_avals[: len(required)]
    wrong = type_mismatches(structure, actual, required, "carry")
    if wrong:
        raise TypeError(
            f"{what}: {name} {fun_text(body.fun)} must return a carry of the "
            f"input's type; {'; '.join(wrong)}; {_type_cure(actual, required)}, or "
            "start from a carry of that type"
        )


def check_like(
    what: str,
    name: str,
    fun: Any,
    structure: Any,
    avals: Sequence[Any],
    model_name: str,
    model: Any,
    required: Sequence[Any],
) -> None:
    """Raises where what a function returns is not of the types of another value.

    Args:
      what: the public function.
      name: the argument that `fun` was.
      fun: the function.
      structure, avals: of its result.
      model_name: the name of the value it should be like.
      model: that value.
      required: types of its leaves.

    Raises:
      TypeError: structures or dtypes differ.
      ValueError: shapes differ.
    """
    start = f"{what}: {name} {fun_text(fun)} must return values like {model_name}"
    expected = tree.tree_structure(model)
    if structure != expected:
        places = structure_mismatch(expected, structure, model_name, "the result")
        raise TypeError(f"{start}, got {places}; return a tree of the same structure")
    wrong = type_mismatches(expected, avals, required, "result")
    if wrong:
        pairs = zip(avals, required, strict=True)
        kind = ValueError if any(a.shape != w.shape for a, w in pairs) else TypeError
        raise kind(
            f"{start}; {'; '.join(wrong)}; return arrays of the same shapes and dtypes"
        )
