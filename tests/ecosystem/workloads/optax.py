"""Optax: optimizers, schedules, masks, losses and solvers on small problems."""

import jax
import jax.numpy as jnp
import optax


def _data():
    x = jax.random.normal(jax.random.key(0), (32, 4))
    return x, jnp.sin(x @ jnp.array([1.0, -2.0, 0.5, 0.1]))


def _params():
    keys = jax.random.split(jax.random.key(1), 2)
    return {
        "in": {"w": 0.5 * jax.random.normal(keys[0], (4, 8)), "b": jnp.zeros(8)},
        "out": {"w": 0.5 * jax.random.normal(keys[1], (8,)), "b": jnp.zeros(())},
    }


def _loss(params, x, y):
    hidden = jnp.tanh(x @ params["in"]["w"] + params["in"]["b"])
    return jnp.mean((hidden @ params["out"]["w"] + params["out"]["b"] - y) ** 2)


def _train(optimizer, steps=12):
    x, y = _data()
    params = _params()
    state = optimizer.init(params)

    @jax.jit
    def step(params, state):
        loss, grads = jax.value_and_grad(_loss)(params, x, y)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    losses = []
    for _ in range(steps):
        params, state, loss = step(params, state)
        losses.append(loss)
    return jnp.stack(losses), params


TOLERANCES = {"optimizers": 1e-3, "line_search": 1e-3, "lbfgs": 1e-2}


def optimizers():
    table = {
        "sgd": optax.sgd(0.1),
        "momentum": optax.sgd(0.05, momentum=0.9, nesterov=True),
        "adam": optax.adam(1e-2),
        "adamw": optax.adamw(1e-2, weight_decay=1e-2),
        "adagrad": optax.adagrad(0.1),
        "rmsprop": optax.rmsprop(1e-2),
        "lamb": optax.lamb(1e-2),
        "lion": optax.lion(1e-3),
        "adafactor": optax.adafactor(1e-2),
        "polyak": optax.sgd(optax.linear_schedule(0.1, 0.01, 10)),
    }
    return {name: _train(optimizer)[0] for name, optimizer in table.items()}


def schedules():
    steps = jnp.arange(0, 50, 7)
    table = {
        "cosine": optax.cosine_decay_schedule(1.0, 40, 0.1),
        "warmup_cosine": optax.warmup_cosine_decay_schedule(0.0, 1.0, 10, 40),
        "exponential": optax.exponential_decay(1.0, 10, 0.5, staircase=True),
        "piecewise": optax.piecewise_constant_schedule(1.0, {10: 0.1, 30: 0.1}),
        "polynomial": optax.polynomial_schedule(1.0, 0.0, 2, 30),
        "onecycle": optax.cosine_onecycle_schedule(40, 1.0),
        "joined": optax.join_schedules(
            [optax.constant_schedule(1.0), optax.linear_schedule(1.0, 0.0, 10)], [20]
        ),
    }
    return {name: jax.vmap(schedule)(steps) for name, schedule in table.items()}


def chain_with_clipping():
    optimizer = optax.chain(
        optax.clip_by_global_norm(0.5),
        optax.scale_by_adam(),
        optax.add_decayed_weights(1e-3),
        optax.scale_by_schedule(optax.cosine_decay_schedule(1.0, 20)),
        optax.scale(-1e-2),
    )
    losses, params = _train(optimizer)
    return {"losses": losses, "b": params["in"]["b"]}


def masks_and_partitions():
    decayed = optax.adamw(
        1e-2, mask=lambda params: jax.tree.map(lambda p: p.ndim > 1, params)
    )
    parts = optax.partition(
        {
            "slow": optax.sgd(1e-3),
            "fast": optax.adam(1e-2),
            "none": optax.set_to_zero(),
        },
        {"in": {"w": "slow", "b": "none"}, "out": "fast"},
    )
    losses, params = _train(parts)
    return {"masked": _train(decayed)[0], "losses": losses, "frozen": params["in"]["b"]}


def accumulation():
    optimizer = optax.MultiSteps(optax.adam(1e-2), every_k_schedule=3)
    losses, params = _train(optimizer)
    return {"losses": losses, "bias": params["out"]["b"]}


def hyperparameters():
    optimizer = optax.inject_hyperparams(optax.adam)(learning_rate=1e-2)
    params = _params()
    state = optimizer.init(params)
    state.hyperparams["learning_rate"] = jnp.asarray(0.5)
    updates, state = optimizer.update(jax.tree.map(jnp.ones_like, params), state)
    return {"rate": state.hyperparams["learning_rate"], "update": updates["out"]["b"]}


def skipping_and_averaging():
    optimizer = optax.apply_if_finite(optax.sgd(0.1), max_consecutive_errors=2)
    params = jnp.ones(3)
    state = optimizer.init(params)
    updates, state = optimizer.update(jnp.array([1.0, jnp.nan, 0.0]), state, params)
    ema = optax.ema(0.9)
    average, _ = ema.update(jnp.arange(3.0), ema.init(params))
    return {
        "update": updates,
        "count": state.notfinite_count,
        "last": state.last_finite,
        "average": average,
        "lookahead": optax.LookaheadParams.init_synced(params).fast,
    }


def losses():
    logits = jnp.linspace(-2.0, 2.0, 12).reshape(3, 4)
    labels = jnp.array([0, 3, 1])
    one_hot = jax.nn.one_hot(labels, 4)
    return {
        "softmax": optax.softmax_cross_entropy(logits, one_hot),
        "integer": optax.softmax_cross_entropy_with_integer_labels(logits, labels),
        "sigmoid": optax.sigmoid_binary_cross_entropy(logits, one_hot),
        "huber": optax.huber_loss(logits, one_hot, delta=0.5),
        "cosine": optax.cosine_similarity(logits, one_hot),
        "kl": optax.kl_divergence(jax.nn.log_softmax(logits), one_hot),
        "focal": optax.sigmoid_focal_loss(logits, one_hot, alpha=0.3),
        "hinge": optax.hinge_loss(logits[:, 0], jnp.array([1.0, -1.0, 1.0])),
        "smoothed": optax.smooth_labels(one_hot, 0.1),
        "ctc": optax.ctc_loss(
            jnp.sin(jnp.arange(40.0)).reshape(2, 5, 4),
            jnp.zeros((2, 5)),
            jnp.array([[1, 2, 0], [3, 0, 0]]),
            jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]),
        ),
    }


def _rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def lbfgs():
    solver = optax.lbfgs()
    params = jnp.array([-1.0, 1.5])
    value_and_grad = optax.value_and_grad_from_state(_rosenbrock)

    @jax.jit
    def step(params, state):
        value, grad = value_and_grad(params, state=state)
        updates, state = solver.update(
            grad, state, params, value=value, grad=grad, value_fn=_rosenbrock
        )
        return optax.apply_updates(params, updates), state

    state = solver.init(params)
    for _ in range(40):
        params, state = step(params, state)
    return params


def line_search():
    solver = optax.chain(
        optax.sgd(1.0),
        optax.scale_by_backtracking_linesearch(max_backtracking_steps=15),
    )
    params = jnp.array([0.5, -0.3])
    state = solver.init(params)
    for _ in range(4):
        value, grad = jax.value_and_grad(_rosenbrock)(params)
        updates, state = solver.update(
            grad, state, params, value=value, grad=grad, value_fn=_rosenbrock
        )
        params = optax.apply_updates(params, updates)
    return params


def trees():
    tree = {"a": jnp.arange(3.0), "b": jnp.ones((2, 2))}
    keys = optax.tree.random_like(jax.random.key(0), tree, jax.random.uniform)
    state = optax.adam(1.0).init(tree)
    return {
        "norm": optax.global_norm(tree),
        "vdot": optax.tree.vdot(tree, tree),
        "random": keys,
        "get": optax.tree.get(state, "mu"),
        "set": optax.tree.set(state, count=jnp.asarray(7))[0].count,
        "projection": optax.projections.projection_simplex(jnp.arange(4.0)),
        "assignment": optax.assignment.hungarian_algorithm(
            jnp.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])
        ),
    }


def contributed():
    contrib = optax.contrib
    table = {
        "schedule_free": contrib.schedule_free_adamw(1e-2),
        "muon": contrib.muon(1e-2),
    }
    return {name: _train(optimizer)[0] for name, optimizer in table.items()}


def searching_loop():
    """L-BFGS with its line search in a `while_loop`, until the gradient is small."""

    def loss(x):
        return jnp.sum((x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    solver = optax.lbfgs()
    value_and_grad = optax.value_and_grad_from_state(loss)

    def step(carry):
        x, state = carry
        value, grad = value_and_grad(x, state=state)
        updates, state = solver.update(
            grad, state, x, value=value, grad=grad, value_fn=loss
        )
        return optax.apply_updates(x, updates), state

    def is_going_on(carry):
        count = optax.tree.get(carry[1], "count")
        norm = optax.tree.norm(optax.tree.get(carry[1], "grad"))
        return (count == 0) | ((count < 30) & (norm > 1e-3))

    start = jnp.zeros(4)
    x, _ = jax.jit(
        lambda x: jax.lax.while_loop(is_going_on, step, (x, solver.init(x)))
    )(start)
    return jnp.round(x, 2)


def frozen_parts():
    """Optimizers by labels, of which one accumulates gradients over steps."""
    params = {"body": jnp.ones(3), "head": jnp.ones(2)}
    optimizer = optax.multi_transform(
        {
            "slow": optax.MultiSteps(optax.sgd(0.1, momentum=0.9), 2),
            "fast": optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.05)),
        },
        {"body": "slow", "head": "fast"},
    )

    def loss(params, scale):
        return scale * jnp.sum(params["body"] ** 2) + jnp.sum((params["head"] - 2) ** 2)

    @jax.jit
    def step(carry, scale):
        params, state = carry
        value, grads = jax.value_and_grad(loss)(params, scale)
        updates, state = optimizer.update(grads, state, params)
        return (optax.apply_updates(params, updates), state), value

    carry = params, optimizer.init(params)
    (params, _), values = jax.lax.scan(step, carry, jnp.linspace(1.0, 2.0, 7))
    return {"params": params, "values": values}
