"""Convolutions, windows and small matrices, timed as compiled programs.

Each function takes a `Library` and returns callables by name, as those of `programs`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.models import Library

_CHANNELS_LAST = ("NHWC", "HWIO", "NHWC")


class Arrays:
    """Random arrays of one library, the same for all."""

    def __init__(self, lib: Library) -> None:
        self.lib = lib
        self.rng = np.random.default_rng(0)

    def __call__(self, *shape: int, dtype: str = "float32") -> Any:
        return self.lib.np.asarray(self.rng.normal(size=shape).astype(dtype))

    def positive(self, *shape: int) -> Any:
        """Symmetric matrices with eigenvalues of 1 or more."""
        x = self.rng.normal(size=shape)
        x = x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])
        return self.lib.np.asarray(x.astype("float32"))


def _convolution(
    lib: Library, strides: Any = (1, 1), padding: Any = "SAME", **more: Any
):
    def run(x: Any, w: Any) -> Any:
        more.setdefault("dimension_numbers", _CHANNELS_LAST)
        return lib.lax.conv_general_dilated(x, w, strides, padding, **more)

    return run


def _gradient(lib: Library, f: Any, argnum: int) -> Any:
    """The gradient of `f` in one argument, for a cotangent of its result's size."""

    def run(x: Any, w: Any, ct: Any) -> Any:
        def of_one(v: Any) -> Any:
            return f(v, w) if argnum == 0 else f(x, v)

        return lib.top.vjp(of_one, (x, w)[argnum])[1](ct)[0]

    return run


def _compiled(lib: Library, cases: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Calls of compiled functions, from functions and their arguments."""
    found = {}
    for name, (f, *args) in cases.items():
        run = f if lib.name == "numpy" else lib.top.jit(f)
        found[f"run {name}"] = lambda f=run, args=args: f(*args)
    return found


def convolutions(lib: Library) -> dict[str, Any]:
    """Convolutions of many kinds."""
    a = Arrays(lib)
    conv = _convolution
    nchw = ("NCHW", "OIHW", "NCHW")
    x, w = a(8, 56, 56, 64), a(3, 3, 64, 64)
    depth = a(3, 3, 1, 64)
    line = {"dimension_numbers": ("NHC", "HIO", "NHC")}
    cube = {"dimension_numbers": ("NDHWC", "DHWIO", "NDHWC")}
    cases = {
        "convolution 3x3": (conv(lib), x, w),
        "convolution 3x3, one image": (conv(lib), x[:1], w),
        "convolution 1x1": (conv(lib), x, a(1, 1, 64, 64)),
        "convolution 7x7 of images, stride 2": (
            conv(lib, (2, 2)),
            a(4, 112, 112, 3),
            a(7, 7, 3, 32),
        ),
        "convolution 3x3, dilated": (conv(lib, rhs_dilation=(2, 2)), x, w),
        "depthwise 3x3": (conv(lib, feature_group_count=64), x, depth),
        "depthwise 3x3, channels first": (
            conv(lib, feature_group_count=64, dimension_numbers=nchw),
            a(8, 64, 56, 56),
            a(64, 1, 3, 3),
        ),
        "depthwise 3x3, stride 2": (
            conv(lib, (2, 2), feature_group_count=64),
            x,
            depth,
        ),
        "depthwise 7x7": (conv(lib, feature_group_count=64), x, a(7, 7, 1, 64)),
        "depthwise of 4 taps in time": (
            conv(lib, (1,), [(3, 0)], feature_group_count=256, **line),
            a(8, 512, 256),
            a(4, 1, 256),
        ),
        "grouped 3x3, 8 groups": (conv(lib, feature_group_count=8), x, a(3, 3, 8, 64)),
        "channels first 3x3": (
            conv(lib, dimension_numbers=nchw),
            a(8, 64, 56, 56),
            a(64, 64, 3, 3),
        ),
        "transposed 4x4, stride 2": (
            lambda x, w: lib.lax.conv_transpose(x, w, (2, 2), "SAME"),
            a(8, 28, 28, 64),
            a(4, 4, 64, 32),
        ),
        "transposed 2x2, stride 2": (
            lambda x, w: lib.lax.conv_transpose(x, w, (2, 2), "SAME"),
            a(8, 28, 28, 64),
            a(2, 2, 64, 32),
        ),
        "in time, 9 taps": (
            conv(lib, (1,), "SAME", **line),
            a(8, 1024, 64),
            a(9, 64, 64),
        ),
        "in space 3x3x3": (
            conv(lib, (1, 1, 1), "SAME", **cube),
            a(2, 16, 16, 16, 32),
            a(3, 3, 3, 32, 32),
        ),
    }
    return _compiled(lib, cases)


def convolution_gradients(lib: Library) -> dict[str, Any]:
    """Gradients of convolutions, in the input and in the kernel."""
    a = Arrays(lib)
    plain, strided = _convolution(lib), _convolution(lib, (2, 2))
    depthwise = _convolution(lib, feature_group_count=64)
    small, grouped = a(8, 28, 28, 64), _convolution(lib, feature_group_count=8)
    line = _convolution(lib, (1,), dimension_numbers=("NHC", "HIO", "NHC"))
    cases = {}
    for name, f, x, w, ct in (
        ("3x3", plain, small, a(3, 3, 64, 64), small),
        ("3x3, stride 2", strided, small, a(3, 3, 64, 64), small[:, :14, :14]),
        (
            "7x7 of images, stride 2",
            strided,
            a(4, 112, 112, 3),
            a(7, 7, 3, 32),
            a(4, 56, 56, 32),
        ),
        ("depthwise 3x3", depthwise, small, a(3, 3, 1, 64), small),
        ("grouped 3x3", grouped, small, a(3, 3, 8, 64), small),
        ("1x1", plain, small, a(1, 1, 64, 64), small),
        ("in time", line, a(8, 512, 64), a(9, 64, 64), a(8, 512, 64)),
    ):
        cases[f"input gradient {name}"] = (_gradient(lib, f, 0), x, w, ct)
        cases[f"kernel gradient {name}"] = (_gradient(lib, f, 1), x, w, ct)
    return _compiled(lib, cases)


def _pool(lib: Library, start: float, fold: Any, window: int, step: int) -> Any:
    def run(x: Any) -> Any:
        sizes, steps = (1, window, window, 1), (1, step, step, 1)
        return lib.lax.reduce_window(x, start, fold, sizes, steps, "SAME")

    return run


def windows(lib: Library) -> dict[str, Any]:
    """Pooling, its gradient, convolutions of signals, stencils."""
    a, lax, jnp = Arrays(lib), lib.lax, lib.np
    x = a(8, 56, 56, 64)
    largest = _pool(lib, -np.inf, lax.max, 2, 2)
    wide = _pool(lib, -np.inf, lax.max, 3, 2)
    total = _pool(lib, 0.0, lax.add, 2, 2)
    overlap = _pool(lib, 0.0, lax.add, 3, 1)

    def slope(f: Any) -> Any:
        return lambda x, ct: lib.top.vjp(f, x)[1](ct)[0]

    def stencil(x: Any) -> Any:
        around = sum(jnp.roll(x, s, axis) for s in (1, -1) for axis in (0, 1))
        return around - 4 * x

    signal, short, long = a(100_000), a(31), a(2_000)
    half = x[:, :28, :28]
    cases = {
        "max pooling 2x2": (largest, x),
        "max pooling 3x3, stride 2": (wide, x),
        "sum pooling 2x2": (total, x),
        "sum pooling 3x3, stride 1": (overlap, x),
        "gradient of max pooling 2x2": (slope(largest), x, half),
        "gradient of max pooling 3x3, stride 2": (slope(wide), x, half),
        "gradient of sum pooling 2x2": (slope(total), x, half),
        "gradient of sum pooling 3x3": (slope(overlap), x, x),
        "convolve 1e5 with 31": (jnp.convolve, signal, short),
        "convolve 1e5 with 2000": (jnp.convolve, signal, long),
        "correlate 1e5 with 31": (jnp.correlate, signal, short),
        "stencil of 5 points, 1024 x 1024": (stencil, a(1024, 1024)),
    }
    return _compiled(lib, cases)


def _triangular(lib: Library) -> Any:
    def run(a: Any, b: Any) -> Any:
        return lib.lax.linalg.triangular_solve(a, b, left_side=True, lower=True)

    return run


def matrices(lib: Library) -> dict[str, Any]:
    """Many small matrices at once."""
    a, la = Arrays(lib), lib.np.linalg
    cases: dict[str, tuple[Any, ...]] = {}
    for n, count in ((2, 10_000), (3, 10_000), (4, 10_000), (8, 2_000)):
        x, p, many = a(count, n, n), a.positive(count, n, n), f"{count} x {n}x{n}"
        b = a(count, n, 1)
        cases[f"solve {many}"] = (la.solve, x, b)
        cases[f"inv {many}"] = (la.inv, x)
        cases[f"det {many}"] = (la.det, x)
        cases[f"cholesky {many}"] = (la.cholesky, p)
        if lib.name != "numpy":  # which has none
            cases[f"triangular solve {many}"] = (_triangular(lib), p, b)
        cases[f"eigh {many}"] = (la.eigh, p)
        cases[f"svd {many}"] = (la.svd, x)
        cases[f"qr {many}"] = (la.qr, x)
        cases[f"matmul {many}"] = (lib.np.matmul, x, p)
    x = a(10_000, 3, 3)
    cases["slogdet 10000 x 3x3"] = (la.slogdet, x)
    cases["matrix power 5, 10000 x 3x3"] = (lambda x: la.matrix_power(x, 5), x)
    return _compiled(lib, cases)


def _attention(lib: Library) -> Any:
    def run(q: Any, k: Any, v: Any) -> Any:
        jnp = lib.np
        scores = jnp.einsum("bthd,bshd->bhts", q, k) / 8
        scores = scores - jnp.max(scores, -1, keepdims=True)
        weights = jnp.exp(scores)
        weights = weights / jnp.sum(weights, -1, keepdims=True)
        return jnp.einsum("bhts,bshd->bthd", weights, v)

    return run


def products(lib: Library) -> dict[str, Any]:
    """Contractions in many layouts and dtypes, and folds of rows."""
    a, jnp = Arrays(lib), lib.np
    x, y = a(512, 512), a(512, 512)

    def einsum(formula: str) -> Any:
        return lambda *xs: jnp.einsum(formula, *xs)

    def total(x: Any, y: Any) -> Any:
        numbers = (((1,), (0,)), ((), ()))
        return lib.lax.dot_general(x, y, numbers, preferred_element_type="int32")

    def norm(x: Any) -> Any:
        mean = jnp.mean(x, -1, keepdims=True)
        return (x - mean) / jnp.sqrt(jnp.var(x, -1, keepdims=True) + 1e-5)

    def logsumexp(x: Any) -> Any:
        top = jnp.max(x, -1, keepdims=True)
        return jnp.log(jnp.sum(jnp.exp(x - top), -1)) + top[..., 0]

    def softmax(x: Any) -> Any:
        e = jnp.exp(x - jnp.max(x, -1, keepdims=True))
        return e / jnp.sum(e, -1, keepdims=True)

    rows, heads = a(4096, 1024), a(4, 128, 8, 64)
    whole = lambda x: (x * 10).astype("int8")  # noqa: E731
    cases = {
        "x @ y, 512": (jnp.matmul, x, y),
        "x.T @ y, 512": (einsum("ki,kj->ij"), x, y),
        "x @ y.T, 512": (einsum("ik,jk->ij"), x, y),
        "x.T @ y.T, 512": (einsum("ki,jk->ij"), x, y),
        "x @ vector, 2048": (jnp.matmul, a(2048, 2048), a(2048)),
        "x.T @ vector, 2048": (einsum("ki,k->i"), a(2048, 2048), a(2048)),
        "batch in the middle": (einsum("ibk,kbj->ibj"), a(128, 16, 64), a(64, 16, 128)),
        "batch last": (einsum("ikb,kjb->ijb"), a(32, 32, 64), a(32, 32, 64)),
        "two contracted axes": (
            einsum("iabk,jbak->ij"),
            a(128, 16, 8, 16),
            a(128, 8, 16, 16),
        ),
        "bfloat16 512": (jnp.matmul, x.astype("bfloat16"), y.astype("bfloat16")),
        "float16 512": (jnp.matmul, x.astype("float16"), y.astype("float16")),
        "int8 512": (total, whole(x), whole(y)),
        "int32 512": (jnp.matmul, whole(x).astype("int32"), whole(y).astype("int32")),
        "complex64 256": (
            jnp.matmul,
            (x + 1j * y)[:256, :256],
            (y + 1j * x)[:256, :256],
        ),
        "chain of three": (einsum("ij,jk,kl->il"), a(512, 64), a(64, 512), a(512, 64)),
        "softmax rows": (softmax, rows),
        "logsumexp rows": (logsumexp, rows),
        "layer norm": (norm, rows),
        "var of rows": (lambda x: jnp.var(x, -1), rows),
        "std of columns": (lambda x: jnp.std(x, 0), rows),
        "attention": (_attention(lib), heads, heads, heads),
    }
    return _compiled(lib, cases)


GROUPS = {
    f.__name__: f
    for f in (convolutions, convolution_gradients, windows, matrices, products)
}
