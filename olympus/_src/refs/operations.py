"""The operations on refs: each record with all its rules.

Under a transformation a ref is a tracer of its own. Where values are differentiated, it
has a `Slope`: the tangent of what the ref holds, an ordinary value that each write
replaces, so no operation on tangents ever changes anything. Where values are mapped,
the ref of the interpreter below has one more axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import ir, refs
from olympus._src.core.primitive import Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import batching, partial_eval
from olympus._src.lax import families
from olympus._src.numpy.index_parsing import Plan
from olympus._src.refs import arrays, positions

aval_of = avals_.aval_of


class Slope:
    """The tangent of what a ref holds.

    Attributes:
      value: the tangent now; a Zero while nothing with a tangent was written.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _slope_of(ref_tangent: Any) -> Any:
    """The tangent of what a ref holds; a Zero for refs from outside."""
    return ref_tangent.value if type(ref_tangent) is Slope else ref_tangent


# -- types -----------------------------------------------------------------------------


def _part_type(ref: Any, *operands: Any, plan: Plan) -> Any:
    """The type of the part that a plan names."""
    inner = ref.inner_aval
    if positions.is_everything(plan, inner.shape):
        return inner

    def run(x: Any, *numbers: Any) -> list[Any]:
        return [positions.read(x, numbers, plan)]

    info = ir.DebugInfo("evaluation", "ref_get")
    program, _ = partial_eval.trace_to_olympuspr(run, [inner, *operands], info)
    return program.out_avals[0].strip_weak_type()


def _swap_type(ref: Any, values: Any, *operands: Any, plan: Plan) -> Any:
    return _part_type(ref, *operands, plan=plan)


# -- printing --------------------------------------------------------------------------


def _print_place(eqn: Any, ref: str, operands: Sequence[str]) -> str:
    plan = eqn.params["plan"]
    if positions.is_everything(plan, eqn.invars[0].aval.shape):
        return f"{ref}[...]"
    numbers = [name.split(":")[0] for name in operands]  # literals without their type
    return f"{ref}[{positions.text(plan, numbers)}]"


def _print_get(eqn: Any, outs: Sequence[str], names: Sequence[str]) -> str:
    return f"{outs[0]} <- {_print_place(eqn, names[0], names[1:])}"


def _print_swap(eqn: Any, outs: Sequence[str], names: Sequence[str]) -> str:
    ref, value, *operands = names
    place = _print_place(eqn, ref, operands)
    if outs[0].startswith("_:"):
        return f"{place} <- {value}"
    return f"{outs[0]}, {place} <- {place}, {value}"


def _print_add(eqn: Any, outs: Sequence[str], names: Sequence[str]) -> str:
    ref, value, *operands = names
    return f"{_print_place(eqn, ref, operands)} += {value}"


def _refuse_series(series: Any, **params: Any) -> Any:
    raise NotImplementedError(
        "jet: refs are not supported where power series are computed; make the ref in "
        "a loop or in a jitted function, or use arrays"
    )


# -- making and ending -----------------------------------------------------------------


def _new_ref_jvp(primals: Any, tangents: Any) -> Any:
    return new_ref_p.bind(*primals), Slope(tangents[0])


def _new_ref_batch(axis: Any, args: Any, dims: Any) -> Any:
    # What is written later may be mapped, so each element has its own part.
    return new_ref_p.bind(families.at_front(axis, args[0], dims[0])), 0


new_ref_p = Primitive(
    "new_ref",
    vary=as_abstract_says,
    abstract=refs.RefAval,
    jvp=_new_ref_jvp,
    batch=_new_ref_batch,
    discharge=lambda context, args: (args, [None]),
    taylor=_refuse_series,
    impl=arrays.new,
    is_always_followed=True,
)


def _freeze_jvp(primals: Any, tangents: Any) -> Any:
    return freeze_p.bind(*primals), _slope_of(tangents[0])


def _freeze_batch(axis: Any, args: Any, dims: Any) -> Any:
    return freeze_p.bind(*args), dims[0]


freeze_p: Primitive = Primitive(
    "freeze",
    vary=as_abstract_says,
    abstract=lambda ref: ref.inner_aval,
    effects=lambda ref: refs.READS,
    jvp=_freeze_jvp,
    batch=_freeze_batch,
    discharge=lambda context, args: (args, [None]),
    taylor=_refuse_series,
    impl=arrays.freeze,
    ends_ref="frozen",
)


def _free_jvp(primals: Any, tangents: Any) -> Any:
    return free_ref_p.bind(*primals), []


def _free_batch(axis: Any, args: Any, dims: Any) -> Any:
    return free_ref_p.bind(*args), []


free_ref_p: Primitive = Primitive(
    "free_ref",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=lambda ref: [],
    effects=lambda ref: refs.WRITES,
    jvp=_free_jvp,
    batch=_free_batch,
    discharge=lambda context, args: ([], [None]),
    taylor=_refuse_series,
    impl=arrays.free,
    ends_ref="freed",
)


# -- reading ---------------------------------------------------------------------------


def _get_jvp(primals: Any, tangents: Any, *, plan: Plan) -> Any:
    out = get_p.bind(*primals, plan=plan)
    slope = _slope_of(tangents[0])
    if type(slope) is Zero:
        return out, Zero(aval_of(out).to_tangent())
    return out, positions.read(slope, primals[1:], plan)


def _get_batch(axis: Any, args: Any, dims: Any, *, plan: Plan) -> Any:
    whole = refs.read_all(args[0])

    def run(x: Any, *operands: Any) -> list[Any]:
        return [positions.read(x, operands, plan)]

    (out,), (dim,) = batching.batch(run, axis, [whole, *args[1:]], dims)
    return out, dim


get_p = Primitive(
    "get",
    vary=as_abstract_says,
    abstract=_part_type,
    effects=lambda *args, plan: refs.READS,
    jvp=_get_jvp,
    batch=_get_batch,
    discharge=lambda context, args, plan: (
        [positions.read(args[0], args[1:], plan)],
        [None] * len(args),
    ),
    taylor=_refuse_series,
    impl=arrays.get,
    print_equation=_print_get,
)


# -- writing ---------------------------------------------------------------------------


def _slope_written(
    slope: Any, tangent: Any, operands: Sequence[Any], plan: Plan, op: str
) -> Any:
    """The tangent of what a ref holds after a write."""
    if type(tangent) is Zero and (op == "add" or type(slope) is Zero):
        return slope
    slope, tangent = families.instantiate(slope), families.instantiate(tangent)
    return positions.write(slope, tangent, operands, plan, op)


def _check_is_followed(what: str, ref: Any, tangent: Any) -> None:
    """Raises ValueError where a value with a tangent is written to a ref without."""
    if type(tangent) is not Zero:
        raise ValueError(
            f"{what}: a differentiated value must not be written to a ref from "
            "outside of what is differentiated, got one of type "
            f"{aval_of(tangent).short()} for a ref of type {aval_of(ref).short()}, "
            "whose derivative would be lost; make the ref inside, or write "
            "lax.stop_gradient of the value"
        )


def _swap_jvp(primals: Any, tangents: Any, *, plan: Plan) -> Any:
    ref_tangent, tangent = tangents[:2]
    if type(ref_tangent) is not Slope:
        _check_is_followed("ref_swap", primals[0], tangent)
        return swap_p.bind(*primals, plan=plan), Zero(tangent.aval)
    old = swap_p.bind(*primals, plan=plan)
    slope, operands = ref_tangent.value, primals[2:]
    ref_tangent.value = _slope_written(slope, tangent, operands, plan, "set")
    if type(slope) is Zero:
        return old, Zero(aval_of(old).to_tangent())
    return old, positions.read(slope, operands, plan)


def _add_jvp(primals: Any, tangents: Any, *, plan: Plan) -> Any:
    ref_tangent, tangent = tangents[:2]
    if type(ref_tangent) is Slope:
        slope = ref_tangent.value
        ref_tangent.value = _slope_written(slope, tangent, primals[2:], plan, "add")
    else:
        _check_is_followed("ref_addupdate", primals[0], tangent)
    return addupdate_p.bind(*primals, plan=plan), []


def _write_mapped(
    what: str, op: str, axis: Any, args: Any, dims: Any, plan: Plan
) -> tuple[Any, Any]:
    """Writes parts of each element; returns what stood there, and its mapped axis."""
    ref, ref_dim = args[0], dims[0]
    if ref_dim is None:
        mapped = next(x for x, d in zip(args, dims, strict=True) if d is not None)
        raise ValueError(
            f"{what}: a mapped value must not be written to a ref that is not mapped, "
            f"got one of type {aval_of(mapped).short()}, mapped, for a ref of type "
            f"{aval_of(ref).short()}: its elements would overwrite each other; pass "
            "the ref to the mapped function as an argument"
        )

    def run(x: Any, values: Any, *operands: Any) -> list[Any]:
        old = positions.read(x, operands, plan)
        return [old, positions.write(x, values, operands, plan, op)]

    (old, new), (old_dim, new_dim) = batching.batch(
        run, axis, [refs.read_all(ref), *args[1:]], dims
    )
    if new_dim is None:
        new, new_dim = families.at_front(axis, new, None), 0
    refs.write_all(ref, families.move_axis(new, new_dim, ref_dim))
    return old, old_dim


def _swap_batch(axis: Any, args: Any, dims: Any, *, plan: Plan) -> Any:
    return _write_mapped("ref_swap", "set", axis, args, dims, plan)


def _add_batch(axis: Any, args: Any, dims: Any, *, plan: Plan) -> Any:
    _write_mapped("ref_addupdate", "add", axis, args, dims, plan)
    return [], []


def _swap_discharge(context: Any, args: Any, plan: Plan) -> Any:
    x, values, *operands = args
    old = positions.read(x, operands, plan)
    new = positions.write(x, values, operands, plan, "set")
    return [old], [new, *[None] * (len(args) - 1)]


def _add_discharge(context: Any, args: Any, plan: Plan) -> Any:
    x, values, *operands = args
    new = positions.write(x, values, operands, plan, "add")
    return [], [new, *[None] * (len(args) - 1)]


swap_p = Primitive(
    "swap",
    vary=as_abstract_says,
    abstract=_swap_type,
    effects=lambda *args, plan: refs.READS_AND_WRITES,
    jvp=_swap_jvp,
    batch=_swap_batch,
    discharge=_swap_discharge,
    taylor=_refuse_series,
    impl=arrays.swap,
    print_equation=_print_swap,
)

addupdate_p = Primitive(
    "addupdate",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=lambda *args, plan: [],
    effects=lambda *args, plan: refs.READS_AND_WRITES,
    jvp=_add_jvp,
    batch=_add_batch,
    discharge=_add_discharge,
    taylor=_refuse_series,
    impl=arrays.add,
    print_equation=_print_add,
)
