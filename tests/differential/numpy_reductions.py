"""Reductions of olympus.numpy."""

from __future__ import annotations

from tests.differential.drawing import Call, Draw
from tests.differential.entries import entries

entry = entries("numpy")


def reduction(d: Draw) -> Call:
    x = d.array("bool int uint float complex")
    return d.call(x, **d.options(axis=d.axes(x), keepdims=[True, False]))


def some_of(d: Draw) -> Call:
    """With `where`, and with `initial` where that is a number of the same kind."""
    x = d.array("bool int uint float complex")
    options = d.options(axis=d.axes(x), keepdims=[True], initial=[2])
    return d.call(x, where=d.mask(x), **options)


def truth(d: Draw) -> Call:
    x = d.array("bool int uint float complex", values="ties zeros missing")
    options = d.options(axis=d.axes(x), keepdims=[True, False], where=lambda: d.mask(x))
    return d.call(x, **options)


def extremum(d: Draw) -> Call:
    x = d.array("bool int uint float float", values="plain ties infinite extreme")
    return d.call(x, **d.options(axis=d.axes(x), keepdims=[True, False]))


def extremum_of_some(d: Draw) -> Call:
    x = d.array("int uint float", values="plain ties infinite")
    options = d.options(axis=d.axes(x), keepdims=[True])
    return d.call(x, where=d.mask(x), initial=d.pick([0, 1, 3]), **options)


ENTRIES = [
    *entry("sum prod", reduction, ulps=64, scale="args"),
    *entry("sum prod", some_of, ulps=64, scale="args", label="where"),
    *entry("mean", reduction, ulps=16, scale="args"),
    *entry("all any", truth),
    *entry("max min", extremum, ulps=0),
    *entry("max min", extremum_of_some, ulps=0, label="where"),
]

ALIASES = {"amax": "max", "amin": "min"}
