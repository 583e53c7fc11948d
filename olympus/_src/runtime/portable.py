"""Reading portable StableHLO; also a program that only tries whether it can be read.

As a program it takes the directories of Python's modules, and on its input modules,
each with its length before it:

    python -I -S portable.py DIRECTORY...

Of olympus it imports nothing, so that it starts in a fifth of a second.
"""

from __future__ import annotations

import sys
from typing import Any, BinaryIO, NamedTuple

_LENGTH_BYTES = 8


def make_context() -> Any:
    """A new MLIR context that knows the dialects of lowered modules."""
    # Late: these load MLIR's libraries, which most programs never need.
    from jaxlib.mlir import ir

    # The libraries without their modules in Python: these define a class for each
    # operation (10 ms), and MLIR imports one where somebody looks at an operation.
    from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _sdy, _stablehlo

    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (_stablehlo, _chlo, _sdy):
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


class Parts(NamedTuple):
    """A portable module in parts that another module can take in.

    Attributes:
      texts: the symbol and the text of each function, `main` first.
      in_types, out_types: those that `main` takes and returns.
      meshes: the symbol of each mesh, and its axes, as in `<["x"=2]>`.
    """

    texts: list[tuple[str, str]]
    in_types: list[str]
    out_types: list[str]
    meshes: list[tuple[str, str]]


def functions(data: bytes, marker: str) -> Parts:
    """The functions of a portable module as texts that another module can take in.

    Args:
      data: what `mlir.stablehlo_portable` wrote.
      marker: how their symbols are to begin.

    Raises:
      ValueError: the bytes are not such a module, or it has no `main`.
    """
    from jaxlib.mlir import ir

    module = read(data)
    table = ir.SymbolTable
    with module.context, ir.Location.unknown():
        named, meshes = {}, []
        for op in list(module.body.operations):
            kind, symbol = op.operation.name, ""
            if kind in ("func.func", "sdy.mesh"):
                symbol = ir.StringAttr(op.attributes["sym_name"]).value
            if kind == "sdy.mesh":
                meshes.append((symbol, op))
            else:
                named[symbol] = op
        if "main" not in named or "" in named:
            raise ValueError("functions: the module must have a function named main")
        mesh_texts = []
        for i, (name, op) in enumerate(meshes):
            symbol = f"{marker}mesh_{i}_"
            table.replace_all_symbol_uses(name, symbol, module.operation)
            table.set_symbol_name(op, symbol)
            axes = str(op.attributes["mesh"]).removeprefix("#sdy.mesh")
            mesh_texts.append((symbol, axes))
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
        in_types, out_types = list(map(str, kind.inputs)), list(map(str, kind.results))
        return Parts(texts, in_types, out_types, mesh_texts)


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
