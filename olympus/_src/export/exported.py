"""`Exported`: a lowered program with all that is needed to call it elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.export import calling, divisions, portable_modules, serialization
from olympus._src.foundation import tracebacks

minimum_supported_calling_convention_version = 9
maximum_supported_calling_convention_version = 10


class Exported:
    """A function as a portable program; made by `export.export` or `deserialize`.

    Attributes:
      fun_name: the function's name.
      in_tree: the structure of `(args, kwargs)`.
      in_avals: types of the arguments' leaves.
      out_tree: the structure of the result.
      out_avals: types of the result's leaves.
      in_shardings_hlo, out_shardings_hlo: how each leaf is divided, as XLA describes
        it; None where one device runs the program, or the compiler chooses.
      nr_devices: how many devices it is for.
      platforms: those it is for.
      ordered_effects, unordered_effects: what it does in addition to computing.
      disabled_safety_checks: those that were not made.
      calling_convention_version: which arguments the module's `main` takes.
      module_kept_var_idx: the leaves that the module takes, by number.
      uses_global_constants: whether `main` takes the number of the platform.
      program_serialized: the module; its `main` takes the constants first.
      constants: arrays that are too large to be written in the module.
    """

    __slots__ = (
        "_get_vjp",
        "_in_named_shardings",
        "_out_named_shardings",
        "_self_contained",
        "_vjp",
        "calling_convention_version",
        "constants",
        "disabled_safety_checks",
        "fun_name",
        "in_avals",
        "in_shardings_hlo",
        "in_tree",
        "module_kept_var_idx",
        "nr_devices",
        "ordered_effects",
        "out_avals",
        "out_shardings_hlo",
        "out_tree",
        "platforms",
        "program_serialized",
        "unordered_effects",
        "uses_global_constants",
    )

    def __init__(
        self,
        fun_name: str,
        in_tree: Any,
        in_avals: Sequence[Any],
        out_tree: Any,
        out_avals: Sequence[Any],
        _in_named_shardings: Sequence[Any],
        _out_named_shardings: Sequence[Any],
        in_shardings_hlo: Sequence[Any],
        out_shardings_hlo: Sequence[Any],
        nr_devices: int,
        platforms: Sequence[str],
        ordered_effects: Sequence[Any],
        unordered_effects: Sequence[Any],
        disabled_safety_checks: Sequence[Any],
        mlir_module_serialized: bytes,
        calling_convention_version: int,
        module_kept_var_idx: Sequence[int],
        uses_global_constants: bool,
        _get_vjp: Callable[[Exported], Exported] | None,
        *,
        constants: Sequence[Any] = (),
    ) -> None:
        self.fun_name = fun_name
        self.in_tree = in_tree
        self.in_avals = tuple(in_avals)
        self.out_tree = out_tree
        self.out_avals = tuple(out_avals)
        self._in_named_shardings = tuple(_in_named_shardings)
        self._out_named_shardings = tuple(_out_named_shardings)
        self.in_shardings_hlo = tuple(in_shardings_hlo)
        self.out_shardings_hlo = tuple(out_shardings_hlo)
        self.nr_devices = nr_devices
        self.platforms = tuple(platforms)
        self.ordered_effects = tuple(ordered_effects)
        self.unordered_effects = tuple(unordered_effects)
        self.disabled_safety_checks = tuple(disabled_safety_checks)
        self.program_serialized = mlir_module_serialized
        self.calling_convention_version = calling_convention_version
        self.module_kept_var_idx = tuple(module_kept_var_idx)
        self.uses_global_constants = uses_global_constants
        self.constants = tuple(constants)
        self._get_vjp = _get_vjp
        self._vjp: Exported | None = None
        self._self_contained: bytes | None = None

    @property
    def mlir_module_serialized(self) -> bytes:
        """The module as a StableHLO portable artifact, with all constants in it."""
        if not self.constants:
            return self.program_serialized
        if self._self_contained is None:
            self._self_contained = portable_modules.with_constants(self)
        return self._self_contained

    def mlir_module(self) -> str:
        """The module in readable form, with all constants in it."""
        return portable_modules.text_of(self.mlir_module_serialized)

    @tracebacks.api_boundary
    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Applies the function to arguments of the types it was exported for.

        It may be called anywhere: in jitted functions, under `grad` and `vmap`, and in
        functions that are exported themselves.

        Raises:
          ValueError: the arguments' structure, shapes or dtypes are others, or the
            function was exported for other platforms or for more devices.
        """
        return calling.call(self, args, kwargs)

    def has_vjp(self) -> bool:
        """Whether `vjp` gives a program."""
        return self._get_vjp is not None

    @tracebacks.api_boundary
    def vjp(self) -> Exported:
        """The program of the reverse derivative.

        It takes the leaves of the arguments and a cotangent for each leaf of the
        result, and returns a cotangent for each argument, all in one tuple.

        Raises:
          ValueError: it was not serialised with the program.
        """
        if self._get_vjp is None:
            raise ValueError(
                f"Exported.vjp: the derivative of {self.fun_name!r} must be part of "
                "the bytes it was read from, got none (No VJP is available); write "
                "them by serialize(vjp_order=1), or more for higher derivatives"
            )
        if self._vjp is None:
            self._vjp = self._get_vjp(self)
        return self._vjp

    @tracebacks.api_boundary
    def serialize(self, vjp_order: int = 0) -> bytearray:
        """The program as bytes, which `export.deserialize` reads.

        Args:
          vjp_order: how many reverse derivatives to write with it.

        Raises:
          ValueError: a type of node in the trees is not registered, see
            `export.register_pytree_node_serialization`; or there is no derivative.
        """
        return bytearray(serialization.pack(self, vjp_order))

    def in_shardings_jax(self, mesh: Any) -> tuple[Any, ...]:
        """How each argument is divided over the devices of a mesh; None if it is not.

        Args:
          mesh: a mesh with the axes that the program was exported for.

        Raises:
          ValueError: it has other axes.
        """
        what = "Exported.in_shardings_jax"
        named = self._in_named_shardings
        return tuple([divisions.on_mesh(s, mesh, what) for s in named])

    def out_shardings_jax(self, mesh: Any) -> tuple[Any, ...]:
        """How each result is divided over the devices of a mesh; see above."""
        what = "Exported.out_shardings_jax"
        named = self._out_named_shardings
        return tuple([divisions.on_mesh(s, mesh, what) for s in named])

    def __repr__(self) -> str:
        in_types = ", ".join([a.short() for a in self.in_avals])
        out_types = ", ".join([a.short() for a in self.out_avals])
        devices = f", nr_devices={self.nr_devices}" if self.nr_devices > 1 else ""
        return (
            f"Exported({self.fun_name}: ({in_types}) -> ({out_types}), "
            f"platforms={self.platforms}{devices})"
        )
