"""`sparsify`: functions of arrays, applied to sparse arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.calls import pjit
from olympus._src.control_flow import cond, scan, while_loop
from olympus._src.core import avals, ir, trace
from olympus._src.core.primitive import Primitive
from olympus._src.custom_rules import custom_jvp, custom_vjp
from olympus._src.foundation import source_info
from olympus._src.interpreters import partial_eval
from olympus._src.programs import functions
from olympus._src.remat import remat
from olympus._src.sparse import layouts, sparse_rules
from olympus._src.sparse.bcoo import BCOO

aval_of = avals.aval_of
is_sparse = sparse_rules.is_sparse


def apply_primitive(p: Primitive, args: Sequence[Any], params: Any) -> list[Any]:
    """The results of an operation whose operands may be sparse arrays."""
    if not any(map(is_sparse, args)):
        out = p.bind(*args, **params)
    elif p in _CALLS:
        return _CALLS[p](args, params)
    else:
        out = sparse_rules.find_rule(p, args)(*args, **params)
    return list(out) if p.multiple_results else [out]


def evaluate(closed: Any, args: Sequence[Any]) -> list[Any]:
    """The results of a program whose inputs may be sparse arrays."""
    closed = _close(closed)
    program = closed.olympuspr
    env: dict[Any, Any] = dict(zip(program.constvars, closed.consts, strict=True))
    env.update(zip(program.invars, args, strict=True))

    def read(v: Any) -> Any:
        return v.val if type(v) is ir.Literal else env[v]

    for eqn in program.eqns:
        outs = apply_primitive(eqn.primitive, [read(v) for v in eqn.invars], eqn.params)
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(v) for v in program.outvars]


# -- operations that hold programs -----------------------------------------------------


def _call(args: Any, params: Any) -> list[Any]:
    return evaluate(params["jaxpr"], args)


def _custom_call(args: Any, params: Any) -> list[Any]:
    call = params["call_jaxpr"]
    if type(call) is ir.ClosedOlympuspr:
        return evaluate(call, args)
    return list(_trace_and_evaluate(lambda *xs: functions.run(call, xs), args))


def _trace_and_evaluate(fun: Callable[..., Any], args: Sequence[Any]) -> list[Any]:
    return evaluate(_trace(fun, args), args)


def _forget(x: Any) -> Any:
    """A sparse array as one that promises nothing, so that types agree."""
    if isinstance(x, BCOO):
        return BCOO((x.data, x.indices), shape=x.shape)
    return x


def _cond(args: Any, params: Any) -> list[Any]:
    index, *operands = args
    branches = [
        lambda *xs, branch=b: [_forget(y) for y in evaluate(branch, xs)]
        for b in params["branches"]
    ]
    return list(cond.switch(index, branches, *operands))


def _close(program: Any) -> Any:
    return ir.ClosedOlympuspr(program) if type(program) is ir.Olympuspr else program


def _while(args: Any, params: Any) -> list[Any]:
    n, m = params["cond_nconsts"], params["body_nconsts"]
    test, body = (params[f"{k}_jaxpr"] for k in ("cond", "body"))
    consts, more, init = args[:n], args[n : n + m], args[n + m :]
    return list(
        while_loop.while_loop(
            lambda carry: evaluate(test, [*consts, *carry])[0],
            lambda carry: [_forget(y) for y in evaluate(body, [*more, *carry])],
            [_forget(x) for x in init],
        )
    )


def _scan(args: Any, params: Any) -> list[Any]:
    n, m = params["num_consts"], params["num_carry"]
    body = params["jaxpr"]
    consts, init, xs = args[:n], args[n : n + m], args[n + m :]

    def step(carry: Any, elements: Any) -> Any:
        outs = [_forget(y) for y in evaluate(body, [*consts, *carry, *elements])]
        return outs[:m], outs[m:]

    carry, ys = scan.scan(
        step,
        [_forget(x) for x in init],
        [_fill(x) for x in xs],
        length=params["length"],
        reverse=params["reverse"],
        unroll=params["unroll"],
    )
    return [*carry, *ys]


def _fill(x: Any) -> Any:
    """What a scan goes over, with whole batch axes."""
    if not is_sparse(x):
        return x
    if not isinstance(x, BCOO) or not x.n_batch:
        raise NotImplementedError(
            f"sparsify: arrays that a scan goes over must be BCOO with a batch axis, "
            f"got {x!r}; use update_layout(n_batch=1)"
        )
    batch = x.shape[: x.n_batch]
    data, indices = (layouts.fill_batch(b, batch) for b in (x.data, x.indices))
    return BCOO((data, indices), shape=x.shape)


_CALLS: dict[Primitive, Callable[[Any, Any], list[Any]]] = {
    pjit.pjit_p: _call,
    remat.remat_p: _call,
    custom_jvp.custom_jvp_call_p: _custom_call,
    custom_vjp.custom_vjp_call_p: _custom_call,
    cond.cond_p: _cond,
    while_loop.while_p: _while,
    scan.scan_p: _scan,
}

# -- the interpreter -------------------------------------------------------------------


class SparseTracer(trace.Tracer):
    """A value of a function that is sparsified while it runs.

    Args:
      trace: the interpreter.
      spvalue: a sparse array.

    Example:
      >>> from olympus.experimental import sparse
      >>> kinds = []
      >>> f = sparse.sparsify(lambda x: kinds.append(type(x)) or 2 * x, use_tracer=True)
      >>> f(sparse.eye(2)), kinds[0].__name__
      (BCOO(float32[2, 2], nse=2), 'SparseTracer')
    """

    __slots__ = ("spvalue",)

    def __init__(self, trace: Any, *, spvalue: Any) -> None:
        super().__init__(trace, avals.ShapedArray(spvalue.shape, spvalue.dtype))
        self.spvalue = spvalue


class _SparseTrace(trace.Trace):
    """Applies operations to the sparse arrays that tracers stand for."""

    __slots__ = ("ended",)
    is_adopted = False

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.ended = False

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        values = [self.unwrap(x) for x in args]
        with trace.set_current(self.parent):
            outs = [self.wrap(x) for x in apply_primitive(p, values, params)]
        return outs if p.multiple_results else outs[0]

    def wrap(self, x: Any) -> Any:
        return SparseTracer(self, spvalue=x) if is_sparse(x) else x

    def unwrap(self, x: Any) -> Any:
        if type(x) is SparseTracer and x._trace is self:  # noqa: SLF001
            return x.spvalue
        return x


def _run_on_tracers(fun: Callable[..., Any], args: Sequence[Any]) -> list[Any]:
    t = _SparseTrace(trace.current.trace)
    with trace.set_current(t):
        outs = fun(*[t.wrap(x) for x in args])
    t.ended = True
    return [t.unwrap(x) for x in outs]


def _trace(fun: Callable[..., Any], args: Sequence[Any]) -> Any:
    """The program of a function of the dense forms of its arguments."""
    for x in args:
        if isinstance(x, BCOO):
            layouts.bcoo_layout("BCOO", x.data, x.indices, x.shape)
    in_avals = [
        avals.ShapedArray(x.shape, x.dtype) if is_sparse(x) else aval_of(x)
        for x in args
    ]
    info = ir.DebugInfo("sparsify", source_info.function_name(fun))
    program, consts = partial_eval.trace_to_olympuspr(fun, in_avals, info)
    return ir.ClosedOlympuspr(program, consts)


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """A function of arrays as one of sparse arrays.

    Operations on sparse arrays are those of `bcoo_*` and `bcsr_*`; results that would
    have few zeros are refused.

    Args:
      f: a function of arrays and pytrees of them.
      use_tracer: run `f` on tracers that hold sparse arrays, so that Python sees
        concrete values of dense arguments; otherwise `f` is traced to a program first.

    Returns:
      A function that takes and returns sparse arrays in place of arrays.

    Raises:
      NotImplementedError: when it is called: an operation has no rule for sparse
        operands.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> product = sparse.sparsify(lambda x, y: 2 * (x @ y))
      >>> product(sparse.eye(3), jnp.ones(3))
      Array([2., 2., 2.], dtype=float32)
    """

    def sparsified(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.tree_flatten((args, kwargs), is_leaf=is_sparse)
        out_structure: Any = None

        def flat(*xs: Any) -> list[Any]:
            nonlocal out_structure
            inner_args, inner_kwargs = structure.unflatten(xs)
            result = f(*inner_args, **inner_kwargs)
            outs, out_structure = tree.tree_flatten(result, is_leaf=is_sparse)
            return outs

        run = _run_on_tracers if use_tracer else _trace_and_evaluate
        outs = run(flat, leaves)
        return out_structure.unflatten(outs)

    source_info.update_wrapper(sparsified, f)
    return sparsified
