"""Writes `docs/jax_libraries.md` from the figures."""

import re

from tests.ecosystem import figures, libraries, processes

PATH = processes.ROOT / "docs" / "jax_libraries.md"

_BEFORE = """\
# Libraries for JAX

These libraries, written for JAX, run on olympus unmodified. Each has a program of ours
that trains, samples, solves, saves or restores as its users do, in
`tests/ecosystem/workloads`. What the programs compute was recorded from JAX
{jax}: integers, texts and random bits must be equal, floats agree up to rounding,
and results of many steps up to a tolerance that the program states.

"""

_COLUMNS = (
    "library",
    "version",
    "imports",
    "checks",
    "own tests",
    "step, JAX / olympus",
    "process, JAX / olympus",
    "warm process, JAX / olympus",
)

_AFTER = """
- *checks*: those of our program that agree with JAX, of all.
- *own tests*: of the tests that the library ships and that pass on JAX, how many pass
  on olympus. They are those of its wheel or, where that has none, of its source
  distribution; some libraries ship none in either. Where they take hours, every
  second, fourth or eighth of their files ran, in the order of their names.
- *step*: a compiled step of a small program; the median of three processes' best
  medians.
- *process*: the processor's time of our whole program, with imports, tracing and
  compilation; nothing is kept on disk between runs. The same *warm*: compiled programs
  are on disk, on both sides, from a process before; the median of three, marked by *,
  or one.

Steps are of 2026-11-26 (that of diffrax with the second core in use), that of equinox
and processes of 2026-11-27, on two cores otherwise idle, with the bytecode of all
packages on disk.

The row of equinox is of before products were computed in the order that is read: its
step took 0.96 of JAX's time since, both programs in turn in one process on another
machine, on 2026-11-28 (before 1.11).

Ten of quax's tests fail. They hand a value of a class of their own, for which they
have rules for single primitives of JAX, to functions that are other primitives here:
`linalg.inv` and `linalg.solve` are one `lu_solve`, `i0` and `kaiser` use `bessel_i0`,
`histogram`, `histogram2d` and `lax.linalg.qdwh` compute in other steps, and products
of integers with floats convert the integers first. Two want `unravel_index` of floats,
which raises an error here, as in NumPy.

## What warm processes do

What a warm process imports besides JAX and olympus it imports on JAX too. This least
share of JAX's time cannot be undercut; the other columns are shares of olympus's own
process, from samples of its stacks on busy cores. *Loading* is mostly XLA's: about a
ms for each of the compiled programs, of which most processes have a hundred or two.

{split}

Of cold processes, XLA's compilation is the largest part: 35 to 60 % of those of jraph,
lineax and equinox. The programs are nearly the same on both sides, so that only what
is around them can be less.

## Tried once

Further libraries were run beside JAX 0.12.0.1 once, and are no part of `make
ecosystem`. Short programs print the same numbers with brax, celerite2, craftax,
dinosaur, dm-pix, dynamax, dynamiqs, e3nn-jax, exojax, flashbax, flowjax, fmmax, gpjax,
gymnax, hamux, interpax, jax-cfd, jax-cosmo, jax_dataclasses, jaxkd, jaxley, jaxlie,
jax-md, jaxoplanet, jaxwt, jwave, klax, matfree, mpax, netket, NIFTy, ninjax, orthax,
ott-jax, pgx, pyhf, pytensor, qdax, quadax, quaxed, qujax, qutip-jax, signax, sympy2jax,
tensornetwork, torax, traceax, xminigrid and the Flax models of transformers 4.46, but
for last digits. jax2onnx writes the same graphs of fifteen programs, a shorter one of a
gradient, and two that fail on JAX. All 3787 tests of saiunit and all 418 of rax that
pass on JAX pass. Of the tests of MuJoCo MJX 345 pass, and 27 fail on both sides; one
file of them ended on neither side within its limit. Of those of nufftax 161 pass, of
gymnax 75 and of jax_dataclasses 36, as on JAX. Of 2100 tests of brainstate's
transformations two fail: one fails on JAX too, and one looks at the constants of a
program that has lost their values.

Of SciPy 1.18.1's own tests for arrays of JAX, many of which put its functions within
`jit`, 10 099 pass: all of `fft`, `cluster`, `special`, `ndimage`, `stats`, `integrate`,
`interpolate`, `linalg`, `optimize` and `differentiate`, a quarter of those of `signal`
and some of `spatial`, but for six that fail on JAX too: a dtype of `boxcox`, and sums
of ranks in `wilcoxon`. Of 5476 programs of single operations that JAX tests its exports
with, 5423 give the same numbers; the others bind functions that JAX alone has, read
what it leaves undefined, draw other operands each time, or are refused by JAX alone.

Of tests of libraries of arrays on their JAX backend, all 440 of autoray 0.11 that pass
on JAX pass, as do 333 of tensorly 0.10, 282 of POT 0.9 and 124 of quimb 1.16 that ended
on both sides, 1077 of array-api-extra 0.11, 50 of array-api-compat 1.16 and 68 of einx
0.4.

The tables were made on CPU by

    tools/ecosystem run --write
    tools/ecosystem own-tests --write
    tools/ecosystem time --write
    tools/ecosystem split --write
    tools/ecosystem table

in the environment of `tests/ecosystem/requirements.txt`. `make ecosystem` makes that
environment and runs the programs.
"""


def write():
    """Writes the page."""
    table = figures.read()
    pins = (processes.FOLDER / "requirements.txt").read_text(encoding="utf-8")
    (jax,) = re.findall(r"^jax==(.+)$", pins, re.MULTILINE)
    rows = [_row(name, table[name]) for name in libraries.LIBRARIES if name in table]
    lines = [_line(_COLUMNS), _line(["---"] * len(_COLUMNS)), *rows]
    after = _AFTER.format(split=_split_table(table))
    text = _BEFORE.format(jax=jax) + "\n".join(lines) + "\n" + after
    PATH.write_text(text, encoding="utf-8")


_SPLIT_COLUMNS = (
    "library",
    "least share of JAX's time",
    "imports of libraries",
    "import of olympus",
    "tracing",
    "lowering",
    "loading",
    "running",
)


def _split_table(table):
    """What the warm processes on olympus do, with what both sides must do."""
    lines = [_line(_SPLIT_COLUMNS), _line(["---"] * len(_SPLIT_COLUMNS))]
    for name, entry in table.items():
        shares = entry.get("warm_shares")
        if shares is not None:
            on_jax, on_olympus = entry["warm_process_s"]
            least = shares[0] / 100 * on_olympus / on_jax
            cells = [name.replace("_", " "), f"{least:.2f}"]
            lines.append(_line(cells + [f"{share} %" for share in shares]))
    return "\n".join(lines)


def _row(name, entry):
    shown = [name.replace("_", " "), entry["version"]]
    shown.append("yes" if entry["imports"] else "no")
    shown += [_share(entry.get("checks")), _own_tests(name, entry)]
    shown.append(_pair(entry.get("step_us"), _duration))
    shown.append(_pair(entry.get("process_s"), lambda s: f"{s:.1f} s"))
    warm = _pair(entry.get("warm_process_s"), lambda s: f"{s:.2f} s")
    shown.append(f"{warm} *" if entry.get("warm_processes", 1) > 1 else warm)
    return _line(shown)


def _line(cells):
    return "| " + " | ".join(cells) + " |"


def _share(counts):
    return "–" if counts is None else f"{counts[0]} of {counts[1]}"


def _own_tests(name, entry):
    if not libraries.LIBRARIES[name].ships_tests:
        return "ships none"
    shown = _share(entry.get("own_tests"))
    count, total = entry.get("test_files", (0, 0))
    return shown if count == total else f"{shown}, {count} of {total} files"


def _pair(values, show):
    return "–" if values is None else f"{show(values[0])} / {show(values[1])}"


def _duration(microseconds):
    if microseconds < 10_000:
        return f"{microseconds:.0f} µs"
    return f"{microseconds / 1000:.0f} ms"
