"""Diagrams of shardings: in characters, with colours and as pictures."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import olympus
from olympus._src.sharding.diagrams import Diagram
from olympus.sharding import AbstractMesh, NamedSharding, PartitionSpec
from tests.sharding.meshes import divide, mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec


def named(*spec, over=None):
    return NamedSharding(over or mesh(4, 2), P(*spec))


DRAWN = {
    "two axes": (
        (4, 8),
        P("x", "y"),
        """
        ┌────────┬────────┐
         │ CPU 0  │ CPU 1  │
        ├────────┼────────┤
         │ CPU 2  │ CPU 3  │
        ├────────┼────────┤
         │ CPU 4  │ CPU 5  │
        ├────────┼────────┤
         │ CPU 6  │ CPU 7  │
        └────────┴────────┘""",
    ),
    "copies": (
        (8, 4),
        P("y"),
        """
        ┌─────────────┐
        │             │
        │             │
        │ CPU 0,2,4,6 │
        │             │
        │             │
        ├─────────────┤
        │             │
        │             │
        │ CPU 1,3,5,7 │
        │             │
        │             │
        └─────────────┘""",
    ),
    "one axis": (
        (8,),
        P("x"),
        """
        ┌─────────┬─────────┬─────────┬─────────┐
        │ CPU 0,1 │ CPU 2,3 │ CPU 4,5 │ CPU 6,7 │
        └─────────┴─────────┴─────────┴─────────┘""",
    ),
    "no axes": (
        (),
        P(),
        """
        ┌─────────────────────┐
        │ CPU 0,1,2,3,4,5,6,7 │
        └─────────────────────┘""",
    ),
    "three axes": (
        (4, 2, 4),
        P("y", None, "x"),
        """
        [0:2, ...]
        ┌───────┬───────┬───────┬───────┐
        │       │       │       │       │
        │       │       │       │       │
        │       │       │       │       │
        │ CPU 0 │ CPU 2 │ CPU 4 │ CPU 6 │
        │       │       │       │       │
        │       │       │       │       │
        │       │       │       │       │
        └───────┴───────┴───────┴───────┘
        [2:4, ...]
        ┌───────┬───────┬───────┬───────┐
        │       │       │       │       │
        │       │       │       │       │
        │       │       │       │       │
        │ CPU 1 │ CPU 3 │ CPU 5 │ CPU 7 │
        │       │       │       │       │
        │       │       │       │       │
        │       │       │       │       │
        └───────┴───────┴───────┴───────┘""",
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_diagrams_in_characters(name, capsys):
    shape, spec, expected = DRAWN[name]
    olympus.debug.visualize_sharding(shape, NamedSharding(mesh(4, 2), spec))
    lines = [line.strip() for line in expected.strip().splitlines()]
    assert capsys.readouterr().out.splitlines() == lines


def test_all_parts_are_of_one_size():
    text = str(Diagram((64, 32), named("x", "y")))
    lines = text.splitlines()
    assert len({len(line) for line in lines}) == 1
    borders = [i for i, line in enumerate(lines) if line[0] in "┌├└"]
    assert len(borders) == 5
    assert len(set(np.diff(borders))) == 1


def test_options(capsys):
    show = olympus.debug.visualize_sharding
    show((8, 8), named("x", "y"), scale=3.0, min_width=20)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines[0]) == 2 * 19 + 1
    assert len(lines) > 20
    show((8,), named(("x", "y")), max_width=30)
    (_, row, _) = capsys.readouterr().out.splitlines()
    assert len(row) <= 30
    assert [w in row for w in ("CPU 0", "CPU 3", "CPU 7", "…")] == [1, 0, 1, 1]


def test_many_parts_are_left_out():
    """A diagram for a thousand devices fits on a page."""
    devices = [types.SimpleNamespace(platform="tpu", id=i) for i in range(1024)]

    class Sharding:
        def devices_indices_map(self, shape):
            return {
                _Hashed(d): (slice(d.id // 32, d.id // 32 + 1), slice(d.id % 32, None))
                for d in devices
            }

        def shard_shape(self, shape):
            return (1, 1)

    lines = str(Diagram((32, 32), Sharding())).splitlines()
    assert len(lines) < 40
    assert all(len(line) <= 80 for line in lines)
    assert "TPU 1023" in lines[-2]
    assert "⋮" in "".join(lines)


class _Hashed:
    def __init__(self, device):
        self.platform, self.id = device.platform, device.id


def test_colours_are_for_terminals(monkeypatch, capsys):
    show, where = olympus.debug.visualize_sharding, named("x", "y")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    show((8, 8), where, color_map=lambda number: (number, 0.0, 0.0, 1.0))
    out = capsys.readouterr().out
    assert "48;2;0;0;0m" in out
    assert "48;2;223;0;0m" in out
    for options, value in (({"use_color": False}, ""), ({}, "1")):
        monkeypatch.setenv("NO_COLOR", value)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        show((8, 8), where, **options)
        assert "\x1b" not in capsys.readouterr().out


def test_pictures():
    picture = Diagram((8, 8), named("x", "y"))._repr_html_()
    assert picture.count("<rect") == 8
    assert "CPU 7" in picture
    of_three = Diagram((4, 8, 8), named("x"))._repr_html_()
    assert of_three.count("<svg") == 4
    assert "[3:4, ...]" in of_three


def test_notebooks_show_pictures(monkeypatch, capsys):
    shown = []
    ipython = types.SimpleNamespace(
        get_ipython=lambda: types.SimpleNamespace(kernel=object())
    )
    functions = types.SimpleNamespace(display=lambda x, raw: shown.append((x, raw)))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.core.display_functions", functions)
    olympus.debug.visualize_sharding((8, 8), named("x", "y"))
    ((bundle, raw),) = shown
    assert raw
    assert bundle["text/html"].startswith("<svg")
    assert bundle["text/plain"].startswith("┌")
    assert not capsys.readouterr().out


def test_refusals():
    show = olympus.debug.visualize_sharding
    with pytest.raises(TypeError, match="sharding must be a Sharding, got P"):
        show((8,), P("x"))
    with pytest.raises(ValueError, match="must be a multiple of the number of its"):
        show((6,), named("x"))
    with pytest.raises(ValueError, match="devices are defined for a sharding with a"):
        show((8,), named("x", over=AbstractMesh((4,), ("x",))))


def test_diagrams_of_arrays(capsys):
    x = divide(np.zeros((4, 8), np.float32), "x", "y")
    olympus.debug.visualize_array_sharding(x)
    outside = capsys.readouterr().out
    assert outside.splitlines() == [
        line.strip() for line in DRAWN["two axes"][2].strip().splitlines()
    ]
    f = olympus.jit(lambda x: (olympus.debug.visualize_array_sharding(x + 1), x)[1])
    f(x)
    assert capsys.readouterr().out == outside
    f(x)
    assert not capsys.readouterr().out
