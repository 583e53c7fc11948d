"""Distrax: distributions and bijectors as JAX programs use them."""

import distrax
import jax
import jax.numpy as jnp


def samples_and_densities():
    key = jax.random.key(0)
    table = {
        "normal": distrax.Normal(0.0, jnp.array([1.0, 2.0])),
        "gamma": distrax.Gamma(2.0, 3.0),
        "beta": distrax.Beta(2.0, 0.5),
        "bernoulli": distrax.Bernoulli(logits=0.3),
        "categorical": distrax.Categorical(logits=jnp.arange(3.0)),
        "multinomial": distrax.Multinomial(5, probs=jnp.array([0.2, 0.3, 0.5])),
        "diagonal": distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.array([1.0, 2.0])),
        "full": distrax.MultivariateNormalFullCovariance(jnp.ones(2), 2 * jnp.eye(2)),
        "uniform": distrax.Uniform(-1.0, 2.0),
        "laplace": distrax.Laplace(0.0, 1.0),
        "logistic": distrax.Logistic(0.0, 1.0),
        "gumbel": distrax.Gumbel(0.0, 1.0),
        "von_mises": distrax.VonMises(0.0, 2.0),
        "dirichlet": distrax.Dirichlet(jnp.ones(3)),
        "one_hot": distrax.OneHotCategorical(logits=jnp.arange(3.0)),
        "mixture": distrax.MixtureSameFamily(
            distrax.Categorical(probs=jnp.array([0.3, 0.7])),
            distrax.Normal(jnp.arange(2.0), 1.0),
        ),
        "independent": distrax.Independent(distrax.Normal(jnp.zeros(3), 1.0), 1),
    }
    values = {}
    for name, distribution in table.items():
        sample, density = distribution.sample_and_log_prob(seed=key, sample_shape=(2,))
        values[name] = [sample, density, distribution.log_prob(sample)]
    return values


def statistics():
    p, q = distrax.Normal(0.5, 2.0), distrax.Normal(0.0, 1.0)
    logits = distrax.Categorical(logits=jnp.arange(3.0))
    return {
        "kl": p.kl_divergence(q),
        "entropy": p.entropy(),
        "cdf": p.cdf(0.7),
        "mode": logits.mode(),
        "categorical_kl": logits.kl_divergence(
            distrax.Categorical(logits=jnp.zeros(3))
        ),
        "mean": distrax.Beta(2.0, 3.0).mean(),
        "greedy": distrax.Greedy(jnp.array([0.1, 0.9])).probs,
        "epsilon": distrax.EpsilonGreedy(jnp.array([0.1, 0.9]), 0.2).probs,
        "softmax": distrax.Softmax(jnp.arange(3.0), temperature=2.0).probs,
    }


def bijectors():
    x = jnp.linspace(-1.0, 1.0, 4)
    spline = distrax.RationalQuadraticSpline(jnp.sin(jnp.arange(13.0)), -2.0, 2.0)
    coupling = distrax.MaskedCoupling(
        mask=jnp.arange(4) % 2 == 0,
        conditioner=lambda v: jnp.stack([jnp.sin(v), jnp.cos(v)], -1),
        bijector=lambda p: distrax.ScalarAffine(p[..., 0], log_scale=p[..., 1]),
    )
    table = {
        "chain": distrax.Chain([distrax.Tanh(), distrax.ScalarAffine(0.5, 2.0)]),
        "sigmoid": distrax.Sigmoid(),
        "lambda": distrax.Lambda(jnp.exp),
        "spline": spline,
        "coupling": coupling,
        "block": distrax.Block(distrax.ScalarAffine(1.0, 2.0), 1),
        "triangular": distrax.TriangularLinear(jnp.tril(jnp.ones((4, 4))) + jnp.eye(4)),
        "inverse": distrax.Inverse(distrax.ScalarAffine(1.0, 2.0)),
    }
    values = {}
    for name, bijector in table.items():
        y, forward = bijector.forward_and_log_det(x)
        back, inverse = bijector.inverse_and_log_det(y)
        values[name] = [y, forward, back, inverse]
    return values


def transformed():
    flow = distrax.Transformed(distrax.Normal(0.0, 1.0), distrax.Lambda(jnp.tanh))
    sample, density = flow.sample_and_log_prob(
        seed=jax.random.key(1), sample_shape=(3,)
    )
    joint = distrax.Joint({"a": distrax.Normal(0.0, 1.0), "b": distrax.Gamma(1.0, 1.0)})
    return {
        "sample": sample,
        "density": density,
        "joint": joint.log_prob({"a": 0.5, "b": 2.0}),
    }


def under_transformations():
    def loss(scale):
        return distrax.Normal(0.0, scale).log_prob(1.0)

    mapped = jax.vmap(lambda m: distrax.Normal(m, 1.0))(jnp.arange(3.0))
    scanned = jax.lax.scan(
        lambda d, x: (d, d.log_prob(x)), distrax.Normal(0.0, 1.0), jnp.arange(3.0)
    )[1]
    return {
        "gradient": jax.grad(loss)(1.5),
        "jit": jax.jit(lambda d: d.mean() + d.stddev())(distrax.Normal(1.0, 2.0)),
        "mapped": mapped.log_prob(0.0),
        "scanned": scanned,
        "score": jax.grad(
            lambda s: jnp.sum(distrax.Gamma(s, 1.0).sample(seed=jax.random.key(2)))
        )(2.0),
    }


def markov_models():
    hmm = distrax.HMM(
        init_dist=distrax.Categorical(probs=jnp.array([0.6, 0.4])),
        trans_dist=distrax.Categorical(probs=jnp.array([[0.7, 0.3], [0.2, 0.8]])),
        obs_dist=distrax.Normal(jnp.array([0.0, 2.0]), 1.0),
    )
    states, observations = hmm.sample(seed=jax.random.key(3), seq_len=5)
    alphas, betas, marginals, density = hmm.forward_backward(observations)
    return {
        "states": states,
        "observations": observations,
        "marginals": marginals,
        "density": density,
        "viterbi": hmm.viterbi(observations),
    }


def trained_spline_flow():
    """A coupling flow of splines, fitted by gradients."""
    mask = jnp.array([True, False])
    x = 0.5 * jax.random.normal(jax.random.key(5), (16, 2)) + 1.0

    def flow(params):
        layers = [
            distrax.MaskedCoupling(
                mask=mask if i % 2 else ~mask,
                bijector=lambda p: distrax.RationalQuadraticSpline(p, -3.0, 3.0),
                conditioner=lambda v, w=w: (v @ w).reshape(*v.shape[:-1], 2, 13),
            )
            for i, w in enumerate(params)
        ]
        base = distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2))
        return distrax.Transformed(base, distrax.Inverse(distrax.Chain(layers)))

    def loss(params):
        return -jnp.mean(flow(params).log_prob(x))

    def step(params, _):
        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    start = [0.01 * jnp.ones((2, 26)), -0.01 * jnp.ones((2, 26))]
    params, values = jax.jit(lambda p: jax.lax.scan(step, p, None, length=4))(start)
    sample, density = flow(params).sample_and_log_prob(
        seed=jax.random.key(6), sample_shape=(3,)
    )
    return {"values": values, "sample": sample, "density": density}
