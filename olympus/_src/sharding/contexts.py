"""The default mesh of programs, set for a thread or a block."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from olympus._src.foundation.setting_states import State
from olympus._src.runtime import client
from olympus._src.sharding import meshes
from olympus._src.sharding.meshes import NO_MESH, AbstractMesh, Mesh


def _as_is(value: Any) -> Any:
    return value


# Programs depend on the axes of the mesh, and are lowered for its devices.
_mesh = State("olympus mesh", _as_is, NO_MESH, "The mesh of `set_mesh`.", traces=True)
_abstract_mesh = State(
    "olympus abstract mesh",
    _as_is,
    None,
    "The mesh of `use_abstract_mesh`; None where the mesh of `set_mesh` applies.",
    traces=True,
)
# On which programs run and values are for which no place was chosen; None: on the
# default device. The old form, `with mesh:`, names axes for specs, but places nothing.
# Where no thread is in a block, which `blocks` tells fastest, it is None.
default_mesh = State(
    "olympus default mesh",
    _as_is,
    None,
    "The mesh of `set_mesh`, on which values are for which no place was chosen.",
    traces=True,
)


meshes.install_blocks(_mesh)


def get_mesh() -> Mesh:
    """The mesh that `set_mesh` set; an empty one if none is set.

    Example:
      >>> from olympus.sharding import get_mesh
      >>> get_mesh().empty
      True
    """
    mesh: Mesh = _mesh.value
    return mesh


def get_abstract_mesh() -> AbstractMesh:
    """The axes of the mesh that programs are traced for.

    Returns:
      The mesh of `use_abstract_mesh`, else that of `set_mesh`; an empty one where
      neither is set.
    """
    mesh: AbstractMesh | None = _abstract_mesh.value
    return get_mesh().abstract_mesh if mesh is None else mesh


def enter_mesh(mesh: Mesh) -> contextlib.ExitStack:
    """Sets the mesh of this thread, until the stack that is returned is closed."""
    if not mesh.empty:
        client.note_mesh()
    blocks = contextlib.ExitStack()
    blocks.enter_context(_mesh(mesh))
    blocks.enter_context(default_mesh(None if mesh.empty else mesh))
    return blocks


def name_axes_of(mesh: Any) -> contextlib.AbstractContextManager[Any]:
    """A block in which specs are of a mesh, where none is set; nothing is placed on it.

    Args:
      mesh: it; one without devices names nothing.
    """
    if isinstance(mesh, Mesh) and get_mesh().empty:
        return _mesh(mesh)
    return contextlib.nullcontext()


@contextlib.contextmanager
def use_abstract_mesh(mesh: AbstractMesh) -> Iterator[None]:
    """Traces the programs of a `with` block for a mesh without devices.

    Args:
      mesh: the mesh.

    Raises:
      TypeError: `mesh` is not an `AbstractMesh`.
    """
    if not isinstance(mesh, AbstractMesh):
        raise TypeError(
            f"use_abstract_mesh: mesh must be an AbstractMesh, got {mesh!r}; write "
            "mesh.abstract_mesh"
        )
    with _abstract_mesh(mesh):
        yield
