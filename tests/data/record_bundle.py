"""Writes tests/data/bundle_*.bin with the jaxlib that is installed.

Run from the root of the repository, once in an environment of each jaxlib:

    PYTHONPATH=. python tests/data/record_bundle.py

Files that are there stay readable for good: write new ones beside them where the format
of bundles gets a new version. They hold no machine code, which other machines refuse.
"""

import collections
import pathlib
from importlib.metadata import version

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import bundle, export, random

State = collections.namedtuple("State", "mean count")
TABLE = np.linspace(-1, 1, 1200, dtype=np.float32)


@olympus.jit
def advance(state, x, *, key):
    """A step of a moving mean, with a little noise."""
    noise = random.bits(key, (3,)) % 7
    x = x.astype(jnp.float32) + TABLE[::600].sum() + noise
    return State(0.9 * state.mean + 0.1 * x, state.count + 1), [x.astype("bfloat16")]


if __name__ == "__main__":
    export.register_namedtuple_serialization(State, serialized_name="tests.State")
    state = State(jnp.zeros(3), np.int32(4))
    x = jnp.asarray([1, 2, 3], "bfloat16")
    made = bundle.make(advance, executables=False)(state, x, key=random.key(5))
    number = ".".join(version("jaxlib").split(".")[:3])
    made.save(pathlib.Path(__file__).parent / f"bundle_advance_{number}.bin")
