"""tinygp: Gaussian processes with composed kernels, noise models and fast solvers."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import tinygp
from tinygp import GaussianProcess, kernels, noise, transforms

TOLERANCES = {"training": 1e-2, "quasiseparable": 1e-3}


def _points():
    x = jnp.linspace(0.0, 5.0, 12)
    return x, jnp.sin(2 * x) + 0.1 * jnp.cos(7 * x)


def kernel_matrices():
    x = jnp.linspace(0.0, 2.0, 4)
    table = {
        "exp": kernels.Exp(0.5),
        "squared": kernels.ExpSquared(1.5),
        "matern32": kernels.Matern32(0.7),
        "matern52": kernels.Matern52(0.7),
        "cosine": kernels.Cosine(1.1),
        "periodic": kernels.ExpSineSquared(scale=1.1, gamma=0.5),
        "rational": kernels.RationalQuadratic(alpha=0.5),
        "linear": kernels.DotProduct(),
        "sum": kernels.Matern32(0.7) + 2.0 * kernels.Constant(0.1),
        "product": kernels.Exp(0.5) * kernels.Cosine(1.1),
        "custom": kernels.Custom(lambda a, b: jnp.minimum(a, b)),
    }
    return {name: kernel(x, x) for name, kernel in table.items()}


def transformed():
    x = jnp.sin(jnp.arange(6.0)).reshape(3, 2)
    metric = jnp.array([[1.0, 0.0], [0.3, 0.5]])
    subspace = transforms.Subspace(1, kernels.Exp(0.5))
    return {
        "linear": transforms.Linear(jnp.array([0.5, 2.0]), kernels.Matern32())(x, x),
        "cholesky": transforms.Cholesky(metric, kernels.ExpSquared())(x, x),
        "subspace": subspace(x, x),
        "function": transforms.Transform(jnp.tanh, kernels.ExpSquared())(x, x),
    }


def regression():
    x, y = _points()
    gp = GaussianProcess(2.0 * kernels.Matern32(1.5), x, diag=0.01, mean=0.2)
    likelihood, conditioned = gp.condition(y, jnp.array([0.3, 2.2]))
    mean, variance = gp.predict(y, jnp.array([1.7]), return_var=True)
    return {
        "likelihood": likelihood,
        "mean": conditioned.loc,
        "variance": conditioned.variance,
        "covariance": conditioned.covariance,
        "predicted": [mean, variance],
        "sample": gp.sample(jax.random.key(0), shape=(2,)),
        "probability": jax.jit(lambda y: gp.log_probability(y))(y),
    }


def training():
    import optax

    x, y = _points()

    @jax.jit
    def loss(params):
        kernel = jnp.exp(params["amplitude"]) * kernels.ExpSquared(
            jnp.exp(params["scale"])
        )
        gp = GaussianProcess(
            kernel, x, diag=jnp.exp(params["noise"]), mean=params["mean"]
        )
        return -gp.log_probability(y)

    names = ("amplitude", "scale", "noise", "mean")
    params = {name: jnp.zeros(()) for name in names}
    optimizer = optax.adam(0.05)
    state = optimizer.init(params)
    losses = []
    for _ in range(10):
        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(grads, state)
        params = optax.apply_updates(params, updates)
        losses.append(value)
    return {"losses": jnp.stack(losses), "params": params}


def noises():
    x, y = _points()
    diagonal = noise.Diagonal(0.01 * jnp.arange(1.0, 13.0))
    dense = noise.Dense(0.1 * jnp.eye(12) + 0.01)
    kernel = kernels.Matern52(1.0)
    return {
        "diagonal": GaussianProcess(kernel, x, noise=diagonal).log_probability(y),
        "dense": GaussianProcess(kernel, x, noise=dense).log_probability(y),
    }


def quasiseparable():
    quasisep = tinygp.kernels.quasisep
    x, y = _points()
    table = {
        "matern": quasisep.Matern32(1.5),
        "celerite": quasisep.Celerite(1.0, 0.1, 0.5, 0.2),
        "sho": quasisep.SHO(omega=2.0, quality=0.8),
    }
    values = {}
    for name, kernel in table.items():
        gp = GaussianProcess(kernel, x, diag=0.05)
        values[name] = [gp.log_probability(y), gp.condition(y).gp.loc]
    values["gradient"] = jax.grad(
        lambda s: GaussianProcess(quasisep.Matern32(s), x, diag=0.05).log_probability(y)
    )(1.5)
    return values


def structured_inputs():
    def kernel(a, b):
        same = jnp.where(a["kind"] == b["kind"], 1.0, 0.3)
        return same * jnp.exp(-jnp.square(a["t"] - b["t"]))

    x = {"t": jnp.arange(4.0) / 2, "kind": jnp.array([0, 1, 0, 1])}
    gp = GaussianProcess(kernels.Custom(kernel), x, diag=0.1)
    return gp.log_probability(jnp.sin(x["t"]))


def batches():
    x, y = _points()
    density = jax.vmap(
        lambda s: GaussianProcess(kernels.Exp(s), x, diag=0.1).log_probability(y)
    )(jnp.array([0.5, 1.0]))
    matrix = kernels.Exp(0.5)(x, x) + 0.1 * jnp.eye(12)
    return {"density": density, "check": jsp.linalg.cholesky(matrix, lower=True)[3, :4]}


def kernel_of_dictionaries():
    """A kernel of one's own, of inputs that are trees."""

    class Groups(tinygp.kernels.Kernel):
        weights: jax.Array

        def evaluate(self, a, b):
            near = jnp.exp(-jnp.abs(a["x"] - b["x"]))
            return near * self.weights[a["group"], b["group"]]

    x = jnp.linspace(0.0, 2.0, 6)
    inputs = {"x": x, "group": jnp.arange(6) % 2}

    def density(weights):
        noise = tinygp.noise.Dense(0.1 * jnp.eye(6))
        process = tinygp.GaussianProcess(Groups(weights), inputs, noise=noise)
        return process.log_probability(jnp.sin(3 * x))

    weights = jnp.array([[1.0, 0.5], [0.5, 2.0]])
    return {"density": density(weights), "gradient": jax.grad(density)(weights)}
