"""Diffrax: ordinary, stochastic and controlled equations, events, adjoints."""

import diffrax as dfx
import equinox as eqx
import jax
import jax.numpy as jnp
import optimistix as optx

TOLERANCES = {
    "solvers": 1e-3,
    "implicit": 1e-3,
    "gradients": 1e-3,
    "stochastic": 1e-3,
    "events": 1e-3,
    "steady_state": 1e-3,
}


def _decay(t, y, rates):
    return {"a": -rates[0] * y["a"], "b": rates[0] * y["a"] - rates[1] * y["b"] * t}


def _oscillator(t, y, args):
    return jnp.array([y[1], args * (1 - y[0] ** 2) * y[1] - y[0]])


_Y0 = {"a": jnp.array([1.0, 2.0]), "b": jnp.zeros(2)}


def _solve(solver, term=_oscillator, y0=None, args=1.0, **keywords):
    y0 = jnp.array([1.0, 0.0]) if y0 is None else y0
    keywords.setdefault("stepsize_controller", dfx.PIDController(rtol=1e-5, atol=1e-6))
    return dfx.diffeqsolve(
        dfx.ODETerm(term), solver, 0.0, 2.0, 0.1, y0, args, **keywords
    )


def solvers():
    table = {
        "tsit5": dfx.Tsit5(),
        "dopri8": dfx.Dopri8(),
        "bosh3": dfx.Bosh3(),
    }
    values = {name: _solve(solver).ys[0] for name, solver in table.items()}
    euler = dfx.ConstantStepSize()
    values["euler"] = _solve(dfx.Euler(), stepsize_controller=euler).ys[0]
    values["tree"] = _solve(dfx.Tsit5(), _decay, _Y0, jnp.array([1.0, 0.5])).ys
    return values


def implicit():
    controller = dfx.PIDController(rtol=1e-4, atol=1e-5)
    solution = _solve(dfx.Kvaerno3(), args=20.0, stepsize_controller=controller)
    return solution.ys[0]


def saving():
    times = jnp.linspace(0.0, 2.0, 5)
    solution = _solve(dfx.Tsit5(), saveat=dfx.SaveAt(ts=times, t0=True, t1=True))
    function = _solve(
        dfx.Tsit5(),
        saveat=dfx.SaveAt(
            subs=[
                dfx.SubSaveAt(ts=times, fn=lambda t, y, args: jnp.sum(y)),
                dfx.SubSaveAt(t1=True),
            ]
        ),
    )
    steps = _solve(dfx.Tsit5(), saveat=dfx.SaveAt(steps=True), max_steps=64)
    dense = _solve(dfx.Tsit5(), saveat=dfx.SaveAt(dense=True))
    return {
        "ts": solution.ys,
        "subs": function.ys,
        "steps": int(jnp.sum(jnp.isfinite(steps.ts))),
        "dense": jax.vmap(dense.evaluate)(times),
        "derivative": dense.derivative(0.5),
        "accepted": solution.stats["num_accepted_steps"],
    }


def gradients():
    def loss(args, adjoint):
        return jnp.sum(_solve(dfx.Tsit5(), args=args, adjoint=adjoint).ys ** 2)

    table = {
        "checkpointed": dfx.RecursiveCheckpointAdjoint(),
        "direct": dfx.DirectAdjoint(),
        "backsolve": dfx.BacksolveAdjoint(),
    }
    values = {
        name: jax.jit(jax.grad(lambda x, a=adjoint: loss(x, a)))(0.7)
        for name, adjoint in table.items()
    }
    forward = dfx.ForwardMode()
    values["forward"] = jax.jvp(lambda x: loss(x, forward), (0.7,), (1.0,))
    return values


def batches():
    rates = jnp.array([0.5, 1.0, 2.0])
    return jax.jit(jax.vmap(lambda a: _solve(dfx.Tsit5(), args=a).ys[0]))(rates)


def stochastic():
    path = dfx.VirtualBrownianTree(
        0.0, 1.0, tol=1e-3, shape=(2,), key=jax.random.key(0)
    )
    drift = dfx.ODETerm(lambda t, y, args: -y)
    diffusion = dfx.ControlTerm(lambda t, y, args: 0.1 * jnp.eye(2), path)
    terms = dfx.MultiTerm(drift, diffusion)
    values = {
        name: dfx.diffeqsolve(terms, solver, 0.0, 1.0, 0.05, jnp.ones(2)).ys[0]
        for name, solver in {"euler": dfx.Euler(), "heun": dfx.EulerHeun()}.items()
    }
    values["path"] = path.evaluate(0.0, 0.5)
    levy = dfx.VirtualBrownianTree(
        0.0, 1.0, 1e-2, (), jax.random.key(1), levy_area=dfx.SpaceTimeLevyArea
    )
    values["levy"] = levy.evaluate(0.25, 0.75, use_levy=True).H
    return values


def controlled():
    ts = jnp.linspace(0.0, 1.0, 6)
    xs = jnp.stack([ts, jnp.sin(3 * ts)], axis=-1)
    coefficients = dfx.backward_hermite_coefficients(ts, xs)
    control = dfx.CubicInterpolation(ts, coefficients)
    term = dfx.ControlTerm(lambda t, y, args: jnp.stack([y, -y], -1), control).to_ode()
    solution = dfx.diffeqsolve(term, dfx.Tsit5(), 0.0, 1.0, 0.1, jnp.ones(3))
    linear = dfx.LinearInterpolation(ts, xs)
    return {
        "solution": solution.ys[0],
        "cubic": control.evaluate(0.33),
        "linear": linear.evaluate(0.1, 0.7),
    }


def events():
    def fall(t, y, args):
        return jnp.array([y[1], -9.8])

    # Without a root finder the time is the end of a step. Steps are exact here, so that
    # rounding alone would choose their sizes.
    root_finder = optx.Newton(1e-5, 1e-5)
    event = dfx.Event(lambda t, y, args, **kw: y[0], root_finder)
    solution = dfx.diffeqsolve(
        dfx.ODETerm(fall),
        dfx.Tsit5(),
        0.0,
        jnp.inf,
        0.1,
        jnp.array([1.0, 0.0]),
        event=event,
        stepsize_controller=dfx.PIDController(rtol=1e-4, atol=1e-5),
    )
    return {"time": solution.ts[0], "stopped": bool(solution.event_mask)}


def steady_state():
    solution = dfx.diffeqsolve(
        dfx.ODETerm(lambda t, y, a: a - y),
        dfx.Tsit5(),
        0.0,
        jnp.inf,
        0.1,
        jnp.zeros(2),
        jnp.array([1.0, 2.0]),
        max_steps=None,
        stepsize_controller=dfx.PIDController(rtol=1e-3, atol=1e-4),
        event=dfx.Event(dfx.steady_state_event()),
        adjoint=dfx.ImplicitAdjoint(),
    )
    return jnp.round(solution.ys[0], 1)


def failures():
    solution = _solve(dfx.Tsit5(), max_steps=2, throw=False)
    return {
        "result": bool(solution.result == dfx.RESULTS.max_steps_reached),
        "text": dfx.RESULTS[solution.result][:20],
    }


def neural():
    network = eqx.nn.MLP(2, 2, 8, 1, key=jax.random.key(3))

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss(network):
        solution = dfx.diffeqsolve(
            dfx.ODETerm(lambda t, y, net: net(y)),
            dfx.Tsit5(),
            0.0,
            1.0,
            0.25,
            jnp.ones(2),
            network,
        )
        return jnp.sum(solution.ys**2)

    value, grads = loss(network)
    return {"value": value, "bias": grads.layers[0].bias}
