"""Names of earlier releases: which still work, which warn and which are gone."""

import importlib
import warnings

import jax
import jax.numpy as jnp


def ask(module, name):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            value = getattr(importlib.import_module(module), name)
        except AttributeError:
            return "gone"
        except ImportError:
            return "no module"
    return "there" if not told else told[0].category.__name__


for module, name in [
    ("jax", "tree_map"), ("jax", "tree_leaves"), ("jax", "tree_multimap"), ("jax", "named_scope"), ("jax", "named_call"),
    ("jax", "xla_computation"), ("jax", "abstract_arrays"), ("jax", "ShapedArray"), ("jax", "host_id"), ("jax", "mask"),
    ("jax.core", "Tracer"), ("jax.core", "Primitive"), ("jax.core", "Jaxpr"), ("jax.core", "ClosedJaxpr"), ("jax.core", "ShapedArray"),
    ("jax.core", "eval_jaxpr"), ("jax.core", "Literal"), ("jax.core", "new_jaxpr_eqn"), ("jax.core", "get_aval"), ("jax.core", "raise_to_shaped"),
    ("jax.lax", "tie_in"), ("jax.lax", "linspace"), ("jax.lax", "zeros_like_array"), ("jax.lax", "pvary"), ("jax.lax", "pcast"),
    ("jax.numpy", "DeviceArray"), ("jax.numpy", "row_stack"), ("jax.numpy", "in1d"), ("jax.numpy", "trapz"), ("jax.numpy", "product"),
    ("jax.ops", "index_update"), ("jax.ops", "segment_sum"), ("jax.random", "threefry_2x32"), ("jax.random", "shuffle"),
    ("jax.tree_util", "tree_multimap"), ("jax.tree_util", "tree_map_with_path"), ("jax.interpreters.xla", "DeviceArray"), ("jax.interpreters.pxla", "ShardedDeviceArray"),
    ("jax.experimental", "host_callback"), ("jax.experimental.maps", "xmap"), ("jax.experimental.pjit", "pjit"), ("jax.experimental.shard_map", "shard_map"),
    ("jax.experimental.stax", "serial"), ("jax.experimental.optimizers", "adam"), ("jax.experimental.loops", "Scope"), ("jax.experimental", "enable_x64"), ("jax.experimental.maps", "Mesh"),
    ("jax.nn", "hard_tanh"), ("jax.nn", "normalize"), ("jax.nn", "standardize"), ("jax.scipy.linalg", "tril"), ("jax.config", "config"),
    ("jax.linear_util", "wrap_init"), ("jax.extend.linear_util", "wrap_init"), ("jax.lib", "xla_bridge"), ("jax.lib.xla_bridge", "get_backend"),
]:
    print(f"{module}.{name}: {ask(module, name)}")
