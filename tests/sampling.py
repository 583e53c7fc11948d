"""Which part of a long list of cases a run takes.

One seed chooses, for all lists: the commit's hash, so that each commit takes another
part and the same commit always the same one. It is printed in the report's header.
`OLYMPUS_TEST_SEED` sets it; with `OLYMPUS_SWEEP=all` (`make full`) a run takes all.
`OLYMPUS_TEST_SHARE=4` takes every fourth test of any kind, for a short run,
`OLYMPUS_SLOW_SHARE=24` every 24th of the slow ones that are not marked otherwise,
`OLYMPUS_SAMPLED_TIMES=3` one in 3 n of those that are marked `sampled(n)`,
and `OLYMPUS_CASES_SHARE=5` every fifth case of tests that are not slow but have many.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import zlib
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def _seed_of_commit() -> int:
    """The first digits of the hash of the commit that is checked out; 0 without git."""
    folder = pathlib.Path(__file__).parent
    command = ["git", "rev-parse", "HEAD"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(done.stdout[:7], 16)


EVERYTHING = os.environ.get("OLYMPUS_SWEEP") == "all"
# Of all tests a run takes one in so many.
SHARE = int(os.environ.get("OLYMPUS_TEST_SHARE") or 1)
# Of slow tests without a mark it takes one in so many.
SLOW_SHARE = int(os.environ.get("OLYMPUS_SLOW_SHARE") or 1)
# Of slow tests that are marked with a number it takes one in this many times that.
SAMPLED_TIMES = int(os.environ.get("OLYMPUS_SAMPLED_TIMES") or 1)
# Of tests with more than MANY cases it takes one case in so many.
MANY = 4
CASES_SHARE = int(os.environ.get("OLYMPUS_CASES_SHARE") or 1)
SEED = int(os.environ.get("OLYMPUS_TEST_SEED") or _seed_of_commit())
# The processes of one run agree, and what it starts does too.
os.environ["OLYMPUS_TEST_SEED"] = str(SEED)


def part(cases: Sequence[T], share: int) -> list[T]:
    """One in `share` of the cases, in an order that the seed chooses; or all."""
    order = np.random.default_rng(SEED).permutation(len(cases))
    return [cases[i] for i in (order if EVERYTHING else order[::share])]


def is_in_part(name: str, share: int) -> bool:
    """Whether a run takes the case of a name, where it takes one in `share`."""
    return EVERYTHING or zlib.crc32(f"{SEED} {name}".encode()) % share == 0


def generator(name: str) -> Any:
    """Random numbers of a case's own, other ones for another seed."""
    return np.random.default_rng([SEED, zlib.crc32(name.encode())])
