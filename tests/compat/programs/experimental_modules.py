"""odeint, sparse arrays, stax and optimizers of the example libraries."""

import jax
import jax.numpy as jnp
from jax.example_libraries import optimizers, stax
from jax.experimental import sparse
from jax.experimental.ode import odeint

print(odeint(lambda y, t: -y, jnp.array(1.0), jnp.array([0.0, 0.5, 1.0])))
print(jax.grad(lambda k: odeint(lambda y, t: -k * y, 1.0, jnp.array([0.0, 1.0]))[-1])(0.5))
m = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))
print(m, m.nse, m.shape, m.dtype, m.indices.tolist(), m.data)
print(m @ jnp.ones(3), (m.T @ jnp.ones(2)), m.todense(), m.sum(), (2 * m).data)
print(jax.jit(lambda m, v: m @ v)(m, jnp.arange(3.0)), jax.grad(lambda d: (sparse.BCOO((d, m.indices), shape=m.shape) @ jnp.ones(3)).sum())(m.data))
print(sparse.sparsify(lambda a, b: a @ b)(m, jnp.ones(3)), jax.tree.structure(m).num_leaves, type(m + m).__name__)
print(sparse.BCSR.fromdense(jnp.eye(2)), sparse.eye(2).todense(), sparse.empty((2, 2)).nse, sparse.bcoo_reduce_sum(m, axes=(0,)).todense())
init, apply = stax.serial(stax.Dense(4), stax.Relu, stax.Dense(2), stax.LogSoftmax)
shape, params = init(jax.random.PRNGKey(0), (-1, 3))
print(shape, jax.tree.map(jnp.shape, params), apply(params, jnp.ones((1, 3))))
for name, (start, update, get) in {
    "sgd": optimizers.sgd(0.1), "momentum": optimizers.momentum(0.1, 0.9), "adam": optimizers.adam(0.1), "adagrad": optimizers.adagrad(0.1),
    "rmsprop": optimizers.rmsprop(0.1), "nesterov": optimizers.nesterov(0.1, 0.9), "adamax": optimizers.adamax(0.1), "sm3": optimizers.sm3(0.1),
}.items():
    state = start(jnp.array([1.0, 2.0]))
    for i in range(3):
        state = update(i, jax.grad(lambda p: (p**2).sum())(get(state)), state)
    print(name, get(state))
print(optimizers.clip_grads({"a": jnp.array([3.0, 4.0])}, 1.0), optimizers.l2_norm({"a": jnp.array([3.0, 4.0])}), optimizers.exponential_decay(0.1, 10, 0.5)(10))
print(jax.experimental.enable_x64.__name__ if hasattr(jax.experimental, "enable_x64") else "enable_x64")
