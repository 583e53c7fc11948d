"""Registration of functions of other languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from olympus._src.callbacks import foreign_rules
from olympus._src.callbacks.foreign_calls import Layouts
from olympus._src.runtime import foreign_functions

Buffer = foreign_functions.Buffer
ExecutionContext = foreign_functions.ExecutionContext
ExecutionStage = foreign_functions.ExecutionStage


def register_ffi_target(
    name: str, fn: Any, platform: str = "cpu", api_version: int = 1, **kwargs: Any
) -> None:
    """Says which function `ffi_call` calls by a name.

    Args:
      name: the name.
      fn: what `pycapsule` makes of its address; or a mapping with those of the stages
        'instantiate', 'prepare', 'initialize' and 'execute'.
      platform: 'cpu', or 'cuda' or 'rocm', whose plug-in may be loaded later.
      api_version: 1 for XLA's typed interface. 0 for a plain C function of the
        results' memory (a pointer, or a pointer to those of several results) and of an
        array of pointers to the operands, which `ffi_call` calls with
        `custom_call_api_version=1`.
      **kwargs: `traits`, what XLA may rely on, as bits.

    Raises:
      TypeError: the function is no capsule; or another option is given.

    Example:
      >>> import ctypes
      >>> import olympus
      >>> floats = ctypes.POINTER(ctypes.c_float)
      >>> @ctypes.CFUNCTYPE(None, floats, ctypes.POINTER(floats))
      ... def double(out, operands):  # any function with such a pointer will do
      ...     out[0] = 2 * operands[0][0]
      >>> capsule = olympus.ffi.pycapsule(double)
      >>> olympus.ffi.register_ffi_target('double', capsule, api_version=0)
      >>> kind = olympus.ShapeDtypeStruct((), 'float32')
      >>> f = olympus.ffi.ffi_call('double', kind, custom_call_api_version=1)
      >>> f(olympus.numpy.float32(4))
      Array(8., dtype=float32)
    """
    traits = kwargs.pop("traits", 0)
    if kwargs:
        raise TypeError(
            f"register_ffi_target: there is no option {min(kwargs)!r}; 'traits' is one"
        )
    stages = fn.values() if isinstance(fn, Mapping) else (fn,)
    for stage in stages:
        if type(stage).__name__ != "PyCapsule":
            raise TypeError(
                f"register_ffi_target: the function of {name!r} must be a capsule, got "
                f"{type(stage).__name__}; make one with ffi.pycapsule(function)"
            )
    fn = dict(fn) if isinstance(fn, Mapping) else fn
    foreign_functions.register_target(name, fn, platform, api_version, traits)


def register_ffi_type(
    name: str, type_registration: Mapping[str, Any], platform: str = "cpu"
) -> None:
    """Says what a type is of which functions keep states between their stages.

    Args:
      name: the name that the C++ code gives it.
      type_registration: capsules of its 'type_id' and its 'type_info'.
      platform: as for `register_ffi_target`.
    """
    foreign_functions.register_type(name, dict(type_registration), platform)


def register_ffi_type_id(name: str, obj: Any, platform: str = "cpu") -> None:
    """`register_ffi_type` for a type without an info: `obj` is that of its id."""
    foreign_functions.register_type(name, {"type_id": obj}, platform)


def register_ffi_target_as_batch_partitionable(name: str) -> None:
    """Says that a function treats the parts along leading axes one by one.

    Programs over several devices then divide its calls along those axes.
    """
    foreign_functions.register_as_batch_partitionable(name)


def pycapsule(funcptr: Any) -> Any:
    """The capsule of a function's address.

    Args:
      funcptr: a function of a library that `ctypes` has loaded, or a pointer of
        `ctypes`, `cffi` (as an integer) or Numba (its `address`).

    Example:
      >>> import ctypes
      >>> import olympus
      >>> type(olympus.ffi.pycapsule(ctypes.pythonapi.Py_IncRef)).__name__
      'PyCapsule'
    """
    return foreign_functions.capsule(funcptr)


def include_dir() -> str:
    """The folder with the headers `xla/ffi/api/ffi.h` and `c_api.h`.

    Example:
      >>> import os
      >>> import olympus
      >>> os.path.exists(os.path.join(olympus.ffi.include_dir(), 'xla/ffi/api/ffi.h'))
      True
    """
    return foreign_functions.include_directory()


def ffi_lowering(
    call_target_name: str,
    *,
    operand_layouts: Layouts | None = None,
    result_layouts: Layouts | None = None,
    backend_config: Mapping[str, Any] | str | None = None,
    skip_ffi_layout_processing: bool = False,
    **lowering_args: Any,
) -> Callable[..., Any]:
    """A rule for `interpreters.mlir.register_lowering` that calls such a function.

    The parameters of the primitive become the attributes of the call.

    Args:
      call_target_name: the name that it is registered by.
      operand_layouts, result_layouts: for each array a `Layout`, the order of its axes
        with the smallest strides first, or None; default row-major.
      backend_config: more attributes; a string for the older interface.
      skip_ffi_layout_processing: leave layouts to the compiler, whatever is given.
      **lowering_args: `has_side_effect`, `operand_output_aliases` and `api_version`.

    Returns:
      The rule. Rules that build MLIR operations may call it, as `rule(ctx, *operands,
      **attributes)`, for values of the types `ctx.avals_out`.

    Raises:
      TypeError: there is no such option.

    Example:
      >>> import numpy as np
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> from olympus.extend import core
      >>> from olympus.interpreters import mlir
      >>> factor_p = core.Primitive('factor')
      >>> factor_p.multiple_results = True
      >>> _ = factor_p.def_abstract_eval(
      ...     lambda x, uplo: (x, x.update(shape=(), dtype=np.dtype('int32'))))
      >>> rule = olympus.ffi.ffi_lowering('lapack_spotrf_ffi')
      >>> _ = mlir.register_lowering(factor_p, rule)
      >>> factor = olympus.jit(lambda x: factor_p.bind(x, uplo=np.uint8(ord('L')))[0])
      >>> factor(onp.eye(2) * 4)
      Array([[2., 0.],
             [0., 2.]], dtype=float32)
    """
    return foreign_rules.ForeignRule(
        call_target_name,
        operand_layouts=operand_layouts,
        result_layouts=result_layouts,
        config=backend_config,
        open_layouts=skip_ffi_layout_processing,
        options=lowering_args,
    )


def build_ffi_lowering_function(
    call_target_name: str,
    *,
    operand_layouts: Layouts | None = None,
    result_layouts: Layouts | None = None,
    backend_config: Mapping[str, Any] | str | None = None,
    skip_ffi_layout_processing: bool = False,
    **lowering_args: Any,
) -> Callable[..., Any]:
    """What builds the MLIR operation of such a call, in a rule that builds operations.

    Args:
      call_target_name: the name that it is registered by.
      operand_layouts, result_layouts, backend_config, skip_ffi_layout_processing: as
        for `ffi_lowering`.
      **lowering_args: the same.

    Returns:
      A function of the rule's context, of MLIR values and, by keyword, of attributes.
    """
    layouts = {
        "operand_layouts": operand_layouts,
        "result_layouts": result_layouts,
        "skip_ffi_layout_processing": skip_ffi_layout_processing,
    }
    config = {"backend_config": backend_config, **layouts, **lowering_args}
    rule = ffi_lowering(call_target_name, **config)

    def build(ctx: Any, *operands: Any, **attributes: Any) -> Any:
        return ctx.call_foreign(rule, operands, attributes)

    return build
