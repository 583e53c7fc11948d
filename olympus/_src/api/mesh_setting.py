"""Setting the mesh on which programs run and values are."""

from __future__ import annotations

from olympus._src.interpreters import evaluate
from olympus._src.sharding import contexts
from olympus._src.sharding.meshes import NO_MESH, Mesh


class set_mesh:
    """Sets the mesh of this thread: from now on, or for a `with` block.

    Programs whose arguments are committed to no device then run on all devices of the
    mesh, and new arrays are whole on each of them. Arrays that are committed to other
    devices are refused. `device_put` without a place still means the default device.

    Args:
      mesh: a `Mesh`; None for no mesh.

    Raises:
      TypeError: `mesh` is not a `Mesh`.
      ValueError: a function is being traced: a program runs on one mesh.

    Example:
      >>> import olympus
      >>> mesh = olympus.make_mesh((1,), ('x',))
      >>> with olympus.set_mesh(mesh):
      ...     olympus.sharding.get_mesh() is mesh
      True
    """

    def __init__(self, mesh: Mesh | None) -> None:
        if mesh is None:
            mesh = NO_MESH
        if not isinstance(mesh, Mesh):
            raise TypeError(
                f"set_mesh: mesh must be a Mesh, got {mesh!r}; for an AbstractMesh, "
                "write `with use_abstract_mesh(mesh):`"
            )
        if not evaluate.is_evaluating():
            raise ValueError(
                f"set_mesh: must be called outside of functions that are traced, got "
                f"{mesh} inside of one; set it around the call, or place values with "
                "lax.with_sharding_constraint(x, NamedSharding(mesh, spec))"
            )
        self._blocks = contexts.enter_mesh(mesh)

    def __enter__(self) -> None:
        """Nothing: the mesh is set already."""

    def __exit__(self, *error: object) -> None:
        self._blocks.close()
