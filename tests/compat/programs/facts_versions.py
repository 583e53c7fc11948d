"""What the package says of itself."""

import importlib.metadata
import importlib.util
import types

import jax
import jax.numpy as jnp

print(type(jax.__version__).__name__, type(jax.__version_info__).__name__, len(jax.__version_info__) >= 3)
print(tuple(int(p) for p in jax.__version__.split(".")[:3]) == jax.__version_info__[:3])
print(tuple(int(p) for p in jax.__version__.split(".")[:3]) >= (0, 4, 30), jax.__version_info__ >= (0, 10))
print(importlib.metadata.version("jax") == jax.__version__, importlib.metadata.distribution("jax").metadata["Name"])
print(importlib.util.find_spec("jax").name, importlib.util.find_spec("jax.numpy").parent, importlib.util.find_spec("jax.no_module"))
print(jax.__name__, jax.__package__, bool(jax.__file__), bool(jax.__path__), jax.numpy.__name__, jax.__spec__.name)
for name in ["numpy", "lax", "random", "nn", "scipy", "tree", "tree_util", "config", "debug", "dtypes", "errors", "export", "profiler", "stages", "sharding", "typing", "image", "ops", "dlpack", "distributed", "monitoring", "interpreters", "custom_derivatives", "util"]:
    print(name, isinstance(getattr(jax, name, None), types.ModuleType), end="; ")
print()
import jax.scipy.special
import jax.scipy.stats
import jax.experimental.sparse
import jax.experimental.ode
import jax.example_libraries.stax
from jax import Array, Device, ShapeDtypeStruct, device_get, grad, jit, vmap
from jax.numpy import sin as own_sin
from jax.typing import ArrayLike, DTypeLike
from jax.sharding import Mesh, NamedSharding, PartitionSpec

print(own_sin is jnp.sin, jax.numpy is jnp, jit is jax.jit, Array is jax.Array, PartitionSpec is jax.P)
print(isinstance(jnp.ones(1), Array), issubclass(bool, object), isinstance(jax.devices()[0], Device))
print(jax.default_backend(), jax.devices()[0].platform, jax.extend.backend.get_backend().platform if hasattr(jax, "extend") else "cpu")
print(jax.process_count(), jax.process_index(), jax.local_device_count() >= 1, jax.device_count() == len(jax.devices()))
print("sin" in dir(jnp), "jit" in dir(jax), len(dir(jnp)) > 300, callable(jax.print_environment_info))
print("jax" in jax.print_environment_info(return_string=True), "numpy" in jax.print_environment_info(return_string=True))
print(jnp.pi, jnp.e, jnp.newaxis, jnp.inf, jnp.euler_gamma, jnp.nan)
namespace = {}
exec("from jax.numpy import *", namespace)
print("einsum" in namespace, "float32" in namespace)
