"""Primitives that programs of olympus never hold."""

from __future__ import annotations

from typing import Any

from olympus._src.api.extension import Primitive


def _unused(name: str) -> Any:
    """A primitive for the tables of libraries: no function of olympus applies it."""
    p = Primitive(name, multiple_results=True)
    p.def_impl(lambda *args, **params: list(args))
    p.def_abstract_eval(lambda *avals, **params: list(avals))
    return p


device_put_p = _unused("device_put")
select_and_scatter_p = _unused("select_and_scatter")
ragged_all_to_all_p = _unused("ragged_all_to_all")

_NOTE = "no function of olympus applies it, so that no rule registered for it is called"
APPROXIMATED = dict.fromkeys(
    ("device_put_p", "ragged_all_to_all_p", "select_and_scatter_p"), _NOTE
)

__all__ = ["device_put_p", "ragged_all_to_all_p", "select_and_scatter_p"]
