"""Where an operation comes from, as libraries read and write it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from olympus._src.core import scopes, trace
from olympus._src.foundation import config
from olympus._src.sharding.meshes import NO_MESH, AbstractMesh


class NameStack(NamedTuple):
    """The names of the scopes that are open.

    Attributes:
      stack: the names, the outermost first.

    Example:
      >>> from olympus.extend import source_info_util
      >>> print(source_info_util.new_name_stack('layer').extend('dense'))
      layer/dense
    """

    stack: tuple[str, ...] = ()

    def extend(self, name: str) -> NameStack:
        """The stack with one more scope inside."""
        return NameStack((*self.stack, name))

    def transform(self, transform_name: str) -> NameStack:
        """The stack with a transformation inside, as in `jvp()`."""
        return NameStack((*self.stack, f"{transform_name}()"))

    def __add__(self, other: Any) -> NameStack:
        return NameStack((*self.stack, *other.stack))

    def __radd__(self, other: Any) -> NameStack:
        return NameStack((*other.stack, *self.stack))

    def __str__(self) -> str:
        return "/".join(self.stack)


class SourceInfo:
    """Where an operation comes from.

    Args:
      traceback: the user's position; None where it is not known.
      name_stack: the scopes around it.
    """

    __slots__ = ("name_stack", "traceback")

    def __init__(self, traceback: Any, name_stack: NameStack) -> None:
        self.traceback = traceback
        self.name_stack = name_stack

    def replace(self, **changes: Any) -> SourceInfo:
        """The same with another traceback or name stack."""
        fields = {"traceback": self.traceback, "name_stack": self.name_stack}
        return SourceInfo(**{**fields, **changes})


class EquationContext:
    """The settings that an equation was recorded under, as libraries read them.

    An interpreter of programs repeats them where it binds the operation again:

        with eqn.ctx.manager:
            outs = eqn.primitive.bind(*args, **eqn.params)

    Args:
      scope: that of the equation; see `core.scopes`.
      avals: types of its operands and results.
    """

    __slots__ = ("_avals", "_scope")

    # Where an operation computes is no property of equations here.
    compute_type: None = None

    def __init__(self, scope: scopes.Scope, avals: tuple[Any, ...]) -> None:
        self._scope = scope
        self._avals = avals

    @property
    def xla_metadata(self) -> dict[str, str] | None:
        """Attributes for the compiler; None if there are none."""
        return dict(scopes.attributes(self._scope)) or None

    @property
    def cur_abstract_mesh(self) -> AbstractMesh:
        """The mesh whose explicit axes divide its values; the empty one if none do."""
        for aval in self._avals:
            explicit = getattr(aval, "explicit", None)
            if explicit is not None:
                mesh: AbstractMesh = explicit.mesh
                return mesh
        return NO_MESH.abstract_mesh

    @property
    def threefry_partitionable(self) -> bool:
        """Whether random bits do not depend on how programs are divided."""
        return bool(config.threefry_partitionable.value)

    @property
    def manager(self) -> contextlib.AbstractContextManager[None]:
        """A block in which operations get the equation's attributes again."""
        return _repeat_attributes(self._scope)


@contextlib.contextmanager
def _repeat_attributes(scope: scopes.Scope) -> Iterator[None]:
    attributes = scopes.attributes(scope)
    if not attributes:
        yield
        return
    outer = trace.current.scope
    merged = scopes.merge_changes([config.xla_metadata.value, attributes])
    trace.current.scope = (*outer, scopes.Metadata(attributes))
    try:
        with config.xla_metadata(merged):
            yield
    finally:
        trace.current.scope = outer
