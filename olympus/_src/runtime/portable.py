"""Reading portable StableHLO; also a program that only tries whether it can be read.

As a program it takes the directories of Python's modules, and on its input modules,
each with its length before it:

    python -I -S portable.py DIRECTORY...

Of olympus it imports nothing, so that it starts in a fifth of a second.
"""

from __future__ import annotations

import sys
from typing import Any, BinaryIO

_LENGTH_BYTES = 8


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


def read(data: bytes) -> Any:
    """The module of a portable artifact, as an `ir.Module`.

    Raises:
      ValueError: the bytes are damaged or of a newer version.
    """
    from jaxlib.mlir.dialects import stablehlo

    try:
        return stablehlo.deserialize_portable_artifact(make_context(), data)
    except Exception as error:  # the bindings raise several classes
        raise ValueError(
            f"from_portable: the bytes must be a StableHLO artifact of version "
            f"{stablehlo.get_current_version()} or older ({error})"
        ) from error


def text_of(operation: Any, **options: Any) -> str:
    """The text of an operation.

    Raises:
      ValueError: it has none: a forged string need not be UTF-8.
    """
    try:
        return str(operation.get_asm(**options))
    except RuntimeError as error:
        raise ValueError(f"the module must have a text, got {error}") from None


def functions(
    data: bytes, marker: str
) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """The functions of a portable module as texts that another module can take in.

    Args:
      data: what `mlir.stablehlo_portable` wrote.
      marker: how their symbols are to begin.

    Returns:
      The symbol and the text of each function, `main` first; the types that `main`
      takes, and those it returns.

    Raises:
      ValueError: the bytes are not such a module, or it has no `main`.
    """
    from jaxlib.mlir import ir

    module = read(data)
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
            text = text_of(named[name], use_local_scope=True, enable_debug_info=False)
            texts.append((symbol, text))
        kind = named["main"].type
        return texts, [str(t) for t in kind.inputs], [str(t) for t in kind.results]


def join(modules: list[bytes]) -> bytes:
    """Modules as the input of this program."""
    parts = [(len(m).to_bytes(_LENGTH_BYTES, "little"), m) for m in modules]
    return b"".join(part for pair in parts for part in pair)


def _read_all(stream: BinaryIO) -> None:
    while length := stream.read(_LENGTH_BYTES):
        functions(stream.read(int.from_bytes(length, "little")), "screened")


if __name__ == "__main__":
    sys.path[:] = sys.argv[1:]
    try:
        _read_all(sys.stdin.buffer)
    except ValueError as error:
        print(str(error).partition("\n")[0][:500])
        sys.exit(1)
