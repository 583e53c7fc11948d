"""A second process, which has no program of ours, calls what the first exported."""

from __future__ import annotations

import numpy as np
import pytest
from fresh import run

import olympus
from export.programs import PROGRAMS
from olympus import export

CHILD = """
import pathlib, sys
import numpy as np
import olympus
from olympus import export

folder = pathlib.Path({folder!r})
for file in sorted(folder.glob("*.program")):
    read = export.deserialize(file.read_bytes())
    given = np.load(file.with_suffix(".npz"))
    leaves = [given[f"arr_{{i}}"] for i in range(len(given.files))]
    args, kwargs = read.in_tree.unflatten(leaves)
    results = olympus.tree.leaves(read.call(*args, **kwargs))
    if read.has_vjp():
        moving = [a.to_tangent().dtype for a in read.out_avals]
        cotangents = [np.ones(a.shape, d) for a, d in zip(read.out_avals, moving)]
        found = read.vjp().call(*leaves, *cotangents)
        results += [x for x in found if x.dtype != olympus.float0]
    # bfloat16 is no dtype of NumPy's files.
    results = [np.asarray(x.astype("float32") if x.dtype == "bfloat16" else x)
               for x in results]
    np.savez(file.with_suffix(".results"), *results)
"""


def gradient(f, leaves, treedef):
    """The cotangents of all floating arguments for ones as those of the results."""

    def flat(*leaves):
        args, kwargs = treedef.unflatten(leaves)
        return olympus.tree.leaves(f(*args, **kwargs))

    outs, pullback = olympus.vjp(flat, *leaves)
    ones = [np.ones(x.shape, olympus.typeof(x).to_tangent().dtype) for x in outs]
    return [x for x in pullback(ones) if x.dtype != olympus.float0]


GROUPS = [sorted(PROGRAMS)[i::4] for i in range(4)]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("names", GROUPS, ids="+".join)
def test_each_program_in_a_second_process(tmp_path, names):
    wanted = {}
    for name in names:
        f, args, kwargs, smooth = PROGRAMS[name]
        exported = export.export(olympus.jit(f))(*args, **kwargs)
        data = exported.serialize(vjp_order=int(smooth))
        (tmp_path / f"{name}.program").write_bytes(data)
        leaves, treedef = olympus.tree.flatten((args, kwargs))
        np.savez(tmp_path / name, *leaves)
        wanted[name] = olympus.tree.leaves(olympus.jit(f)(*args, **kwargs))
        if smooth:
            wanted[name] += olympus.jit(gradient, static_argnums=(0, 2))(
                f, leaves, treedef
            )
    run(CHILD.format(folder=str(tmp_path)))
    for name, values in wanted.items():
        found = np.load(tmp_path / f"{name}.results.npz")
        assert len(found.files) == len(values)
        for i, value in enumerate(values):
            if value.dtype == "bfloat16":
                value = value.astype("float32")
            given = found[f"arr_{i}"]
            assert given.dtype == value.dtype
            np.testing.assert_allclose(given, value, rtol=1e-4, atol=1e-5, err_msg=name)
