"""Tables of JAX's core."""

from olympus._src.api.value_types import pytype_aval_mappings as pytype_aval_mappings

DEPRECATED = {"pytype_aval_mappings": "give the type the method __jax_array__"}

__all__: list[str] = []
