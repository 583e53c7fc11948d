"""BlackJAX: samplers as pairs of functions, adaptation, tempering, diagnostics."""

import blackjax
import jax
import jax.numpy as jnp
import jax.scipy.stats as stats

TOLERANCES = {
    "short_chains": 1e-2,
    "warmup": 0.3,
    "tempering": 0.3,
    "variational": 1e-2,
}


def _logdensity(x):
    return stats.multivariate_normal.logpdf(
        x, jnp.array([1.0, -1.0]), jnp.array([[1.0, 0.3], [0.3, 0.5]])
    )


def _run(algorithm, steps=5, seed=0):
    state = algorithm.init(jnp.zeros(2))

    @jax.jit
    def chain(key, state):
        def step(state, key):
            state, _ = algorithm.step(key, state)
            return state, state.position

        return jax.lax.scan(step, state, jax.random.split(key, steps))[1]

    return chain(jax.random.key(seed), state)


def short_chains():
    mass = jnp.ones(2)
    table = {
        "hmc": blackjax.hmc(_logdensity, 0.2, mass, 4),
        "nuts": blackjax.nuts(_logdensity, 0.2, mass),
        "mala": blackjax.mala(_logdensity, 0.1),
        "walk": blackjax.additive_step_random_walk(
            _logdensity, blackjax.mcmc.random_walk.normal(0.3 * jnp.ones(2))
        ),
        "barker": blackjax.barker_proposal(_logdensity, 0.2),
        "slice": blackjax.elliptical_slice(
            lambda x: -0.5 * jnp.sum((x - 1.0) ** 2), mean=jnp.zeros(2), cov=jnp.eye(2)
        ),
    }
    return {name: _run(algorithm) for name, algorithm in table.items()}


def trees():
    def logdensity(params):
        return stats.norm.logpdf(params["a"]) + jnp.sum(stats.norm.logpdf(params["b"]))

    sampler = blackjax.nuts(logdensity, 0.3, jnp.ones(4))
    state = sampler.init({"a": jnp.asarray(0.5), "b": jnp.zeros(3)})
    state, info = jax.jit(sampler.step)(jax.random.key(1), state)
    return {
        "position": state.position,
        "density": state.logdensity,
        "steps": info.num_integration_steps,
        "diverged": bool(info.is_divergent),
    }


def warmup():
    adaptation = blackjax.window_adaptation(blackjax.nuts, _logdensity)
    (state, parameters), _ = adaptation.run(jax.random.key(2), jnp.zeros(2), 100)
    return {
        "names": sorted(parameters),
        "finite": bool(jnp.isfinite(parameters["step_size"])),
        "shape": parameters["inverse_mass_matrix"].shape,
        "position": state.position.shape,
    }


def many_chains():
    sampler = blackjax.hmc(_logdensity, 0.3, jnp.ones(2), 3)
    states = jax.vmap(sampler.init)(jnp.zeros((3, 2)))
    keys = jax.random.split(jax.random.key(3), 3)
    states, infos = jax.jit(jax.vmap(sampler.step))(keys, states)
    return {"positions": states.position, "accepted": infos.is_accepted}


def diagnostics():
    chains = jax.random.normal(jax.random.key(4), (2, 40, 2))
    return {
        "ess": blackjax.diagnostics.effective_sample_size(chains),
        "rhat": blackjax.diagnostics.potential_scale_reduction(chains),
    }


def tempering():
    kernel = blackjax.hmc.build_kernel()
    sampler = blackjax.adaptive_tempered_smc(
        lambda x: stats.norm.logpdf(x[0]),
        lambda x: -2.0 * (x[0] - 1.0) ** 2,
        kernel,
        blackjax.hmc.init,
        blackjax.smc.extend_params(
            {
                "step_size": 0.2,
                "inverse_mass_matrix": jnp.ones(1),
                "num_integration_steps": 3,
            }
        ),
        blackjax.smc.resampling.systematic,
        0.5,
        num_mcmc_steps=1,
    )
    particles = jax.random.normal(jax.random.key(5), (32, 1))
    state = sampler.init(particles)
    state, info = jax.jit(sampler.step)(jax.random.key(6), state)
    return {"shape": state.particles.shape, "ess": bool(state.tempering_param > 0)}


def gradients_of_parts():
    def gradient(x, batch):
        return jnp.mean(batch, 0) - x

    sampler = blackjax.sgld(gradient)
    position = jnp.zeros(2)
    batch = jnp.arange(6.0).reshape(3, 2)
    for i in range(3):
        position = sampler.step(jax.random.key(i), position, batch, 1e-2)
    return position


def variational():
    import optax

    approximation = blackjax.meanfield_vi(_logdensity, optax.sgd(1e-2), 10)
    state = approximation.init(jnp.zeros(2))
    for i in range(4):
        state, info = jax.jit(approximation.step)(jax.random.key(i), state)
    return {"mu": state.mu, "elbo": info.elbo}


def loop():
    from blackjax.util import run_inference_algorithm

    state, (positions, accepted) = run_inference_algorithm(
        rng_key=jax.random.key(7),
        inference_algorithm=blackjax.mala(_logdensity, 0.1),
        num_steps=5,
        initial_position=jnp.zeros(2),
        transform=lambda state, info: (state.position, info.is_accepted),
    )
    return {"positions": positions.shape, "accepted": accepted.dtype.name}
