"""What type checkers see of the functions of olympus.numpy."""

from typing import reveal_type

import numpy as np

import olympus
import olympus.numpy as jnp


def elementwise(x: olympus.Array, a: np.ndarray) -> None:
    reveal_type(jnp.sin(x))  # Array
    reveal_type(jnp.exp(1.0))  # Array
    reveal_type(jnp.log2(a))  # Array
    reveal_type(jnp.floor(x))  # Array
    reveal_type(jnp.add(x, 1))  # Array
    reveal_type(jnp.add.reduce(x, axis=0))  # Array
    reveal_type(jnp.power(x, a))  # Array
    reveal_type(jnp.divmod(x, 2))  # tuple[Array, Array]
    reveal_type(jnp.frexp(x))  # tuple[Array, Array]
    reveal_type(jnp.less(x, 0))  # Array
    reveal_type(jnp.invert(3))  # Array
    reveal_type(jnp.left_shift(x, 1))  # Array
    reveal_type(jnp.isposinf(x))  # Array
    reveal_type(jnp.isnan(x))  # Array
    reveal_type(jnp.clip(x, 0.0, 1.0))  # Array
    reveal_type(jnp.where(x > 0, x, 0))  # Array
    reveal_type(jnp.where(x > 0))  # tuple[Array, ...]
    jnp.sin("a")  # error
    jnp.sin([1.0])  # error
    jnp.sin(x=x)  # error
    jnp.add(x, "a")  # error
    jnp.less(x)  # error
    jnp.clip(x, minimum=0)  # error


def reductions(x: olympus.Array) -> None:
    reveal_type(jnp.sum(x, axis=(0, 1), keepdims=True))  # Array
    reveal_type(jnp.mean(x, dtype="float32"))  # Array
    reveal_type(jnp.argmax(x, axis=0))  # Array
    reveal_type(jnp.nansum(x))  # Array
    reveal_type(jnp.nanmax(x, where=x > 0))  # Array
    reveal_type(jnp.cumsum(x, axis=0))  # Array
    reveal_type(jnp.cumulative_sum(x, include_initial=True))  # Array
    reveal_type(jnp.quantile(x, 0.5))  # Array
    reveal_type(jnp.average(x))  # Array
    reveal_type(jnp.average(x, returned=True))  # tuple[Array, Array]
    reveal_type(jnp.histogram(x))  # tuple[Array, Array]
    jnp.sum(x, axis="rows")  # error
    jnp.argmax(x, keepdims="yes")  # error
    jnp.sum(x, out=x)  # error


def creation(x: olympus.Array, n: int, again: bool) -> None:
    reveal_type(jnp.zeros((2, n)))  # Array
    reveal_type(jnp.ones(3, dtype=jnp.int32))  # Array
    reveal_type(jnp.ones_like(x))  # Array
    reveal_type(jnp.full_like(olympus.ShapeDtypeStruct((2,), "int32"), 1))  # Array
    reveal_type(jnp.array([[1, 2], [3, 4]]))  # Array
    reveal_type(jnp.asarray(x))  # Array
    reveal_type(jnp.arange(n))  # Array
    reveal_type(jnp.linspace(0.0, 1.0))  # Array
    reveal_type(jnp.linspace(0.0, 1.0, retstep=True))  # tuple[Array, Array]
    reveal_type(jnp.linspace(0.0, 1.0, retstep=again))  # Array | tuple[Array, Array]
    reveal_type(jnp.eye(2, device=olympus.devices()[0]))  # Array
    reveal_type(jnp.tril_indices(2))  # tuple[Array, Array]
    reveal_type(jnp.hamming(5))  # Array
    jnp.zeros("2")  # error
    jnp.zeros((2.5, 1))  # error
    jnp.ones(3, dtype=3)  # error
    jnp.eye(2, device="cpu")  # error
    jnp.eye()  # error


def shapes(x: olympus.Array, xs: list[olympus.Array]) -> None:
    reveal_type(jnp.reshape(x, (2, -1)))  # Array
    reveal_type(jnp.shape(x))  # tuple[int, ...]
    reveal_type(jnp.ndim(x))  # int
    reveal_type(jnp.concatenate(xs))  # Array
    reveal_type(jnp.stack([x, 2 * x], axis=1))  # Array
    reveal_type(jnp.split(x, 2))  # list[Array]
    reveal_type(jnp.unstack(x))  # tuple[Array, ...]
    reveal_type(jnp.meshgrid(x, x))  # tuple[Array, ...]
    reveal_type(jnp.atleast_1d(x))  # Array
    reveal_type(jnp.broadcast_arrays(x, 1.0))  # tuple[Array, ...]
    reveal_type(jnp.broadcast_shapes((2, 1), (3,)))  # tuple[int, ...]
    reveal_type(jnp.transpose(x, (1, 0)))  # Array
    jnp.reshape(x, "row")  # error
    jnp.concatenate(1.0)  # error
    jnp.swapaxes(x, 0)  # error


def selection(x: olympus.Array) -> None:
    reveal_type(jnp.unique(x))  # Array
    reveal_type(jnp.unique(x, return_counts=True))  # tuple[Array, ...]
    reveal_type(jnp.unique_counts(x).counts)  # Array
    reveal_type(jnp.nonzero(x))  # tuple[Array, ...]
    reveal_type(jnp.take(x, jnp.array([0]), axis=0))  # Array
    reveal_type(jnp.sort(x, descending=True))  # Array
    reveal_type(jnp.intersect1d(x, x))  # Array
    reveal_type(jnp.select([x > 0], [x], 0.0))  # Array
    jnp.take(x, "first")  # error
    jnp.sort(x, axis=(0, 1))  # error


def types(x: olympus.Array) -> None:
    reveal_type(jnp.result_type(x, 1.0))  # dtype[Any]
    reveal_type(jnp.promote_types("int32", jnp.float32))  # dtype[Any]
    reveal_type(jnp.can_cast(x, "int8"))  # bool
    reveal_type(jnp.iscomplexobj(x))  # bool
    reveal_type(jnp.issubdtype(x.dtype, jnp.floating))  # bool


def algebra(x: olympus.Array) -> None:
    reveal_type(jnp.einsum("ij,jk->ik", x, x))  # Array
    reveal_type(jnp.matmul(x, x, precision="highest"))  # Array
    reveal_type(jnp.convolve(x, x, mode="same"))  # Array
    reveal_type(jnp.polyfit(x, x, 2))  # Array
    reveal_type(jnp.linalg.inv(x))  # Array
    reveal_type(jnp.linalg.svd(x).S)  # Array
    reveal_type(jnp.linalg.svd(x, compute_uv=False))  # Array
    reveal_type(jnp.linalg.qr(x).R)  # Array
    reveal_type(jnp.linalg.qr(x, mode="r"))  # Array
    reveal_type(jnp.linalg.eigh(x).eigenvalues)  # Array
    reveal_type(jnp.linalg.slogdet(x).sign)  # Array
    reveal_type(jnp.linalg.norm(x, ord="fro", axis=(0, 1)))  # Array
    reveal_type(jnp.fft.rfft(x, n=8))  # Array
    reveal_type(jnp.fft.fftn(x, axes=(0, 1)))  # Array
    jnp.linalg.inv([[1.0]])  # error
    jnp.matmul(x)  # error
    jnp.fft.rfft(x, n="8")  # error
