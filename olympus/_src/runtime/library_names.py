"""Names of jaxlib that libraries use through public modules, by their place in it."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from jaxlib import _jax  # type: ignore[attr-defined]

from olympus._src.runtime import portable, versions

ifrt_programs: Any = _jax.ifrt_programs
Client: Any = versions.Client


def module(name: str) -> ModuleType:
    """A module of jaxlib by its name in it; jaxlib itself for an empty name."""
    return importlib.import_module(f"jaxlib.{name}" if name else "jaxlib")


def serialize_portable_artifact(
    mlir_module: Any, target: str, use_mixed_serialization: bool = False
) -> bytes:
    """A StableHLO module as bytes that newer versions read.

    Args:
      mlir_module: its text, its bytes, or an `ir.Module`.
      target: the oldest version of StableHLO that is to read it.
      use_mixed_serialization: allow other dialects in it.
    """
    if hasattr(mlir_module, "operation"):
        mlir_module = str(mlir_module)
    options = (True,) if use_mixed_serialization else ()
    return bytes(_jax.mlir.serialize_portable_artifact(mlir_module, target, *options))


def deserialize_portable_artifact(mlir_module: bytes, context: Any = None) -> Any:
    """The module of a portable artifact.

    Args:
      mlir_module: the artifact.
      context: an MLIR context to read it in; None for a new one.
    """
    context = portable.make_context() if context is None else context
    return _jax.mlir.deserialize_portable_artifact(mlir_module, context)


def hlo_to_stablehlo(computation: bytes) -> bytes:
    """The StableHLO of a serialized HLO module, as MLIR's bytes."""
    return bytes(_jax.mlir.hlo_to_stablehlo(computation))


def refine_polymorphic_shapes(
    mlir_module: Any,
    enable_shape_assertions: bool = True,
    validate_static_shapes: bool = True,
    enable_shardy: bool = False,
) -> bytes:
    """A module with the shapes that follow from those of its arguments, as bytes.

    Args:
      mlir_module: its text or bytes; `main` takes arguments of known shapes.
      enable_shape_assertions: check the module's own assertions about shapes.
      validate_static_shapes: require that all shapes are known in the end.
      enable_shardy: the module says by Shardy how it is divided.
    """
    if isinstance(mlir_module, str):
        mlir_module = mlir_module.encode()
    return bytes(
        _jax.mlir.refine_polymorphic_shapes(
            mlir_module,
            enable_shape_assertions=enable_shape_assertions,
            validate_static_shapes=validate_static_shapes,
            enable_shardy=enable_shardy,
        )
    )


def get_hlo_sharding_from_serialized_proto(sharding: bytes) -> Any:
    """XLA's sharding of its bytes."""
    op_sharding = get_op_sharding_from_serialized_proto(sharding)
    return versions.HloSharding.from_proto(op_sharding)


def get_op_sharding_from_serialized_proto(sharding: bytes) -> Any:
    """XLA's message about a sharding, of its bytes."""
    proto = versions.OpSharding()
    proto.ParseFromString(sharding)
    return proto


def get_serialized_proto_from_hlo_sharding(sharding: Any) -> bytes:
    """The bytes of XLA's sharding."""
    return bytes(sharding.to_proto().SerializeToString())
