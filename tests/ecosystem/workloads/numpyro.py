"""NumPyro: models, effect handlers, samplers, variational inference, distributions."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro import handlers
from numpyro.infer import (
    HMC,
    MCMC,
    NUTS,
    SVI,
    Predictive,
    Trace_ELBO,
    autoguide,
    init_to_value,
    log_likelihood,
)
from numpyro.infer.reparam import LocScaleReparam
from numpyro.infer.util import initialize_model, log_density

TOLERANCES = {
    "hmc": 1e-2,
    "nuts": 0.15,
    "variational": 1e-2,
    "predictions": 1e-3,
}

_Y = jnp.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
_SIGMA = jnp.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def _schools(sigma=_SIGMA, y=None):
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("schools", sigma.shape[0]):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        numpyro.sample("obs", dist.Normal(theta, sigma), obs=y)


_centred = handlers.reparam(_schools, config={"theta": LocScaleReparam(0)})


def _regression(x, y=None):
    w = numpyro.sample("w", dist.Normal(jnp.zeros(2), 1).to_event(1))
    sigma = numpyro.sample("sigma", dist.Exponential(1.0))
    numpyro.deterministic("mean", x @ w)
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Normal(x @ w, sigma), obs=y)


def _data():
    x = jax.random.normal(jax.random.key(0), (12, 2))
    return x, x @ jnp.array([1.0, -0.5]) + 0.1 * jnp.sin(jnp.arange(12.0))


def handling():
    traced = handlers.trace(handlers.seed(_schools, 0)).get_trace()
    conditioned = handlers.condition(handlers.seed(_schools, 1), {"mu": 2.0})
    density, _ = log_density(
        _schools, (), {"y": _Y}, {"mu": 0.5, "tau": 1.0, "theta": jnp.zeros(8)}
    )
    substituted = handlers.substitute(handlers.seed(_regression, 2), {"w": jnp.ones(2)})
    blocked = handlers.block(handlers.seed(_schools, 3), hide=["mu"])
    return {
        "sites": list(traced),
        "theta": traced["theta"]["value"],
        "observed": handlers.trace(conditioned).get_trace()["mu"]["is_observed"],
        "density": density,
        "substituted": handlers.trace(substituted).get_trace(_data()[0])["mean"][
            "value"
        ],
        "blocked": "mu" in handlers.trace(blocked).get_trace(),
        "masked": handlers.trace(handlers.mask(handlers.seed(_schools, 4), mask=False))
        .get_trace()["mu"]["fn"]
        .log_prob(1.0),
    }


def nuts():
    kernel = NUTS(_centred)
    mcmc = MCMC(kernel, num_warmup=150, num_samples=200, progress_bar=False)
    mcmc.run(jax.random.key(1), y=_Y, extra_fields=("potential_energy",))
    samples = mcmc.get_samples()
    return {
        "shape": samples["theta"].shape,
        "mean": jnp.round(jnp.mean(samples["theta"]), 0) / 10,
        "energy": mcmc.get_extra_fields()["potential_energy"].shape,
    }


def hmc():
    x, y = _data()
    kernel = HMC(
        _regression,
        step_size=0.01,
        num_steps=3,
        adapt_step_size=False,
        adapt_mass_matrix=False,
        init_strategy=init_to_value(values={"w": jnp.ones(2), "sigma": 0.5}),
    )
    mcmc = MCMC(
        kernel,
        num_warmup=0,
        num_samples=5,
        num_chains=2,
        chain_method="vectorized",
        progress_bar=False,
    )
    mcmc.run(jax.random.key(2), x, y)
    grouped = mcmc.get_samples(group_by_chain=True)
    return {"w": grouped["w"], "sigma": grouped["sigma"]}


def variational():
    x, y = _data()
    guide = autoguide.AutoNormal(_regression)
    svi = SVI(_regression, guide, numpyro.optim.Adam(0.02), Trace_ELBO())
    result = svi.run(jax.random.key(3), 30, x, y, progress_bar=False)
    state = svi.init(jax.random.key(4), x, y)
    state, loss = jax.jit(svi.update)(state, x, y)
    return {
        "losses": result.losses,
        "params": result.params,
        "update": loss,
        "median": guide.median(result.params),
        "evaluated": svi.evaluate(state, x, y),
    }


def predictions():
    x, y = _data()
    samples = {"w": jnp.ones((3, 2)), "sigma": jnp.array([0.1, 0.2, 0.3])}
    predictive = Predictive(_regression, samples)
    prior = Predictive(_regression, num_samples=2)
    return {
        "posterior": predictive(jax.random.key(6), x)["y"],
        "likelihood": log_likelihood(_regression, samples, x, y)["y"],
        "prior": prior(jax.random.key(7), x[:2])["mean"],
    }


def potentials():
    x, y = _data()
    info = initialize_model(jax.random.key(8), _regression, model_args=(x, y))
    return {
        "potential": info.potential_fn({"w": jnp.ones(2), "sigma": 0.1}),
        "constrained": info.postprocess_fn({"w": jnp.ones(2), "sigma": 0.0})["sigma"],
    }


def distributions():
    key = jax.random.key(9)
    table = {
        "normal": dist.Normal(0.5, 2.0),
        "beta": dist.Beta(2.0, 0.5),
        "student": dist.StudentT(3.0),
        "dirichlet": dist.Dirichlet(jnp.array([1.0, 2.0, 3.0])),
        "multivariate": dist.MultivariateNormal(jnp.zeros(2), 2 * jnp.eye(2)),
        "lkj": dist.LKJCholesky(3, 1.5),
        "poisson": dist.Poisson(4.0),
        "categorical": dist.Categorical(logits=jnp.arange(3.0)),
        "mixture": dist.MixtureSameFamily(
            dist.Categorical(jnp.array([0.3, 0.7])), dist.Normal(jnp.arange(2.0), 1.0)
        ),
        "transformed": dist.TransformedDistribution(
            dist.Normal(0.0, 1.0), dist.transforms.ExpTransform()
        ),
        "truncated": dist.TruncatedNormal(0.0, 1.0, low=-1.0, high=2.0),
    }
    values = {}
    for name, distribution in table.items():
        sample = distribution.sample(key, (2,))
        values[name] = [sample, distribution.log_prob(sample)]
    values["kl"] = dist.kl_divergence(dist.Normal(0.0, 1.0), dist.Normal(1.0, 2.0))
    return values


def control_flow():
    from numpyro.contrib.control_flow import scan

    def model(n):
        def step(carry, _):
            carry = numpyro.sample("z", dist.Normal(0.5 * carry, 1.0))
            return carry, carry

        return scan(step, 0.0, None, length=n)

    trace = handlers.trace(handlers.seed(model, 10)).get_trace(4)
    return trace["z"]["value"]
