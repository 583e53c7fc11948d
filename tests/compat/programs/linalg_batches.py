"""Linear algebra over batches, and its results' names."""

import jax
import jax.numpy as jnp

a = jnp.stack([jnp.array([[4.0, 1.0], [1.0, 3.0]]), jnp.array([[2.0, 0.0], [0.0, 5.0]])])
print(jnp.linalg.det(a), jnp.linalg.inv(a)[1], jnp.linalg.slogdet(a))
print(jnp.linalg.cholesky(a)[0], jnp.linalg.eigvalsh(a), jnp.linalg.eigh(a)._fields)
print(jnp.linalg.svd(a)._fields, jnp.linalg.svdvals(a), jnp.linalg.qr(a)._fields, jnp.abs(jnp.linalg.qr(a).R))
print(jnp.linalg.solve(a, jnp.ones((2, 2, 1)))[..., 0], jnp.linalg.matrix_power(a, 3)[1], jnp.linalg.pinv(a)[1].round(4))
print(jnp.linalg.norm(a, axis=(1, 2)), jnp.linalg.norm(a[0], ord=1), jnp.linalg.norm(a[0], ord=2), jnp.linalg.vector_norm(a[0]), jnp.linalg.cond(a[1]))
print(jnp.linalg.lstsq(a[0], jnp.ones(2))[0], jnp.linalg.matrix_rank(a), jnp.linalg.multi_dot([a[0], a[1], a[0]]))
print(jnp.linalg.tensorsolve(jnp.eye(4).reshape(2, 2, 2, 2), jnp.ones((2, 2))), jnp.linalg.cross(jnp.eye(3)[0], jnp.eye(3)[2]), jnp.linalg.outer(jnp.ones(2), jnp.arange(2)))
print(jnp.linalg.matmul(a, a)[0], jnp.linalg.trace(a), jnp.linalg.diagonal(a), jnp.linalg.matrix_transpose(a)[0], jnp.linalg.vecdot(a, a))
print(jax.vmap(jnp.linalg.inv)(a)[0], jax.jit(jnp.linalg.det)(a[0]), jax.grad(lambda m: jnp.linalg.det(m))(a[0]))
print(jnp.linalg.eig(jnp.array([[0.0, 1.0], [-1.0, 0.0]]))._fields, jnp.sort(jnp.linalg.eigvals(jnp.array([[2.0, 0.0], [0.0, 3.0]])).real))
print(jax.lax.linalg.eigh(a[0])[1].shape, jax.lax.linalg.lu(a[0])[2], jax.lax.linalg.qr(a[0])[0].shape, jax.lax.linalg.householder_product(jnp.eye(2), jnp.zeros(2)))
print(jnp.trace(a[0]), jnp.tril(a[0]), jnp.vander(jnp.arange(3.0), 2), jnp.inner(a[0], a[1]), jnp.einsum("bij,bjk->bik", a, a)[0])
for bad in [lambda: jnp.linalg.cholesky(jnp.ones((2, 3))), lambda: jnp.linalg.inv(jnp.ones(3)), lambda: jnp.linalg.eigh(jnp.ones((2, 3))), lambda: jnp.linalg.det(1.0), lambda: jnp.linalg.matrix_power(a, 0.5), lambda: jnp.linalg.norm(a, ord="bad"), lambda: jnp.linalg.solve(a, jnp.ones(5))]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(isinstance(error, (TypeError, ValueError)))
print(jnp.linalg.cholesky(jnp.array([[1.0, 2.0], [2.0, 1.0]])), jnp.linalg.inv(jnp.zeros((1, 1))))
