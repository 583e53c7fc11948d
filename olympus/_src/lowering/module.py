"""A whole program as a StableHLO module in text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from olympus._src.core import effects as effects_
from olympus._src.core import ir, primitive, scopes
from olympus._src.foundation import vocabulary
from olympus._src.lowering import (
    builder,
    dynamic_shapes,
    frontend_attributes,
    memory_kinds,
    operation_paths,
    partitioning,
    templates,
    types,
)
from olympus._src.lowering.overwriting import variables_to_hold
from olympus._src.sharding.division import Division

Locate = Callable[[operation_paths.Path, Any], str] | None


class Module:
    """A module being written.

    Args:
      name: the symbol, as in `jit_f`.
      platform: what the program is lowered for.
      locate: gives the text behind an operation that says where it comes from, of
        its path and the user's position; None: there is none.

    Attributes:
      callbacks: host callables the program calls, in the order of their indices.
      calls_python: whether `main` takes the number of their table, after all else.
      keepalives: values that must live as long as the program.
      variables: the dimension variables, which private functions take first.
      has_dynamic_calls: whether it calls functions that were written for dynamic sizes.
      path: that of the operation that is being written, see `operation_paths`.
      divided_over: the mesh that the program is divided over; None for one device.
      has_other_memories: whether values may be in other memories than the default.
      moves_slices: whether dynamic slices are moved inside by operations of their own.
      keeps_barriers: whether the compiler respects barriers until it has fused.
      manual: the axes of a mesh that what is being written is manual along, or None.
      inspections: values whose sharding it reports when it is compiled.
      templates: what operations write; None where each has a place in the text.
    """

    __slots__ = (
        "_by_key",
        "_by_text",
        "_calling_python",
        "_group_numbers",
        "_meshes",
        "_spliced",
        "_symbols",
        "callbacks",
        "calls_python",
        "divided_over",
        "functions",
        "has_dynamic_calls",
        "has_other_memories",
        "inspections",
        "keepalives",
        "keeps_barriers",
        "locate",
        "manual",
        "moves_slices",
        "name",
        "path",
        "platform",
        "templates",
        "variables",
    )

    def __init__(self, name: str, platform: str, locate: Locate = None) -> None:
        self.name = _symbol(name)
        self.variables: Sequence[str] = ()
        self.has_dynamic_calls = False
        self.has_other_memories = False
        self.moves_slices = True
        self.keeps_barriers = False
        self.platform = platform
        self.locate = locate
        self.templates: templates.Templates | None = None
        self.path: operation_paths.Path = (operation_paths.of_module(name),)
        self.functions: list[str] = []
        self.callbacks: list[Any] = []
        self.keepalives: list[Any] = []
        self.inspections: list[Any] = []
        self._by_key: dict[Any, str] = {}
        self._by_text: dict[str, str] | None = None
        self._spliced: dict[Any, str] = {}
        self._symbols = {"main"}
        self._calling_python: set[str] = set()
        self.calls_python = False
        self.divided_over: Any = None
        self.manual: Any = None
        self._meshes: dict[str, str] = {}
        self._group_numbers = itertools.count()

    def share_by_text(self) -> None:
        """Writes functions of equal text once, also those of different programs."""
        self._by_text = {}

    def for_platforms(self, platforms: Sequence[str]) -> list[Module]:
        """Modules that write platform-specific code into this one.

        Functions of equal text are written once for all of them.
        """
        self.share_by_text()
        views = []
        for platform in platforms:
            view = Module(self.name, platform, self.locate)
            view._by_text, view._symbols = self._by_text, self._symbols
            view._spliced = self._spliced
            view.functions = self.functions
            view.callbacks, view.keepalives = self.callbacks, self.keepalives
            view.inspections = self.inspections
            view.has_other_memories = self.has_other_memories
            view.variables = self.variables
            view._calling_python = self._calling_python
            view._meshes, view.divided_over = self._meshes, self.divided_over
            view._group_numbers = self._group_numbers
            view.path = self.path
            views.append(view)
        return views

    def new_sharding_group(self) -> int:
        """The number of a group of values that are divided in one way."""
        return next(self._group_numbers)

    def symbol(self, name: str) -> str:
        """A function symbol that is unique in the module."""
        base = _symbol(name)
        candidate, n = base, 0
        while candidate in self._symbols:
            candidate = f"{base}_{n}"
            n += 1
        self._symbols.add(candidate)
        return candidate

    def mesh(self, mesh: Any) -> str:
        """The symbol of a mesh's axes, which are declared once a module."""
        return self.mesh_of_axes(partitioning.axes_text(mesh.shape_tuple))

    def mesh_of_axes(self, axes: str) -> str:
        """The symbol of a mesh of axes, as `partitioning.axes_text` writes them."""
        symbol = self._meshes.get(axes)
        if symbol is None:
            is_one = partitioning.is_of_one_device(axes)
            name = "one_device" if is_one else "mesh"
            symbol = self._meshes[axes] = self.symbol(name)
        return symbol

    def one_device(self, position: int) -> str:
        """The symbol of the mesh of one device, from its number in the program."""
        return self.mesh_of_axes(partitioning.one_device_text(position))

    def text(self) -> str:
        """The module."""
        meshes = [partitioning.mesh_text(s, axes) for axes, s in self._meshes.items()]
        body = "\n".join(meshes + self.functions)
        n_parts = 1 if self.divided_over is None else self.divided_over.size
        return (
            f"module @{self.name} attributes {{mhlo.num_partitions = "
            f"{n_parts} : i32, mhlo.num_replicas = 1 : i32}} "
            f"{{\n{body}\n}}\n"
        )

    def call(
        self,
        ctx: builder.Context,
        program: ir.Olympuspr,
        name: str,
        operands: Any,
        attributes: Sequence[tuple[str, str]] = (),
    ) -> list[str]:
        """Calls `program` as a private function, written once a module.

        Args:
          ctx: of the lowering rule.
          program: what is called.
          name: how the function's symbol begins.
          operands: names of the arguments.
          attributes: texts by name that the compiler keeps with the operations.
        """
        effects = effects_.ordered(program.effects)
        symbol = self.function(program, name)
        tokens = [ctx.block.tokens[e] for e in effects]
        in_avals = [types.token_type()] * len(effects) + program.in_avals
        out_avals = [types.token_type()] * len(effects) + program.out_avals
        if self.variables:
            tokens = [ctx.block.sizes[v] for v in self.variables] + tokens
            in_avals = [dynamic_shapes.SIZE] * len(self.variables) + in_avals
        if self.takes_callbacks(symbol):
            operands = [*operands, ctx.block.callbacks()]
            in_avals = [*in_avals, builder.CALLBACKS_TYPE]
        inputs = ", ".join([builder.type_text(a) for a in in_avals])
        outputs = ", ".join([builder.type_text(a) for a in out_avals])
        own = frontend_attributes.text(attributes) if attributes else ""
        braces = f" {{{own}}}" if own else ""
        outs = ctx.block.emit_many(
            f"func.call @{symbol}({', '.join([*tokens, *operands])})"
            f"{braces} : ({inputs}) -> ({outputs})",
            len(out_avals),
        )
        ctx.block.tokens.update(zip(effects, outs, strict=False))
        return outs[len(effects) :]

    def function(self, program: ir.Olympuspr, name: str) -> str:
        """The symbol of `program` as a private function, written once a module."""
        key = (program, self.manual)  # collectives in it refer to the mesh
        symbol = self._by_key.get(key)
        if symbol is None:
            symbol = self.symbol(name)
            function = Function(self, program, sizes=self.variables)
            symbol = self._by_key[key] = self.add(function, symbol)
        return symbol

    def takes_callbacks(self, symbol: str) -> bool:
        """Whether a private function takes the number of the callbacks, last."""
        return symbol in self._calling_python

    def splice(
        self,
        texts: Sequence[tuple[str, str]],
        name: str,
        meshes: Sequence[tuple[str, str]] = (),
    ) -> str:
        """Adds private functions that were written elsewhere, once per module.

        Args:
          texts: for each function a placeholder, which stands for its symbol in all
            the texts and is nowhere else in them, and its text.
          name: how their symbols here begin.
          meshes: a placeholder for each mesh that the texts name, and its axes.

        Returns:
          The symbol of the first.
        """
        key = texts[0][0]
        if key not in self._spliced:
            symbols = [(place, self.symbol(name)) for place, _ in texts]
            symbols += [(place, self.mesh_of_axes(axes)) for place, axes in meshes]
            for _, text in texts:
                for place, symbol in symbols:
                    text = text.replace(place, symbol)
                self.functions.append(text)
            self._spliced[key] = symbols[0][1]
        return self._spliced[key]

    def add(self, function: Function, symbol: str) -> str:
        """Adds a private function; returns its symbol, or that of an equal one."""
        if function.takes_callbacks:
            self._calling_python.add(symbol)
        if self._by_text is not None:
            text = function.text("private", "")
            known = self._by_text.setdefault(text, symbol)
            if known != symbol:
                return known
        self.functions.append(function.text("private", symbol))
        return symbol


class Function:
    """A program as a function of a module, with a token in and out for each effect.

    Args:
      module: where functions that it calls are written.
      program: what it does.
      consts: values of the program's constants, which are written in the function.
      sizes: dimension variables that it takes first.
      find_sizes: given the block and the names of the arguments, writes the values of
        dimension variables that it does not take.

    Attributes:
      names: of the arguments.
      in_types, out_types: texts of the types, tokens first.
      effects: the ordered effects, one for each token.
      takes_callbacks: whether its last argument is the number of the callbacks.
    """

    __slots__ = (
        "_block",
        "_outs",
        "effects",
        "in_types",
        "names",
        "out_types",
        "takes_callbacks",
    )

    def __init__(
        self,
        module: Module,
        program: ir.Olympuspr,
        consts: Sequence[Any] = (),
        sizes: Sequence[str] = (),
        find_sizes: Callable[[Any, Sequence[str]], None] | None = None,
    ) -> None:
        self.effects = effects = effects_.ordered(program.effects)
        leading_types = [types.tensor_type(dynamic_shapes.SIZE)] * len(sizes)
        leading_types += [types.token_type()] * len(effects)
        n = len(leading_types)
        block = self._block = builder.Block()
        names = self.names = [f"%arg{i}" for i in range(n + len(program.invars))]
        block.sizes = dict(zip(sizes, names, strict=False))
        block.tokens = dict(zip(effects, names[len(sizes) :], strict=False))
        if find_sizes is not None:
            find_sizes(block, names[n:])
        values = [
            block.constant(c, v.aval)
            for c, v in zip(consts, program.constvars, strict=True)
        ]
        path = module.path
        module.path = operation_paths.of_function(path)
        outs = lower_program(module, block, program, values, names[n:])
        module.path = path
        tokens = [types.token_type()] * len(effects)
        self.in_types = leading_types + list(map(types.tensor_type, program.in_avals))
        self.out_types = tokens + list(map(types.tensor_type, program.out_avals))
        self._outs = [block.tokens[e] for e in effects] + outs
        self.takes_callbacks = False
        if block.counter.calls_python:
            self.take_callbacks()

    def take_callbacks(self) -> None:
        """Makes the number of the callbacks its last argument."""
        if not self.takes_callbacks:
            self.names.append(builder.CALLBACKS)
            self.in_types.append(builder.CALLBACKS_TYPE)
            self.takes_callbacks = True

    def text(
        self,
        visibility: str,
        symbol: str,
        in_types: Sequence[str] | None = None,
        out_types: Sequence[str] | None = None,
    ) -> str:
        """The function; types may be given with attributes."""
        return function_text(
            visibility,
            symbol,
            self._block,
            self.names,
            self.in_types if in_types is None else in_types,
            self._outs,
            self.out_types if out_types is None else out_types,
            self.out_types,
        )


def lower_module(
    program: ir.Olympuspr,
    *,
    name: str,
    platform: str,
    result_names: Sequence[str] | None = None,
    aliases: Mapping[int, int | None] | None = None,
    locate: Locate = None,
    division: Division | None = None,
    moves_slices: bool = True,
    keeps_barriers: bool = False,
) -> Module:
    """Lowers a program without constants to a module.

    Args:
      program: its inputs are the arguments of `main`.
      name: symbol of the module, without the prefix `jit_`'s escaping.
      platform: 'cpu', 'cuda', ...
      result_names: the path of each output, printed as `olympus.result_info`.
      aliases: for donated inputs, the output each may share its buffer with; None
        where the compiler chooses it.
      locate: gives the text behind each operation that says where it comes from.
      division: how it is divided over several devices.
      moves_slices: see `Module`; off where the compiler is known to do it rightly.
      keeps_barriers: see `Module`; on where the compiler is known to do so.

    Returns:
      The module; `text()` is what compiles. Programs of ordered effects take and return
      one empty array for each, after the other arguments and results; those that call
      Python take the number of their callbacks last.
    """
    module = Module(name, platform, locate)
    module.has_other_memories = names_other_memories(program, division, [platform])
    module.moves_slices = moves_slices or division is not None
    module.keeps_barriers = keeps_barriers and division is None
    if division is not None:
        module.divided_over = division.mesh
    module.templates = templates.of_module(module)
    effects = effects_.ordered(program.effects)
    block = builder.Block()
    names = [f"%arg{i}" for i in range(len(program.invars))]
    carried = [f"%arg{len(names) + i}" for i in range(len(effects))]
    for effect in effects:
        block.tokens[effect] = block.emit("stablehlo.create_token : !stablehlo.token")
    outs = lower_program(module, block, program, (), names)
    if division is not None:
        outs = _in_their_memories(module, block, outs, program, division)
    outs += [block.emit(f"stablehlo.constant dense<> : {TOKEN_ARRAY}") for _ in effects]
    in_types = list(map(types.tensor_type, program.in_avals))
    out_types = list(map(types.tensor_type, program.out_avals))
    in_attributes = _aliases(aliases or {}, len(in_types))
    out_attributes = _result_infos(result_names, len(out_types))
    if division is not None:
        add_shardings(module, in_attributes, division.in_shardings, program.in_avals)
        add_shardings(module, out_attributes, division.out_shardings, program.out_avals)
    in_types = list(map(with_attributes, in_types, in_attributes))
    out_types = list(map(with_attributes, out_types, out_attributes))
    in_types += [TOKEN_ARRAY] * len(effects)
    plain = list(map(types.tensor_type, program.out_avals))
    plain += [TOKEN_ARRAY] * len(effects)
    out_types += [TOKEN_ARRAY] * len(effects)
    arguments = names + carried
    module.calls_python = block.counter.calls_python
    if module.calls_python:
        arguments.append(builder.CALLBACKS)
        in_types.append(builder.CALLBACKS_TYPE)
    main = function_text(
        "public", "main", block, arguments, in_types, outs, out_types, plain
    )
    module.functions.insert(0, main)
    return module


def _in_their_memories(
    module: Module, block: Any, outs: list[str], program: Any, division: Division
) -> list[str]:
    """The results, marked where they live in other memories than the default."""
    if not module.has_other_memories:
        return outs
    moved = []
    rows = zip(outs, program.out_avals, division.out_shardings, strict=True)
    for out, aval, sharding in rows:
        memory = None if sharding is None else sharding.memory_kind
        if memory is not None:
            kind = types.tensor_type(aval)
            out = memory_kinds.emit_move(block, module.platform, out, kind, memory)
        moved.append(out)
    return moved


def names_other_memories(
    program: ir.Olympuspr, division: Division | None, platforms: Sequence[str]
) -> bool:
    """Whether a program keeps values in another memory than the default of its devices.

    Then those that name the default have values moved there, too.
    """
    if not any(map(memory_kinds.are_marked, platforms)):
        return False
    if _moves_to_other_memories(program):
        return True
    return division is not None and any(
        map(_is_in_other_memory, (*division.in_shardings, *division.out_shardings))
    )


def _is_in_other_memory(sharding: Any) -> bool:
    return getattr(sharding, "other_memory_kind", None) is not None


def _moves_to_other_memories(program: ir.Olympuspr) -> bool:
    return any(
        eqn.params.get("memory_kind", memory_kinds.DEFAULT) != memory_kinds.DEFAULT
        or _is_in_other_memory(eqn.params.get("sharding"))
        or any(map(_moves_to_other_memories, ir.subprograms(eqn.params)))
        for eqn in program.eqns
        if eqn.params
    )


# Ordered effects are carried between programs by empty arrays: a program starts when
# its arguments are ready and its results are ready when it ends, so nothing more is
# needed to run them in order.
TOKEN_ARRAY = "tensor<0xi1>"


def _aliases(aliases: Mapping[int, int | None], n: int) -> list[list[str]]:
    """Attributes of arguments that share their memory with a result."""
    return [[alias(aliases[i])] if i in aliases else [] for i in range(n)]


def alias(out: int | None) -> str:
    """The attribute of an argument whose memory a result may take.

    Args:
      out: the number of the result; None where the compiler chooses it.
    """
    if out is None:
        return "jax.buffer_donor = true"  # XLA's bindings know it by this name only
    return f"tf.aliasing_output = {out} : i32"


def _result_infos(names: Sequence[str] | None, n: int) -> list[list[str]]:
    """Attributes of results that have names."""
    if names is None:
        return [[] for _ in range(n)]
    return [
        [f"{vocabulary.name()}.result_info = {types.string(name)}"] for name in names
    ]


def add_shardings(
    module: Module, attributes: list[list[str]], shardings: Any, in_avals: Any
) -> None:
    """Adds the shardings of arguments or results, where they are known."""
    rows = zip(attributes, shardings, in_avals, strict=True)
    for row, sharding, aval in rows:
        if sharding is not None:
            symbol = module.mesh(sharding.mesh)
            row.append(partitioning.attribute(symbol, sharding.spec, aval))
            if sharding.other_memory_kind is not None:
                kind = types.string(sharding.other_memory_kind)
                row.append(f"mhlo.memory_kind = {kind}")


def with_attributes(kind: str, attributes: list[str]) -> str:
    """A type with attributes of an argument or a result."""
    return f"{kind} {{{', '.join(attributes)}}}" if attributes else kind


def lower_program(
    module: Module,
    block: builder.Block,
    program: ir.Olympuspr,
    consts: Sequence[str],
    args: Sequence[str],
) -> list[str]:
    """Writes the equations of `program` in `block`; returns the results' names."""
    env: dict[Any, str] = dict(zip(program.constvars, consts, strict=True))
    env.update(zip(program.invars, args, strict=True))
    outer, path = block.location, module.path
    attributes = outer_attributes = block.attributes
    scope: scopes.Scope = ()  # that of the last equation; neighbours share it
    written = None if block.folds or module.manual else module.templates
    held = variables_to_hold(program) if module.platform == "cpu" else {}
    if held:
        _hold(block, (*program.constvars, *program.invars), held, env)
    # Each operation of each program comes through here.
    literal, add_line = ir.Literal, block.lines.append
    find_template = None if written is None else written.find
    for eqn in program.eqns:
        operands: list[str] = []
        in_avals: list[Any] = []
        for v in eqn.invars:
            aval = v.aval
            in_avals.append(aval)
            operands.append(
                block.constant(v.val, aval) if type(v) is literal else env[v]
            )
        if module.locate is not None:
            module.path = operation_paths.of_equation(path, eqn)
            block.location = module.locate(module.path, eqn.source)
        if eqn.scope is not scope:
            scope = eqn.scope
            attributes = scopes.attributes(scope) or outer_attributes
        template = None
        if find_template is not None and not attributes:
            template = find_template(block, eqn, operands, in_avals)
        if template is not None and template.text is not None:  # as of most of them
            n = block.n
            block.n = n + 1
            env[eqn.outvars[0]] = name = f"{block.prefix}{n}"
            add_line(template.text % (name, *operands))
        else:
            out = None if template is None else template.write(block, operands)
            if out is None:
                block.attributes = attributes
                ctx = builder.Context(module, block, eqn)
                out = _rule(eqn.primitive)(ctx, *operands, **eqn.params)
                block.attributes = outer_attributes
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out, strict=True))
            else:
                env[eqn.outvars[0]] = out
        if held:
            _hold(block, eqn.outvars, held, env)
    block.location, block.attributes = outer, outer_attributes
    module.path = path
    return [
        block.constant(v.val, v.aval) if type(v) is ir.Literal else env[v]
        for v in program.outvars
    ]


def _hold(
    block: Any, variables: Sequence[Any], held: dict[Any, Any], env: dict[Any, str]
) -> None:
    """Puts barriers behind variables that are held; see `lowering.overwriting`."""
    for v in variables:
        first = held.get(v)
        if first is None:
            continue
        if first is v:
            kind = types.tensor_type(v.aval)
            env[v] = block.emit(f"stablehlo.optimization_barrier {env[v]} : {kind}")
        else:
            env[v] = env[first]


def _rule(p: Any) -> Any:
    if p.lower is None:
        raise primitive.missing_rule(p, "lower")
    return p.lower


def function_text(
    visibility: str,
    symbol: str,
    block: builder.Block,
    names: Sequence[str],
    in_types: Sequence[str],
    outs: Sequence[str],
    out_types: Sequence[str],
    plain_out_types: Sequence[str],
) -> str:
    """A function: its header, the lines of its block and its end.

    `in_types` and `out_types` may carry attributes, `plain_out_types` have none.
    """
    arguments = ", ".join([f"{n}: {t}" for n, t in zip(names, in_types, strict=True)])
    results = ", ".join(out_types)
    kinds = ", ".join(plain_out_types)
    end = f"func.return {', '.join(outs)} : {kinds}" if outs else "func.return"
    body = "\n".join(block.lines)
    return (
        f"func.func {visibility} @{symbol}({arguments}) -> ({results}) {{\n"
        f"{body}\n{end}\n}}"
    )


def _symbol(name: str) -> str:
    text = "".join(c if c.isalnum() or c in "_$." else "_" for c in name)
    text = text if text.isascii() else "".join(c if c.isascii() else "_" for c in text)
    return text or "function"
