"""Runs entries and prints how many cases ran and which failed: see the package."""

from __future__ import annotations

import argparse
import sys
import time

from tests import sampling
from tests.differential import against_jax, running
from tests.public_functions import table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential")
    parser.add_argument("only", nargs="*", help="beginnings of names: numpy.sum")
    parser.add_argument("-n", type=int, default=16, help="cases of each entry")
    parser.add_argument("--case", type=int, help="the one case of this number")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--eager", type=int, default=4, help="one in so many, eagerly")
    parser.add_argument("--against-jax", action="store_true", help="compare with jax")
    parser.add_argument("--show", type=int, default=3, help="failures shown of each")
    parser.add_argument("--brief", action="store_true", help="what failed alone")
    asked = parser.parse_args()
    seed = sampling.SEED
    seed = seed if asked.seed is None else asked.seed
    numbers = range(asked.n)
    if asked.case is not None:
        numbers = range(asked.case, asked.case + 1)
    cases = failed = 0
    for entry in table.DRAWN:
        if asked.only and not any(entry.id.startswith(x) for x in asked.only):
            continue
        start = time.process_time()
        run = against_jax.sweep if asked.against_jax else running.sweep
        out = run(entry, numbers, seed, asked.eager)
        cases, failed = cases + out.cases, failed + len(out.failures)
        took = time.process_time() - start
        if out.failures or not asked.brief:
            print(
                f"{entry.id}: {out.cases} cases, {out.refused} to be refused, "
                f"{len(out.failures)} failed, {took:.2f} s"
            )
        for failure in out.failures[: asked.show]:
            print(f"    {str(failure)[:600]}")
        sys.stdout.flush()
    print(f"seed {seed}: {cases} cases run, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
