"""Changes exported programs at random, with right digests, and reads and calls them.

    python -m tests.export.mutation_trial [--count N] [--seed SEED] [--damage] [--trust]

Some changes are to the header's values, some to the bytes of the module. Cases run in
processes of their own, some hundreds in each: where one dies, its number is printed and
the next process goes on behind it.
"""

from __future__ import annotations

import argparse
import collections
import copy
import faulthandler
import hashlib
import json
import subprocess
import sys
import warnings

import numpy as np

from olympus._src.foundation import container

_CHUNK = 200
_HANG_S = 30
_PREFIX = 16
_OWN = (TypeError, ValueError, OverflowError, NotImplementedError)
_ODD = (None, True, -1, 0, 1 << 31, 1 << 64, 10**400, 1.5, "", "f32", "n", [], {}, [[]])
_ODD += ("n^99999999", "n*" * 500 + "n", "(" * 500, "\ud800", "a\0b", [1, 2], {"a": 1})


def programs():
    """Bytes of some exported programs."""
    import olympus
    import olympus.numpy as jnp
    from olympus import export

    @olympus.jit
    def scores(params, x):
        return {"a": jnp.tanh(x @ params["w"]), "b": x.sum() + np.arange(600)}

    x = np.ones((4, 3), np.float32)
    params = {"w": np.ones((3, 2), np.float32)}
    sizes = export.symbolic_shape("n, 3", constraints=["n >= 1"])
    like = olympus.ShapeDtypeStruct(sizes, np.float32)
    return [
        export.export(scores)(params, x).serialize(vjp_order=1),
        export.export(scores)(params, like).serialize(),
    ]


def _split(data):
    size = int.from_bytes(data[8:_PREFIX], "little")
    header = json.loads(data[_PREFIX : _PREFIX + size])
    return header, data[_PREFIX + size : -32]


def _joined(header, sections, digest=None):
    text = json.dumps(header).encode()
    body = container._MARK + len(text).to_bytes(8, "little") + text + sections
    return body + (hashlib.sha256(body).digest() if digest is None else digest)


def _change_value(rng, value):
    """Puts something odd somewhere in a value of JSON."""
    if isinstance(value, (list, dict)) and value and rng.random() < 0.85:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = list(keys)[int(rng.integers(len(keys)))]
        choice = rng.random()
        if choice < 0.1:
            del value[key]
        else:
            value[key] = _change_value(rng, value[key])
        return value
    if type(value) is str and value and rng.random() < 0.4:
        i = int(rng.integers(len(value)))
        letter = chr(int(rng.integers(32, 127)))
        return value[:i] + letter + value[i + 1 :]
    return _ODD[int(rng.integers(len(_ODD)))]


def mutate(data, rng, damage=False):
    """A changed copy, whose digest is right unless it is to be as damage leaves it."""
    header, sections = _split(data)
    digest = data[-32:] if damage else None
    if rng.random() < 0.4:
        header["fields"] = _change_value(rng, copy.deepcopy(header["fields"]))
        return _joined(header, sections, digest)
    changed = bytearray(sections)
    for _ in range(int(rng.integers(1, 6))):
        i = int(rng.integers(len(changed)))
        if rng.random() < 0.3:
            n = int(rng.integers(1, 30))
            changed[i : i + n] = rng.bytes(len(changed[i : i + n]))
        else:
            changed[i] = int(rng.integers(256))
    return _joined(header, bytes(changed), digest)


def read_and_call(data, isolate=None):
    """Reads a program and calls it; returns an error that is not ours, or None."""
    import olympus
    from olympus import export

    try:
        program = export.deserialize(data, isolate=isolate)
        str(program), program.mlir_module()
        avals = program.in_avals
        if sum(np.prod([d for d in a.shape if type(d) is int]) for a in avals) < 1e5:
            zeros = [
                np.zeros([d if type(d) is int else 2 for d in a.shape], a.dtype)
                for a in avals
            ]
            args, kwargs = program.in_tree.unflatten(zeros)
            olympus.block_until_ready(program.call(*args, **kwargs))
            if program.has_vjp():
                program.vjp()
    except _OWN:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error!s:.200}"
    return None


def make_case(seed, number, originals, damage=False):
    """The changed bytes of a number, which depend on nothing else."""
    rng = np.random.default_rng([seed, number])
    return mutate(originals[number % len(originals)], rng, damage)


def _run_chunk(seed, start, stop, trust, damage):
    warnings.simplefilter("ignore")
    originals = programs()
    for number in range(start, stop):
        faulthandler.dump_traceback_later(_HANG_S, exit=True)
        data = make_case(seed, number, originals, damage)
        print(json.dumps([number, "begin", None]), flush=True)
        wrong = read_and_call(data, False if trust else None)
        print(json.dumps([number, "done", wrong]), flush=True)


def run(count, seed, trust=False, damage=False, report=print):
    """Runs cases in processes of their own; counts deaths and wrong errors."""
    tally = collections.Counter()
    start = 0
    while start < count:
        stop = min(count, start + _CHUNK)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "tests.export.mutation_trial"),
                *("--seed", str(seed), "--chunk", f"{start},{stop}"),
                *(["--trust"] if trust else []),
                *(["--damage"] if damage else []),
            ],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        last = start
        for line in done.stdout.splitlines():
            last, what, text = json.loads(line)
            if what == "done" and text:
                tally["wrong"] += 1
                report(f"{last}: {text}")
        if done.returncode == 0:
            start = stop
            continue
        tally["dead"] += 1
        tail = "\n    ".join(done.stderr.strip().splitlines()[:12])
        report(f"{last}: DIED ({done.returncode})\n    {tail}")
        start = last + 1
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--trust", action="store_true", help="read modules in this process at once"
    )
    parser.add_argument(
        "--damage", action="store_true", help="leave the digests as they are"
    )
    parser.add_argument("--chunk", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.chunk:
        start, stop = map(int, options.chunk.split(","))
        _run_chunk(options.seed, start, stop, options.trust, options.damage)
        return
    tally = run(options.count, options.seed, options.trust, options.damage)
    print(
        f"{options.count} cases: {tally['dead']} processes died, "
        f"{tally['wrong']} errors that are not ours"
    )
    sys.exit(bool(tally["dead"] or tally["wrong"]))


if __name__ == "__main__":
    main()
