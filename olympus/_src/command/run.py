"""`python -m olympus run`: calls the program in a file with arrays from a file."""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.command import programs
from olympus._src.command.command import Command, Failure
from olympus._src.core import dtypes
from olympus._src.export import arrays, named_arrays
from olympus._src.export.bundles import Bundle


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", help="a bundle's file, or one of an exported program")
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--args",
        metavar="FILE",
        help="arguments by name, from numpy.savez; params/w means params['w']",
    )
    source.add_argument(
        "--example", action="store_true", help="take the arguments of the self-test"
    )
    source.add_argument(
        "--seed-args",
        metavar="SEED",
        type=int,
        help="draw random arguments from a seed",
    )
    parser.add_argument(
        "--size",
        metavar="NAME=N",
        action="append",
        default=[],
        help="with --seed-args, a symbolic size",
    )
    parser.add_argument("--out", metavar="FILE", help="write the results to this .npz")
    parser.add_argument(
        "--repeat", metavar="N", type=_positive, default=0, help="time N more calls"
    )
    parser.add_argument(
        "--portable",
        action="store_true",
        help="leave machine code alone and compile the portable program",
    )


def _positive(text: str) -> int:
    n = int(text)
    if n < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {n}")
    return n


def _run(arguments: argparse.Namespace) -> int:
    start = time.perf_counter()
    bundle = programs.load(arguments.bundle, machine_code=not arguments.portable)
    loaded = time.perf_counter() - start
    try:
        leaves = _leaves(bundle, arguments)
        start = time.perf_counter()
        results = bundle.call_leaves(list(map(arrays.copy_array, leaves)))
        _wait(results)
        first = time.perf_counter() - start
    except (ValueError, TypeError, OSError) as error:
        raise Failure(str(error)) from error
    how = (
        "machine code" if bundle.uses_machine_code else "compiled the portable program"
    )
    print(f"{bundle.name}: {how}; load {loaded:.3g} s, first call {first:.3g} s")
    if arguments.repeat:
        print(_time_calls(bundle, leaves, arguments.repeat))
    _show("Arguments", bundle.argument_paths, leaves)
    _show("Results", bundle.result_paths, results)
    if arguments.out:
        _write(arguments.out, bundle, results)
    return 0


def _leaves(bundle: Bundle, arguments: argparse.Namespace) -> list[Any]:
    if arguments.size and arguments.seed_args is None:
        raise ValueError("--size: must come with --seed-args, got it alone")
    if arguments.example:
        return tree.tree_leaves(bundle.sample_arguments())
    if arguments.seed_args is not None:
        sizes = _sizes(arguments.size)
        rng = np.random.default_rng(arguments.seed_args)
        return bundle.arrays_of(
            [_invent_array(s, sizes, rng) for s in bundle.arguments]
        )
    if arguments.args is None and bundle.arguments:
        raise ValueError(
            f"{arguments.bundle}: takes {len(bundle.arguments)} arguments, got none; "
            "give --args FILE, --example or --seed-args SEED"
        )
    values = named_arrays.read_npz(arguments.args) if arguments.args else {}
    return bundle.arrays_of(named_arrays.match(bundle.argument_paths, values))


def _sizes(texts: list[str]) -> dict[str, int]:
    sizes = {}
    for text in texts:
        name, _, n = text.partition("=")
        if not name or not n.isdigit():
            raise ValueError(f"--size: must be NAME=N, got {text!r}")
        sizes[name] = int(n)
    return sizes


def _invent_array(
    slot: Any, sizes: dict[str, int], rng: np.random.Generator
) -> np.ndarray:
    shape = []
    for n in slot.shape:
        if type(n) is str and n not in sizes:
            raise ValueError(
                f"--seed-args: every symbolic size of argument {slot.path!r}, of type "
                f"{slot.type_text()}, must be given, got {sizes}; add --size {n}=8"
            )
        shape.append(sizes[n] if type(n) is str else n)
    return named_arrays.sample_array(slot.aval(shape), rng)


def _wait(results: list[Any]) -> None:
    for x in results:
        if hasattr(x, "block_until_ready"):
            x.block_until_ready()


def _time_calls(bundle: Bundle, leaves: list[Any], n: int) -> str:
    seconds = []
    for _ in range(n):
        copies = list(map(arrays.copy_array, leaves))
        start = time.perf_counter()
        _wait(bundle.call_leaves(copies))
        seconds.append(time.perf_counter() - start)
    return (
        f"{n} more calls: median {statistics.median(seconds):.3g} s, least "
        f"{min(seconds):.3g} s, most {max(seconds):.3g} s"
    )


_FEW = 6


def _show(title: str, paths: Any, values: list[Any]) -> None:
    print(f"{title}:" + ("" if values else " none"))
    rows = [
        (path, _type_text(x), _summary(named_arrays.to_numpy(x)))
        for path, x in zip(paths, values, strict=True)
    ]
    if rows:
        print("\n".join(programs.columns(rows)))


def _type_text(x: Any) -> str:
    return f"{dtypes.long_name(x.dtype)}[{','.join(map(str, x.shape))}]"


def _summary(x: np.ndarray) -> str:
    if x.size <= _FEW:
        return " ".join(f"{v:.6g}" for v in x.ravel().tolist())
    if x.dtype.kind == "c":
        return ""
    x = x.astype(np.float64)
    return f"from {x.min():.6g} to {x.max():.6g}, mean {x.mean():.6g}"


def _write(path: str, bundle: Bundle, results: list[Any]) -> None:
    values = [named_arrays.to_numpy(x) for x in results]
    try:
        named_arrays.write_npz(
            path, dict(zip(bundle.result_paths, values, strict=True))
        )
    except OSError as error:
        raise Failure(f"{path}: {error}") from error
    for x, value, name in zip(results, values, bundle.result_paths, strict=True):
        if x.dtype != value.dtype:
            kind = dtypes.long_name(x.dtype)
            print(f"{name} is written as {value.dtype}, which holds {kind}")
    print(f"Wrote {path}")


COMMAND = Command(
    "run",
    "Call the program in a file with arrays from a file, and write what it gives",
    _add_arguments,
    _run,
)
