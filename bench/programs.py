"""The groups of programs that are timed.

Each function takes a `Library` and returns callables by name. A callable does the work
once; what it returns is waited for.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

from bench.models import (
    Library,
    called_blocks,
    convnet,
    mlp,
    oscillator,
    recurrent,
    transformer,
)


def calls(lib: Library) -> dict[str, Any]:
    """Calls of programs that are compiled already."""
    x = lib.np.arange(100.0)
    small = lib.top.jit(lambda x: x + 1)
    tree = {f"k{i}": lib.np.ones(3) for i in range(100)}
    total = lib.top.jit(lambda t: sum(t.values()))
    scale = lib.top.jit(lambda t: {k: 2 * v for k, v in t.items()})
    return {
        "jit call, one array": lambda: small(x),
        "jit call, 100-leaf tree": lambda: total(tree),
        "jit call, 100 leaves in and out": lambda: scale(tree),
    }


def remade(lib: Library) -> dict[str, Any]:
    """Functions made anew in each turn of a loop: traced again, compiled once."""
    jit, x, rows = lib.top.jit, lib.np.ones(3), lib.np.ones((5, 3))
    loss, params, data = mlp(lib, 10)
    return {
        "re-made jit(lambda x: 2*x)": lambda: jit(lambda x: 2 * x)(x),
        "re-made jit(grad) of MLP-10": lambda: jit(
            lib.top.grad(lambda p, x: loss(p, x))
        )(params, data),
        "re-made body of an eager scan": lambda: lib.lax.scan(
            lambda c, row: (c * 2 + row, c), x, rows
        ),
        **_wrapped(lib),
        "re-made callback": lambda: jit(
            lambda x: (lib.top.debug.callback(lambda v: None, x), 2 * x)[1]
        )(x),
    }


def _wrapped(lib: Library) -> dict[str, Any]:
    """Bodies of eager control flow that are wrappers, or name some."""
    x, rows = lib.np.ones(3), lib.np.ones((5, 3))
    layer = Layer(x)

    def double(x: Any) -> Any:
        return x * 2

    def step(i: Any, c: Any) -> Any:
        return c * 2

    @lib.top.custom_jvp
    def ruled(x: Any) -> Any:
        return x * 2

    ruled.defjvp(lambda p, t: (ruled(p[0]), 2 * t[0]))
    jitted, jitted_step = lib.top.jit(double), lib.top.jit(step)
    loop, named = lib.lax.fori_loop, lambda i, c: jitted(c) + ruled(c)
    return {
        "wrapped body: none": lambda: loop(0, 3, step, x),
        "wrapped body: jitted": lambda: loop(0, 3, jitted_step, x),
        "wrapped body: names jitted, custom_jvp": lambda: loop(0, 3, named, x),
        "wrapped body: method": lambda: loop(0, 3, layer.step, x),
        "wrapped body: partial": lambda: loop(0, 3, functools.partial(step), x),
        "wrapped body: map of vmap": lambda: lib.lax.map(lib.top.vmap(double), rows),
        "wrapped body: map of sin": lambda: lib.lax.map(lib.np.sin, rows),
    }


class Layer:
    """A model as an object, whose method is the body of a loop."""

    def __init__(self, scale: Any) -> None:
        self.scale = scale

    def step(self, i: Any, c: Any) -> Any:
        return c * self.scale


def eager(lib: Library) -> dict[str, Any]:
    """NumPy-level calls outside of jit."""
    jnp = lib.np
    x = jnp.arange(100.0)
    host = np.arange(100.0, dtype="float32")
    m = jnp.ones((10, 10))
    return {
        "eager x + x": lambda: x + x,
        "eager x + 1": lambda: x + 1,
        "eager log(x)": lambda: jnp.log(x),
        "eager x[0]": lambda: x[0],
        "eager x[1:3]": lambda: x[1:3],
        "eager asarray(numpy)": lambda: jnp.asarray(host),
        "eager where": lambda: jnp.where(x > 3, x, 0.0),
        "eager .at[].set": lambda: x.at[3].set(1.0),
        "eager sum": lambda: jnp.sum(x),
        "eager m @ m": lambda: m @ m,
        "eager zeros": lambda: jnp.zeros((3, 4)),
        "eager reshape": lambda: m.reshape(100),
    }


def eager_grad(lib: Library) -> dict[str, Any]:
    """Gradients outside of jit."""
    loss, params, x = mlp(lib, 3)
    gradient = lib.top.grad(loss)
    return {"eager grad of an MLP of 3 layers": lambda: gradient(params, x)}


def tracing(lib: Library) -> dict[str, Any]:
    """From a Python function to a program."""
    loss, params, x = mlp(lib, 50)
    t_loss, t_params, t_x = transformer(lib, 12)
    c_loss, filters, images = convnet(lib, 50)
    o_loss, o_params, start = oscillator(lib, 200)
    b_loss, b_params, b_x = mlp(lib, 10)
    h_loss, h_params, h_x = mlp(lib, 3, 8, 4)
    grad, vmap = lib.top.grad, lib.top.vmap

    def trace(f: Any, *args: Any) -> Any:
        return lambda: lib.make_program(lib.fresh(f))(*args)

    return {
        "trace MLP-50": trace(loss, params, x),
        "trace grad MLP-50": trace(grad(loss), params, x),
        "trace transformer-12": trace(t_loss, t_params, t_x),
        "trace grad transformer-12": trace(grad(t_loss), t_params, t_x),
        "trace grad 50 convolutions": trace(grad(c_loss), filters, images),
        "trace grad RK4 x 200": trace(grad(o_loss), o_params, start),
        "trace vmap(grad) MLP-10": trace(
            vmap(grad(b_loss), in_axes=(None, 0)), b_params, b_x[:, None]
        ),
        "trace hessian MLP-3": trace(lib.top.hessian(h_loss), h_params, h_x),
    }


class Prepared:
    """A case whose every turn needs something new: `run` of what `prepare` gives."""

    def __init__(self, prepare: Any, run: Any) -> None:
        self.prepare = prepare
        self.run = run


def _lower(lib: Library, f: Any, *args: Any) -> Prepared:
    jit = lib.top.jit
    return Prepared(
        lambda: jit(lib.fresh(f)).trace(*args), lambda traced: traced.lower()
    )


def lowering(lib: Library) -> dict[str, Any]:
    """From a program to StableHLO."""
    found = {}
    for name, (loss, params, x) in {
        "MLP-50": mlp(lib, 50),
        "transformer-12": transformer(lib, 12),
        "48 called blocks": called_blocks(lib, 48),
    }.items():
        for what, f in (("", loss), ("grad ", lib.top.grad(loss))):
            found[f"lower {what}{name}"] = _lower(lib, f, params, x)
    return found


def printing(lib: Library) -> dict[str, Any]:
    """The text of lowered programs, and lowering with it."""
    found: dict[str, Any] = {}
    for name, (loss, *args) in {
        "MLP-50": mlp(lib, 50),
        "transformer-12": transformer(lib, 12),
        "50 convolutions": convnet(lib, 50),
        "RK4 x 1000 by scan": oscillator(lib, 1000, scanned=True),
    }.items():
        for what, f in (("", loss), ("grad ", lib.top.grad(loss))):
            lowered = lib.top.jit(f).lower(*args)
            found[f"as_text {what}{name}"] = lowered.as_text
            lower = _lower(lib, f, *args)
            found[f"lower and as_text {what}{name}"] = Prepared(
                lower.prepare, lambda traced: traced.lower().as_text()
            )
    return found


def cold(lib: Library) -> dict[str, Any]:
    """First calls: trace, lower, compile, run."""
    loss, params, x = mlp(lib, 10)
    t_loss, t_params, t_x = transformer(lib, 2)

    def first(f: Any, *args: Any) -> Any:
        def run() -> Any:
            seed = float(random.random())
            return lib.top.jit(lib.fresh(lambda *a: f(*a) * seed))(*args)

        return run

    return {
        "cold jit call, x + 1": first(lambda x: x + 1, x),
        "cold jit call, MLP-10": first(loss, params, x),
        "cold jit call, transformer-2": first(t_loss, t_params, t_x),
    }


def kernels(lib: Library) -> dict[str, Any]:
    """Run time of compiled programs."""
    jnp, jit = lib.np, lib.top.jit
    rng = np.random.default_rng(0)
    big = jnp.asarray(rng.normal(size=10_000_000).astype("float32"))
    million = jnp.asarray(rng.normal(size=1_000_000).astype("float32"))
    m = jnp.asarray(rng.normal(size=(512, 512)).astype("float32"))
    loss, params, x = mlp(lib, 10, 256, 128)
    jit_loss = jit(loss)
    add, exp = jit(lambda x: x + x), jit(jnp.exp)
    sort, cumsum = jit(jnp.sort), jit(jnp.cumsum)
    matmul, total = jit(lambda m: m @ m), jit(jnp.sum)
    return {
        "run add 1e7": lambda: add(big),
        "run exp 1e7": lambda: exp(big),
        "run sort 1e6": lambda: sort(million),
        "run cumsum 1e6": lambda: cumsum(million),
        "run sum 1e6": lambda: total(million),
        "run matmul 512": lambda: matmul(m),
        "run MLP-10": lambda: jit_loss(params, x),
    }


def quick_programs(lib: Library) -> dict[str, Any]:
    """Tracing, lowering, printing and compiling of small programs."""
    jit, grad = lib.top.jit, lib.top.grad
    found: dict[str, Any] = {}
    for name, (loss, *args) in {
        "MLP-10": mlp(lib, 10),
        "transformer-2": transformer(lib, 2),
    }.items():
        found[f"quick trace grad {name}"] = lambda f=loss, args=args: lib.make_program(
            lib.fresh(grad(f))
        )(*args)
        found[f"quick lower grad {name}"] = _lower(lib, grad(loss), *args)
        found[f"quick as_text grad {name}"] = jit(grad(loss)).lower(*args).as_text
    x = lib.np.ones(3)
    found["quick cold call"] = Prepared(
        random.random, lambda seed: jit(lib.fresh(lambda x: x * seed + seed))(x)
    )
    return found


def quick_runs(lib: Library) -> dict[str, Any]:
    """Programs of a few kinds, for comparing a change with its parent."""
    jit, grad = lib.top.jit, lib.top.grad
    rng = np.random.default_rng(0)
    line = lib.np.asarray(rng.normal(size=100_000).astype("float32"))
    sort, scan = jit(lib.np.sort), jit(lib.np.cumsum)
    found = {
        "quick sort 1e5": lambda: sort(line),
        "quick cumsum 1e5": lambda: scan(line),
    }
    for name, (f, *args) in {
        "MLP-4": mlp(lib, 4, 64, 64),
        "transformer-1": transformer(lib, 1, 64),
        "3 convolutions": convnet(lib, 3),
        "RK4 x 200 by scan": oscillator(lib, 200, scanned=True),
    }.items():
        found[f"quick grad {name}"] = functools.partial(jit(grad(f)), *args)
    return found


def _gradients(lib: Library) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Functions that differentiate, with their arguments."""
    grad, vmap = lib.top.grad, lib.top.vmap
    loss, params, x = mlp(lib, 10, 256, 128)
    h_loss, h_params, h_x = mlp(lib, 3, 8, 4)
    found = {
        "grad MLP-10": (grad(loss), (params, x)),
        "vmap(grad) MLP-10": (vmap(grad(loss), in_axes=(None, 0)), (params, x[:8])),
        "hessian MLP-3": (lib.top.hessian(h_loss), (h_params, h_x)),
    }
    for name, (f, *args) in {
        "transformer-4": transformer(lib, 4, 64),
        "10 convolutions": convnet(lib, 10),
        "RNN of 200 steps": recurrent(lib, 200),
        "RK4 x 1000 by scan": oscillator(lib, 1000, scanned=True),
    }.items():
        found[f"grad {name}"] = grad(f), tuple(args)
    return found


def gradients(lib: Library) -> dict[str, Any]:
    """Run time of compiled derivatives."""
    return {
        f"run {name}": functools.partial(lib.top.jit(f), *args)
        for name, (f, args) in _gradients(lib).items()
    }


class Bytes:
    """A case whose figure is an amount of memory."""

    def __init__(self, count: Any) -> None:
        self.count = count


def memory(lib: Library) -> dict[str, Any]:
    """What compiled derivatives take beside arguments and results, as XLA plans it."""

    def planned(f: Any, args: Any) -> Bytes:
        def count() -> int:
            compiled = lib.top.jit(f).lower(*args).compile()
            return compiled.memory_analysis().temp_size_in_bytes

        return Bytes(count)

    return {f"memory {k}": planned(*v) for k, v in _gradients(lib).items()}


def growth(lib: Library) -> dict[str, Any]:
    """Cost as a function of the number of equations and of leaves."""
    jnp = lib.np
    found: dict[str, Any] = {}
    x = jnp.ones(3)
    for n in (100, 1_000, 10_000):

        def chain(x: Any, n: int = n) -> Any:
            for _ in range(n):
                x = x * 1.0001
            return x

        found[f"trace {n} equations"] = lambda f=chain: lib.make_program(lib.fresh(f))(
            x
        )
        found[f"lower {n} equations"] = _lower(lib, chain, x)
    for n in (30, 300, 3_000):
        leaves = [jnp.ones(()) for _ in range(n)]
        identity = lib.top.jit(lambda xs: xs[0] + xs[-1])
        found[f"call with {n} leaves"] = lambda f=identity, xs=leaves: f(xs)
    return found


GROUPS = {
    f.__name__: f
    for f in (
        calls,
        remade,
        eager,
        eager_grad,
        tracing,
        lowering,
        printing,
        cold,
        kernels,
        quick_programs,
        quick_runs,
        gradients,
        memory,
        growth,
    )
}
