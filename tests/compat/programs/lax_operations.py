"""Operations of jax.lax with their own rules."""

import jax
import jax.numpy as jnp
from jax import lax

x = jnp.arange(6.0).reshape(2, 3)
print(lax.dot_general(x, x, (((1,), (1,)), ((), ()))), lax.batch_matmul(x[None], x.T[None]).shape, lax.dot(x, x[0]))
print(lax.dynamic_slice(x, (0, 1), (2, 2)), lax.dynamic_update_slice(x, jnp.ones((1, 1)), (1, 2)), lax.dynamic_index_in_dim(x, 1))
print(lax.gather(x, jnp.array([[1]]), lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 3)))
print(lax.scatter_add(jnp.zeros(3), jnp.array([[0], [2], [0]]), jnp.ones(3), lax.ScatterDimensionNumbers((), (0,), (0,))))
print(lax.sort(jnp.array([3, 1, 2])), lax.sort((jnp.array([3, 1, 2]), jnp.array([0, 1, 2])), num_keys=1), lax.sort_key_val(jnp.array([2, 1]), jnp.array([5, 6])))
print(lax.top_k(jnp.array([1.0, 9.0, 5.0]), 2), lax.argmax(x, 1, jnp.int32), lax.approx_max_k(x[0], 1)[0])
print(lax.reduce(x, 0.0, lax.add, (0, 1)), lax.reduce_window(x, -jnp.inf, lax.max, (1, 2), (1, 1), "SAME"), lax.reduce_precision(1.2345678, 5, 7))
print(lax.pad(jnp.arange(3), 0, [(1, 0, 1)]), lax.rev(x, (1,)), lax.concatenate([x, x], 1).shape, lax.squeeze(x[None], (0,)).shape, lax.expand_dims(x, (0, 2)).shape)
print(lax.broadcast(jnp.arange(2), (3,)), lax.broadcast_in_dim(jnp.arange(2), (2, 2), (0,)), lax.broadcasted_iota(jnp.int32, (2, 2), 1), lax.broadcast_shapes((2, 1), (3,)))
print(lax.clamp(0, jnp.array([-1, 5]), 3), lax.nextafter(1.0, 2.0) > 1, lax.population_count(jnp.uint8(7)), lax.clz(jnp.int32(1)), lax.shift_right_logical(jnp.int32(8), 1))
print(lax.erf(0.5), lax.erf_inv(0.5), lax.lgamma(2.5), lax.digamma(2.5), lax.igamma(1.0, 2.0), lax.bessel_i0e(1.0), lax.betainc(1.0, 2.0, 0.3), lax.cbrt(8.0))
print(lax.integer_pow(2.0, -2), lax.pow(2.0, 3), lax.rsqrt(4.0), lax.rem(-5, 3), lax.div(-5, 3), lax.sign(-2.0), lax.round(2.5), lax.round(2.5, lax.RoundingMethod.TO_NEAREST_EVEN), lax.is_finite(jnp.inf))
print(lax.complex(1.0, 2.0), lax.conj(1 + 2j), lax.real(1 + 2j), lax.imag(1 + 2j), lax.atan2(1.0, 1.0), lax.expm1(1e-5), lax.log1p(1e-5), lax.logistic(0.0))
print(lax.conv(jnp.ones((1, 1, 3)), jnp.ones((1, 1, 2)), (1,), "SAME"), lax.conv_transpose(jnp.ones((1, 3, 1)), jnp.ones((2, 1, 1)), (1,), "VALID").shape)
print(lax.fft(jnp.array([1.0 + 0j, 2.0]), "fft", (2,)), lax.linalg.cholesky(jnp.eye(2) * 4), lax.linalg.triangular_solve(jnp.eye(2), jnp.ones((2, 1)), left_side=True).T)
print(lax.full((2,), 7, jnp.int8), lax.full_like(x, 3)[0], lax.zeros_like_array(x).shape if hasattr(lax, "zeros_like_array") else (2, 3), lax.iota(float, 3), lax.stop_gradient({"a": x[0, 0]}))
print(lax.cumsum(x, 1), lax.cummin(x, 0, reverse=True), lax.collapse(x, 0, 2), lax.reshape(x, (3, 2), (1, 0)), lax.transpose(x, (1, 0)).shape, lax.split(jnp.arange(5), (2, 3)))
print(lax.reduce_and(jnp.array([True, False]), (0,)), lax.reduce_or(jnp.array([True, False]), (0,)), lax.reduce_xor(jnp.array([5, 1]), (0,)), lax.bitwise_not(5), lax.population_count(jnp.uint32(255)))
print(lax.ragged_dot(jnp.ones((3, 2)), jnp.ones((2, 2, 2)), jnp.array([1, 2])), lax.rng_bit_generator(jnp.zeros(4, jnp.uint32), (2,))[1].shape)
for bad in [lambda: lax.add(x, 1), lambda: lax.add(x, jnp.ones(3)), lambda: lax.dot(x, x), lambda: lax.reshape(x, (4,)), lambda: lax.concatenate([x, x[0]], 0), lambda: lax.pad(x, 0, [(1, 1, 0)] * 2), lambda: lax.sin(1), lambda: lax.slice(x, (0, 0), (3, 3)), lambda: lax.transpose(x, (0,)), lambda: lax.cumsum(x, 5), lambda: lax.broadcast_in_dim(x, (3,), (0,)), lambda: lax.select(jnp.array([True]), x, x), lambda: lax.and_(1.0, 2.0), lambda: lax.top_k(x, 9)]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(isinstance(error, (TypeError, ValueError)))
