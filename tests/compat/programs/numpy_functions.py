"""A walk through jax.numpy where its answers are its own."""

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.array([3.0, 1.0, 2.0, 1.0])
print(jnp.sort(x), jnp.argsort(x), jnp.sort(x, descending=True), jnp.unique(x, return_counts=True))
print(jnp.unique(x, size=5, fill_value=-1), jnp.nonzero(x > 1, size=4, fill_value=9), jnp.argwhere(x > 1))
print(jnp.where(x > 1, x, 0), jnp.searchsorted(jnp.sort(x), 2.0), jnp.digitize(x, jnp.array([1.5, 2.5])))
print(jnp.histogram(x, bins=3), jnp.bincount(jnp.array([1, 1, 3]), length=5))
print(jnp.einsum("i,i->", x, x), jnp.tensordot(x, x, 1), jnp.outer(x[:2], x[:2]), jnp.vdot(x, x))
print(jnp.linalg.norm(x), jnp.linalg.inv(jnp.array([[2.0, 0.0], [1.0, 1.0]])), jnp.linalg.det(jnp.eye(3) * 2))
print(jnp.linalg.eigh(jnp.array([[2.0, 1.0], [1.0, 2.0]])).eigenvalues, jnp.linalg.svd(jnp.ones((2, 3)))[1][0])
print(jnp.linalg.solve(jnp.eye(2) * 4, jnp.ones(2)), jnp.linalg.qr(jnp.eye(2)).R, jnp.linalg.matrix_rank(jnp.ones((2, 2))))
print(jnp.fft.fft(jnp.array([1.0, 2.0, 3.0])), jnp.fft.rfftfreq(4), jnp.convolve(x, jnp.ones(2)))
print(jnp.percentile(x, 50), jnp.quantile(x, jnp.array([0.1, 0.9])), jnp.median(x), jnp.var(x, ddof=1), jnp.cov(x))
print(jnp.pad(jnp.arange(3), 1, mode="reflect"), jnp.roll(jnp.arange(4), 1), jnp.flip(x), jnp.rot90(jnp.eye(2)))
print(jnp.take(x, jnp.array([0, 9])), jnp.take(x, jnp.array([0, -1]), mode="wrap"), jnp.take_along_axis(x, jnp.array([2, 0]), 0))
print(jnp.linspace(0, 1, 3, retstep=True), jnp.logspace(0, 2, 3), jnp.geomspace(1.0, 8.0, 4), jnp.meshgrid(jnp.arange(2), jnp.arange(2))[0])
print(jnp.isnan(jnp.array([np.nan, 1.0])), jnp.nan_to_num(jnp.array([np.inf, np.nan])), jnp.nanmean(jnp.array([np.nan, 2.0])))
print(jnp.interp(1.5, jnp.arange(3.0), jnp.array([0.0, 10.0, 20.0])), jnp.polyfit(jnp.arange(3.0), jnp.array([1.0, 3.0, 5.0]), 1).round(3), jnp.polyval(jnp.array([1, 2]), 3))
print(jnp.add.reduce(x), jnp.add.accumulate(x), jnp.multiply.outer(x[:2], x[:2]), jnp.add.at(x, 0, 5.0, inplace=False))
print(jnp.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(jnp.ones((2, 3)), jnp.ones(3)), jnp.apply_along_axis(jnp.sum, 0, jnp.ones((2, 2))))
print(jnp.frompyfunc(lambda a, b: a * b + 1, 2, 1)(x, 2.0), jnp.select([x > 2, x > 1], [x, -x], 0.0))
print(jnp.bitwise_and(6, 3), jnp.left_shift(1, 3), jnp.gcd(12, 18), jnp.packbits(jnp.array([1, 0, 1], bool)), jnp.float32(7) // 2)
print(jnp.allclose(x, x + 1e-9), jnp.array_equal(x, x), jnp.isclose(1.0, 1.1), jnp.array_split(jnp.arange(5), 2), jnp.block([[x[:1], x[1:2]]]))
print(jnp.sum(x, where=x > 1), jnp.max(x, initial=10.0), jnp.cumsum(x), jnp.diff(x), jnp.prod(x), jnp.ptp(x), jnp.argmax(x), jnp.trapezoid(x))
print(jnp.tri(2), jnp.triu(jnp.ones((2, 2))), jnp.diag(x[:2]), jnp.kron(jnp.eye(1), x[:2]), jnp.cross(jnp.eye(3)[0], jnp.eye(3)[1]))
print(jnp.fromfunction(lambda i, j: i + j, (2, 2)), jnp.frombuffer(b"\x01\x02", jnp.uint8), jnp.from_dlpack(x), jnp.ix_(jnp.arange(2), jnp.arange(1))[0])
