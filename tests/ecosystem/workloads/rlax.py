"""RLax: learning of values and distributions, returns, policies, exploration."""

import jax
import jax.numpy as jnp
import rlax


def _sequence():
    return (
        jnp.array([1.0, 0.5, -0.2, 0.3]),
        jnp.array([0.9, 0.9, 0.0, 0.9]),
        jnp.array([0.2, 0.4, 0.1, 0.7]),
    )


def value_learning():
    q, q_next = jnp.array([1.0, 2.0, 0.5]), jnp.array([0.3, 0.1, 0.9])
    return {
        "td": rlax.td_learning(1.0, 0.5, 0.9, 2.0),
        "q": rlax.q_learning(q, 1, 0.5, 0.9, q_next),
        "double": rlax.double_q_learning(q, 1, 0.5, 0.9, q_next, q),
        "sarsa": rlax.sarsa(q, 0, 0.5, 0.9, q_next, 2),
        "expected": rlax.expected_sarsa(q, 0, 0.5, 0.9, q_next, jnp.ones(3) / 3),
        "persistent": rlax.persistent_q_learning(q, 1, 0.5, 0.9, q_next, 0.5),
    }


def returns():
    r, d, v = _sequence()
    return {
        "lambda": rlax.lambda_returns(r, d, v, 0.8),
        "n_step": rlax.n_step_bootstrapped_returns(r, d, v, 2),
        "discounted": rlax.discounted_returns(r, d, v),
        "gae": rlax.truncated_generalized_advantage_estimation(
            r, d, 0.9, jnp.append(v, 0.5)
        ),
        "vtrace": rlax.vtrace(v, jnp.roll(v, 1), r, d, jnp.ones(4), 0.9),
        "retrace": rlax.retrace_continuous(v, v[1:], v, r, d, jnp.zeros(3), 0.9),
        "importance": rlax.categorical_importance_sampling_ratios(
            jnp.eye(3), jnp.zeros((3, 3)), jnp.array([0, 1, 2])
        ),
    }


def policy_gradients():
    logits = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
    actions, weights = jnp.array([0, 1, 2, 1]), jnp.ones(4)
    advantages = jnp.array([1.0, -0.5, 0.2, 0.7])
    ratios = jnp.array([0.8, 1.3, 1.0, 1.1])

    def loss(logits):
        return rlax.policy_gradient_loss(logits, actions, advantages, weights)

    return {
        "loss": loss(logits),
        "gradient": jax.jit(jax.grad(loss))(logits),
        "entropy": rlax.entropy_loss(logits, weights),
        "clipped": rlax.clipped_surrogate_pg_loss(ratios, advantages, 0.2),
        "qpg": rlax.qpg_loss(logits, logits),
        "dpg": rlax.dpg_loss(jnp.ones(2), jnp.array([0.5, 2.0]), 1.0),
    }


def exploration():
    key = jax.random.PRNGKey(0)
    preferences = jnp.array([0.1, 1.0, 0.3])
    return {
        "softmax": rlax.softmax(2.0).probs(preferences),
        "sampled": rlax.softmax(2.0).sample(key, preferences),
        "greedy": rlax.greedy().probs(preferences),
        "epsilon": rlax.epsilon_greedy(0.1).probs(preferences),
        "gaussian": rlax.gaussian_diagonal(0.5).sample(key, preferences),
        "noise": rlax.add_gaussian_noise(key, preferences, 0.1),
        "dirichlet": rlax.add_dirichlet_noise(key, preferences[None], 1.0, 0.3),
    }


def distributional():
    atoms = jnp.linspace(-1.0, 1.0, 5)
    probabilities = jax.nn.softmax(jnp.arange(5.0))
    logits = jnp.sin(jnp.arange(15.0)).reshape(3, 5)
    quantiles = jnp.cos(jnp.arange(12.0)).reshape(4, 3)
    return {
        "projected": rlax.categorical_l2_project(
            atoms * 0.9 + 0.1, probabilities, atoms
        ),
        "td": rlax.categorical_td_learning(
            logits[0], atoms, 0.1, 0.9, logits[1], atoms
        ),
        "q": rlax.categorical_q_learning(
            atoms, logits, 1, 0.1, 0.9, atoms, logits[::-1]
        ),
        "quantile": rlax.quantile_q_learning(
            quantiles, jnp.linspace(0.1, 0.9, 4), 0, 0.1, 0.9, quantiles, quantiles, 1.0
        ),
        "two_hot": rlax.transform_to_2hot(0.3, -1.0, 1.0, 5),
    }


def transforms():
    x = jnp.array([-3.0, 0.0, 2.5])
    pair = rlax.twohot_pair(-1.0, 1.0, 5)
    return {
        "signed": rlax.signed_hyperbolic(x),
        "parabolic": rlax.signed_parabolic(rlax.signed_hyperbolic(x)),
        "logit": rlax.sigmoid(x),
        "power": rlax.power(x + 4, 0.5),
        "pair": pair.apply_inv(pair.apply(jnp.array([0.3]))),
    }


def utilities():
    one = rlax.one_hot(jnp.array([0, 2]), 3)
    return {
        "index": rlax.batched_index(jnp.arange(6.0).reshape(2, 3), jnp.array([0, 2])),
        "one_hot": one,
        "huber": rlax.huber_loss(jnp.array([0.2, 3.0])),
        "conditional": rlax.conditional_update(
            {"a": jnp.ones(2)}, {"a": jnp.zeros(2)}, jnp.asarray(True)
        ),
        "clipped": jax.grad(lambda x: 5 * rlax.clip_gradient(x, -1.0, 1.0))(1.0),
        "l2": rlax.l2_loss(jnp.arange(3.0)),
    }
