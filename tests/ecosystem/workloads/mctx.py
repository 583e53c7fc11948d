"""MCTX: searches with learnt models, over a batch of roots."""

import jax
import jax.numpy as jnp
import mctx


def _root(batch=3, actions=4):
    return mctx.RootFnOutput(
        prior_logits=jnp.sin(jnp.arange(batch * actions * 1.0)).reshape(batch, actions),
        value=jnp.linspace(-0.5, 0.5, batch),
        embedding=jnp.arange(batch * 1.0),
    )


def _model(params, key, action, embedding):
    state = jnp.tanh(embedding + 0.3 * action)
    output = mctx.RecurrentFnOutput(
        reward=params * jnp.cos(state),
        discount=jnp.full_like(state, 0.9),
        prior_logits=jnp.sin(state[:, None] + jnp.arange(4.0)),
        value=state,
    )
    return output, state


def _summary(output):
    tree = output.search_tree.summary()
    return {
        "action": output.action,
        "weights": output.action_weights,
        "visits": tree.visit_counts,
        "value": tree.value,
        "q": tree.qvalues,
    }


def muzero():
    return _summary(
        mctx.muzero_policy(1.0, jax.random.key(0), _root(), _model, num_simulations=12)
    )


def gumbel():
    search = jax.jit(
        lambda params, key: mctx.gumbel_muzero_policy(
            params,
            key,
            _root(),
            _model,
            num_simulations=12,
            max_num_considered_actions=4,
        )
    )
    return _summary(search(1.0, jax.random.key(1)))


def invalid_actions():
    invalid = jnp.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    output = mctx.gumbel_muzero_policy(
        1.0,
        jax.random.key(2),
        _root(),
        _model,
        8,
        invalid_actions=invalid,
        qtransform=mctx.qtransform_completed_by_mix_value,
    )
    return {"action": output.action, "weights": output.action_weights}


def stochastic():
    def decision(params, key, action, embedding):
        output = mctx.DecisionRecurrentFnOutput(
            chance_logits=jnp.cos(embedding[:, None] + jnp.arange(2.0)),
            afterstate_value=embedding,
        )
        return output, embedding + action

    def chance(params, key, outcome, embedding):
        output = mctx.ChanceRecurrentFnOutput(
            action_logits=jnp.sin(embedding[:, None] + jnp.arange(4.0)),
            value=embedding,
            reward=outcome * params,
            discount=jnp.full_like(embedding, 0.9),
        )
        return output, jnp.tanh(embedding + outcome)

    output = mctx.stochastic_muzero_policy(
        1.0, jax.random.key(3), _root(), decision, chance, num_simulations=8
    )
    return {"action": output.action, "weights": output.action_weights}


def search_tree():
    output = mctx.muzero_policy(
        0.5, jax.random.key(4), _root(), _model, num_simulations=5, max_depth=3
    )
    tree = output.search_tree
    return {
        "parents": tree.parents,
        "children": tree.children_index[0],
        "node_values": tree.node_values,
        "simulations": tree.num_simulations,
    }
