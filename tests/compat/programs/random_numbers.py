"""Keys, samplers and what they give for a seed."""

import jax
import jax.numpy as jnp
from jax import random

key = random.key(42)
print(key, repr(key), key.dtype, key.shape, key.ndim)
print(jnp.issubdtype(key.dtype, jax.dtypes.prng_key), random.key_impl(key), random.key_data(key))
print(random.PRNGKey(42), random.PRNGKey(0).dtype)
print(random.split(key), random.key_data(random.split(key, (2, 1))).shape)
print(random.key_data(random.fold_in(key, 7)), random.wrap_key_data(jnp.array([0, 42], jnp.uint32)) == key)
print(random.uniform(key, (3,)), random.normal(key, (2, 2)))
print(random.randint(key, (5,), 0, 10), random.bernoulli(key, 0.3, (4,)), random.bits(key, (2,), "uint8"))
print(random.permutation(key, 6), random.choice(key, 5, (3,), replace=False))
print(random.choice(key, jnp.array([10, 20, 30]), p=jnp.array([0.1, 0.1, 0.8])))
print(random.categorical(key, jnp.array([0.0, 1.0, 2.0]), shape=(4,)))
print(random.exponential(key), random.laplace(key), random.gumbel(key), random.cauchy(key), random.logistic(key))
print(random.gamma(key, 2.0), random.beta(key, 2.0, 3.0), random.poisson(key, 4.0, (3,)), random.dirichlet(key, jnp.ones(3)))
print(random.truncated_normal(key, -1.0, 1.0, (2,)), random.t(key, 5.0), random.rademacher(key, (4,)))
print(random.multivariate_normal(key, jnp.zeros(2), jnp.eye(2)), random.orthogonal(key, 2))
print(random.ball(key, 3), random.binomial(key, 10, 0.4), random.geometric(key, 0.2), random.chisquare(key, 3.0))
print(jax.vmap(random.uniform)(random.split(key, 4)))
print(jax.jit(lambda k: random.normal(k))(key), random.uniform(random.PRNGKey(1)))
print(random.key(1, impl="rbg").dtype, random.key_data(random.key(1, impl="rbg")))
with jax.debug_key_reuse(False):
    print(random.clone(key) == key)
stacked = jnp.stack([key, random.key(1)])
print(stacked.shape, stacked[1] == random.key(1), stacked.reshape(2, 1).shape, key is key)
for bad in [lambda: key + 1, lambda: random.uniform(3), lambda: random.split(jnp.zeros(3)), lambda: random.key(1.5)]:
    try:
        bad()
    except (TypeError, ValueError):
        print("refused")
print(jax.make_jaxpr(lambda k: random.bits(k))(key).in_avals)
print(random.randint(key, (2,), jnp.array([0, 100]), jnp.array([5, 200])), random.loggamma(key, 0.5))
