"""Flags of XLA for the process."""

import os

import fresh
import pytest

from olympus._src.runtime import xla_flags


@pytest.mark.parametrize("before", [None, "--xla_dump_to=/nowhere"])
def test_the_variable_is_as_before(monkeypatch, before):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    if before is not None:
        monkeypatch.setenv("XLA_FLAGS", before)
    with xla_flags.choose():
        flags = os.environ["XLA_FLAGS"].split()
        assert "--xla_enable_hlo_sharding_v3=false" in flags
        assert before is None or before in flags
    assert os.environ.get("XLA_FLAGS") == before


def test_flags_of_the_user_stay(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_enable_hlo_sharding_v3=true")
    with xla_flags.choose():
        assert os.environ["XLA_FLAGS"] == "--xla_enable_hlo_sharding_v3=true"


# From jaxlib 0.11.2 on each of these ended the process without the flag.
CHANGES = """
    import itertools
    import numpy as np, olympus
    from olympus import lax
    from olympus.sharding import AxisType, NamedSharding, PartitionSpec

    x = np.arange(36.0 * 12).reshape(36, 12)
    pairs = [
        (sizes, (None, names), names)
        for sizes in ((2, 3), (3, 2))
        for names in (("x", "y"), ("y", "x"))
    ]
    for sizes, first, second in pairs:
        mesh = olympus.make_mesh(sizes, ("x", "y"), (AxisType.Auto,) * 2)

        @olympus.jit
        def f(x):
            for spec in (first, second):
                place = NamedSharding(mesh, PartitionSpec(*spec))
                x = lax.with_sharding_constraint(x, place) * 2
            return x

        np.testing.assert_array_equal(f(x), x * 4)
    print("right")
"""


def test_divisions_by_sizes_that_do_not_divide_each_other():
    out, _ = fresh.run(CHANGES, OLYMPUS_NUM_CPU_DEVICES="8")
    assert out.strip() == "right"
