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


def blackjax():
    import blackjax as bx

    def logdensity(x):
        return -0.5 * jnp.sum(x**2 * jnp.arange(1.0, 9.0))

    hmc = bx.hmc(logdensity, 0.1, jnp.ones(8), 10)
    state = hmc.init(jnp.ones(8))

    @jax.jit
    def step(key, state):
        key, used = jax.random.split(key)
        return key, hmc.step(used, state)[0]

    return _repeat(step, jax.random.key(0), state)


def distrax():
    import distrax as dx

    x = jax.random.normal(jax.random.key(0), (64, 4))

    @jax.jit
    def step(params):
        def loss(params):
            base = dx.MultivariateNormalDiag(params["mean"], jnp.exp(params["scale"]))
            flow = dx.Transformed(base, dx.Block(dx.Tanh(), 1))
            return -jnp.mean(flow.log_prob(jnp.tanh(x)))

        grads = jax.grad(loss)(params)
        return (jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads),)

    return _repeat(step, {"mean": jnp.zeros(4), "scale": jnp.zeros(4)})


def evosax():
    from evosax.algorithms import CMA_ES

    strategy = CMA_ES(population_size=16, solution=jnp.zeros(8))
    params = strategy.default_params

    @jax.jit
    def step(key, state):
        key, first, second = jax.random.split(key, 3)
        population, state = strategy.ask(first, state, params)
        fitness = jnp.sum((population - 0.5) ** 2, axis=-1)
        state, _ = strategy.tell(second, population, fitness, state, params)
        return key, state

    state = strategy.init(jax.random.key(0), jnp.zeros(8), params)
    return _repeat(step, jax.random.key(1), state)


def flax_linen():
    import optax
    from flax import linen
    from flax.training import train_state

    x, y = _data()

    class Network(linen.Module):
        @linen.compact
        def __call__(self, x):
            for _ in range(2):
                x = jnp.tanh(linen.Dense(64)(x))
            return linen.Dense(1)(x)[:, 0]

    network = Network()
    params = network.init(jax.random.key(0), x)
    state = train_state.TrainState.create(
        apply_fn=network.apply, params=params, tx=optax.adam(1e-3)
    )

    @jax.jit
    def step(state):
        def loss(params):
            return jnp.mean((state.apply_fn(params, x) - y) ** 2)

        return (state.apply_gradients(grads=jax.grad(loss)(state.params)),)

    return _repeat(step, state)


def jaxopt():
    import jaxopt as jo

    x, y = _data()

    def loss(params):
        return jnp.mean((x @ params - y) ** 2)

    solver = jo.LBFGS(loss, maxiter=20)
    start = jnp.zeros(16)
    run = jax.jit(lambda params: solver.run(params).params)
    return lambda: run(start)


def jraph():
    import jraph as jg

    graph = jg.GraphsTuple(
        nodes=jax.random.normal(jax.random.key(0), (16, 8)),
        edges=jax.random.normal(jax.random.key(1), (48, 4)),
        senders=jnp.arange(48) % 16,
        receivers=jnp.arange(48) * 7 % 16,
        n_node=jnp.array([16]),
        n_edge=jnp.array([48]),
        globals=None,
    )

    def loss(params):
        def update(nodes, sent, received, globals_):
            return jnp.tanh(jnp.concatenate([nodes, received], 1) @ params["node"])

        def send(edges, sent, received, globals_):
            return jnp.tanh(jnp.concatenate([edges, sent], 1) @ params["edge"])

        network = jg.GraphNetwork(update_edge_fn=send, update_node_fn=update)
        return jnp.mean(network(graph).nodes ** 2)

    params = {"edge": jnp.ones((12, 8)) / 12, "node": jnp.ones((16, 8)) / 16}
    gradient = jax.jit(jax.grad(loss))
    return lambda: gradient(params)


def lineax():
    import lineax as lx

    x, _ = _data()
    matrix = x.T @ x + jnp.eye(16)

    @jax.jit
    @jax.grad
    def gradient(vector):
        operator = lx.MatrixLinearOperator(matrix, lx.positive_semidefinite_tag)
        solver = lx.CG(rtol=1e-5, atol=1e-5)
        return jnp.sum(lx.linear_solve(operator, vector, solver).value ** 2)

    vector = jnp.ones(16)
    return lambda: gradient(vector)


def mctx():
    import mctx as mx

    root = mx.RootFnOutput(
        prior_logits=jnp.sin(jnp.arange(16.0)).reshape(4, 4),
        value=jnp.zeros(4),
        embedding=jnp.arange(4.0),
    )

    def model(params, key, action, embedding):
        state = jnp.tanh(embedding + params * action)
        output = mx.RecurrentFnOutput(
            reward=jnp.cos(state),
            discount=jnp.full_like(state, 0.9),
            prior_logits=jnp.sin(state[:, None] + jnp.arange(4.0)),
            value=state,
        )
        return output, state

    @jax.jit
    def search(key):
        return mx.muzero_policy(0.3, key, root, model, num_simulations=16).action

    key = jax.random.key(0)
    return lambda: search(key)


def optimistix():
    import optimistix as optx

    x, y = _data()

    def residuals(params, args):
        return jnp.tanh(x @ params) - y

    @jax.jit
    def solve(params):
        solver = optx.LevenbergMarquardt(rtol=1e-4, atol=1e-4)
        return optx.least_squares(residuals, solver, params, throw=False).value

    start = jnp.zeros(16)
    return lambda: solve(start)


def rlax():
    import rlax as rx

    x, y = _data()
    actions = jnp.arange(64) % 4

    @jax.jit
    def step(params):
        def loss(params):
            q = x @ params
            errors = jax.vmap(rx.q_learning)(q, actions, y, jnp.full(64, 0.9), q)
            return jnp.mean(rx.huber_loss(errors))

        return (params - 1e-2 * jax.grad(loss)(params),)

    return _repeat(step, jnp.ones((16, 4)))


def tfp():
    from tensorflow_probability.substrates import jax as tfp_jax

    dist = tfp_jax.distributions
    x, _ = _data()

    @jax.jit
    def step(params):
        def loss(params):
            mixture = dist.MixtureSameFamily(
                dist.Categorical(logits=params["logits"]),
                dist.Normal(params["mean"], jnp.exp(params["scale"])),
            )
            return -jnp.mean(mixture.log_prob(x))

        grads = jax.grad(loss)(params)
        return (jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads),)

    shape = {"logits": jnp.zeros(3), "mean": jnp.arange(3.0), "scale": jnp.zeros(3)}
    return _repeat(step, shape)


def tinygp():
    import tinygp as gp

    x = jnp.linspace(0.0, 5.0, 40)
    y = jnp.sin(2 * x)

    @jax.jit
    @jax.grad
    def gradient(params):
        kernel = jnp.exp(params[0]) * gp.kernels.Matern32(jnp.exp(params[1]))
        return gp.GaussianProcess(kernel, x, diag=0.01).log_probability(y)

    params = jnp.zeros(2)
    return lambda: gradient(params)


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
