"""Programs of the sizes that GPUs are for. Without one there are no cases.

A case is waited for, so that its figure has the time to start it in it: some 30
microseconds, which is little beside any of these.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from bench.models import Library

_SIDE = 8192
_LINE = 1 << 28
_KEYS = 10_000_000


def gpus(lib: Library) -> dict[str, Any]:
    """Products, memory-bound operations, sorts, factorizations and training steps."""
    if lib.top.default_backend() != "gpu":
        return {}
    cases = _Cases(lib)
    for add in (
        _products,
        _passes,
        _orders,
        _searches,
        _factorizations,
        _stacks,
        _networks,
        _transfers,
    ):
        add(cases, lib)
    return {f"gpu {name}": f for name, f in cases.found.items()}


class _Cases:
    """Collects functions, compiled or not, with arguments on the device."""

    def __init__(self, lib: Library) -> None:
        self.lib = lib
        self.key = lib.top.random.key(0)
        self.found: dict[str, Any] = {}

    def floats(self, *shape: int, dtype: Any = "float32") -> Any:
        return self.lib.top.random.normal(self.key, shape).astype(dtype)

    def below(self, limit: int, n: int) -> Any:
        return self.lib.top.random.randint(self.key, (n,), 0, limit)

    def add(self, name: str, f: Any, *args: Any) -> None:
        self.found[name] = functools.partial(self.lib.top.jit(f), *args)


def _products(cases: _Cases, lib: Library) -> None:
    x = cases.floats(_SIDE, _SIDE)
    for name, precision in (
        ("bfloat16", None),
        ("float16", None),
        ("float32", None),
        ("float32", "highest"),
        ("float8_e4m3fn", None),
    ):
        cases.add(
            f"matmul {_SIDE} {name}{' exact' if precision else ''}",
            lambda a, p=precision: lib.lax.dot(
                a, a, precision=p, preferred_element_type="float32"
            ),
            x.astype(name),
        )
    image, kernel = cases.floats(64, 56, 56, 64), cases.floats(3, 3, 64, 64)
    convolve = functools.partial(
        lib.lax.conv_general_dilated,
        window_strides=(1, 1),
        padding="SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    args = image.astype("bfloat16"), kernel.astype("bfloat16")
    cases.add("convolution 64x56x56x64", convolve, *args)
    cases.add(
        "convolution 64x56x56x64, gradient",
        lib.top.grad(lambda x, w: convolve(x, w).astype("float32").sum(), (0, 1)),
        *args,
    )


def _passes(cases: _Cases, lib: Library) -> None:
    x, jnp = cases.floats(_LINE), lib.np
    rows = x.reshape(-1, 1024)
    cases.add("add 2^28", lambda x: x + 1, x)
    cases.add("sum 2^28", jnp.sum, x)
    cases.add("softmax 2^18x1024", lib.top.nn.softmax, rows)
    cases.add("transpose 2^18x1024", lambda x: x.T + 0, rows)
    cases.add("cumsum 2^28", jnp.cumsum, x)
    cases.add(
        "normal 2^28", lambda key: lib.top.random.normal(key, (_LINE,)), cases.key
    )
    cases.add("rfft 2^24", jnp.fft.rfft, x[: 1 << 24])


def _orders(cases: _Cases, lib: Library) -> None:
    jnp = lib.np
    x, whole = cases.floats(_KEYS), cases.below(2**31 - 1, _KEYS)
    places = cases.below(_KEYS // 10, _KEYS)
    cases.add("sort 1e7", jnp.sort, x)
    cases.add("argsort 1e7", jnp.argsort, x)
    cases.add("sort 1e7 int", jnp.sort, whole)
    cases.add("argsort 1e7 int", jnp.argsort, whole)
    cases.add("median 1e7", jnp.median, x)
    cases.add("sort 4096x4096", jnp.sort, cases.floats(4096, 4096))
    cases.add("top_k 10 of 1e7", lambda x: lib.lax.top_k(x, 10), x)
    for k, shape in ((10, (10**6,)), (50, (64, 50257)), (8, (65536, 256))):
        cases.add(
            f"top_k {k} of {'x'.join(map(str, shape))}",
            lambda x, k=k: lib.lax.top_k(x, k),
            cases.floats(*shape),
        )
    cases.add("gather 1e7", lambda x, i: x[i], x, places)
    total = jnp.zeros(_KEYS // 10)
    cases.add("scatter-add 1e7", lambda t, i, x: t.at[i].add(x), total, places, x)


def _searches(cases: _Cases, lib: Library) -> None:
    """Positions and counts."""
    jnp, n = lib.np, 1 << 24
    x = cases.floats(n)
    few, many = cases.below(10, n), cases.below(n // 16, n)
    edges = jnp.sort(cases.floats(100_000))
    cases.add("histogram 2^24", lambda x: jnp.histogram(x, 100)[0], x)
    cases.add("bincount 2^24 of 10", lambda i: jnp.bincount(i, length=10), few)
    cases.add("bincount 2^24 of 2^20", lambda i: jnp.bincount(i, length=n // 16), many)
    cases.add("searchsorted 2^24 in 1e5", jnp.searchsorted, edges, x)
    cases.add("nonzero 2^24", lambda x: jnp.nonzero(x > 0, size=n), x)


def _factorizations(cases: _Cases, lib: Library) -> None:
    linalg, n = lib.np.linalg, 2048
    x = cases.floats(n, n)
    definite = x @ x.T + n * lib.np.eye(n)
    cases.add(f"cholesky {n}", linalg.cholesky, definite)
    cases.add(f"solve {n}", lambda a: linalg.solve(a, a[:, :1]), x)
    cases.add(f"qr {n}", linalg.qr, x)
    cases.add(f"eigh {n}", linalg.eigh, definite)
    cases.add("svd 512", linalg.svd, x[:512, :512])


def _stacks(cases: _Cases, lib: Library) -> None:
    """Factorizations of stacks of matrices."""
    linalg = lib.np.linalg
    for count, n in ((1000, 8), (1000, 32), (100, 128), (16, 512)):
        x = cases.floats(count, n, n)
        definite = x @ x.swapaxes(1, 2) + n * lib.np.eye(n)
        of_any = {"svd": linalg.svd, "inv": linalg.inv, "qr": linalg.qr}
        of_definite = {"eigh": linalg.eigh, "cholesky": linalg.cholesky}
        for name, f in of_any.items():
            cases.add(f"{name} {count}x{n}x{n}", f, x)
        for name, f in of_definite.items():
            cases.add(f"{name} {count}x{n}x{n}", f, definite)


def _networks(cases: _Cases, lib: Library) -> None:
    step, params, x = _transformer(cases, lib, layers=4, width=1024, length=1024)
    cases.add("transformer step, 4 layers", step, params, x)
    m = cases.floats(64, 64)
    tanh = lib.np.tanh
    cases.add(
        "scan of 1000 products",
        lambda m: lib.lax.scan(lambda c, _: (tanh(c @ c), None), m, length=1000)[0],
        m,
    )
    once = lib.top.jit(lambda c: tanh(c @ c))

    def calls() -> Any:
        c = m
        for _ in range(1000):
            c = once(c)
        return c

    cases.found["1000 calls of a product"] = calls


def _transformer(
    cases: _Cases, lib: Library, layers: int, width: int, length: int
) -> Any:
    """A step of training in bfloat16: attention and two products a layer."""
    jnp, heads, batch = lib.np, 16, 8
    shapes = {
        "qkv": (width, 3 * width),
        "out": (width, width),
        "up": (width, 4 * width),
        "down": (4 * width, width),
    }
    params = [
        {name: 0.02 * cases.floats(*shape) for name, shape in shapes.items()}
        for _ in range(layers)
    ]
    x = cases.floats(batch, length, width, dtype="bfloat16")

    def layer(x: Any, p: Any) -> Any:
        p = {name: w.astype("bfloat16") for name, w in p.items()}
        parts = jnp.split(x @ p["qkv"], 3, axis=-1)
        q, k, v = (a.reshape(batch, length, heads, -1) for a in parts)
        mixed = lib.top.nn.dot_product_attention(q, k, v, is_causal=True)
        x = x + mixed.reshape(x.shape) @ p["out"]
        return x + lib.top.nn.gelu(x @ p["up"]) @ p["down"]

    def loss(params: Any, x: Any) -> Any:
        for p in params:
            x = layer(x, p)
        return jnp.mean(x.astype("float32") ** 2)

    def step(params: Any, x: Any) -> Any:
        grads = lib.top.grad(loss)(params, x)
        return lib.top.tree.map(lambda w, g: w - 1e-3 * g, params, grads)

    return step, params, x


def _transfers(cases: _Cases, lib: Library) -> None:
    host = np.ones(1 << 24, np.float32)
    on_device = lib.top.device_put(host)
    scalar = np.float32(1)
    negate = lib.top.jit(lambda x: -x)
    made = {"zeros 2^28": lib.np.zeros, "arange 2^28": lib.np.arange}
    cases.found |= {
        "put 64 MB": lambda: lib.top.device_put(host),
        "put a number": lambda: lib.top.device_put(scalar),
        # Of a new array, whose value is not on the host yet.
        "read 64 MB": lambda: np.asarray(negate(on_device)),
        **{name: functools.partial(f, _LINE) for name, f in made.items()},
    }


GROUPS = {"gpu": gpus}
