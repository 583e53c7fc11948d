"""Lineax: operators, solvers, least squares and their derivatives."""

import jax
import jax.numpy as jnp
import lineax as lx

TOLERANCES = {"iterative": 1e-3}


def _matrix():
    a = jax.random.normal(jax.random.key(0), (4, 4))
    return a @ a.T + jnp.eye(4), jnp.arange(1.0, 5.0)


def direct():
    a, b = _matrix()
    symmetric = lx.MatrixLinearOperator(a, lx.positive_semidefinite_tag)
    table = {
        "auto": (lx.MatrixLinearOperator(a), lx.AutoLinearSolver(well_posed=True)),
        "lu": (lx.MatrixLinearOperator(a), lx.LU()),
        "qr": (lx.MatrixLinearOperator(a), lx.QR()),
        "svd": (lx.MatrixLinearOperator(a), lx.SVD()),
        "cholesky": (symmetric, lx.Cholesky()),
        "diagonal": (lx.DiagonalLinearOperator(jnp.diag(a)), lx.Diagonal()),
        "triangular": (
            lx.MatrixLinearOperator(jnp.tril(a), lx.lower_triangular_tag),
            lx.Triangular(),
        ),
        "tridiagonal": (
            lx.TridiagonalLinearOperator(
                jnp.diag(a), jnp.diag(a, -1) / 10, jnp.diag(a, 1) / 10
            ),
            lx.Tridiagonal(),
        ),
    }
    return {
        name: lx.linear_solve(operator, b, solver).value
        for name, (operator, solver) in table.items()
    }


def iterative():
    a, b = _matrix()
    definite = lx.MatrixLinearOperator(a, lx.positive_semidefinite_tag)
    general = lx.MatrixLinearOperator(a + jnp.triu(jnp.ones((4, 4))))
    return {
        "cg": lx.linear_solve(definite, b, lx.CG(1e-6, 1e-6)).value,
        "gmres": lx.linear_solve(general, b, lx.GMRES(1e-5, 1e-5)).value,
        "bicgstab": lx.linear_solve(general, b, lx.BiCGStab(1e-5, 1e-5)).value,
        "normal": lx.linear_solve(general, b, lx.Normal(lx.CG(1e-5, 1e-5))).value,
    }


def least_squares():
    a = jax.random.normal(jax.random.key(1), (6, 3))
    b = jnp.arange(6.0)
    tall = lx.MatrixLinearOperator(a)
    wide = lx.MatrixLinearOperator(a.T)
    return {
        "tall": lx.linear_solve(tall, b, lx.QR()).value,
        "wide": lx.linear_solve(wide, b[:3], lx.SVD()).value,
        "auto": lx.linear_solve(tall, b, lx.AutoLinearSolver(None)).value,
        "lsmr": lx.linear_solve(tall, b, lx.LSMR(1e-6, 1e-6)).value,
    }


def operators():
    a, b = _matrix()
    matrix = lx.MatrixLinearOperator(a)
    jacobian = lx.JacobianLinearOperator(lambda x, args: jnp.sin(x) * x[::-1], b)
    function = lx.FunctionLinearOperator(
        lambda x: {"u": 2 * x["u"] + x["v"], "v": x["u"] - x["v"]},
        {
            "u": jax.ShapeDtypeStruct((2,), "float32"),
            "v": jax.ShapeDtypeStruct((2,), "float32"),
        },
    )
    total = matrix @ matrix.T + 2 * lx.IdentityLinearOperator(jax.eval_shape(lambda: b))
    solution = lx.linear_solve(function, {"u": jnp.ones(2), "v": jnp.zeros(2)})
    return {
        "mv": total.mv(b),
        "matrix": total.as_matrix()[0],
        "jacobian": jacobian.as_matrix(),
        "linearised": lx.linearise(jacobian).mv(b),
        "materialised": lx.materialise(function).as_matrix(),
        "tree": solution.value,
        "diagonal": lx.diagonal(matrix),
        "tags": [lx.is_symmetric(matrix), lx.is_diagonal(total)],
        "sizes": [function.in_size(), function.out_size()],
    }


def derivatives():
    a, b = _matrix()

    def solve(a, b):
        operator = lx.MatrixLinearOperator(a, lx.positive_semidefinite_tag)
        return jnp.sum(lx.linear_solve(operator, b, lx.Cholesky()).value ** 2)

    return {
        "gradient": jax.jit(jax.grad(solve))(a, b),
        "jvp": jax.jvp(solve, (a, b), (jnp.eye(4), b))[1],
        "hessian": jax.hessian(solve, 1)(a, b),
    }


def batches():
    a, b = _matrix()
    scales = jnp.array([1.0, 2.0])
    return jax.vmap(lambda s: lx.linear_solve(lx.MatrixLinearOperator(s * a), b).value)(
        scales
    )


def reuse_and_failure():
    a, b = _matrix()
    operator = lx.MatrixLinearOperator(a)
    solver = lx.LU()
    state = solver.init(operator, {})
    singular = lx.MatrixLinearOperator(jnp.zeros((2, 2)))
    failed = lx.linear_solve(singular, jnp.ones(2), lx.LU(), throw=False)
    return {
        "state": lx.linear_solve(operator, b, solver, state=state).value,
        "failed": bool(failed.result == lx.RESULTS.successful),
        "steps": lx.linear_solve(
            lx.MatrixLinearOperator(jnp.eye(3), lx.positive_semidefinite_tag),
            jnp.ones(3),
            lx.CG(1e-5, 1e-5),
        ).stats["num_steps"],
    }
