"""Programs as users write them, and programs whose compilation once grew."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from bench.models import Library, mlp, transformer
from bench.programs import Prepared


def _normal(lib: Library, *shape: int) -> Any:
    rng = np.random.default_rng(len(shape))
    return lib.np.asarray(rng.normal(size=shape).astype("float32"))


# -- run time --------------------------------------------------------------------------


def applications(lib: Library) -> dict[str, Any]:
    """Run time of compiled applications."""
    top, jnp = lib.top, lib.np
    loss, params, x = mlp(lib, 300, 32, 16)
    forward, weights, words = transformer(lib, 4, 128)
    network, start, slopes = _network(lib)
    small = _normal(lib, 10_000, 4, 4) + 4 * jnp.eye(4)
    line, plane = _normal(lib, 1_000_000), _normal(lib, 1024, 1024)
    cases = {
        "PPO update": (_ppo(lib), _normal(lib, 512, 8)),
        "gradient of FDTD": (top.grad(_fdtd(lib, 100)), _normal(lib, 64, 64)),
        "Navier-Stokes": (_vorticity(lib, 20), _normal(lib, 64, 64)),
        "gradient of Tsit5": (top.grad(_tsit5(lib, 100)), jnp.ones(4)),
        "gradient of 300 unrolled layers": (top.grad(loss), params, x),
        "transformer forward": (forward, weights, words),
        "vmap(jacfwd)": (
            top.vmap(top.jacfwd(network, 1), (None, 0)),
            start,
            slopes,
        ),
        "inverse of 4x4, batched": (jnp.linalg.inv, small),
        "fft 1e6": (jnp.fft.fft, line),
        "fft2 1024x1024": (jnp.fft.fft2, plane),
        "histogram 1e6": (lambda x: jnp.histogram(x, 100)[0], line),
        "stencil of 9 points": (_stencil(lib), plane),
    }
    return {
        f"application {name}": functools.partial(top.jit(f), *args)
        for name, (f, *args) in cases.items()
    }


def _network(lib: Library) -> Any:
    weights = [_normal(lib, 16, 16) * 0.2 for _ in range(3)]

    def network(weights: Any, x: Any) -> Any:
        for w in weights:
            x = lib.np.tanh(x @ w)
        return x

    return network, weights, _normal(lib, 64, 16)


def _ppo(lib: Library) -> Any:
    """Four epochs of clipped policy gradients, with advantages by a reversed scan."""
    top, jnp = lib.top, lib.np
    policy, value = _normal(lib, 8, 4) * 0.1, _normal(lib, 8, 1) * 0.1

    def log_softmax(x: Any) -> Any:
        x = x - jnp.max(x, axis=-1, keepdims=True)
        return x - jnp.log(jnp.sum(jnp.exp(x), axis=-1, keepdims=True))

    def advantages(values: Any) -> Any:
        def step(after: Any, now: Any) -> Any:
            after = now + 0.95 * after
            return after, after

        return lib.lax.scan(step, jnp.zeros(()), values, reverse=True)[1]

    def loss(params: Any, states: Any, old: Any, gains: Any) -> Any:
        logs = log_softmax(jnp.tanh(states) @ params[0])[:, 0]
        ratio = jnp.exp(logs - old)
        clipped = jnp.clip(ratio, 0.8, 1.2)
        critic = (states @ params[1])[:, 0] - gains
        return -jnp.mean(jnp.minimum(ratio * gains, clipped * gains)) + jnp.mean(
            critic**2
        )

    def update(states: Any) -> Any:
        params = [policy, value]
        old = log_softmax(jnp.tanh(states) @ policy)[:, 0]
        gains = advantages((states @ value)[:, 0])
        for _ in range(4):
            slopes = top.grad(loss)(params, states, old, gains)
            params = [p - 1e-2 * s for p, s in zip(params, slopes, strict=True)]
        return params

    return update


def _fdtd(lib: Library, steps: int) -> Any:
    """Waves on a grid by finite differences in time; the sum of squares at the end."""
    jnp = lib.np

    def energy(field: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            e, hx, hy = state
            hx = hx - 0.5 * (jnp.roll(e, -1, 1) - e)
            hy = hy + 0.5 * (jnp.roll(e, -1, 0) - e)
            e = e + 0.5 * (hy - jnp.roll(hy, 1, 0) - hx + jnp.roll(hx, 1, 1))
            return (e, hx, hy), None

        zeros = jnp.zeros_like(field)
        (e, _, _), _ = lib.lax.scan(step, (field, zeros, zeros), None, length=steps)
        return jnp.sum(e**2)

    return energy


def _vorticity(lib: Library, steps: int) -> Any:
    """The two-dimensional equations of Navier and Stokes, by Fourier transforms."""
    jnp = lib.np

    def run(vorticity: Any) -> Any:
        n = vorticity.shape[0]
        k = jnp.fft.fftfreq(n) * n
        kx, ky = k[:, None], k[None, :]
        square = jnp.maximum(kx**2 + ky**2, 1.0)

        def step(w: Any, _: Any) -> Any:
            stream = w / square
            u = jnp.fft.ifft2(1j * ky * stream).real
            v = jnp.fft.ifft2(-1j * kx * stream).real
            dx, dy = (jnp.fft.ifft2(1j * k * w).real for k in (kx, ky))
            return (w - 1e-3 * jnp.fft.fft2(u * dx + v * dy)) / (
                1 + 1e-4 * square
            ), None

        w, _ = lib.lax.scan(step, jnp.fft.fft2(vorticity), None, length=steps)
        return jnp.fft.ifft2(w).real

    return run


# Tsitouras (2011), Runge-Kutta pairs of order 5(4).
_TSIT5 = (
    (0.161,),
    (-0.008480655492356989, 0.335480655492357),
    (2.8971530571054935, -6.359448489975075, 4.3622954328695815),
    (5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525),
    (
        5.86145544294642,
        -12.92096931784711,
        8.159367898576159,
        -0.071584973281401,
        -0.028269050394068383,
    ),
    (
        0.09646076681806523,
        0.01,
        0.4798896504144996,
        1.379008574103742,
        -3.290069515436081,
        2.324710524099774,
    ),
)


def _tsit5(lib: Library, steps: int) -> Any:
    """A sum at the end of a solution in fixed steps."""
    jnp = lib.np

    def slope(y: Any) -> Any:
        return jnp.stack([y[1], -jnp.sin(y[0]), y[3] * y[0], -y[2]])

    def total(y: Any) -> Any:
        def step(y: Any, _: Any) -> Any:
            slopes = [slope(y)]
            for row in _TSIT5:
                parts = [a * k for a, k in zip(row, slopes, strict=True)]
                state = y + 0.01 * sum(parts)
                slopes.append(slope(state))
            return state, None

        return jnp.sum(lib.lax.scan(step, y, None, length=steps)[0])

    return total


def _stencil(lib: Library) -> Any:
    def smooth(x: Any) -> Any:
        rows = x[:-2] + 2 * x[1:-1] + x[2:]
        return (rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) / 16

    return smooth


# -- first calls -----------------------------------------------------------------------


class Once(Prepared):
    """A case of one turn, which takes long."""

    turns = 1


def _first(lib: Library, f: Any, *args: Any) -> Once:
    """Tracing, lowering and compiling of a function."""
    jit = lib.top.jit
    return Once(lambda: lib.fresh(f), lambda new: jit(new).lower(*args).compile())


def compiles(lib: Library) -> dict[str, Any]:
    """First calls of programs that grow: chains, fans, arrays taken apart."""
    top, jnp = lib.top, lib.np
    key = top.random.key(0)
    loss, params, x = mlp(lib, 48, 32, 16)
    image = _normal(lib, 100, 28, 28)

    def chain(x: Any) -> Any:
        terms = [x * float(i) for i in range(20)]
        for _ in range(233):
            terms = [*terms[1:], jnp.tanh(sum(terms))]
        return sum(terms)

    def added(x: Any) -> Any:
        out = jnp.zeros(64)
        for i in range(64):
            out = out.at[i].add(x[i] * x[(i + 1) % 64])
        return jnp.sum(out**2)

    def uniform(key: Any) -> Any:
        return top.vmap(top.random.uniform)(top.random.split(key, 8))

    return {
        "compile decoder cut into a grid": _first(lib, _grid(lib), image),
        "compile a tanh of sums, 233": _first(lib, chain, jnp.ones(8)),
        "compile gradient of static adds": _first(lib, top.grad(added), jnp.ones(64)),
        "compile vmap of uniform": _first(lib, uniform, key),
        "compile gradient of 48 layers": _first(lib, top.grad(loss), params, x),
    }


def _grid(lib: Library) -> Any:
    """A decoder's images, sampled and put into a grid of 10 by 10."""
    jnp, random = lib.np, lib.top.random
    first, second = _normal(lib, 20, 64), _normal(lib, 64, 784)

    def draw(images: Any) -> Any:
        codes = images.reshape(100, 784)[:, :20]
        means = 1 / (1 + jnp.exp(-(jnp.tanh(codes @ first) @ second)))
        drawn = random.bernoulli(random.key(0), means).reshape(100, 28, 28)
        rows = [jnp.concatenate(list(drawn[i : i + 10]), 1) for i in range(0, 100, 10)]
        return jnp.concatenate(rows, 0)

    return draw


# -- size ------------------------------------------------------------------------------


def scale(lib: Library) -> dict[str, Any]:
    """Long traces, many leaves, many functions, long loops."""
    top, jnp = lib.top, lib.np
    x = jnp.ones(3)

    def chain(x: Any) -> Any:
        for _ in range(100_000):
            x = x * 1.0001
        return x

    leaves = [np.float32(1)] * 100_000
    first_and_last = lib.fresh(lambda xs: xs[0] + xs[-1])

    def loop(x: Any) -> Any:
        step = lambda c, _: (c * 0.999 + 1, None)  # noqa: E731
        return lib.lax.scan(step, x, None, length=10_000_000)[0]

    run = top.jit(loop)
    return {
        "trace 100000 equations": Once(
            lambda: lib.fresh(chain), lambda f: lib.make_program(f)(x)
        ),
        "trace with 100000 leaves": Once(
            lambda: lib.fresh(first_and_last), lambda f: lib.make_program(f)(leaves)
        ),
        "call 1000 functions": Once(
            lambda: [lib.fresh(lambda x: x + 1) for _ in range(1000)],
            lambda fs: [top.jit(f)(x) for f in fs],
        ),
        "scan of 1e7 steps": Once(lambda: run(x), lambda _: lib.wait(run(x))),
    }


GROUPS = {f.__name__: f for f in (applications, compiles, scale)}
