"""MLIR on demand: parsing, canonical printing and other forms of a module's text.

olympus writes StableHLO as text and compiles the text, so the bindings (30 ms to load)
are imported by the first call here.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from olympus._src.runtime import client, interrupts, versions


def make_context() -> Any:
    """A new MLIR context that knows the dialects of lowered modules."""
    # Late: these load MLIR's libraries, which most programs never need.
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo

    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    return context


def parse(text: str | bytes, context: Any = None) -> Any:
    """The module of a text or of MLIR bytecode, as an `ir.Module`.

    Raises:
      ValueError: the text is no module; says where.
    """
    from jaxlib.mlir import ir

    context = make_context() if context is None else context
    with context:
        try:
            return ir.Module.parse(text)
        except ir.MLIRError as error:
            raise ValueError(
                f"mlir.parse: the text must be a StableHLO module; {error}"
            ) from error


def canonical_text(text: str | bytes, debug_info: bool = False) -> str:
    """The module as MLIR prints it; with source positions if `debug_info`."""
    operation = parse(text).operation
    return str(operation.get_asm(enable_debug_info=debug_info))


def bytecode(text: str | bytes) -> bytes:
    """The module as MLIR bytecode of this version."""
    return _bytecode(parse(text))


def _bytecode(module: Any) -> bytes:
    import io

    out = io.BytesIO()
    module.operation.write_bytecode(file=out)
    return out.getvalue()


# -- other forms -----------------------------------------------------------------------


def xla_computation(text: str | bytes) -> Any:
    """The module as XLA's own HLO, before optimisation."""
    return interrupts.run_uninterrupted(versions.to_xla_computation, text)


def hlo_text(text: str | bytes) -> str:
    """The module as text of XLA's HLO, before optimisation."""
    return str(xla_computation(text).as_hlo_text())


def cost_analysis(text: str | bytes, platform: str | None = None) -> dict[str, float]:
    """XLA's estimate of the cost before optimisation, by name, as in 'flops'."""
    module = xla_computation(text).get_hlo_module()
    return interrupts.run_uninterrupted(
        versions.cost_of, client.client(platform), module
    )


def stablehlo_portable(text: str | bytes, version: str | None = None) -> bytes:
    """The module as a StableHLO artifact that later (and some earlier) versions read.

    Args:
      text: the module.
      version: the oldest StableHLO version that must read it, as in '1.5.0'; None for
        one that is twelve weeks old.

    Raises:
      ValueError: the module uses what that version lacks.
    """
    from jaxlib.mlir.dialects import stablehlo

    if version is None:
        requirement = stablehlo.StablehloCompatibilityRequirement.WEEK_12
        version = stablehlo.get_version_from_compatibility_requirement(requirement)
    module = parse(text)
    try:
        return interrupts.run_uninterrupted(versions.to_portable, module, version)
    except Exception as error:  # the bindings raise several classes
        raise ValueError(
            f"stablehlo_portable: every operation must exist in StableHLO {version}, "
            f"got a module with newer ones; ask for a later version ({error})"
        ) from error


def from_portable(data: bytes) -> str:
    """The text of a module that `stablehlo_portable` wrote.

    Raises:
      ValueError: the bytes are damaged or of a newer version.
    """
    return _text_of(_read_portable(data).operation)


_SCREEN = (
    "import sys; from olympus._src.runtime import mlir; "
    "mlir.functions(sys.stdin.buffer.read(), 'screened')"
)
_SCREEN_S = 120


def screen_portable(data: bytes) -> None:
    """Reads a portable module in a process of its own, which it may end.

    MLIR is not made to withstand forged bytes: of some it reads memory that is not its
    own. What it has read there it reads here.

    Raises:
      ValueError: it cannot be read, or reading it ends a process.
    """
    import subprocess

    try:
        done = subprocess.run(
            [sys.executable, "-c", _SCREEN],
            input=data,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            timeout=_SCREEN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"its module must be read in {_SCREEN_S} s") from None
    if done.returncode < 0:
        raise ValueError(
            f"its module ends a process that reads it, by signal {-done.returncode}"
        )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise ValueError(f"its module cannot be read: {lines[-1] if lines else ''}")


def _text_of(operation: Any, **options: Any) -> str:
    try:
        return str(operation.get_asm(**options))
    except RuntimeError as error:  # a forged string need not be UTF-8
        raise ValueError(f"the module must have a text, got {error}") from None


def _read_portable(data: bytes) -> Any:
    from jaxlib.mlir.dialects import stablehlo

    try:
        return stablehlo.deserialize_portable_artifact(make_context(), data)
    except Exception as error:  # the bindings raise several classes
        raise ValueError(
            f"from_portable: the bytes must be a StableHLO artifact of version "
            f"{stablehlo.get_current_version()} or older ({error})"
        ) from error


def refine_shapes(text: str | bytes) -> bytes:
    """The module with dynamic shapes made static from the shapes of its arguments.

    Raises:
      ValueError: a check of sizes fails, or a size does not follow.
    """
    try:
        return interrupts.run_uninterrupted(versions.refine_shapes, text)
    except versions.XlaRuntimeError as error:
        raise ValueError(_refinement_message(str(error))) from error


def _refinement_message(found: str) -> str:
    """What is to be said of what the compiler said."""
    if "has dynamic shapes" in found:
        operation = re.search(r"'([\w.]+)' op has dynamic shapes", found)
        name = operation[1] if operation else "an operation"
        return (
            f"refine_shapes: the sizes of all results must follow from those of the "
            f"arguments, got {name}, for which the compiler finds none ({found})"
        )
    said = re.search(r"error: (.*)", found)
    return said[1] if said else found


def stablehlo_version() -> str:
    """The version of StableHLO that is written here, as in '1.17.0'."""
    from jaxlib.mlir.dialects import stablehlo

    return str(stablehlo.get_current_version())


def jaxlib_version() -> str:
    """The version of jaxlib, as in '0.10.2'."""
    return ".".join(map(str, versions.JAXLIB_VERSION))


def custom_calls(text: str | bytes) -> list[tuple[str, str]]:
    """Each custom call of a module: its target, and the operation as text."""
    from jaxlib.mlir import ir

    found: list[tuple[str, str]] = []

    def visit(op: Any) -> Any:
        if op.name == "stablehlo.custom_call":
            target = ir.StringAttr(op.attributes["call_target_name"]).value
            found.append((target, str(op)))
        return ir.WalkResult.ADVANCE

    parse(text).operation.walk(visit)
    return found


def functions(
    portable: bytes, marker: str
) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """The functions of a portable module as texts that another module can take in.

    Args:
      portable: what `stablehlo_portable` wrote.
      marker: how their symbols are to begin.

    Returns:
      The symbol and the text of each function, `main` first; the types that `main`
      takes, and those it returns.

    Raises:
      ValueError: the bytes are no such module, or it has no `main`.
    """
    from jaxlib.mlir import ir

    module = _read_portable(portable)
    table = ir.SymbolTable
    with module.context, ir.Location.unknown():
        ops = list(module.body.operations)
        named = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in ops}
        if "main" not in named or any(op.OPERATION_NAME != "func.func" for op in ops):
            raise ValueError("functions: the module must have a function named main")
        order = ["main", *[name for name in named if name != "main"]]
        texts = []
        # A digit more never makes one of these another.
        symbols = [f"{marker}{i}_" for i in range(len(order))]
        for name, symbol in zip(order, symbols, strict=True):
            table.replace_all_symbol_uses(name, symbol, module.operation)
            table.set_symbol_name(named[name], symbol)
            table.set_visibility(named[name], "private")
            for attributes in ("arg_attrs", "res_attrs"):
                if attributes in named[name].attributes:
                    del named[name].attributes[attributes]
        for name, symbol in zip(order, symbols, strict=True):
            text = _text_of(named[name], use_local_scope=True, enable_debug_info=False)
            texts.append((symbol, text))
        kind = named["main"].type
        return texts, [str(t) for t in kind.inputs], [str(t) for t in kind.results]


def bind_arguments(portable: bytes, start: int, values: Sequence[str]) -> bytes:
    """A portable module whose `main` has constants in place of some arguments.

    Args:
      portable: what `stablehlo_portable` wrote.
      start: the number of the first of these arguments.
      values: a constant for each, as in `dense<1> : tensor<i32>`.

    Returns:
      The module as bytecode of this version.
    """
    from jaxlib.mlir import ir

    module = _read_portable(portable)
    with module.context, ir.Location.unknown():
        main = ir.SymbolTable(module.operation)["main"]
        block = main.regions[0].blocks[0]
        kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        inputs = list(kind.inputs)
        kept = [*range(start), *range(start + len(values), len(inputs))]
        # Made from text: the bindings have no attribute of complex numbers.
        lines = [f"%{i} = stablehlo.constant {v}" for i, v in enumerate(values)]
        made = ir.Module.parse("\n".join(lines))
        first = block.operations[0]
        for i, constant in enumerate(list(made.body.operations)):
            constant.move_before(first)
            block.arguments[start + i].replace_all_uses_with(constant.result)
        for i in reversed(range(start, start + len(values))):
            block.erase_argument(i)
        if "arg_attrs" in main.attributes:
            attributes = list(ir.ArrayAttr(main.attributes["arg_attrs"]))
            main.attributes["arg_attrs"] = ir.ArrayAttr.get(
                [attributes[i] for i in kept]
            )
        kind = ir.FunctionType.get([inputs[i] for i in kept], list(kind.results))
        main.attributes["function_type"] = ir.TypeAttr.get(kind)
    module.operation.verify()
    return _bytecode(module)
