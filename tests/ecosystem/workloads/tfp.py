"""TensorFlow Probability on JAX: distributions, bijectors, kernels, optimizers."""

import jax
import jax.numpy as jnp
from tensorflow_probability.substrates import jax as tfp

tfb, tfd = tfp.bijectors, tfp.distributions

TOLERANCES = {"chains": 1e-2, "optimizers": 1e-2}


def samples_and_densities():
    key = jax.random.PRNGKey(0)
    table = {
        "normal": tfd.Normal(0.0, [1.0, 2.0]),
        "gamma": tfd.Gamma(2.0, 3.0),
        "beta": tfd.Beta(2.0, 0.5),
        "student": tfd.StudentT(3.0, 0.0, 1.0),
        "dirichlet": tfd.Dirichlet([1.0, 2.0, 3.0]),
        "multivariate": tfd.MultivariateNormalTriL(
            jnp.zeros(2), jnp.array([[1.0, 0.0], [0.5, 2.0]])
        ),
        "categorical": tfd.Categorical(logits=jnp.arange(3.0)),
        "poisson": tfd.Poisson(3.0),
        "mixture": tfd.MixtureSameFamily(
            tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([0.0, 1.0], 1.0)
        ),
        "independent": tfd.Independent(tfd.Normal(jnp.zeros(3), 1.0), 1),
        "transformed": tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfb.Exp()),
        "wishart": tfd.WishartTriL(4.0, jnp.eye(2)),
    }
    values = {}
    for name, distribution in table.items():
        sample = distribution.sample(2, seed=key)
        values[name] = [sample, distribution.log_prob(sample)]
    return values


def statistics():
    normal, other = tfd.Normal(0.5, 2.0), tfd.Normal(0.0, 1.0)
    return {
        "mean": tfd.Gamma(2.0, 3.0).mean(),
        "entropy": normal.entropy(),
        "cdf": normal.cdf(1.0),
        "quantile": normal.quantile(0.3),
        "kl": tfd.kl_divergence(normal, other),
        "batch": list(tfd.Normal(jnp.zeros((2, 3)), 1.0).batch_shape),
    }


def bijectors():
    chain = tfb.Chain([tfb.Shift(1.0), tfb.Softplus(), tfb.Scale(2.0)])
    x = jnp.linspace(-1.0, 1.0, 3)
    flow = tfb.RealNVP(
        1, shift_and_log_scale_fn=lambda x, n: (jnp.sin(x) * jnp.ones(n), None)
    )
    return {
        "forward": chain.forward(x),
        "inverse": chain.inverse(chain.forward(x)),
        "jacobian": chain.forward_log_det_jacobian(x),
        "simplex": tfb.SoftmaxCentered().forward(x),
        "cholesky": tfb.CorrelationCholesky().forward(x),
        "flow": flow.forward(x),
        "spline": tfb.RationalQuadraticSpline(
            jnp.array([1.0, 1.0]), jnp.array([0.5, 1.5]), jnp.array([1.2]), -1.0
        ).forward(x * 0.9),
    }


def joint_distributions():
    @tfd.JointDistributionCoroutineAutoBatched
    def model():
        scale = yield tfd.Exponential(1.0, name="scale")
        yield tfd.Sample(tfd.Normal(0.0, scale), 3, name="x")

    named = tfd.JointDistributionNamed(
        {"a": tfd.Normal(0.0, 1.0), "b": lambda a: tfd.Normal(a, 0.1)}
    )
    sample = model.sample(seed=jax.random.PRNGKey(1))
    return {
        "sample": sample.x,
        "density": model.log_prob(sample),
        "named": named.sample(seed=jax.random.PRNGKey(2)),
        "pinned": model.experimental_pin(x=jnp.ones(3)).unnormalized_log_prob(
            scale=1.0
        ),
    }


def derivatives():
    def loss(scale):
        return -jnp.sum(tfd.Normal(0.0, scale).log_prob(jnp.arange(3.0)))

    def reparameterized(a):
        return jnp.sum(tfd.Gamma(a, 1.0).sample(3, seed=jax.random.PRNGKey(3)))

    return {
        "density": jax.jit(jax.grad(loss))(1.5),
        "sample": jax.grad(reparameterized)(2.0),
        "vmap": jax.vmap(lambda s: tfd.Normal(0.0, s).log_prob(1.0))(
            jnp.arange(1.0, 4.0)
        ),
        "tree": jax.jit(lambda d: d.mean())(tfd.Normal(1.0, 2.0)),
    }


def chains():
    def logdensity(x):
        return -0.5 * jnp.sum((x - 1.0) ** 2)

    kernels = {
        "hmc": tfp.mcmc.HamiltonianMonteCarlo(logdensity, 0.2, 3),
        "walk": tfp.mcmc.RandomWalkMetropolis(logdensity),
        "mala": tfp.mcmc.MetropolisAdjustedLangevinAlgorithm(logdensity, 0.1),
    }
    values = {}
    for name, kernel in kernels.items():
        run = jax.jit(
            lambda seed, kernel=kernel: tfp.mcmc.sample_chain(
                4, jnp.zeros(2), kernel=kernel, trace_fn=None, seed=seed
            )
        )
        values[name] = run(jax.random.PRNGKey(4))
    values["ess"] = tfp.mcmc.effective_sample_size(jnp.sin(jnp.arange(50.0) ** 2))
    return values


def optimizers():
    def loss(x):
        return jnp.sum((x - jnp.array([1.0, -2.0])) ** 2) + jnp.sum(x**4) / 10

    result = tfp.optimizer.bfgs_minimize(
        lambda x: tfp.math.value_and_gradient(loss, x), jnp.zeros(2), tolerance=1e-4
    )
    simplex = tfp.optimizer.nelder_mead_minimize(
        loss, initial_vertex=jnp.zeros(2), func_tolerance=1e-5
    )
    return {"bfgs": result.position, "nelder_mead": simplex.position}


def processes():
    kernel = tfp.math.psd_kernels.MaternThreeHalves(1.0, 0.5)
    points = jnp.linspace(0.0, 1.0, 4)[:, None]
    process = tfd.GaussianProcess(kernel, points, observation_noise_variance=0.1)
    regression = tfd.GaussianProcessRegressionModel(
        kernel, points[:2] + 0.1, points, jnp.sin(points[:, 0]), 0.1
    )
    series = tfp.sts.LocalLinearTrend(observed_time_series=jnp.arange(5.0))
    return {
        "kernel": kernel.matrix(points, points),
        "density": process.log_prob(jnp.ones(4)),
        "mean": regression.mean(),
        "series": [p.name for p in series.parameters],
    }


def mathematics():
    return {
        "lbeta": tfp.math.lbeta(2.0, 3.0),
        "betainc": tfp.special.betainc(2.0, 3.0, 0.4)
        if hasattr(tfp, "special")
        else tfp.math.betainc(2.0, 3.0, 0.4),
        "bessel": tfp.math.bessel_kve(1.5, 2.0),
        "percentile": tfp.stats.percentile(jnp.arange(7.0), 30.0),
        "interpolated": tfp.math.interp_regular_1d_grid(
            jnp.array([0.2, 0.7]), 0.0, 1.0, jnp.arange(3.0)
        ),
        "triangular": tfp.math.fill_triangular(jnp.arange(6.0)),
    }
