"""Functions that the user divides over the devices of a mesh."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import custom_calls, parameters
from olympus._src.api.shapes import ShapeDtypeStruct
from olympus._src.calls.custom_partitioning import Mapped, custom_partitioning_p
from olympus._src.core import avals as avals_
from olympus._src.core import ir, trace
from olympus._src.foundation import errors, setting_states, source_info
from olympus._src.interpreters import batching, partial_eval
from olympus._src.lax.manual_axes import Manual, manual_over
from olympus._src.lowering import module as lowering
from olympus._src.lowering import types
from olympus._src.programs import inner_programs
from olympus._src.runtime import mlir, partitioners
from olympus._src.sharding import factor_rules, tiling
from olympus._src.sharding.division import chosen_sharding
from olympus._src.sharding.factor_rules import SdyShardingRule
from olympus._src.sharding.meshes import Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec

_WHAT = "custom_partitioning"


class custom_partitioning:
    """A function that the user divides over the devices of a mesh.

    Where a program runs on one device, and outside of `jit`, it is the function itself.
    In a program over a mesh, Shardy divides its operands and results by a rule, and
    the function that `def_partition` names says what each device does with its parts.
    `vmap` gives it axes that the rule leaves alone. It has no derivative: give it one
    by `custom_vjp` or `custom_jvp`.

    Args:
      fun: a function of arrays and pytrees of them.
      static_argnums: positions of arguments that are not arrays. The functions of
        `def_partition` take them first.

    Example:
      >>> import olympus, olympus.numpy as jnp
      >>> from olympus.experimental.custom_partitioning import custom_partitioning
      >>> @custom_partitioning
      ... def normalize(x):
      ...     return x / x.max(axis=-1, keepdims=True)
      >>> from olympus.sharding import NamedSharding, PartitionSpec as P
      >>> def partition(mesh, arg_shapes, result_shape):
      ...     rows = NamedSharding(mesh, P(result_shape.sharding.spec[0], None))
      ...     return mesh, normalize.fun, rows, [rows]
      >>> _ = normalize.def_partition(
      ...     partition, sharding_rule="i j -> i j", need_replication_factors=("j",))
      >>> print(normalize(jnp.array([[1.0, 2.0]])))
      [[0.5 1. ]]
    """

    def __init__(
        self, fun: Callable[..., Any], static_argnums: int | Sequence[int] = ()
    ) -> None:
        parameters.check_callable(_WHAT, fun)
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.static_argnums = static_argnums
        self._arguments = custom_calls.Arguments(_WHAT, fun, static_argnums, ())
        self._definition: dict[str, Any] | None = None

    def def_partition(
        self,
        partition: Callable[..., Any],
        infer_sharding_from_operands: Callable[..., Any] | None = None,
        propagate_user_sharding: Callable[..., Any] | None = None,
        decode_shardings: bool = True,
        sharding_rule: str | SdyShardingRule | Callable[..., Any] | None = None,
        *,
        reduction_factors: Sequence[str] = (),
        need_replication_factors: Sequence[str] = (),
        permutation_factors: Sequence[str] = (),
        **factor_sizes: int,
    ) -> Callable[..., Any]:
        """Says how the function is divided.

        Args:
          partition: `partition(*static_args, mesh, arg_shapes, result_shape)` is called
            while a program is compiled. The shapes are pytrees of `ShapeDtypeStruct`
            with the shardings that the compiler chose. It returns a mesh of the same
            devices, the function of one device's parts, which may use collectives
            along the axes of the mesh, and the shardings of the function's results and
            of its arguments, to which the operands are moved.
          infer_sharding_from_operands, propagate_user_sharding: are not called, since
            Shardy goes by the rule.
          decode_shardings: has no effect; shardings are always `NamedSharding`s.
          sharding_rule: as in "i j, j k -> i k": a name for each axis of each operand
            and result. Axes of one name are divided in one way; an ellipsis stands for
            any number of axes, and names in parentheses are multiplied. Or an
            `SdyShardingRule`, or a function of static arguments, the mesh and the types
            of operands and of results that returns one of both. None: the results are
            whole on each device.
          reduction_factors, need_replication_factors, permutation_factors,
            **factor_sizes: see `SdyShardingRule`.

        Raises:
          ValueError: the rule is malformed.
          TypeError: `partition` is not a function, or the rule is none of these.
        """
        parameters.check_callable(f"{_WHAT}.def_partition", partition)
        sets = {
            "reduction_factors": reduction_factors,
            "need_replication_factors": need_replication_factors,
            "permutation_factors": permutation_factors,
        }
        if isinstance(sharding_rule, SdyShardingRule) or sharding_rule is None:
            if factor_sizes or any(sets.values()):
                raise ValueError(
                    "custom_partitioning.def_partition: factors must be named in a "
                    f"rule that is a text, got them beside {sharding_rule!r}; write "
                    "them in the SdyShardingRule"
                )
        elif not callable(sharding_rule):
            sharding_rule = factor_rules.parse_rule(sharding_rule, sets, factor_sizes)
        else:
            sharding_rule = _RuleFunction(sharding_rule, sets, factor_sizes)
        self._definition = {
            "decode_shardings": decode_shardings,
            "infer_sharding_from_operands": infer_sharding_from_operands,
            "partition": partition,
            "propagate_user_sharding": propagate_user_sharding,
            "sharding_rule": sharding_rule,
        }
        return partition

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._definition is None:
            raise AttributeError(
                f"custom_partitioning: {source_info.function_name(self.fun)} has no "
                "rule yet; say how it is divided by its method def_partition"
            )
        arguments = self._arguments
        static, dynamic, positions = arguments.split(arguments.positional(args, kwargs))
        custom_calls.check_no_tracers(arguments, static)
        leaves, in_tree = arguments.flatten(dynamic, positions)

        def apply(*args: Any) -> Any:
            return self.fun(*custom_calls.whole(static, args))

        in_avals = [avals_.aval_of(x) for x in leaves]
        fun = apply if static else self.fun
        body = inner_programs.trace_body(fun, _WHAT, in_tree, in_avals)
        _check_effects(self.fun, body.program)
        if any(isinstance(x, trace.Tracer) for x in body.consts):
            raise errors.UnexpectedTracerError(
                f"custom_partitioning: {source_info.function_name(self.fun)} must not "
                "close over a traced value, which has no sharding in its rule; pass it "
                "as an argument"
            )
        shown = {
            **self._definition,
            "in_tree": in_tree,
            "out_tree": body.out_tree,
            "static_args": tuple(static.values()),
        }
        outs = custom_partitioning_p.bind(
            *leaves,
            call=ir.ClosedOlympuspr(body.program, body.consts),
            rules=_Rules(shown),
            mapped=(),
        )
        return tree.tree_unflatten(body.out_tree, outs)


class _RuleFunction:
    """A function that makes the rule for types."""

    def __init__(self, make: Any, sets: dict[str, Any], sizes: dict[str, int]) -> None:
        self.make = make
        self._factors = sets, sizes

    def __call__(self, *args: Any) -> SdyShardingRule:
        rule = self.make(*args)
        if isinstance(rule, SdyShardingRule):
            return rule
        return factor_rules.parse_rule(rule, *self._factors)

    def __repr__(self) -> str:
        return repr(self.make)


class _Rules:
    """What one call of a function is divided by; see `calls.custom_partitioning`."""

    __slots__ = ("_partitioners", "shown")

    def __init__(self, shown: dict[str, Any]) -> None:
        self.shown = shown
        self._partitioners: dict[Any, _Partitioner] = {}  # XLA asks for them by keys

    def attributes(
        self, mesh: Mesh, platform: str, avals: tuple[Any, Any], mapped: Mapped
    ) -> tuple[str, str]:
        """The target of a custom call that XLA divides so, and its attributes."""
        if any(a.storage.ndim != a.ndim for row in avals for a in row):
            raise TypeError(
                "custom_partitioning: operands and results must be arrays of numbers, "
                f"got {', '.join([a.short() for row in avals for a in row])}; pass the "
                "data of keys, random.key_data(keys)"
            )
        settings = setting_states.trace_context()
        place = (mesh, platform, *map(tuple, avals), mapped, settings)
        partitioner = self._partitioners.get(place)
        if partitioner is None:
            partitioner = _Partitioner(self.shown, mesh, platform, avals, mapped)
            self._partitioners[place] = partitioner
            partitioners.register(partitioner.key, partitioner)
        text = (
            f"api_version = 2 : i32, backend_config = {types.string(partitioner.key)}"
        )
        rule = self._rule(mesh, avals, mapped)
        if rule is not None:
            in_shapes, out_shapes = [[a.storage.shape for a in row] for row in avals]
            text += f", sdy.sharding_rule = {rule.text(in_shapes, out_shapes, mapped)}"
        return partitioners.TARGET, text

    def _rule(self, mesh: Mesh, avals: Any, mapped: Mapped) -> SdyShardingRule | None:
        rule, infer = self.shown["sharding_rule"], "infer_sharding_from_operands"
        if rule is None and self.shown[infer] is not None:
            raise NotImplementedError(
                "custom_partitioning: a sharding_rule is required, since the compiler "
                f"divides by it, got {infer} alone; write one as in 'i j -> i j'"
            )
        if not callable(rule):
            return rule
        types_ = [
            [_drop_axes(a, n) for a, n in zip(row, counts, strict=True)]
            for row, counts in zip(avals, _count_mapped(mapped, avals), strict=True)
        ]
        chosen: SdyShardingRule = rule(*self.shown["static_args"], mesh, *types_)
        return chosen


def _count_mapped(
    mapped: Mapped, avals: tuple[Any, Any]
) -> tuple[list[int], list[int]]:
    """How many mapped axes each operand and each result has."""
    ins = [sum(flags[i] for flags in mapped) for i in range(len(avals[0]))]
    return ins, [len(mapped)] * len(avals[1])


def _drop_axes(aval: Any, count: int) -> Any:
    return aval.update(shape=aval.shape[count:])


class _Partitioner:
    """Writes the program of one device for a call in a program over a mesh."""

    def __init__(
        self, shown: dict[str, Any], mesh: Mesh, platform: str, avals: Any,
        mapped: Mapped,
    ) -> None:  # fmt: skip
        # Programs of other processes are on disk, by their texts: no two have one key.
        self.key = secrets.token_hex(16)
        self._shown, self._mesh, self._platform = shown, mesh, platform
        self._avals, self._mapped = avals, mapped
        self._counts = _count_mapped(mapped, avals)
        self._under_settings = setting_states.keep_overrides()

    def partition(
        self, in_shardings: Sequence[Any], out_shardings: Sequence[Any]
    ) -> tuple[bytes, Sequence[Any], Sequence[Any]]:
        """The program of one device, and shardings of its operands and results."""
        result: tuple[bytes, Sequence[Any], Sequence[Any]] = self._under_settings(
            lambda: self._partition(in_shardings, out_shardings)
        )
        return result

    def _name_shardings(self, mesh: Mesh, chosen: Any) -> Any:
        """The compiler's shardings over one mesh, which may have parts of its axes."""
        named = [
            [
                chosen_sharding(mesh, hlo.to_proto(), aval.ndim)
                for hlo, aval in zip(row, avals, strict=True)
            ]
            for row, avals in zip(chosen, self._avals, strict=True)
        ]
        for sharding in (*named[0], *named[1]):
            own = sharding.mesh
            if own is not mesh and isinstance(own, Mesh):
                return self._name_shardings(own, chosen)
        return mesh, named

    def _partition(self, *chosen: Sequence[Any]) -> Any:
        mesh, named = self._name_shardings(self._mesh, chosen)
        mesh, fun, ins, outs = self._ask(mesh, *named)
        fronts = _front_entries(named[1], len(self._mapped))
        program = self._trace(mesh, fun, ins, outs, fronts)
        whole = [
            [
                _put_in_front(s, self._fronts_of(side, i, fronts))
                for i, s in enumerate(row)
            ]
            for side, row in enumerate((ins, outs))
        ]
        hlos = [
            [
                s._to_xla_hlo_sharding(aval.ndim)
                for s, aval in zip(row, avals, strict=True)
            ]
            for row, avals in zip(whole, self._avals, strict=True)
        ]
        return self._write(mesh, program), *hlos

    def _fronts_of(self, side: int, i: int, fronts: Sequence[Any]) -> list[Any]:
        """What divides the mapped axes of an operand or a result, outermost first."""
        levels = reversed(range(len(self._mapped)))
        rows = zip(levels, fronts, strict=True)
        return [entry for n, entry in rows if side == 1 or self._mapped[n][i]]

    def _ask(self, mesh: Mesh, ins: Sequence[Any], outs: Sequence[Any]) -> Any:
        """What the user's function says, with flat shardings."""
        shown = self._shown
        args = _shapes(self._avals[0], ins, self._counts[0], shown["in_tree"])
        results = _shapes(self._avals[1], outs, self._counts[1], shown["out_tree"])
        partition = shown["partition"]
        answer = partition(*shown["static_args"], mesh, args, results)
        if not isinstance(answer, (tuple, list)) or len(answer) != 4:
            raise TypeError(
                f"custom_partitioning: {inner_programs.fun_text(partition)} must "
                "return a mesh, a function, the shardings of its results and those of "
                f"its arguments, got {inner_programs.value_text(answer)}"
            )
        mesh, fun, out_shardings, in_shardings = answer
        if not isinstance(mesh, Mesh) or mesh.flat_devices != self._mesh.flat_devices:
            raise ValueError(
                "custom_partitioning: the mesh that is returned must have the devices "
                f"of {self._mesh}, got {mesh}; return the mesh that is given"
            )
        return (
            mesh,
            fun,
            _flatten_shardings("arguments", in_shardings, shown["in_tree"], mesh),
            _flatten_shardings("results", out_shardings, shown["out_tree"], mesh),
        )

    def _trace(
        self, mesh: Mesh, fun: Any, ins: Any, outs: Any, fronts: Sequence[Any]
    ) -> ir.ClosedOlympuspr:
        """The user's function of parts as a program, with mapped axes."""
        local = [
            _local_avals(self._avals[side], row, self._counts[side])
            for side, row in enumerate((ins, outs))
        ]
        with manual_over(Manual(mesh, mesh.axis_names, False)):
            body = inner_programs.trace_body(
                fun, _WHAT, self._shown["in_tree"], local[0]
            )
        _check_effects(fun, body.program)
        _check_results(fun, body, local[1], self._shown["out_tree"])
        program = ir.ClosedOlympuspr(body.program, body.consts)
        levels = zip(self._mapped, reversed(fronts), strict=True)
        for n, (flags, front) in enumerate(levels):
            i = flags.index(True)
            size = self._avals[0][i].shape[self._axis_of(i, n)]
            axis = batching.AxisData(None, size // _count(mesh, front))
            in_dims = tuple([0 if flag else None for flag in flags])
            with manual_over(Manual(mesh, mesh.axis_names, False)):
                program, _ = batching.batch_olympuspr(program, axis, in_dims, True)
        return program

    def _axis_of(self, i: int, level: int) -> int:
        """Where operand `i` has the mapped axis of a level: the outermost is first."""
        return sum(flags[i] for flags in self._mapped[level + 1 :])

    def _write(self, mesh: Mesh, program: ir.ClosedOlympuspr) -> bytes:
        module = lowering.Module("partition", self._platform)
        module.manual = Manual(mesh, mesh.axis_names, False)
        whole = partial_eval.expand(program.olympuspr, self._platform, divisible=True)
        function = lowering.Function(module, whole, program.consts)
        module.functions.append(function.text("public", "main"))
        return mlir.bytecode(module.text())


def _shapes(avals: Any, shardings: Any, counts: Any, structure: Any) -> Any:
    """What the user's function is told of operands or results."""
    leaves = [
        ShapeDtypeStruct(
            aval.shape[n:],
            aval.dtype,
            sharding=NamedSharding(s.mesh, PartitionSpec(*_entries(s, aval.ndim)[n:])),
        )
        for aval, s, n in zip(avals, shardings, counts, strict=True)
    ]
    return tree.tree_unflatten(structure, leaves)


def _entries(sharding: NamedSharding, ndim: int) -> list[Any]:
    entries = list(sharding.spec.partitions)
    return entries + [None] * (ndim - len(entries))


def _front_entries(outs: Sequence[NamedSharding], count: int) -> list[Any]:
    """What divides the mapped axes, the outermost first, as in the first result."""
    return _entries(outs[0], count)[:count] if outs else [None] * count


def _put_in_front(sharding: NamedSharding, entries: Sequence[Any]) -> NamedSharding:
    if not entries:
        return sharding
    spec = PartitionSpec(*entries, *sharding.spec.partitions)
    return NamedSharding(sharding.mesh, spec)


def _count(mesh: Mesh, entry: Any) -> int:
    return tiling.part_counts(mesh.shape, [entry], 1)[0]


def _flatten_shardings(what: str, value: Any, structure: Any, mesh: Mesh) -> list[Any]:
    """The shardings that the user's function returned, one for each leaf."""
    if what == "arguments" and isinstance(value, list):
        value = tuple(value)
    shardings, own = tree.tree_flatten(value)
    wrong = [s for s in shardings if not isinstance(s, NamedSharding)]
    if own != structure or wrong:
        raise TypeError(
            f"custom_partitioning: shardings of {what} must be NamedShardings in the "
            f"structure of the {what}, {structure}, got {value}; return the attribute "
            "sharding of what is given"
        )
    if any(s.mesh.axis_names != mesh.axis_names for s in shardings):
        raise ValueError(
            f"custom_partitioning: shardings of {what} must be over the mesh that is "
            f"returned, {mesh}, got {shardings}; use one mesh"
        )
    return shardings


def _local_avals(avals: Any, shardings: Any, counts: Any) -> list[Any]:
    """The types of one device's parts, without mapped axes."""
    return [
        avals_.ShapedArray(
            s.shard_shape(aval.shape[n:]), aval.dtype, weak_type=aval.weak_type
        )
        for aval, s, n in zip(avals, shardings, counts, strict=True)
    ]


def _check_effects(fun: Any, program: ir.Olympuspr) -> None:
    if program.effects:
        raise NotImplementedError(
            f"custom_partitioning: {inner_programs.fun_text(fun)} must have no "
            f"effects, got {', '.join(map(repr, program.effects))}; leave out what "
            "prints or calls Python"
        )


def _check_results(
    fun: Any, body: Any, expected: Sequence[Any], structure: Any
) -> None:
    rows = [[(a.shape, a.dtype) for a in avals] for avals in (body.out_avals, expected)]
    if body.out_tree != structure or rows[0] != rows[1]:
        parts = ", ".join([a.short() for a in expected])
        actual = ", ".join([a.short() for a in body.out_avals])
        raise ValueError(
            f"custom_partitioning: {inner_programs.fun_text(fun)} must return the "
            f"parts of the results that one device has, {parts}, in the structure "
            f"{structure}, got {actual} in {body.out_tree}; compute these, or return "
            "other shardings"
        )
