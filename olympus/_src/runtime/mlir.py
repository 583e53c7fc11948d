"""MLIR on demand: parsing, canonical printing and other forms of a module's text.

olympus writes StableHLO as text and compiles the text, so the bindings (30 ms to load)
are imported by the first call here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from olympus._src.runtime import client, interrupts, portable, versions


def parse(text: str | bytes, context: Any = None) -> Any:
    """The module of a text or of MLIR bytecode, as an `ir.Module`.

    Raises:
      ValueError: the text is not a module; says where.
    """
    from jaxlib.mlir import ir

    context = portable.make_context() if context is None else context
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


def hlo_text(text: str | bytes, debug_info: bool = False) -> str:
    """The module as text of XLA's HLO, before optimisation.

    Args:
      text: the module.
      debug_info: write the source positions that it has.
    """
    computation = xla_computation(text)
    if debug_info:
        return str(computation.get_hlo_module().to_string())
    return str(computation.as_hlo_text())


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
    if not _has_places(text):
        _strip_places(module)
    try:
        keeps_sdy = _has_meshes(module)
        return interrupts.run_uninterrupted(
            versions.to_portable, module, version, keeps_sdy
        )
    except Exception as error:  # the bindings raise several classes
        raise ValueError(
            f"stablehlo_portable: every operation must exist in StableHLO {version}, "
            f"got a module with newer ones; ask for a later version ({error})"
        ) from error


def _has_places(text: str | bytes) -> bool:
    """Whether operations are marked with places in the user's program."""
    return " loc(" in text if isinstance(text, str) else b" loc(" in text


def _strip_places(module: Any) -> None:
    """Takes out the line and column of each operation in the text it was read from.

    They mean nothing to a reader, and were a third of an artifact.
    """
    from jaxlib.mlir import passmanager

    with module.context:
        manager = passmanager.PassManager.parse("builtin.module(strip-debuginfo)")
        manager.run(module.operation)


def _has_meshes(module: Any) -> bool:
    """Whether a module is divided over meshes, which Shardy's operations describe."""
    operations = module.body.operations
    return any(op.operation.name == "sdy.mesh" for op in operations)


def from_portable(data: bytes) -> str:
    """The text of a module that `stablehlo_portable` wrote.

    Raises:
      ValueError: the bytes are damaged or of a newer version.
    """
    return portable.text_of(portable.read(data).operation)


def refine_shapes(text: str | bytes) -> bytes:
    """The module with dynamic shapes made static from the shapes of its arguments.

    Raises:
      ValueError: a check of sizes fails, or a size does not follow.
    """
    try:
        return interrupts.run_uninterrupted(versions.refine_shapes, text)
    except versions.XlaRuntimeError as error:
        raise ValueError(_refinement_message(str(error))) from error


def _refinement_message(message: str) -> str:
    """The error message for a message of the compiler."""
    if "has dynamic shapes" in message:
        operation = re.search(r"'([\w.]+)' op has dynamic shapes", message)
        name = operation[1] if operation else "an operation"
        return (
            f"refine_shapes: the sizes of all results must follow from those of the "
            f"arguments, got {name}, for which the compiler finds none ({message})"
        )
    said = re.search(r"error: (.*)", message)
    return said[1] if said else message


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

    calls: list[tuple[str, str]] = []

    def visit(op: Any) -> Any:
        if op.name == "stablehlo.custom_call":
            target = ir.StringAttr(op.attributes["call_target_name"]).value
            calls.append((target, str(op)))
        return ir.WalkResult.ADVANCE

    parse(text).operation.walk(visit)
    return calls


def bind_arguments(data: bytes, start: int, values: Sequence[str]) -> bytes:
    """A portable module whose `main` has constants in place of some arguments.

    Args:
      data: what `stablehlo_portable` wrote.
      start: the number of the first of these arguments.
      values: a constant for each, as in `dense<1> : tensor<i32>`.

    Returns:
      The module as bytecode of this version.
    """
    from jaxlib.mlir import ir

    module = portable.read(data)
    with module.context, ir.Location.unknown():
        main = ir.SymbolTable(module.operation)["main"]
        block = main.regions[0].blocks[0]
        kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        inputs = list(kind.inputs)
        kept_inputs = [*range(start), *range(start + len(values), len(inputs))]
        # Made from text: the bindings have no attribute of complex numbers.
        lines = [f"%{i} = stablehlo.constant {v}" for i, v in enumerate(values)]
        constants = ir.Module.parse("\n".join(lines))
        first = block.operations[0]
        for i, constant in enumerate(list(constants.body.operations)):
            constant.move_before(first)
            block.arguments[start + i].replace_all_uses_with(constant.result)
        for i in reversed(range(start, start + len(values))):
            block.erase_argument(i)
        if "arg_attrs" in main.attributes:
            attributes = list(ir.ArrayAttr(main.attributes["arg_attrs"]))
            main.attributes["arg_attrs"] = ir.ArrayAttr.get(
                [attributes[i] for i in kept_inputs]
            )
        kind = ir.FunctionType.get([inputs[i] for i in kept_inputs], list(kind.results))
        main.attributes["function_type"] = ir.TypeAttr.get(kind)
    module.operation.verify()
    return _bytecode(module)
