"""Programs that use refs, as programs that take and return their arrays.

A call lends the arrays of its refs to the program, which may write into their memory,
and gives the refs what it returns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from olympus._src.core import ir, refs
from olympus._src.core.refs import Ref
from olympus._src.interpreters import concrete_arrays, discharge
from olympus._src.sharding.division import Division
from olympus._src.sharding.named import NamedSharding


class RefArguments(NamedTuple):
    """Which arguments of a program are refs.

    Attributes:
      captured: refs that the function closes over; they come before its arguments.
      inputs: the numbers of all arguments that are refs, the captured ones first.
      written: those of them that it writes; what they hold then are its first results.
      program: what the user wrote, for messages.
    """

    captured: list[Ref]
    inputs: tuple[int, ...]
    written: tuple[int, ...]
    program: ir.Olympuspr


class ArrayProgram(NamedTuple):
    """A program without refs, with what `lower` takes for it."""

    program: ir.Olympuspr
    consts: list[Any]
    donated: list[bool]
    device: Any
    result_names: Sequence[str] | None
    refs: RefArguments


def without_refs(
    program: ir.Olympuspr,
    consts: Sequence[Any],
    donated: Sequence[bool],
    device: Any,
    result_names: Sequence[str] | None,
) -> ArrayProgram:
    """The program of arrays that stands for one that uses refs.

    Args:
      program, consts, donated, device, result_names: as `lowered_programs.lower` takes
        them.
    """
    without = discharge.discharge(program, keeps_rules=False)
    own = without.closed.olympuspr
    n_new, n_consts = len(without.consts), len(consts)
    values = [*without.consts, *consts]
    is_ref = [False] * n_new + [refs.is_ref_type(v.aval) for v in program.constvars]
    first = own.invars[: n_new + n_consts]
    ref_vars = [v for v, r in zip(first, is_ref, strict=True) if r]
    captured = [x for x, r in zip(values, is_ref, strict=True) if r]
    invars = [*ref_vars, *own.invars[n_new + n_consts :]]
    numbers = {v: i for i, v in enumerate(invars)}
    written = tuple([numbers[own.invars[i]] for i in without.written])
    inputs = [*range(len(captured))]
    inputs += [
        i + len(captured)
        for i, v in enumerate(program.invars)
        if refs.is_ref_type(v.aval)
    ]
    results, last = without.split(own.outvars)
    arrays = own.replace(
        constvars=[v for v, r in zip(first, is_ref, strict=True) if not r],
        invars=invars,
        outvars=[*last, *results],
        debug_info=_debug_info(program, len(captured)),
    )
    flags = [False] * len(captured) + list(donated or [False] * len(program.invars))
    for i in inputs:
        flags[i] = i in written
    names = result_names
    if names is not None:
        names = [*["a ref"] * len(written), *names]
    use = RefArguments(captured, tuple(inputs), written, program)
    plain = [x for x, r in zip(values, is_ref, strict=True) if not r]
    return ArrayProgram(arrays, plain, flags, _place(device, use), names, use)


def _debug_info(program: ir.Olympuspr, n: int) -> ir.DebugInfo | None:
    info = program.debug_info
    if info is None or info.arg_names is None:
        return info
    return info.with_names([*["a captured ref"] * n, *info.arg_names])


def _place(device: Any, use: RefArguments) -> Any:
    """Where the program runs: as its arguments say, or else the captured refs."""
    own = [concrete_arrays.committed_place(ref) for ref in use.captured]
    if device is None:
        device = concrete_arrays.common_place(own)
        if isinstance(device, Division):  # of the captured refs alone
            n = len(use.program.invars)
            device = device._replace(in_shardings=(None,) * n)
    if not isinstance(device, Division):
        return device
    named = [s if isinstance(s, NamedSharding) else None for s in own]
    ins = (*named, *device.in_shardings)
    outs = device.out_shardings or (None,) * len(use.program.outvars)
    return device._replace(
        in_shardings=ins, out_shardings=(*[ins[i] for i in use.written], *outs)
    )


def lending(
    run: Callable[[list[Any]], list[Any]],
    use: RefArguments,
    device: Any,
    may_fail: bool = False,
) -> Callable[[list[Any]], list[Any]]:
    """Runs a program on buffers, where refs stand for the buffers they hold.

    Args:
      run: takes buffers and returns arrays, those of written refs first.
      use: which of the buffers are refs.
      device: where it runs.
      may_fail: it may raise after it ran, so refs keep what they hold until then.
    """
    n, written = len(use.written), frozenset(use.written)

    def run_on_refs(buffers: list[Any]) -> list[Any]:
        arguments = [*use.captured, *buffers]
        owners = [arguments[i] for i in use.inputs]
        _check_distinct(owners, use)
        with _locked(owners):
            for i in use.inputs:
                array = arguments[i].held()
                (array,) = concrete_arrays.on_device([array], device)
                if may_fail and i in written:
                    array = concrete_arrays.copy(array)
                arguments[i] = array._buffer
            try:
                outs = run(arguments)
            except BaseException:
                for ref in owners:
                    ref.note_loss()
                raise
            by_number = dict(zip(use.inputs, owners, strict=True))
            for i, array in zip(use.written, outs[:n], strict=True):
                by_number[i].hold(array)
        return outs[n:]

    return run_on_refs


@contextlib.contextmanager
def _locked(owners: Sequence[Ref]) -> Iterator[None]:
    """Holds the locks of refs, taken in one order by all threads."""
    with contextlib.ExitStack() as stack:
        for ref in sorted(owners, key=id):
            stack.enter_context(ref.lock)
        yield


def _check_distinct(owners: Sequence[Ref], use: RefArguments) -> None:
    if len({id(ref) for ref in owners}) == len(owners):
        return
    seen: dict[int, int] = {}
    for i, ref in zip(use.inputs, owners, strict=True):
        if id(ref) in seen:
            program = ir.hoist_consts(use.program)
            own = [k for k, v in enumerate(program.invars) if refs.is_ref_type(v.aval)]
            first, second = (own[use.inputs.index(k)] for k in (seen[id(ref)], i))
            info = use.program.debug_info
            what = "jit" if info is None else info.traced_for
            raise discharge.given_twice(what, ref.aval, program, first, second)
        seen[id(ref)] = i
