"""Divided programs at random: their values are those of the undivided programs.

    python -m tests.sharding.random_programs [--count N] [--seed SEED]

Each program is a few operations on arrays that are divided over a mesh of 1 to 8
devices in any order. Arrays come in padded and are cut, so that parts differ in size;
constraints on values are strewn in. Programs run in processes of their own, some in
each: where one dies or hangs, it is printed and the next process goes on behind it.

    python -m tests.sharding.random_programs --seed SEED --only NUMBER [--steps N]

runs one of them, or its first steps, and says which values are wrong. `--library`
runs the same programs with another library of these names, to tell whose fault it is.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import faulthandler
import importlib
import json
import os
import subprocess
import sys
import warnings

import numpy as np

_CHUNK = 40
_HANG_S = 120
_MAX_ELEMENTS = 4000
_MESHES = (
    (1,),
    (2,),
    (3,),
    (4,),
    (5,),
    (8,),
    (2, 2),
    (2, 3),
    (3, 2),
    (4, 2),
    (2, 4),
    (2, 2, 2),
)


class Library:
    """The modules of a library with the names of olympus."""

    def __init__(self, name):
        self.name = name
        self.top = importlib.import_module(name)
        self.np = importlib.import_module(f"{name}.numpy")
        self.lax = importlib.import_module(f"{name}.lax")
        self.sharding = importlib.import_module(f"{name}.sharding")

    def place(self, mesh, spec):
        return self.sharding.NamedSharding(mesh, self.sharding.PartitionSpec(*spec))


class _Draw:
    """Random parts of programs, from one generator."""

    def __init__(self, *seed):
        self.rng = np.random.default_rng(seed)

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def number(self, low, high):
        """An integer, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def shape(self, ndim=None):
        ndim = self.number(1, 3) if ndim is None else ndim
        return tuple(self.number(1, (0, 16, 12, 8)[ndim]) for _ in range(ndim))

    def spec(self, names, ndim):
        """An entry for each axis: the mesh axes that divide it."""
        entries = [[] for _ in range(ndim)]
        for name in self.rng.permutation(list(names)):
            axis = self.number(0, ndim)
            if axis < ndim:
                entries[axis].append(str(name))
        return tuple(tuple(e) or None for e in entries)

    def constant(self, shape, dtype):
        return self.rng.integers(-4, 5, shape).astype(dtype)

    def axis(self, x):
        return self.number(0, x.ndim - 1)

    def axes(self, x):
        n = self.number(1, x.ndim)
        return tuple(sorted(int(i) for i in self.rng.permutation(x.ndim)[:n]))


class _Value:
    """An array of a program; rough where rounding may differ between two runs."""

    def __init__(self, x, rough=False):
        self.x, self.rough = x, rough


# -- operations ------------------------------------------------------------------------
#
# Each takes what draws, the library and an array, and returns an array. Of arrays that
# are not rough the elements are small whole numbers.


def _small(lib, x):
    return lib.np.remainder(x, x.dtype.type(13)) if x.dtype.kind in "if" else x


def _positions(draw, lib, x, n, shape):
    """Indices, some of them outside; constants, or of the values of an array."""
    if draw.chance(0.5) and x.ndim and x.size:
        flat = lib.np.resize(lib.np.asarray(x, "int32").reshape(-1), shape)
        return flat % (n + 3) - 2 if draw.chance(0.5) else flat % n
    return draw.rng.integers(-2, n + 3, shape).astype("int32")


def elementwise(draw, lib, x):
    jnp = lib.np
    return draw.pick(
        (
            lambda: -x + 1,
            lambda: abs(x) * 2,
            lambda: jnp.where(x > 1, x, 3 - x),
            lambda: jnp.sign(x),
            lambda: jnp.minimum(x, jnp.flip(x, 0)) if x.ndim else x,
            lambda: _small(lib, x * x),
        )
    )()


def broadcast(draw, lib, x):
    axis = draw.axis(x)
    other = draw.pick((lib.np.sum, lib.np.max))(x, axis, keepdims=True)
    return _small(lib, x + other) if draw.chance(0.7) else x + other * 0


def reduction(draw, lib, x):
    jnp = lib.np
    fun = draw.pick((jnp.sum, jnp.max, jnp.min, jnp.any, jnp.argmax, jnp.argmin))
    if fun in (jnp.argmax, jnp.argmin):
        return fun(x, draw.axis(x))
    out = fun(x, draw.axes(x), keepdims=draw.chance(0.3))
    return _small(lib, out.astype(x.dtype))


def dot(draw, lib, x):
    axis = draw.axis(x)
    if draw.chance(0.5) or x.ndim == 1:
        other = draw.constant((x.shape[axis], draw.number(1, 9)), x.dtype)
    else:
        other = lib.np.moveaxis(x, axis, 0)[..., :3]
        other = other.reshape(x.shape[axis], -1)[:, :12]
    return _small(lib, lib.np.tensordot(x, other, ((axis,), (0,))))


def batched_dot(draw, lib, x):
    if x.ndim < 2:
        return lib.np.outer(x, x)
    other = lib.np.swapaxes(x, -1, -2)
    return _small(lib, x @ other)


def gather(draw, lib, x):
    axis, n = draw.axis(x), draw.shape(draw.number(1, 2))
    index = _positions(draw, lib, x, x.shape[axis], n)
    return lib.np.take(x, index, axis, mode=draw.pick(("clip", "wrap", "fill")),
                       **({"fill_value": 0} if draw.chance(1.0) else {}))  # fmt: skip


def gather_along(draw, lib, x):
    axis = draw.axis(x)
    index = _positions(draw, lib, x, x.shape[axis], x.shape)
    return lib.np.take_along_axis(x, index, axis, mode="clip")


def gather_points(draw, lib, x):
    n = draw.number(1, 6)
    index = tuple(_positions(draw, lib, x, size, (n,)) for size in x.shape)
    return x.at[index].get(mode="fill", fill_value=0)


def scatter(draw, lib, x):
    axis, n = draw.axis(x), draw.number(1, 9)
    index = _positions(draw, lib, x, x.shape[axis], (n,))
    shape = (*x.shape[:axis], n, *x.shape[axis + 1 :])
    updates = lib.np.resize(x + 1, shape)
    name = draw.pick(("add", "min", "max", "multiply"))
    if name == "multiply" or draw.chance(0.3):  # which has a derivative for constants
        updates = draw.constant(shape, x.dtype)
    at = x.at[(slice(None),) * axis + (index,)]
    return _small(lib, getattr(at, name)(updates, mode=draw.pick(("clip", "drop"))))


def scatter_points(draw, lib, x):
    n = draw.number(1, 6)
    index = tuple(_positions(draw, lib, x, size, (n,)) for size in x.shape)
    return x.at[index].add(draw.constant((n,), x.dtype), mode="drop")


def scatter_set(draw, lib, x):
    axis = draw.axis(x)
    n = draw.number(1, x.shape[axis])
    index = draw.rng.permutation(x.shape[axis])[:n]
    part = lib.lax.slice_in_dim(x, 0, n, axis=axis)
    return x.at[(slice(None),) * axis + (index,)].set(part + 1)


def segments(draw, lib, x):
    n = draw.number(1, 9)
    index = _positions(draw, lib, x, n, x.shape[:1])
    return _small(lib, lib.top.ops.segment_sum(x, index, n))


def strided_slice(draw, lib, x):
    rows = []
    for size in x.shape:
        start = draw.number(0, size - 1)
        rows.append(slice(start, draw.number(start + 1, size), draw.number(1, 3)))
        if draw.chance(0.2):
            rows[-1] = slice(None, None, -1)
    return x[tuple(rows)]


def dynamic_slice(draw, lib, x):
    window = tuple(draw.number(1, size) for size in x.shape)
    start = [_positions(draw, lib, x, size, (1,))[0] for size in x.shape]
    return lib.lax.dynamic_slice(x, start, window)


def dynamic_update(draw, lib, x):
    window = tuple(slice(0, draw.number(1, size)) for size in x.shape)
    start = [_positions(draw, lib, x, size, (1,))[0] for size in x.shape]
    return lib.lax.dynamic_update_slice(x, x[window] + 1, start)


def pad(draw, lib, x):
    config = []
    for size in x.shape:
        low = draw.number(-1, 3) if size > 1 else draw.number(0, 2)
        config.append((low, draw.number(0, 3), draw.pick((0, 0, 1, 2))))
    return lib.lax.pad(x, x.dtype.type(draw.number(0, 2)), config)


def concatenate(draw, lib, x):
    axis = draw.axis(x)
    part = lib.lax.slice_in_dim(x, 0, draw.number(1, x.shape[axis]), axis=axis)
    return lib.np.concatenate([x, part, x + 1][: draw.number(2, 3)], axis)


def move(draw, lib, x):
    jnp, axis = lib.np, draw.axis(x)
    return draw.pick(
        (
            lambda: jnp.roll(x, draw.number(-5, 5), axis),
            lambda: jnp.flip(x, axis),
            lambda: jnp.repeat(x, draw.number(1, 3), axis),
            lambda: jnp.tile(x, draw.number(1, 3)),
            lambda: jnp.stack([x, x + 1], draw.number(0, x.ndim)),
            lambda: jnp.transpose(x, draw.rng.permutation(x.ndim).tolist()),
            lambda: x.reshape(-1),
            lambda: jnp.triu(x) if x.ndim > 1 else x,
        )
    )()


def reshape(draw, lib, x):
    n = x.size
    factors = [d for d in range(1, n + 1) if n % d == 0]
    first = draw.pick(factors)
    second = draw.pick([d for d in factors if (n // first) % d == 0])
    return x.reshape(first, second, n // first // second)


def sort(draw, lib, x):
    axis, jnp = draw.axis(x), lib.np
    if draw.chance(0.3):
        k = draw.number(1, x.shape[-1])
        return lib.lax.top_k(x, k)[draw.number(0, 1)]
    if draw.chance(0.3):
        return jnp.argsort(x, axis)
    if draw.chance(0.3):
        keys = (x, jnp.flip(x, axis))
        return lib.lax.sort(keys, dimension=axis, num_keys=2)[1]
    return jnp.sort(x, axis)


def cumulative(draw, lib, x):
    name = draw.pick(("cumsum", "cummax", "cummin", "cumsum"))
    options = {"reverse": draw.chance(0.4)}
    return _small(lib, getattr(lib.lax, name)(x, draw.axis(x), **options))


def associative(draw, lib, x):
    add = lambda a, b: a + b  # noqa: E731
    return _small(lib, lib.lax.associative_scan(add, x, axis=draw.axis(x)))


def windows(draw, lib, x):
    window = tuple(draw.number(1, min(3, size)) for size in x.shape)
    steps = tuple(draw.number(1, 3) for _ in x.shape)
    padding = [(draw.number(0, w - 1), draw.number(0, w - 1)) for w in window]
    if draw.chance(0.5):
        zero = x.dtype.type(0)
        return lib.lax.reduce_window(x, zero, lib.lax.add, window, steps, padding)
    low = x.dtype.type(-1000)
    return lib.lax.reduce_window(x, low, lib.lax.max, window, steps, padding)


def conv(draw, lib, x):
    while x.ndim > 3:
        x = x.sum(0)
    image = x.astype("float32").reshape((1,) * (3 - x.ndim) + x.shape)
    image = lib.np.moveaxis(image, 0, 1) if draw.chance(0.5) else image
    width = draw.number(1, min(3, image.shape[-1]))
    kernel = draw.constant((draw.number(1, 4), image.shape[1], width), "float32")
    out = lib.lax.conv_general_dilated(
        image,
        kernel,
        (draw.number(1, 2),),
        [(draw.number(0, 2), draw.number(0, 2))],
        rhs_dilation=(draw.number(1, 2),) if image.shape[-1] > 4 else None,
    )
    return _small(lib, out)


def scan(draw, lib, x):
    def step(carry, row):
        carry = _small(lib, carry + row)
        return carry, carry * 2

    carry, rows = lib.lax.scan(step, x[0], x, reverse=draw.chance(0.3))
    return rows if draw.chance(0.6) else carry


def loop(draw, lib, x):
    axis = draw.axis(x)
    body = lambda i, x: _small(lib, lib.np.roll(x, 1, axis) + i.astype(x.dtype))  # noqa: E731
    return lib.lax.fori_loop(0, draw.number(1, 4), body, x)


def branch(draw, lib, x):
    axis = draw.axis(x)
    return lib.lax.cond(
        x.sum() % 2 == 0, lambda x: lib.np.flip(x, axis), lambda x: x + 1, x
    )


def mapped(draw, lib, x):
    if x.ndim < 2:
        return x + 1
    name = draw.pick(
        ("gather", "scatter", "dynamic_slice", "cumulative", "sort", "pad")
    )
    seed, axis = draw.number(0, 1 << 20), draw.axis(x)
    fun = lambda row: _OPERATIONS[name](_Draw(seed), lib, row)  # noqa: E731
    return lib.top.vmap(fun, in_axes=axis, out_axes=draw.number(0, 1))(x)


def gradient(draw, lib, x):
    if x.dtype.kind != "f":
        x = x.astype("float32")
    names = ("gather", "scatter", "dynamic_slice", "dynamic_update", "cumulative")
    names += ("pad", "windows", "concatenate", "dot", "move", "strided_slice", "scan")
    names += ("sort", "conv", "gather_points", "reduction", "loop")
    name, seed = draw.pick(names), draw.number(0, 1 << 20)

    def loss(x):
        out = _OPERATIONS[name](_Draw(seed), lib, x)
        if out.dtype.kind != "f":
            return x.sum()
        weights = np.arange(out.size, dtype="float32").reshape(out.shape) % 5
        return (out * weights).sum()

    return _small(lib, lib.np.round(lib.top.grad(loss)(x)))


def numbers(draw, lib, x):
    key = lib.top.random.key(draw.number(0, 99))
    return x + lib.top.random.randint(key, x.shape, 0, 4).astype(x.dtype)


def convert(draw, lib, x):
    return x.astype(
        draw.pick(("float32", "int32", "int32", "bfloat16", "int8"))
    ).astype(draw.pick(("float32", "int32")))


# These round.


def rough_elementwise(draw, lib, x):
    jnp, x = lib.np, x.astype("float32")
    return draw.pick((lambda: jnp.tanh(x), lambda: jnp.exp(-abs(x)),
                      lambda: x / (1 + abs(x))))()  # fmt: skip


def normalize(draw, lib, x):
    x = x.astype("float32")
    if draw.chance(0.5):
        return lib.top.nn.softmax(x, axis=draw.axis(x))
    return (x - x.mean(draw.axes(x), keepdims=True)) / (1 + x.std())


def fft(draw, lib, x):
    axes = draw.axes(x)
    if draw.chance(0.5):
        axes = axes[::-1]
    name = draw.pick(("fftn", "ifftn", "rfftn", "irfftn"))
    if name == "irfftn" and x.shape[axes[-1]] < 2:
        name = "fftn"
    x = x.astype("float32") if name == "rfftn" else x.astype("float32") + 1j
    out = getattr(lib.np.fft, name)(x, axes=axes)
    out = out.real if draw.chance(0.5) else abs(out)
    return out / out.dtype.type(x.size**0.5)


def factor(draw, lib, x):
    x = (
        x.astype("float32").reshape(x.shape[0], -1)
        if x.ndim < 3
        else x.astype("float32")
    )
    x = x[..., :8, :8]
    square = x @ lib.np.swapaxes(x, -1, -2)
    square = square + 20 * lib.np.eye(square.shape[-1], dtype="float32")
    if draw.chance(0.5):
        return lib.np.linalg.cholesky(square)
    return lib.np.linalg.solve(square, x)


_EXACT = (
    elementwise, broadcast, reduction, dot, batched_dot, gather, gather_along,
    gather_points, scatter, scatter_points, scatter_set, segments, strided_slice,
    dynamic_slice, dynamic_update, pad, concatenate, move, reshape, sort, cumulative,
    associative, windows, conv, scan, loop, branch, mapped, gradient, numbers, convert,
)  # fmt: skip
_ROUGH = (rough_elementwise, normalize, fft, factor)
_LINEAR = (  # small differences of rough values do not become large in these
    gather_points, scatter_points, scatter_set, strided_slice, pad,
    concatenate, move, reshape, rough_elementwise, normalize, fft, windows,
)  # fmt: skip
_OPERATIONS = {f.__name__: f for f in (*_EXACT, *_ROUGH)}


# -- programs --------------------------------------------------------------------------


class Program:
    """A random program of a seed and a number.

    Attributes:
      mesh_shape, order: of the mesh, and the numbers of its devices.
      inputs: the arrays, without padding.
      specs: how each is divided.
      log: what was traced last, in words.
    """

    def __init__(self, seed, number, n_steps=None):
        self._seed = seed, number
        draw = _Draw(seed, number, 0)
        self.mesh_shape = draw.pick(_MESHES)
        size = int(np.prod(self.mesh_shape))
        self.order = [int(i) for i in draw.rng.permutation(8)[:size]]
        self.names = tuple("xyz"[: len(self.mesh_shape)])
        self.inputs, self.specs = [], []
        for _ in range(draw.number(1, 3)):
            shape, dtype = draw.shape(), draw.pick(("float32", "int32"))
            self.inputs.append(draw.constant(shape, dtype))
            self.specs.append(draw.spec(self.names, len(shape)))
        self._n_steps = draw.number(1, 5)
        if n_steps is not None:
            self._n_steps = n_steps
        self.log = []

    def __str__(self):
        rows = zip(self.inputs, self.specs, strict=True)
        inputs = ", ".join(f"{x.dtype}{list(x.shape)} {spec}" for x, spec in rows)
        steps = "\n      ".join(self.log)
        return f"mesh {self.mesh_shape} of {self.order}; {inputs}\n      {steps}"

    def mesh(self, lib):
        devices = np.array([lib.top.devices()[i] for i in self.order])
        return lib.sharding.Mesh(devices.reshape(self.mesh_shape), self.names)

    def padded(self):
        """The inputs, padded to multiples of what divides them."""
        sizes = dict(zip(self.names, self.mesh_shape, strict=True))
        out = []
        for x, spec in zip(self.inputs, self.specs, strict=True):
            counts = [int(np.prod([sizes[n] for n in e or ()])) for e in spec]
            widths = [(0, -n % c) for n, c in zip(x.shape, counts, strict=True)]
            out.append(np.pad(x, widths))
        return out

    def divided(self, lib):
        """The padded inputs, divided."""
        mesh = self.mesh(lib)
        rows = zip(self.padded(), self.specs, strict=True)
        return [lib.top.device_put(x, lib.place(mesh, spec)) for x, spec in rows]

    def function(self, lib, divided):
        """The program as a function of the padded inputs; constrained if divided."""
        mesh = self.mesh(lib) if divided else None

        def run(*padded):
            rows = zip(padded, self.inputs, strict=True)
            values = [_Value(y[tuple(map(slice, x.shape))]) for y, x in rows]
            draw = _Draw(*self._seed, 1)
            self.log = []
            for _ in range(self._n_steps):
                values.append(self._step(draw, lib, values, mesh))
            chosen = values[-1:] + [v for v in values[:-1] if draw.chance(0.2)]
            return [v.x for v in chosen]

        return run

    def _step(self, draw, lib, values, mesh):
        value = values[-1] if draw.chance(0.7) else draw.pick(values)
        x, rough = value.x, value.rough
        if not x.ndim:
            x = lib.np.broadcast_to(x, (draw.number(1, 9),))
        if x.dtype.kind == "b":
            x = x.astype("int32")
        if draw.chance(0.4):
            x = self._constrain(draw, lib, x, mesh)
        choices = _LINEAR if rough else _EXACT if draw.chance(0.8) else _ROUGH
        operation = draw.pick(choices)
        before = f"{x.dtype}{list(x.shape)}"
        out = operation(draw, lib, x)
        if out.size > _MAX_ELEMENTS or not out.size:
            out = x
        self.log.append(
            f"{operation.__name__}: {before} -> {out.dtype}{list(out.shape)}"
        )
        return _Value(out, rough or operation in _ROUGH)

    def _constrain(self, draw, lib, x, mesh):
        """A constraint that divides axes of the right sizes evenly."""
        sizes = dict(zip(self.names, self.mesh_shape, strict=True))
        entries = []
        for entry, size in zip(draw.spec(self.names, x.ndim), x.shape, strict=True):
            count = int(np.prod([sizes[n] for n in entry or ()]))
            entries.append(entry if size % count == 0 else None)
        self.log.append(f"constraint {entries}")
        if mesh is None:
            return x
        return lib.lax.with_sharding_constraint(x, lib.place(mesh, entries))


def run_program(lib, program):
    """What happened: 'right', 'wrong', 'error' or 'refused'; and a text about it."""
    try:
        expected = lib.top.jit(program.function(lib, False))(*program.padded())
    except Exception as error:  # the drawing is at fault
        return "refused", f"{type(error).__name__}: {error!s:.300}\n      {program}"
    try:
        outs = lib.top.jit(program.function(lib, True))(*program.divided(lib))
        outs = [np.asarray(x) for x in outs]
    except Exception as error:
        return "error", f"{type(error).__name__}: {error!s:.400}\n      {program}"
    for i, (out, value) in enumerate(zip(outs, expected, strict=True)):
        if not agree(out, np.asarray(value)):
            return "wrong", f"result {i} of {len(outs)}\n      {program}"
    return "right", None


def agree(out, expected):
    """Whether results are equal, up to rounding where they have fractions."""
    if out.shape != expected.shape or out.dtype != expected.dtype:
        return False
    if out.dtype.kind in "iub":
        return np.array_equal(out, expected)
    scale = np.max(np.abs(expected), initial=1, where=np.isfinite(expected))
    return np.allclose(out, expected, 1e-3, 1e-3 * scale, equal_nan=True)


# -- processes -------------------------------------------------------------------------


def _run_chunk(library, seed, start, stop, n_steps):
    """Runs programs, saying each on standard output before it begins."""
    warnings.simplefilter("ignore")
    lib = Library(library)
    for number in range(start, stop):
        faulthandler.dump_traceback_later(_HANG_S, exit=True)
        program = Program(seed, number, n_steps)
        with contextlib.suppress(Exception):  # which running it tells
            lib.top.eval_shape(program.function(lib, False), *program.padded())
        print(json.dumps([number, "begin", str(program)]), flush=True)
        print(json.dumps([number, *run_program(lib, program)]), flush=True)
    faulthandler.cancel_dump_traceback_later()


def run(count, seed, start=0, report=print, library="olympus", n_steps=None):
    """Runs programs in processes of their own.

    Returns:
      How often each thing happened; 'dead' counts the processes that died.
    """
    tally = collections.Counter()
    environment = dict(
        os.environ,
        OLYMPUS_NUM_CPU_DEVICES="8",
        XLA_FLAGS="--xla_force_host_platform_device_count=8",
        TF_CPP_MIN_LOG_LEVEL="2",
    )
    end = start + count
    while start < end:
        stop = min(end, start + _CHUNK)
        command = [sys.executable, "-m", "tests.sharding.random_programs"]
        command += ["--seed", str(seed), "--chunk", f"{start},{stop}"]
        command += ["--library", library]
        command += [] if n_steps is None else ["--steps", str(n_steps)]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, errors="replace",
            check=False,
        )  # fmt: skip
        last = None
        for line in done.stdout.splitlines():
            number, what, text = json.loads(line)
            if what == "begin":
                last = (number, text)
                continue
            tally[what] += 1
            if what in ("wrong", "error", "refused"):
                report(f"--seed {seed} --only {number}: {what}: {text}")
        if done.returncode == 0:
            start = stop
            continue
        tally["dead"] += 1
        if last is None and start % _CHUNK == 0:
            raise RuntimeError(f"programs must run, got: {done.stderr[-2000:]}")
        begun = (start, "before any program") if last is None else last
        lines = [s for s in done.stderr.splitlines() if s.strip()]
        failed = [s for s in lines if "Check failed" in s or "Error" in s]
        tail = "\n      ".join((failed or lines)[-3:])
        report(
            f"--seed {seed} --only {begun[0]}: DIED ({done.returncode}): {begun[1]}\n"
            f"      {tail:.600}"
        )
        start = begun[0] + 1
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--library", default="olympus")
    parser.add_argument("--chunk", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.chunk:
        start, stop = map(int, options.chunk.split(","))
        _run_chunk(options.library, options.seed, start, stop, options.steps)
        return
    count = options.count if options.only is None else 1
    tally = run(
        count,
        options.seed,
        options.only or 0,
        library=options.library,
        n_steps=options.steps,
    )
    print(", ".join([f"{n} {what}" for what, n in sorted(tally.items())]))
    sys.exit(bool(tally["dead"] or tally["wrong"] or tally["error"]))


if __name__ == "__main__":
    main()
