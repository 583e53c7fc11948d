"""Times a compiled step of a program for JAX:

    python tests/ecosystem/steps.py NAME OUT.json
    python -m olympus.compat.jax tests/ecosystem/steps.py NAME OUT.json

Writes the best of seven medians. Each function prepares a program and gives a step, a
function without arguments whose result is waited for.
"""

import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp

_REPEATS, _TARGET_S = 7, 0.3


def _data(batch=64, width=16):
    x = jax.random.normal(jax.random.key(0), (batch, width))
    return x, jnp.sin(x[:, 0]) * x[:, 1]


def _repeat(step, *state):
    """A step that keeps the state between calls."""
    cell = [state]

    def call():
        cell[0] = step(*cell[0])
        return cell[0]

    return call


def optax():
    import optax

    x, y = _data()
    keys = jax.random.split(jax.random.key(1), 3)
    sizes = [(16, 64), (64, 64), (64, 1)]
    params = [
        {"w": jax.random.normal(k, s) / s[0] ** 0.5, "b": jnp.zeros(s[1])}
        for k, s in zip(keys, sizes, strict=True)
    ]
    optimizer = optax.adamw(1e-3)

    def loss(params):
        h = x
        for layer in params[:-1]:
            h = jnp.tanh(h @ layer["w"] + layer["b"])
        out = h @ params[-1]["w"] + params[-1]["b"]
        return jnp.mean((out[:, 0] - y) ** 2)

    @jax.jit
    def step(params, state):
        updates, state = optimizer.update(jax.grad(loss)(params), state, params)
        return optax.apply_updates(params, updates), state

    return _repeat(step, params, optimizer.init(params))


def equinox():
    import equinox as eqx

    x, y = _data()
    model = eqx.nn.MLP(16, "scalar", 64, 2, key=jax.random.key(1))

    @eqx.filter_jit
    def step(model):
        def loss(model):
            return jnp.mean((jax.vmap(model)(x) - y) ** 2)

        grads = eqx.filter_grad(loss)(model)
        return (eqx.apply_updates(model, jax.tree.map(lambda g: -1e-2 * g, grads)),)

    return _repeat(step, model)


def flax_nnx():
    import optax
    from flax import nnx

    x, y = _data()

    class Network(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(16, 64, rngs=rngs)
            self.second = nnx.Linear(64, 64, rngs=rngs)
            self.last = nnx.Linear(64, 1, rngs=rngs)

        def __call__(self, x):
            return self.last(jnp.tanh(self.second(jnp.tanh(self.first(x)))))[:, 0]

    model = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        loss, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
        optimizer.update(model, grads)
        return loss

    return lambda: step(model, optimizer)


def diffrax():
    import diffrax as dfx

    def field(t, y, args):
        return jnp.array([y[1], args * (1 - y[0] ** 2) * y[1] - y[0]])

    @jax.jit
    @jax.grad
    def gradient(args):
        solution = dfx.diffeqsolve(
            dfx.ODETerm(field),
            dfx.Tsit5(),
            0.0,
            2.0,
            0.1,
            jnp.array([1.0, 0.0]),
            args,
            stepsize_controller=dfx.PIDController(rtol=1e-4, atol=1e-6),
        )
        return jnp.sum(solution.ys**2)

    return lambda: gradient(0.7)


def numpyro():
    import numpyro as npr
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS
    from numpyro.infer.reparam import LocScaleReparam

    y = jnp.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    sigma = jnp.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])

    def model():
        mu = npr.sample("mu", dist.Normal(0, 5))
        tau = npr.sample("tau", dist.HalfCauchy(5))
        with npr.plate("schools", 8):
            theta = npr.sample("theta", dist.Normal(mu, tau))
            npr.sample("obs", dist.Normal(theta, sigma), obs=y)

    centred = npr.handlers.reparam(model, config={"theta": LocScaleReparam(0)})
    mcmc = MCMC(
        NUTS(centred),
        num_warmup=200,
        num_samples=300,
        progress_bar=False,
        jit_model_args=True,
    )

    def run():
        mcmc.run(jax.random.key(1))
        return mcmc.get_samples()

    return run


def haiku():
    import haiku as hk
    import optax

    x, y = _data()
    network = hk.transform(lambda x: hk.nets.MLP([64, 64, 1])(x)[:, 0])
    params = network.init(jax.random.PRNGKey(0), x)
    optimizer = optax.adam(1e-3)

    @jax.jit
    def step(params, state):
        def loss(params):
            return jnp.mean((network.apply(params, None, x) - y) ** 2)

        updates, state = optimizer.update(jax.grad(loss)(params), state)
        return optax.apply_updates(params, updates), state

    return _repeat(step, params, optimizer.init(params))


def _median(step, calls):
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        jax.block_until_ready(step())
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main():
    name, out = sys.argv[1:]
    step = globals()[name]()
    start = time.perf_counter()
    jax.block_until_ready(step())
    first = time.perf_counter() - start
    warm = _median(step, 3)
    calls = max(3, min(1000, int(_TARGET_S / warm)))
    best = min(_median(step, calls) for _ in range(_REPEATS))
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"first_s": first, "step_us": 1e6 * best}, file)


if __name__ == "__main__":
    main()
