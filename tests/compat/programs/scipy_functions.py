"""A walk through jax.scipy."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp

from jax.scipy import integrate, interpolate, linalg, ndimage, optimize, signal, special, stats
from jax.scipy.cluster import vq

print(special.gammaln(3.5), special.erf(0.3), special.erfinv(0.3), special.expit(0.0), special.logit(0.3), special.entr(0.2), special.xlogy(0.0, 0.0))
print(special.i0(1.0), special.zeta(2.0, 1.0), special.polygamma(1, 2.0), special.betaln(2.0, 3.0), special.ndtr(0.5), special.ndtri(0.7), special.logsumexp(jnp.arange(3.0)))
print(special.gammainc(2.0, 1.0), special.factorial(5.0), special.softmax(jnp.arange(3.0)), special.rel_entr(0.5, 0.2), special.exp1(1.0), special.expi(1.0), special.bernoulli(4))
print(stats.norm.logpdf(0.3), stats.norm.cdf(0.3, 1.0, 2.0), stats.norm.ppf(0.9), stats.beta.logpdf(0.3, 2.0, 3.0), stats.gamma.logpdf(1.0, 2.0), stats.poisson.logpmf(2, 3.0))
print(stats.t.logpdf(0.5, 3.0), stats.multivariate_normal.logpdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2)), stats.dirichlet.logpdf(jnp.array([0.3, 0.7]), jnp.ones(2)), stats.uniform.pdf(0.3), stats.expon.logsf(1.0), stats.binom.pmf(2, 5, 0.3))
print(stats.rankdata(jnp.array([3.0, 1.0, 2.0])), stats.mode(jnp.array([1, 2, 2])).mode, stats.sem(jnp.arange(4.0)), stats.gaussian_kde(jnp.arange(5.0))(jnp.array([2.0])))
a = jnp.array([[4.0, 1.0], [1.0, 3.0]])
print(linalg.cholesky(a), linalg.cho_solve(linalg.cho_factor(a), jnp.ones(2)), linalg.solve(a, jnp.ones(2), assume_a="pos"), linalg.lu(a)[2])
print(linalg.expm(a / 10), linalg.sqrtm(a).real, linalg.eigh(a, eigvals_only=True), linalg.qr(a)[1].shape, linalg.det(a), linalg.block_diag(jnp.ones(1), a).shape, linalg.toeplitz(jnp.arange(3)))
print(linalg.svd(a)[1], linalg.solve_triangular(a, jnp.ones(2), lower=True), linalg.polar(a)[0].shape, linalg.hilbert(2), linalg.schur(a)[0].shape)
print(signal.convolve(jnp.arange(3.0), jnp.ones(2)), signal.correlate(jnp.arange(3.0), jnp.ones(2)), signal.fftconvolve(jnp.arange(3.0), jnp.ones(2)), signal.detrend(jnp.arange(4.0)).round(5))
print(ndimage.map_coordinates(jnp.arange(4.0).reshape(2, 2), [jnp.array([0.5]), jnp.array([0.5])], order=1), integrate.trapezoid(jnp.arange(4.0)))
print(interpolate.RegularGridInterpolator((jnp.arange(3.0),), jnp.array([0.0, 1.0, 4.0]))(jnp.array([[1.5]])))
result = optimize.minimize(lambda p: jnp.sum((p - 1) ** 2) + p[0] ** 4, jnp.zeros(2), method="BFGS")
print(type(result).__name__, result.success, result.x.round(3), result.nit > 0)
print(jsp.fft.dct(jnp.arange(4.0)), jsp.fft.idct(jsp.fft.dct(jnp.arange(4.0))).round(4), vq.vq(jnp.ones((2, 1)), jnp.zeros((1, 1)))[0])
x, info = jax.scipy.sparse.linalg.cg(a, jnp.ones(2))
print(x, info, jax.scipy.sparse.linalg.gmres(a, jnp.ones(2))[0].round(4), jax.scipy.sparse.linalg.bicgstab(a, jnp.ones(2))[0].round(4))
print(special.sph_harm_y(jnp.array([1]), jnp.array([0]), jnp.array([0.5]), jnp.array([0.5]), n_max=2) if hasattr(special, "sph_harm_y") else "")
