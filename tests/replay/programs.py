"""The functions whose programs are compared, with their arguments.

Public names only: the library may be that of another commit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import lax, nn, random
from olympus.experimental import checkify
from tests.differential import running
from tests.public_functions import table

SEED = 20


class Program(NamedTuple):
    """A function of arrays to be traced and lowered.

    Attributes:
      name: what it is called in reports.
      function: what is traced.
      arguments: its positional arguments.
      x64: whether 64-bit values are on.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    x64: bool = False


def programs() -> Iterator[Program]:
    yield from _by_hand()
    for entry in table.DRAWN:
        if entry.jit:
            yield from _of_entry(entry)


def _of_entry(entry: Any) -> Iterator[Program]:
    for number in (0, running.GROUP):
        case = running.draw(entry, number, SEED)
        if isinstance(case.want, Exception):
            continue
        arrays, put = running.taken_apart(case.call)

        def call(*arrays: Any, put: Any = put) -> Any:
            args, kwargs = put(arrays)
            return entry.function()(*args, **kwargs)

        yield from _transformed(entry.id, call, tuple(arrays), case.x64)


def _transformed(
    name: str, call: Callable[..., Any], arrays: tuple[Any, ...], x64: bool
) -> Iterator[Program]:
    yield Program(name, call, arrays, x64)
    if not arrays:
        return
    stacked = tuple(np.stack([x, x]) for x in arrays)
    yield Program(f"{name} vmap", olympus.vmap(call), stacked, x64)
    if all(np.asarray(x).dtype.kind == "f" for x in arrays):

        def jvp(*arrays: Any) -> Any:
            return olympus.jvp(call, arrays, arrays)

        def vjp(*arrays: Any) -> Any:
            out, pull = olympus.vjp(call, *arrays)
            return pull(out)

        yield Program(f"{name} jvp", jvp, arrays, x64)
        yield Program(f"{name} vjp", vjp, arrays, x64)


_X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
_V = np.float32([0.5, -1.0, 2.0, 0.25])


def _layer(x: Any, w: Any) -> Any:
    return jnp.tanh(x @ w) + x[..., :1]


def _loss(w: Any, x: Any) -> Any:
    hidden = nn.gelu(x @ w)
    return -jnp.mean(nn.log_softmax(hidden)[:, 0]) + 1e-2 * jnp.sum(w**2)


@olympus.custom_jvp
def _cube(x: Any) -> Any:
    return x * x * x


@_cube.defjvp
def _cube_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return _cube(x), 3 * x * x * t


@olympus.custom_vjp
def _clipped(x: Any) -> Any:
    return jnp.sin(x)


_clipped.defvjp(
    lambda x: (jnp.sin(x), x), lambda x, t: (jnp.clip(t, -1, 1) * jnp.cos(x),)
)


def _checked(x: Any) -> Any:
    checkify.check(jnp.all(x > 0), "negative: {}", x.min())
    return jnp.log(x)


def _newton(a: Any) -> Any:
    def step(state: Any) -> Any:
        i, x = state
        return i + 1, 0.5 * (x + a / x)

    return lax.while_loop(lambda s: s[0] < 8, step, (0, a))[1]


def _by_hand() -> Iterator[Program]:
    w = np.ones((4, 4), np.float32)
    functions: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
        ("scan", lambda x: lax.scan(lambda c, y: (c + y, c * y), x[0], x), (_X,)),
        (
            "scan, reversed and unrolled",
            lambda x: lax.scan(
                lambda c, y: (jnp.sin(c) + y, None), x[0], x, reverse=True, unroll=2
            ),
            (_X,),
        ),
        ("fori_loop", lambda x: lax.fori_loop(0, 5, lambda i, c: c * i + x, x), (_V,)),
        ("while_loop", _newton, (np.float32(2),)),
        ("cond", lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), (_V,)),
        (
            "switch",
            lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * 2], x),
            (np.int32(1), _V),
        ),
        ("map", lambda x: lax.map(jnp.cumsum, x), (_X,)),
        ("associative_scan", lambda x: lax.associative_scan(jnp.add, x), (_V,)),
        ("custom_jvp", lambda x: _cube(x) + 1, (_V,)),
        ("custom_vjp", lambda x: _clipped(x) * 2, (_V,)),
        (
            "checkpoint",
            lambda x: olympus.checkpoint(_layer)(x, w).sum(axis=-1),
            (_X,),
        ),
        ("jit in jit", lambda x: olympus.jit(_layer)(x, w), (_X,)),
        ("custom_root", _root, (np.float32(2),)),
        ("indexing", lambda x: x[1:, ::2] + x[np.array([0, 2])][:, 1::2], (_X,)),
        ("updates", lambda x: x.at[1].add(2.0).at[:, 2].set(x[:, 0]), (_X,)),
        ("einsum", lambda x: jnp.einsum("ij,kj->ik", x, x), (_X,)),
        ("solve", lambda a: jnp.linalg.solve(a @ a.T + 3 * jnp.eye(3), a), (_X,)),
    ]
    for name, call, arrays in functions:
        yield from _transformed(name, call, arrays, False)
    others: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
        ("gradient of a layer", olympus.grad(_loss), (w, _X)),
        ("value and gradient", olympus.jit(olympus.value_and_grad(_loss)), (w, _X)),
        ("hessian", olympus.hessian(lambda x: jnp.sum(_cube(x))), (_V,)),
        ("jacfwd of jacrev", olympus.jacfwd(olympus.jacrev(_clipped)), (_V,)),
        ("gradients of each example", _gradients_of_each, (w, _X)),
        ("vmap of cond", _vmap_of_cond, (_V, _X)),
        ("vmap of while", olympus.vmap(_newton), (np.abs(_V),)),
        ("psum", olympus.vmap(lambda x: x - lax.pmean(x, "i"), axis_name="i"), (_X,)),
        ("checkify", checkify.checkify(_checked), (np.abs(_V),)),
        ("debug.print", _printing, (_V,)),
        ("pure_callback", _calling_back, (_V,)),
        ("keys", _drawing, (np.uint32(3),)),
        ("dropout", _dropout, (np.uint32(3), _X)),
    ]
    for name, call, arrays in others:
        yield Program(name, call, arrays)


def _root(a: Any) -> Any:
    return lax.custom_root(
        lambda x: x * x - a,
        1.0,
        lambda f, x: lax.fori_loop(0, 9, lambda _, x: x - f(x) / (2 * x), x),
        lambda g, y: y / g(1.0),
    )


def _gradients_of_each(w: Any, x: Any) -> Any:
    return olympus.vmap(lambda row: olympus.grad(_loss)(w, row[None]))(x)


def _vmap_of_cond(p: Any, x: Any) -> Any:
    return olympus.vmap(lambda p, y: lax.cond(p > 0, jnp.sin, jnp.cos, y))(p[:3], x)


def _printing(x: Any) -> Any:
    olympus.debug.print("x {x}", x=x)
    return x + 1


def _calling_back(x: Any) -> Any:
    return olympus.pure_callback(np.sin, olympus.ShapeDtypeStruct(x.shape, x.dtype), x)


def _drawing(seed: Any) -> Any:
    first, second = random.split(random.key(seed))
    return random.normal(first, (3,)), random.permutation(second, 5)


def _dropout(seed: Any, x: Any) -> Any:
    kept = random.bernoulli(random.key(seed), 0.5, x.shape)
    return jnp.where(kept, x / 0.5, 0)


def describe(program: Program) -> str:
    """The printed program and its StableHLO, or the kind of error."""
    with warnings.catch_warnings(), olympus.enable_x64(program.x64):
        warnings.simplefilter("ignore")
        try:
            traced = olympus.jit(program.function).trace(*program.arguments)
            return f"{traced.olympuspr}\n\n{traced.lower().as_text()}"
        except Exception as error:
            return f"{type(error).__name__}"
