"""Where values are under a mesh that is set.

`tests/data/mesh_placement.json` has expressions, each with where its result is in JAX
in each of the contexts below (`tests/data/record_mesh_placement.py`), or "error".
`mesh_placement_differences.json` has those where ours is elsewhere, with the reason.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

CONTEXTS = (
    "none",
    "auto",
    "explicit",
    "mixed",
    "one",
    "four",
    "reversed",
    "auto and a default device",
    "old form",
    "abstract",
)


class Cases:
    """The names that the expressions use, of one library.

    Args:
      library: its package, or JAX.
      numpy: its NumPy.
      lax: its lax.
    """

    def __init__(self, library: Any, numpy: Any, lax: Any) -> None:
        sharding = library.sharding
        self.library = library
        devs = library.devices()
        P, Named = sharding.PartitionSpec, sharding.NamedSharding
        auto, explicit = sharding.AxisType.Auto, sharding.AxisType.Explicit
        make, names = library.make_mesh, ("x", "y")
        self.meshes = {
            "auto": make((4, 2), names, axis_types=(auto, auto)),
            "explicit": make((4, 2), names, axis_types=(explicit, explicit)),
            "mixed": make((4, 2), names, axis_types=(auto, explicit)),
            "one": make((1,), ("x",), axis_types=(auto,)),
            "four": sharding.Mesh(np.array(devs[4:]), "x"),
            "reversed": sharding.Mesh(np.array(devs[::-1]), "x"),
        }
        host = np.arange(8, dtype=np.float32)
        self.names: dict[str, Any] = {
            "jax": library,
            "jnp": numpy,
            "lax": lax,
            "random": library.random,
            "np": np,
            "P": P,
            "Named": Named,
            "One": sharding.SingleDeviceSharding,
            "devs": devs,
            "host": host,
            "free": numpy.arange(8.0),
            "square": numpy.ones((8, 8)),
            "on0": library.device_put(host, devs[0]),
            "on5": library.device_put(host, devs[5]),
            "divided": library.device_put(host, Named(self.meshes["auto"], P("x"))),
            "key": library.random.key(0),
            "old_key": library.random.PRNGKey(0),
            "twice": library.jit(lambda x: x * 2),
            "both": library.jit(lambda x, y: x * 2 + y),
            "auto": self.meshes["auto"],
            "explicit": self.meshes["explicit"],
            "four": self.meshes["four"],
        }

    def context(self, name: str) -> Any:
        """What `with` takes for a context."""
        if name == "none":
            return contextlib.nullcontext()
        if name == "old form":
            return self.meshes["auto"]
        if name == "abstract":
            abstract = self.meshes["auto"].abstract_mesh
            return self.library.sharding.use_abstract_mesh(abstract)
        stack = contextlib.ExitStack()
        if name == "auto and a default device":
            stack.enter_context(self.library.default_device(self.names["devs"][3]))
            name = "auto"
        stack.enter_context(self.library.set_mesh(self.meshes[name]))
        return stack

    def place(self, text: str, context: str) -> str:
        """Where the result of an expression is."""
        try:
            with self.context(context):
                value = eval(text, dict(self.names))
        except Exception:
            return "error"
        return self.describe(value)

    def describe(self, x: Any) -> str:
        """Where an array is, in words; devices of a mesh by name."""
        sharding = x.sharding
        if not hasattr(sharding, "spec"):
            kind = "on" if x.committed else "free on"
            return f"{kind} {' '.join(sorted(str(d.id) for d in sharding.device_set))}"
        entries = list(sharding.spec)
        while entries and entries[-1] is None:
            entries.pop()
        ids = [d.id for d in sharding.mesh.devices.flat]
        sizes = dict(sharding.mesh.shape)
        name = next(
            name
            for name, mesh in self.meshes.items()
            if dict(mesh.shape) == sizes and [d.id for d in mesh.devices.flat] == ids
        )
        kind = {"auto": "4x2"}.get(name, name)
        text = ", ".join(map(repr, entries))
        return f"{kind} P({text})" + ("" if x.committed else ", free")
