"""Philox and the wide Threefry: the authors' known answers, and JAX's numbers."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import random
from olympus._src.random import counter_generators as ciphers

PATH = pathlib.Path(__file__).parents[1] / "data" / "counter_generators.json"
DATA = json.loads(PATH.read_text())
NAMES = ["philox2x32", "philox4x32", "threefry4x32"]

ONES = "ffffffff"
PI = "243f6a88 85a308d3 13198a2e 03707344"
# Cipher, counter, key and result, from `kat_vectors` of Random123: 10, 10, 20 rounds.
KNOWN = [
    ("philox2x32", "0 0", "0", "ff1dae59 6cd10df2"),
    ("philox2x32", f"{ONES} {ONES}", ONES, "2c3f628b ab4fd7ad"),
    ("philox2x32", "243f6a88 85a308d3", "13198a2e", "dd7ce038 f62a4c12"),
    ("philox4x32", "0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (
        "philox4x32",
        " ".join([ONES] * 4),
        " ".join([ONES] * 2),
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
    ),
    ("philox4x32", PI, "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ("threefry4x32", "0 0 0 0", "0 0 0 0", "9c6ca96a e17eae66 fc10ecd4 5256a7d8"),
    (
        "threefry4x32",
        " ".join([ONES] * 4),
        " ".join([ONES] * 4),
        "2a881696 57012287 f6c7446e a16a6732",
    ),
    (
        "threefry4x32",
        PI,
        "a4093822 299f31d0 082efa98 ec4e6c89",
        "59cd1dbb b8879579 86b5d00c ac8b6d84",
    ),
]


def words(text):
    return [jnp.uint32(int(w, 16)) for w in text.split()]


@pytest.mark.parametrize(("cipher", "counter", "key", "result"), KNOWN)
def test_known_answers(cipher, counter, key, result):
    function, key = getattr(ciphers, cipher), words(key)
    outs = function(key[0] if len(key) == 1 else key, words(counter))
    assert [int(w) for w in outs] == [int(w) for w in words(result)]


def cases():
    for group, expressions in DATA.items():
        for i, text in enumerate(expressions):
            marks = [pytest.mark.slow] if i % 3 else []
            yield pytest.param(group, text, marks=marks)


@pytest.mark.parametrize(("group", "text"), list(cases()))
def test_recorded(group, text):
    with olympus.enable_x64(group == "x64"):
        for name, expected in zip(NAMES, DATA[group][text], strict=True):
            values = eval(text, {"random": random, "impl": name})
            np.testing.assert_array_equal(np.array(values), np.array(expected))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_keys_draw_what_each_draws(name):
    keys = random.split(random.key(3, impl=name), 3)

    def draw(key, n):
        a, b = random.split(random.fold_in(key, n))
        return random.normal(a, (2,)), random.bits(b, (3,), "uint16")

    both = olympus.jit(olympus.vmap(draw, (0, 0)))(keys, jnp.arange(3))
    for i in range(3):
        for x, expected in zip(both, draw(keys[i], i), strict=True):
            np.testing.assert_allclose(x[i], expected, rtol=1e-6)
    seeded = olympus.vmap(lambda n: random.key(n, impl=name))(jnp.arange(2))
    assert seeded[1] == random.key(1, impl=name)
