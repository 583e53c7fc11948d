"""olympus: composable transformations of array programs.

Functions over `olympus.numpy` are traced to a small typed language, the olympuspr,
which is transformed, compiled by XLA and run. See `olympus.jit`,
`olympus.make_olympuspr` and `olympus.numpy` first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from olympus._src.foundation.collector import Paused as _Paused

with _Paused():
    from olympus._src.api.grad import grad as grad
    from olympus._src.api.grad import value_and_grad as value_and_grad
    from olympus._src.api.jit import jit as jit
    from olympus._src.api.named_scopes import (
        ensure_compile_time_eval as ensure_compile_time_eval,
    )
    from olympus._src.api.named_scopes import named_call as named_call
    from olympus._src.api.named_scopes import named_scope as named_scope
    from olympus._src.api.placement import Device as Device
    from olympus._src.api.placement import block_until_ready as block_until_ready
    from olympus._src.api.placement import clear_caches as clear_caches
    from olympus._src.api.placement import copy_to_host_async as copy_to_host_async
    from olympus._src.api.placement import default_backend as default_backend
    from olympus._src.api.placement import device_count as device_count
    from olympus._src.api.placement import device_get as device_get
    from olympus._src.api.placement import device_put as device_put
    from olympus._src.api.placement import devices as devices
    from olympus._src.api.placement import effects_barrier as effects_barrier
    from olympus._src.api.placement import host_count as host_count
    from olympus._src.api.placement import host_id as host_id
    from olympus._src.api.placement import host_ids as host_ids
    from olympus._src.api.placement import live_arrays as live_arrays
    from olympus._src.api.placement import local_device_count as local_device_count
    from olympus._src.api.placement import local_devices as local_devices
    from olympus._src.api.placement import (
        print_environment_info as print_environment_info,
    )
    from olympus._src.api.placement import process_count as process_count
    from olympus._src.api.placement import process_index as process_index
    from olympus._src.api.placement import process_indices as process_indices
    from olympus._src.api.shapes import ShapeDtypeStruct as ShapeDtypeStruct
    from olympus._src.api.shapes import typeof as typeof
    from olympus._src.api.staging import eval_shape as eval_shape
    from olympus._src.api.staging import make_olympuspr as make_olympuspr
    from olympus._src.core.array_type import Array as Array
    from olympus._src.core.dtypes import float0 as float0
    from olympus._src.foundation.config import (
        allow_f16_reductions as allow_f16_reductions,
    )
    from olympus._src.foundation.config import (
        array_garbage_collection_guard as array_garbage_collection_guard,
    )
    from olympus._src.foundation.config import (
        check_tracer_leaks as check_tracer_leaks,
    )
    from olympus._src.foundation.config import (
        checking_leaks as checking_leaks,
    )
    from olympus._src.foundation.config import (
        config as config,
    )
    from olympus._src.foundation.config import (
        debug_infs as debug_infs,
    )
    from olympus._src.foundation.config import (
        debug_key_reuse as debug_key_reuse,
    )
    from olympus._src.foundation.config import (
        debug_nans as debug_nans,
    )
    from olympus._src.foundation.config import (
        default_device as default_device,
    )
    from olympus._src.foundation.config import (
        default_matmul_precision as default_matmul_precision,
    )
    from olympus._src.foundation.config import (
        default_prng_impl as default_prng_impl,
    )
    from olympus._src.foundation.config import (
        disable_jit as disable_jit,
    )
    from olympus._src.foundation.config import (
        enable_checks as enable_checks,
    )
    from olympus._src.foundation.config import (
        enable_custom_prng as enable_custom_prng,
    )
    from olympus._src.foundation.config import (
        enable_x64 as enable_x64,
    )
    from olympus._src.foundation.config import (
        explain_cache_misses as explain_cache_misses,
    )
    from olympus._src.foundation.config import (
        legacy_prng_key as legacy_prng_key,
    )
    from olympus._src.foundation.config import (
        log_compiles as log_compiles,
    )
    from olympus._src.foundation.config import (
        make_user_context as make_user_context,
    )
    from olympus._src.foundation.config import (
        no_execution as no_execution,
    )
    from olympus._src.foundation.config import (
        no_tracing as no_tracing,
    )
    from olympus._src.foundation.config import (
        numpy_dtype_promotion as numpy_dtype_promotion,
    )
    from olympus._src.foundation.config import (
        numpy_rank_promotion as numpy_rank_promotion,
    )
    from olympus._src.foundation.config import (
        softmax_custom_jvp as softmax_custom_jvp,
    )
    from olympus._src.foundation.config import (
        thread_guard as thread_guard,
    )
    from olympus._src.foundation.config import (
        threefry_partitionable as threefry_partitionable,
    )
    from olympus._src.foundation.config import (
        transfer_guard as transfer_guard,
    )
    from olympus._src.foundation.config import (
        transfer_guard_device_to_device as transfer_guard_device_to_device,
    )
    from olympus._src.foundation.config import (
        transfer_guard_device_to_host as transfer_guard_device_to_host,
    )
    from olympus._src.foundation.config import (
        transfer_guard_host_to_device as transfer_guard_host_to_device,
    )

    # Gives arrays and traced values their operators and methods.
    from olympus._src.foundation.lazy_names import Late as _Late
    from olympus._src.foundation.lazy_names import claim as _claim
    from olympus._src.foundation.lazy_names import guard_methods as _guard_methods
    from olympus._src.numpy import array_methods as _methods  # noqa: F401
    from olympus.version import __version__ as __version__

if _TYPE_CHECKING:
    from olympus import ad as ad
    from olympus import ad_checkpoint as ad_checkpoint
    from olympus import api_util as api_util
    from olympus import bundle as bundle
    from olympus import checkpoint_policies as checkpoint_policies
    from olympus import compat as compat
    from olympus import core as core
    from olympus import custom_batching as custom_batching
    from olympus import custom_derivatives as custom_derivatives
    from olympus import debug as debug
    from olympus import distributed as distributed
    from olympus import dlpack as dlpack
    from olympus import dtypes as dtypes
    from olympus import errors as errors
    from olympus import example_libraries as example_libraries
    from olympus import experimental as experimental
    from olympus import export as export
    from olympus import extend as extend
    from olympus import ffi as ffi
    from olympus import flatten_util as flatten_util
    from olympus import image as image
    from olympus import interpreters as interpreters
    from olympus import lax as lax
    from olympus import memory as memory
    from olympus import monitoring as monitoring
    from olympus import nn as nn
    from olympus import numpy as numpy
    from olympus import ops as ops
    from olympus import profiler as profiler
    from olympus import random as random
    from olympus import ref as ref
    from olympus import scipy as scipy
    from olympus import sharding as sharding
    from olympus import stages as stages
    from olympus import test_util as test_util
    from olympus import tree as tree
    from olympus import tree_util as tree_util
    from olympus import typing as typing
    from olympus import version as version
    from olympus._src.api.custom_gradient import closure_convert as closure_convert
    from olympus._src.api.custom_gradient import custom_gradient as custom_gradient
    from olympus._src.api.custom_jvp import custom_jvp as custom_jvp
    from olympus._src.api.custom_vjp import custom_vjp as custom_vjp
    from olympus._src.api.explicit_axes import reshard as reshard
    from olympus._src.api.forward_mode import jvp as jvp
    from olympus._src.api.forward_mode import linearize as linearize
    from olympus._src.api.global_arrays import (
        make_array_from_callback as make_array_from_callback,
    )
    from olympus._src.api.global_arrays import (
        make_array_from_process_local_data as make_array_from_process_local_data,
    )
    from olympus._src.api.global_arrays import (
        make_array_from_single_device_arrays as make_array_from_single_device_arrays,
    )
    from olympus._src.api.inlining import Inline as Inline
    from olympus._src.api.jacobians import hessian as hessian
    from olympus._src.api.jacobians import jacfwd as jacfwd
    from olympus._src.api.jacobians import jacobian as jacobian
    from olympus._src.api.jacobians import jacrev as jacrev
    from olympus._src.api.mesh_setting import set_mesh as set_mesh
    from olympus._src.api.pmap import pmap as pmap
    from olympus._src.api.remat import checkpoint as checkpoint
    from olympus._src.api.remat import remat as remat
    from olympus._src.api.retraces import explain_retraces as explain_retraces
    from olympus._src.api.reverse_mode import fwd_and_bwd as fwd_and_bwd
    from olympus._src.api.reverse_mode import linear_transpose as linear_transpose
    from olympus._src.api.reverse_mode import vjp as vjp
    from olympus._src.api.shard_map import shard_map as shard_map
    from olympus._src.api.shard_map import smap as smap
    from olympus._src.api.vmap import vmap as vmap
    from olympus._src.callbacks.host_calls import pure_callback as pure_callback
    from olympus._src.core.refs import Ref as Ref
    from olympus._src.foundation.compiler_settings import (
        CompilerEffortLevel as CompilerEffortLevel,
    )
    from olympus._src.interpreters.concrete_arrays import Shard as Shard
    from olympus._src.lens.calls import load_ipython_extension as load_ipython_extension
    from olympus._src.lens.timeline import timeline as timeline
    from olympus._src.lens.view import lens as lens
    from olympus._src.refs.functions import empty_ref as empty_ref
    from olympus._src.refs.functions import free_ref as free_ref
    from olympus._src.refs.functions import freeze as freeze
    from olympus._src.refs.functions import new_ref as new_ref
    from olympus._src.refs.positions import ds as ds
    from olympus._src.sharding.contexts import get_abstract_mesh as get_abstract_mesh
    from olympus._src.sharding.contexts import get_mesh as get_mesh
    from olympus._src.sharding.contexts import use_abstract_mesh as use_abstract_mesh
    from olympus._src.sharding.meshes import make_mesh as make_mesh
    from olympus._src.sharding.named import NamedSharding as NamedSharding
    from olympus._src.sharding.specs import P as P

_PAGES = frozenset(
    [
        "ad",
        "ad_checkpoint",
        "api_util",
        "bundle",
        "checkpoint_policies",
        "compat",
        "core",
        "custom_batching",
        "custom_derivatives",
        "debug",
        "distributed",
        "dlpack",
        "dtypes",
        "errors",
        "example_libraries",
        "experimental",
        "export",
        "extend",
        "ffi",
        "flatten_util",
        "image",
        "interpreters",
        "lax",
        "memory",
        "monitoring",
        "nn",
        "numpy",
        "ops",
        "profiler",
        "random",
        "ref",
        "scipy",
        "sharding",
        "stages",
        "test_util",
        "tree",
        "tree_util",
        "typing",
        "version",
    ]
)

# Loaded at their first use, by the file they come from.
_LATE = {
    "api.custom_gradient": "closure_convert custom_gradient",
    "api.custom_jvp": "custom_jvp",
    "api.custom_vjp": "custom_vjp",
    "api.explicit_axes": "reshard",
    "api.forward_mode": "jvp linearize",
    "api.inlining": "Inline",
    "api.global_arrays": (
        "make_array_from_callback make_array_from_process_local_data "
        "make_array_from_single_device_arrays"
    ),
    "api.jacobians": "hessian jacfwd jacobian jacrev",
    "api.mesh_setting": "set_mesh",
    "api.pmap": "pmap",
    "api.remat": "checkpoint remat",
    "api.retraces": "explain_retraces",
    "api.reverse_mode": "fwd_and_bwd linear_transpose vjp",
    "api.shard_map": "shard_map smap",
    "api.vmap": "vmap",
    "callbacks.host_calls": "pure_callback",
    "core.refs": "Ref",
    "foundation.compiler_settings": "CompilerEffortLevel",
    "refs.functions": "empty_ref free_ref freeze new_ref",
    "refs.positions": "ds",
    "interpreters.concrete_arrays": "Shard",
    "lens.calls": "load_ipython_extension",
    "lens.timeline": "timeline",
    "lens.view": "lens",
    "sharding.contexts": "get_abstract_mesh get_mesh use_abstract_mesh",
    "sharding.meshes": "make_mesh",
    "sharding.named": "NamedSharding",
    "sharding.specs": "P",
}

_late = _Late(__name__, _PAGES, _LATE)

_claim(__name__)
_guard_methods(type(config))
