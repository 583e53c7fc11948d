"""JAXopt: solvers with constraints, roots, fixed points, implicit derivatives."""

import jax
import jax.numpy as jnp
import jaxopt
import optax
from jaxopt import implicit_diff, objective, projection, prox

TOLERANCES = {
    "unconstrained": 1e-2,
    "constrained": 1e-2,
    "quadratic_programs": 1e-2,
    "implicit": 1e-2,
    "mapped_weights": 1e-2,
}


def _data():
    x = jax.random.normal(jax.random.key(0), (12, 3))
    return x, x @ jnp.array([1.0, -2.0, 0.0]) + 0.1


def _ridge(params, strength, data):
    x, y = data
    return jnp.mean((x @ params - y) ** 2) + strength * jnp.sum(params**2)


def unconstrained():
    table = {
        "lbfgs": jaxopt.LBFGS(_ridge, maxiter=50, tol=1e-4),
        "cg": jaxopt.NonlinearCG(_ridge, maxiter=100, tol=1e-4),
        "scipy": jaxopt.ScipyMinimize(fun=_ridge, method="L-BFGS-B"),
    }
    return {
        name: solver.run(jnp.zeros(3), 0.1, _data()).params
        for name, solver in table.items()
    }


def constrained():
    x, y = _data()
    box = jaxopt.ProjectedGradient(_ridge, projection.projection_box, maxiter=200)
    simplex = jaxopt.ProjectedGradient(
        _ridge, projection.projection_simplex, maxiter=200
    )
    lasso = jaxopt.ProximalGradient(
        objective.least_squares, prox.prox_lasso, maxiter=200
    )
    mirror = jaxopt.LBFGSB(_ridge, maxiter=100)
    return {
        "box": box.run(
            jnp.zeros(3), hyperparams_proj=(-0.5, 0.5), strength=0.1, data=(x, y)
        ).params,
        "simplex": simplex.run(
            jnp.ones(3) / 3, hyperparams_proj=1.0, strength=0.1, data=(x, y)
        ).params,
        "lasso": lasso.run(jnp.zeros(3), hyperparams_prox=0.1, data=(x, y)).params,
        "lbfgsb": mirror.run(
            jnp.zeros(3), bounds=(-jnp.ones(3), jnp.ones(3)), strength=0.1, data=(x, y)
        ).params,
    }


def quadratic_programs():
    q, c = jnp.array([[2.0, 0.5], [0.5, 1.0]]), jnp.array([1.0, 1.0])
    a, b = jnp.array([[1.0, 1.0]]), jnp.array([1.0])
    g, h = -jnp.eye(2), jnp.zeros(2)
    equality = jaxopt.EqualityConstrainedQP().run(params_obj=(q, c), params_eq=(a, b))
    osqp = jaxopt.OSQP(tol=1e-4).run(
        params_obj=(q, c), params_eq=(a, b), params_ineq=(g, h)
    )
    return {"equality": equality.params.primal, "osqp": osqp.params.primal}


def roots_and_fixed_points():
    bisection = jaxopt.Bisection(lambda x, a: x**3 - a, 0.0, 3.0, tol=1e-5)
    fixed = jaxopt.FixedPointIteration(
        lambda x, a: jnp.cos(a * x), maxiter=100, tol=1e-6
    )
    anderson = jaxopt.AndersonAcceleration(lambda x, a: jnp.cos(a * x), tol=1e-5)
    broyden = jaxopt.Broyden(lambda x, a: x**3 + x - a, tol=1e-5)
    return {
        "bisection": bisection.run(a=2.0).params,
        "fixed": fixed.run(jnp.ones(2), 0.5).params,
        "anderson": anderson.run(jnp.ones(2), 0.5).params,
        "broyden": broyden.run(jnp.ones(2), 2.0).params,
    }


def implicit():
    solver = jaxopt.LBFGS(_ridge, maxiter=60, tol=1e-5)

    def norm(strength):
        return jnp.sum(solver.run(jnp.zeros(3), strength, _data()).params ** 2)

    @implicit_diff.custom_root(jax.grad(_ridge))
    def closed_form(start, strength, data):
        x, y = data
        return jnp.linalg.solve(x.T @ x / 12 + strength * jnp.eye(3), x.T @ y / 12)

    jacobian = jax.jacobian(closed_form, argnums=1)
    return {
        "gradient": jax.grad(norm)(0.1),
        "jacobian": jacobian(None, 0.1, _data()),
    }


def nonlinear_least_squares():
    t = jnp.linspace(0.0, 1.0, 8)
    y = 2.0 * jnp.exp(-t)

    def residuals(p):
        return p[0] * jnp.exp(p[1] * t) - y

    return {
        "gauss_newton": jaxopt.GaussNewton(residuals)
        .run(jnp.array([1.5, -0.5]))
        .params,
        "levenberg": jaxopt.LevenbergMarquardt(residuals).run(jnp.ones(2)).params,
    }


def losses_and_projections():
    logits = jnp.linspace(-1.0, 2.0, 4)
    return {
        "logistic": jaxopt.loss.multiclass_logistic_loss(2, logits),
        "sparsemax": jaxopt.loss.multiclass_sparsemax_loss(2, logits),
        "binary": jaxopt.loss.binary_logistic_loss(1, 0.3),
        "simplex": projection.projection_simplex(logits),
        "l1": projection.projection_l1_ball(logits, 1.0),
        "l2": projection.projection_l2_ball(logits, 1.0),
        "polyhedron": projection.projection_hyperplane(logits, (jnp.ones(4), 1.0)),
        "transport": projection.projection_transport(
            jnp.ones((2, 2)), (jnp.ones(2) / 2, jnp.ones(2) / 2)
        ),
        "elastic": prox.prox_elastic_net(logits, (0.1, 0.5)),
        "ridge": prox.prox_ridge(logits, 0.5),
    }


def step_by_step():
    solver = jaxopt.OptaxSolver(_ridge, optax.adam(0.1), maxiter=5)
    params = jnp.zeros(3)
    state = solver.init_state(params, 0.1, _data())
    update = jax.jit(solver.update)
    for _ in range(3):
        params, state = update(params, state, 0.1, _data())
    return {"params": params, "error": state.error, "iterations": state.iter_num}


def line_search():
    search = jaxopt.BacktrackingLineSearch(lambda x: jnp.sum(x**4), maxiter=20)
    x = jnp.array([1.0, -2.0])
    step, state = search.run(1.0, x, descent_direction=-jax.grad(search.fun)(x))
    return {"step": step, "params": state.params}


def mapped_weights():
    """A solver with an implicit derivative, whose loss closes over mapped weights."""
    x, y = _data()
    weights = jnp.abs(jax.random.normal(jax.random.key(1), (3, 12))) + 0.1

    def fit(weights):
        def loss(params):
            errors = weights * (x @ params - y) ** 2
            return jnp.mean(errors) + 0.1 * jnp.sum(params**2)

        solver = jaxopt.LBFGS(loss, maxiter=60, tol=1e-6)
        return solver.run(jnp.zeros(3)).params

    return {"params": jax.vmap(fit)(weights), "jit": jax.jit(jax.vmap(fit))(weights)}
