"""Optimistix: roots, fixed points, minima, least squares, implicit gradients."""

import jax
import jax.numpy as jnp
import optax
import optimistix as optx

TOLERANCES = {
    "roots": 1e-3,
    "fixed_points": 1e-3,
    "minima": 5e-3,
    "least_squares": 1e-3,
    "gradients": 1e-3,
}


def _equation(y, args):
    return {"u": y["u"] ** 2 - args, "v": jnp.tanh(y["v"]) + y["u"] - 2.0}


_START = {"u": jnp.asarray(1.5), "v": jnp.asarray(0.1)}


def _rosenbrock(y, args):
    return jnp.sum(args * (y[1:] - y[:-1] ** 2) ** 2 + (1.0 - y[:-1]) ** 2)


def _residuals(y, args):
    x, target = args
    return y[0] * jnp.exp(-y[1] * x) + y[2] - target


def _points():
    x = jnp.linspace(0.0, 2.0, 12)
    return x, 2.0 * jnp.exp(-1.3 * x) + 0.5


def roots():
    newton = optx.root_find(_equation, optx.Newton(1e-5, 1e-5), _START, 2.0)
    chord = optx.root_find(
        lambda y, args: y - 0.3 * jnp.sin(y) - 1.0, optx.Chord(1e-5, 1e-5), 0.9
    )
    bisection = optx.root_find(
        lambda y, args: y**3 - 2.0,
        optx.Bisection(1e-5, 1e-5),
        1.0,
        options={"lower": 0.0, "upper": 2.0},
    )
    return {
        "newton": newton.value,
        "chord": chord.value,
        "bisection": bisection.value,
        "steps": newton.stats["num_steps"],
    }


def fixed_points():
    return optx.fixed_point(
        lambda y, args: jnp.cos(args * y),
        optx.FixedPointIteration(1e-6, 1e-6),
        jnp.ones(2),
        jnp.array([0.5, 1.0]),
        max_steps=200,
    ).value


def minima():
    start = jnp.array([-0.5, 0.8])
    table = {
        "bfgs": optx.BFGS(1e-5, 1e-6),
        "lbfgs": optx.LBFGS(1e-5, 1e-6),
        "nelder_mead": optx.NelderMead(1e-5, 1e-6),
    }
    values = {
        name: optx.minimise(_rosenbrock, solver, start, 5.0, max_steps=400).value
        for name, solver in table.items()
    }
    adam = optx.OptaxMinimiser(optax.adam(0.05), 1e-5, 1e-5)
    values["adam"] = optx.minimise(_rosenbrock, adam, start, 5.0, max_steps=2000).value
    values["best"] = optx.minimise(
        lambda y, args: (y - 2.0) ** 2,
        optx.BestSoFarMinimiser(optx.BFGS(1e-5, 1e-5)),
        jnp.asarray(0.0),
    ).value
    values["golden"] = optx.minimise(
        lambda y, args: (y - 0.3) ** 2,
        optx.GoldenSearch(1e-3, 1e-3),
        jnp.asarray(0.5),
        options={"lower": jnp.asarray(0.0), "upper": jnp.asarray(1.0)},
    ).value
    return values


def least_squares():
    table = {
        "gauss_newton": optx.GaussNewton(1e-5, 1e-5),
        "levenberg_marquardt": optx.LevenbergMarquardt(1e-5, 1e-5),
        "dogleg": optx.Dogleg(1e-5, 1e-5),
    }
    start = jnp.array([1.0, 1.0, 0.0])
    return {
        name: optx.least_squares(_residuals, solver, start, _points()).value
        for name, solver in table.items()
    }


def gradients():
    def root(a):
        return optx.root_find(_equation, optx.Newton(1e-6, 1e-6), _START, a).value["v"]

    def minimum(a):
        solution = optx.minimise(
            lambda y, a: jnp.sum((y - a) ** 2 + 0.1 * y**4),
            optx.BFGS(1e-6, 1e-6),
            jnp.zeros(2),
            a,
        )
        return jnp.sum(solution.value)

    solver = optx.FixedPointIteration(1e-6, 1e-6)
    fixed = jax.grad(
        lambda a: optx.fixed_point(lambda y, a: jnp.cos(a * y), solver, 1.0, a).value
    )
    return {
        "root": jax.jit(jax.grad(root))(2.0),
        "minimum": jax.grad(minimum)(jnp.array([1.0, -1.0])),
        "fixed_point": fixed(0.5),
    }


def batches():
    return jax.vmap(
        lambda a: optx.root_find(_equation, optx.Newton(1e-6, 1e-6), _START, a).value[
            "u"
        ]
    )(jnp.array([1.5, 2.0, 3.0]))


def failures():
    solution = optx.root_find(
        lambda y, args: y**2 + 1.0,
        optx.Newton(1e-6, 1e-6),
        0.7,
        max_steps=5,
        throw=False,
    )
    return {
        "successful": bool(solution.result == optx.RESULTS.successful),
        "steps": solution.stats["num_steps"],
    }


def auxiliary():
    solution = optx.least_squares(
        lambda y, args: (y - 1.0, {"seen": 2 * y}),
        optx.GaussNewton(1e-5, 1e-5),
        jnp.zeros(2),
        has_aux=True,
    )
    return {"value": solution.value, "aux": solution.aux["seen"]}
