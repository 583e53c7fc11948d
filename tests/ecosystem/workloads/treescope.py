"""Treescope: texts and pages of trees and arrays."""

import collections
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import treescope


@dataclasses.dataclass
class _Layer:
    weight: jax.Array
    name: str


def _tree():
    return {"layer": _Layer(jnp.arange(6.0).reshape(2, 3), "first"), "sizes": (1, 2)}


def texts():
    return {
        "tree": treescope.render_to_text(_tree()),
        "array": treescope.render_to_text(jnp.arange(4)),
        "key": treescope.render_to_text(jax.random.key(0)).splitlines()[0][:12],
        "struct": treescope.render_to_text(jax.ShapeDtypeStruct((2, 3), jnp.float32)),
        "numpy": treescope.render_to_text(np.ones((2, 2))),
        "function": "sin" in treescope.render_to_text(jnp.sin),
        "spec": treescope.render_to_text(jax.sharding.PartitionSpec("x", None)).split(
            "  #"
        )[0],
        "dtype": treescope.render_to_text(jnp.dtype("bfloat16")),
        "scalar": treescope.render_to_text(jnp.float32),
    }


def pages():
    page = treescope.render_to_html(_tree())
    return {"weight": "weight" in page, "is_page": page.lstrip().startswith("<")}


def array_figures():
    with treescope.active_autovisualizer.set_scoped(treescope.ArrayAutovisualizer()):
        page = treescope.render_to_html(_tree())
    figure = treescope.render_array(jnp.sin(jnp.arange(12.0)).reshape(3, 4))
    return {
        "has_figure": "arrayviz" in page,
        "kind": type(figure).__name__,
        "sharding": type(treescope.render_array_sharding(jnp.ones((2, 2)))).__name__,
        "truncated": "bool" in treescope.render_to_text(jnp.zeros((30, 30), bool)),
    }


def traced():
    seen = []

    @jax.jit
    def function(x):
        seen.append("Tracer" in treescope.render_to_text(x))
        return x

    function(jnp.ones(2))
    return seen


def differences():
    first, second = _tree(), _tree()
    second["sizes"] = (1, 3)
    return treescope.render_to_text(first) == treescope.render_to_text(second)


def containers():
    Pair = collections.namedtuple("Pair", "a b")
    return treescope.render_to_text([Pair(jnp.ones(2), None), {1, 2}, "text", 1.5])
