"""Distributions' moments and shapes; reproducibility under transformations."""

import jax
import jax.numpy as jnp
from jax import random

key = random.key(5)
n = 4000
samplers = {
    "normal": lambda k: random.normal(k, (n,)),
    "uniform": lambda k: random.uniform(k, (n,), minval=-1, maxval=3),
    "exponential": lambda k: random.exponential(k, (n,)),
    "gamma": lambda k: random.gamma(k, 3.0, (n,)),
    "beta": lambda k: random.beta(k, 2.0, 5.0, (n,)),
    "poisson": lambda k: random.poisson(k, 3.0, (n,)),
    "bernoulli": lambda k: random.bernoulli(k, 0.25, (n,)),
    "laplace": lambda k: random.laplace(k, (n,)),
    "logistic": lambda k: random.logistic(k, (n,)),
    "weibull": lambda k: random.weibull_min(k, 1.0, 2.0, (n,)),
    "rayleigh": lambda k: random.rayleigh(k, 1.0, (n,)),
    "pareto": lambda k: random.pareto(k, 5.0, (n,)),
    "maxwell": lambda k: random.maxwell(k, (n,)),
    "wald": lambda k: random.wald(k, 1.0, (n,)),
    "triangular": lambda k: random.triangular(k, 0.0, 0.5, 1.0, (n,)),
    "lognormal": lambda k: random.lognormal(k, 0.5, (n,)),
    "double sided": lambda k: random.double_sided_maxwell(k, 0.0, 1.0, (n,)),
    "generalized": lambda k: random.generalized_normal(k, 1.5, (n,)),
}
for name, draw in samplers.items():
    values = draw(key).astype(jnp.float32)
    print(f"{name}: {values.mean():.3f} {values.std():.3f} {values[0]:.3f}")
print(jnp.array_equal(jax.jit(samplers["normal"])(key), samplers["normal"](key)))
print(jnp.array_equal(jax.vmap(lambda k: random.normal(k, (2,)))(random.split(key, 3))[1], random.normal(random.split(key, 3)[1], (2,))))
print(random.multinomial(key, 20, jnp.array([0.2, 0.3, 0.5])), random.permutation(key, jnp.arange(6).reshape(3, 2)))
print(random.choice(key, 3, (2, 2), p=jnp.array([0.5, 0.25, 0.25])), random.permutation(key, 4, independent=True))
print(jax.grad(lambda a: random.gamma(key, a))(2.0), jax.grad(lambda s: random.normal(key) * s)(1.0))
print(random.f(key, 3.0, 4.0), random.normal(key, (2,), jnp.float16), random.normal(key, dtype=jnp.complex64))
print(random.uniform(key, (2,), jnp.bfloat16), random.randint(key, (3,), -5, 5, jnp.int8))
