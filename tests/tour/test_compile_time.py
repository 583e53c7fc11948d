"""Programs that some compilers wrote anew without end: each must compile at all.

They run cold in a process of their own, since nothing stops a compiler that is at work.
The limit is far above what they take on a busy machine, and tells only that they end.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.tour
LIMIT_S = 300

_START = """
import olympus
import olympus.numpy as jnp
from olympus import lax, random

olympus.config.update("olympus_enable_compilation_cache", False)
vmap = olympus.vmap


def draw_in_a_row(k, draw, step, n=8):
    out = 0.0
    for i in range(n):
        k, s = step(k, i)
        out = out + draw(s).astype("float32").sum()
    return out


def run(program):
    out = olympus.jit(program)(random.key(0))
    olympus.block_until_ready(out)


split = lambda k, i: random.split(k)
fold = lambda k, i: (random.fold_in(k, i),) * 2
from_one = lambda k, i: (k, random.fold_in(k, i))
"""

# One expression each, of a key `k`.
PROGRAMS = {
    "split keys, mapped": "vmap(random.uniform)(random.split(k, 8))",
    "folded keys, mapped": (
        "vmap(lambda i: random.uniform(random.fold_in(k, i)))(jnp.arange(8))"
    ),
    "splits in a row": "draw_in_a_row(k, random.normal, split)",
    "bits as data": "random.uniform(random.fold_in(k, random.bits(k)))",
    "narrow floats": "random.normal(k, (3,), dtype='float8_e4m3fn')",
    "arithmetic of narrow floats": (
        "jnp.exp(jnp.maximum(random.uniform(k, (3,), 'float8_e5m2') * 2 + 1, 2))"
    ),
}
MORE_PROGRAMS = {
    "mapped twice": (
        "vmap(vmap(random.uniform))(vmap(lambda k: random.split(k, 3))"
        "(random.split(k, 8)))"
    ),
    "folded in a chain": "draw_in_a_row(k, random.uniform, fold)",
    "folded from one": "draw_in_a_row(k, random.bits, from_one)",
    "key of bits": "random.uniform(random.key(random.bits(k)))",
    "in a loop": (
        "lax.fori_loop(0, 5, lambda i, c: c + random.normal(random.fold_in(k, i)), 0.)"
    ),
    "carried": (
        "lax.scan(lambda k, _: (random.split(k)[0], random.normal(k)), k, None, 5)[1]"
    ),
    **{
        f"mapped {name}": f"vmap(lambda k: random.{call})(random.split(k, 8))"
        for name, call in {
            "gamma": "gamma(k, 2.0)",
            "poisson": "poisson(k, 3.0)",
            "permutation": "permutation(k, 10)",
            "categorical": "categorical(k, jnp.zeros(4))",
            "choice": "choice(k, 10, (3,), replace=False)",
            "multivariate": "multivariate_normal(k, jnp.zeros(3), jnp.eye(3))",
        }.items()
    },
    **{
        f"{name} of {dtype}": f"random.{name}(k, shape=(3,), dtype='{dtype}')"
        for name in ("uniform", "normal", "gumbel", "exponential")
        for dtype in ("float8_e5m2", "float8_e3m4", "bfloat16", "float16")
    },
}


def _compile_all(programs):
    """Runs programs one after another in a process; raises at the one that hangs."""
    lines = [textwrap.dedent(_START)]
    for name, expression in programs.items():
        lines.append(f"print({name!r}, flush=True)")
        lines.append(f"run(lambda k: {expression})")
    process = subprocess.Popen(
        [sys.executable, "-c", "\n".join(lines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        out, errors = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        started = out.splitlines()
        raise AssertionError(f"did not end: {started[-1:]}") from None
    assert process.returncode == 0, errors
    assert out.splitlines() == list(programs)


@pytest.mark.slow
def test_hashes_of_hashes_compile():
    _compile_all(PROGRAMS)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_more_programs_compile(part):
    _compile_all(dict(list(MORE_PROGRAMS.items())[part::4]))
