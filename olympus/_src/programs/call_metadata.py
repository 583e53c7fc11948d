"""Attributes of calls that compilers and their tools read."""

from __future__ import annotations

from typing import Any, NamedTuple

Attributes = tuple[tuple[str, str], ...]


class CallMetadata(NamedTuple):
    """The parameter `metadata` of a call.

    Attributes:
      attributes: pairs of a name and a text, sorted by name.
      of_derivative: those of calls of the linear programs that the derivative makes.
    """

    attributes: Attributes
    of_derivative: Attributes

    def __repr__(self) -> str:
        return f"{{{', '.join([f'{name}={text}' for name, text in self.attributes])}}}"


def derive(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a call of a linear program, of those of the call it is made of."""
    metadata = params.get("metadata")
    if metadata is None:
        return params
    others = {name: value for name, value in params.items() if name != "metadata"}
    own = metadata.of_derivative
    return {**others, "metadata": CallMetadata(own, own)} if own else others
