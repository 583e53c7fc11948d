"""PyTorch's way of doing cases of other files, under their names; where it is there."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def _tensors(torch: Any) -> Any:
    rng = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return torch.asarray(rng.normal(size=shape).astype("float32"))

    def below(limit: int, *shape: int) -> Any:
        return torch.asarray(rng.integers(0, limit, size=shape))

    return floats, below


def forty(torch: Any) -> dict[str, Any]:
    """The cases of `eager.forty`."""
    x = torch.linspace(0.1, 1.0, 100)
    m = x.reshape(10, 10)
    square = m + 10 * torch.eye(10)
    i = torch.arange(10)
    b = torch.arange(100) % 2 == 0
    cases = {
        "add": lambda: torch.add(x, x),
        "multiply by a number": lambda: x * 2.0,
        "divide": lambda: torch.divide(x, x),
        "power": lambda: x**2,
        "compare": lambda: x > 0.5,
        "exp": lambda: torch.exp(x),
        "tanh": lambda: torch.tanh(x),
        "sqrt": lambda: torch.sqrt(x),
        "abs": lambda: torch.abs(x),
        "maximum": lambda: torch.clamp(x, min=0.5),
        "clip": lambda: torch.clip(x, 0.2, 0.8),
        "where": lambda: torch.where(b, x, 0.0),
        "isnan": lambda: torch.isnan(x),
        "sum": lambda: torch.sum(x),
        "sum of rows": lambda: torch.sum(m, dim=1),
        "mean": lambda: torch.mean(m, dim=0),
        "var": lambda: torch.var(m, dim=0, correction=0),
        "std": lambda: torch.std(x, correction=0),
        "max": lambda: torch.amax(m, dim=1),
        "argmax": lambda: torch.argmax(m, dim=1),
        "any": lambda: torch.any(b),
        "cumsum": lambda: torch.cumsum(x, 0),
        "sort": lambda: torch.sort(x),
        "argsort": lambda: torch.argsort(x),
        "median": lambda: torch.median(x),
        "matmul": lambda: m @ m,
        "dot": lambda: torch.dot(x, x),
        "einsum": lambda: torch.einsum("ij,kj->ik", m, m),
        "tensordot": lambda: torch.tensordot(m, m, 1),
        "outer": lambda: torch.outer(x, x),
        "reshape": lambda: torch.reshape(x, (10, 10)),
        "transpose": lambda: m.T,
        "expand_dims": lambda: x[:, None],
        "concatenate": lambda: torch.concatenate([x, x]),
        "stack": lambda: torch.stack([x, x]),
        "split": lambda: torch.split(x, 25),
        "broadcast_to": lambda: torch.broadcast_to(x, (3, 100)),
        "roll": lambda: torch.roll(x, 1),
        "pad": lambda: torch.nn.functional.pad(x, (2, 2)),
        "diff": lambda: torch.diff(x),
        "take": lambda: torch.index_select(m, 0, i),
        "m[i]": lambda: m[i],
        "m[:, 1]": lambda: m[:, 1],
        "astype": lambda: x.to(torch.int32),
        "zeros_like": lambda: torch.zeros_like(x),
        "arange": lambda: torch.arange(10),
        "linspace": lambda: torch.linspace(0.0, 1.0, 10),
        "eye": lambda: torch.eye(3),
        "linalg.norm": lambda: torch.linalg.norm(x),
        "linalg.solve": lambda: torch.linalg.solve(square, m),
        "linalg.inv": lambda: torch.linalg.inv(square),
        "float(x[0])": lambda: float(x[0]),
        "m.at[i].add": lambda: m.index_add(0, i, m),
        "nn.relu": lambda: torch.relu(x),
        "nn.softmax": lambda: torch.softmax(m, -1),
        "random.normal": lambda: torch.randn(10),
    }
    return {f"eager {name}": f for name, f in cases.items()}


def kernels(torch: Any) -> dict[str, Any]:
    """Those of `programs.kernels` that are one operation."""
    floats, _ = _tensors(torch)
    big, million, m = floats(10_000_000), floats(1_000_000), floats(512, 512)
    return {
        "run add 1e7": lambda: big + big,
        "run exp 1e7": lambda: torch.exp(big),
        "run sort 1e6": lambda: torch.sort(million),
        "run cumsum 1e6": lambda: torch.cumsum(million, 0),
        "run sum 1e6": lambda: torch.sum(million),
        "run matmul 512": lambda: m @ m,
    }


def prefixes(torch: Any) -> dict[str, Any]:
    """Those of `kernels.prefixes`."""
    floats, below = _tensors(torch)
    line, square, thin = floats(1_000_000), floats(1000, 1000), floats(100_000, 10)
    whole = below(100, 1_000_000)
    return {
        "kernel cumsum 1e6": lambda: torch.cumsum(line, 0),
        "kernel cumsum 1e6 int": lambda: torch.cumsum(whole, 0),
        "kernel cumsum rows 1000x1000": lambda: torch.cumsum(square, 1),
        "kernel cumsum columns 1000x1000": lambda: torch.cumsum(square, 0),
        "kernel cumsum rows 100000x10": lambda: torch.cumsum(thin, 1),
        "kernel cumsum columns 100000x10": lambda: torch.cumsum(thin, 0),
        "kernel cummax 1e6": lambda: torch.cummax(line, 0),
        "kernel cumlogsumexp 1e6": lambda: torch.logcumsumexp(line, 0),
    }


def sorts(torch: Any) -> dict[str, Any]:
    """Those of `kernels.sorts`."""
    floats, below = _tensors(torch)
    line, whole = floats(1_000_000), below(2**30, 1_000_000)
    cases = {
        "sort 1e6": lambda: torch.sort(line),
        "sort 1e6 int": lambda: torch.sort(whole),
        "argsort 1e6": lambda: torch.argsort(line),
    }
    for m, n in ((100_000, 8), (50_000, 16), (10_000, 100), (1000, 1000)):
        x = floats(m, n)
        cases[f"sort {m}x{n}"] = functools.partial(torch.sort, x)
        cases[f"argsort {m}x{n}"] = functools.partial(torch.argsort, x)
    return {f"kernel {name}": f for name, f in cases.items()}


def orders(torch: Any) -> dict[str, Any]:
    """Those of `kernels.orders`."""
    floats, _ = _tensors(torch)
    line, words, small = floats(1_000_000), floats(64, 50_000), floats(50_000, 64)
    edges = torch.sort(floats(10_000)).values
    return {
        "kernel top_k 10 of 1e6": lambda: torch.topk(line, 10),
        "kernel top_k 1000 of 1e6": lambda: torch.topk(line, 1000),
        "kernel top_k 50 of 64x50000": lambda: torch.topk(words, 50),
        "kernel top_k 4 of 50000x64": lambda: torch.topk(small, 4),
        "kernel median 1e6": lambda: torch.median(line),
        "kernel permutation 1e6": lambda: torch.randperm(1_000_000),
        "kernel searchsorted 1e6 in 1e4": lambda: torch.searchsorted(edges, line),
    }


def scatters(torch: Any) -> dict[str, Any]:
    """Those of `kernels.scatters`."""
    floats, below = _tensors(torch)
    line, wide, table = floats(1_000_000), floats(100_000, 64), floats(10_000, 64)
    cases = {}
    for n in (10, 1000, 100_000):
        cases[f"segment_sum 1e6 to {n}"] = functools.partial(
            torch.zeros(n).index_add, 0, below(n, 1_000_000), line
        )
    ids, places = below(1000, 100_000), below(1_000_000, 1_000_000)
    tokens, few = below(10_000, 16_384), below(256, 1_000_000)
    rows = below(10_000, 100_000)

    def slope() -> Any:
        leaf = table.clone().requires_grad_()
        (leaf[tokens] ** 2).sum().backward()
        return leaf.grad

    cases |= {
        "segment_sum 1e5x64 to 1000": lambda: torch.zeros(1000, 64).index_add(
            0, ids, wide
        ),
        "bincount 1e6 to 256": lambda: torch.bincount(few, minlength=256),
        "histogram 1e6 to 100": lambda: torch.histogram(line, 100),
        "add 1e6 at 1e6": lambda: line.index_add(0, places, line),
        "set 1e6 at 1e6": lambda: line.index_copy(0, places, line),
        "grad of 16384 rows of 1e4x64": slope,
        "take 1e6 of 1e6": lambda: torch.take(line, places),
        "x[i] 1e6 of 1e6": lambda: line[places],
        "take 1e5 rows of 1e4x64": lambda: table[rows],
    }
    return {f"kernel {name}": f for name, f in cases.items()}


def convolutions(torch: Any) -> dict[str, Any]:
    """Those of `convolutions.convolutions` that PyTorch has, its channels first."""
    floats, _ = _tensors(torch)
    x, w = floats(8, 64, 56, 56), floats(64, 64, 3, 3)
    deep, up, line = floats(64, 1, 3, 3), floats(8, 64, 28, 28), floats(8, 64, 1024)
    images, wide = floats(4, 3, 112, 112), floats(32, 3, 7, 7)
    ones, seven, groups = (
        floats(64, 64, 1, 1),
        floats(64, 1, 7, 7),
        floats(64, 8, 3, 3),
    )
    twice, four, taps = floats(64, 32, 2, 2), floats(64, 32, 4, 4), floats(64, 64, 9)
    f = torch.nn.functional
    cases = {
        "convolution 3x3": lambda: f.conv2d(x, w, padding=1),
        "convolution 3x3, one image": lambda: f.conv2d(x[:1], w, padding=1),
        "convolution 1x1": lambda: f.conv2d(x, ones),
        "convolution 7x7 of images, stride 2": lambda: f.conv2d(
            images, wide, stride=2, padding=3
        ),
        "convolution 3x3, dilated": lambda: f.conv2d(x, w, padding=2, dilation=2),
        "depthwise 3x3": lambda: f.conv2d(x, deep, padding=1, groups=64),
        "depthwise 3x3, channels first": lambda: f.conv2d(
            x, deep, padding=1, groups=64
        ),
        "depthwise 3x3, stride 2": lambda: f.conv2d(
            x, deep, stride=2, padding=1, groups=64
        ),
        "depthwise 7x7": lambda: f.conv2d(x, seven, padding=3, groups=64),
        "grouped 3x3, 8 groups": lambda: f.conv2d(x, groups, padding=1, groups=8),
        "channels first 3x3": lambda: f.conv2d(x, w, padding=1),
        "transposed 4x4, stride 2": lambda: f.conv_transpose2d(
            up, four, stride=2, padding=1
        ),
        "transposed 2x2, stride 2": lambda: f.conv_transpose2d(up, twice, stride=2),
        "in time, 9 taps": lambda: f.conv1d(line, taps, padding=4),
    }
    return {f"run {name}": case for name, case in cases.items()}


def matrices(torch: Any) -> dict[str, Any]:
    """Those of `convolutions.matrices`."""
    floats, _ = _tensors(torch)
    la = torch.linalg
    cases = {}
    for n, count in ((2, 10_000), (3, 10_000), (4, 10_000), (8, 2_000)):
        x, b, many = floats(count, n, n), floats(count, n, 1), f"{count} x {n}x{n}"
        p = x @ x.mT + torch.eye(n)
        for name, f, args in (
            ("solve", la.solve, (x, b)),
            ("inv", la.inv, (x,)),
            ("det", la.det, (x,)),
            ("cholesky", la.cholesky, (p,)),
            ("eigh", la.eigh, (p,)),
            ("svd", la.svd, (x,)),
            ("qr", la.qr, (x,)),
            ("matmul", torch.matmul, (x, p)),
        ):
            cases[f"{name} {many}"] = functools.partial(f, *args)
    return {f"run {name}": case for name, case in cases.items()}


GROUPS = {
    f.__name__: f
    for f in (
        forty,
        kernels,
        prefixes,
        sorts,
        orders,
        scatters,
        convolutions,
        matrices,
    )
}
