"""State passed through: a counter class, optimizer states, running averages."""

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Counter:
    def __init__(self):
        self.n = 0

    def count(self):
        self.n += 1
        return self.n


counter = Counter()
counted = jax.jit(counter.count)
print([int(counted()) for _ in range(3)], counter.n)


class State(NamedTuple):
    step: jax.Array
    mean: jax.Array
    best: jax.Array


@jax.jit
def advance(state, x):
    step = state.step + 1
    return State(step, state.mean + (x - state.mean) / step, jnp.maximum(state.best, x))


state = State(jnp.array(0), jnp.array(0.0), jnp.array(-jnp.inf))
for value in [3.0, 1.0, 5.0]:
    state = advance(state, value)
print(state)
print(jax.lax.scan(lambda s, x: (advance(s, x), s.mean), state, jnp.arange(3.0)))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Adam:
    m: dict
    v: dict
    t: jax.Array

    @classmethod
    def init(cls, params):
        zeros = jax.tree.map(jnp.zeros_like, params)
        return cls(zeros, zeros, jnp.zeros((), int))

    def update(self, grads, params):
        t = self.t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, self.m, grads)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, self.v, grads)
        step = lambda p, m, v: p - 0.1 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
        return jax.tree.map(step, params, m, v), dataclasses.replace(self, m=m, v=v, t=t)


loss = lambda p: jnp.sum((p["a"] - 3.0) ** 2) + (p["b"] + 1.0) ** 2
params = {"a": jnp.zeros(2), "b": jnp.array(0.0)}
optimizer = Adam.init(params)


@jax.jit
def train(params, optimizer):
    value, grads = jax.value_and_grad(loss)(params)
    return *optimizer.update(grads, params), value


for i in range(50):
    params, optimizer, value = train(params, optimizer)
    if i % 10 == 0:
        print(i, f"{value:.4f}")
print(params, optimizer.t, train._cache_size())


@functools.lru_cache
def table(n):
    return jnp.arange(n) ** 2


print(table(4), table(4) is table(4))


class Model:
    def __init__(self, k):
        self.k = k

    @functools.partial(jax.jit, static_argnums=0)
    def apply(self, x):
        return x * self.k

    def __hash__(self):
        return hash(self.k)

    def __eq__(self, other):
        return isinstance(other, Model) and self.k == other.k


print(Model(3).apply(2.0), Model(3).apply(4.0), Model(5).apply(2.0), Model.apply._cache_size())
