"""Each error of tracing, with the words that its page explains."""

import jax
import jax.numpy as jnp
import numpy as np

kept = []


def told(run, *words):
    try:
        run()
    except Exception as error:
        text = str(error).lower()
        print(type(error).__name__, [base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"][0], [w in text for w in words])
    else:
        print("no error")


told(lambda: jax.jit(lambda x: 1 if x else 2)(True), "bool", "traced", "boolean")
told(lambda: jax.jit(lambda x: [1, 2][x])(0), "__index__")
told(lambda: jax.jit(lambda x: int(x))(0.0), "int")
told(lambda: jax.jit(lambda x: float(x))(0.0), "float")
told(lambda: jax.jit(lambda x: complex(x))(0.0), "complex")
told(lambda: jax.jit(lambda x: x[x > 0])(jnp.arange(3)), "boolean")
told(lambda: jax.jit(lambda x: np.asarray(x))(1.0), "array")
told(lambda: jax.jit(lambda x: jnp.unique(x))(jnp.arange(3)), "size")
told(lambda: jax.jit(lambda x: jnp.where(x > 0))(jnp.arange(3)), "size")
told(lambda: jax.jit(lambda x: kept.append(x))(1.0) or kept[0] + 1, "leak", "escape", "jit")
told(lambda: jax.jit(lambda n: jnp.ones(n))(3), "shapes must be 1d", "static")
told(lambda: jax.jit(lambda n: range(n))(3), "__index__")
told(lambda: jax.jit(lambda x: x.tolist())(jnp.arange(2)), "concrete")
told(lambda: jax.jit(lambda x: x)("text"), "str", "jax type")
told(lambda: jax.jit(lambda x: "text")(1), "str", "jax type")
told(lambda: jax.jit(lambda x, n: x, static_argnums=1)(1, [2]), "hashable")
told(lambda: jax.jit(lambda x: x, static_argnums=3)(1), "static_argnums")
told(lambda: jax.jit(lambda x: x)(), "missing")
told(lambda: jax.jit(3), "callable")
told(lambda: jax.vmap(lambda x: x)(1.0), "vmap")
told(lambda: jax.vmap(lambda x, y: x)(jnp.ones(2), jnp.ones(3)), "size")
told(lambda: jax.vmap(lambda x: x, in_axes=(0, 1))(jnp.ones(2)), "in_axes")
told(lambda: jax.vmap(lambda x: x, out_axes="a")(jnp.ones(2)), "out_axes")
told(lambda: jax.grad(lambda x: jnp.ones(2))(1.0), "scalar")
told(lambda: jax.grad(lambda x: x * 1j)(1.0), "real")
told(lambda: jax.grad(lambda x: x)(1), "int")
told(lambda: jax.grad(lambda x: "s")(1.0), "scalar")
told(lambda: jax.jvp(lambda x: x, (1.0,), (1,)), "tangent")
told(lambda: jax.jvp(lambda x: x, (1.0,), (jnp.ones(2),)), "jvp")
told(lambda: jax.vjp(lambda x: x, 1.0)[1](jnp.ones(2)))
told(lambda: jax.vjp(lambda x: x, 1.0)[1]((1.0, 2.0)), "tree")
told(lambda: jnp.zeros((2, 3)) + jnp.zeros(4), "broadcast", "shape")
told(lambda: jnp.dot(jnp.ones((2, 3)), jnp.ones((2, 3))), "contract")
told(lambda: jnp.reshape(jnp.ones(6), (4, 2)), "reshape")
told(lambda: jnp.concatenate([jnp.ones((2, 2)), jnp.ones((3, 3))], 0), "concatenate")
told(lambda: jnp.arange(3)[0, 1], "indices")
told(lambda: jnp.arange(3)["a"], "index")
told(lambda: jnp.arange(3)[1.5], "index")
told(lambda: jnp.sin("text"), "str")
told(lambda: jnp.sum([1, 2]), "list")
told(lambda: jax.lax.add(1, 2.0), "dtype")
told(lambda: jax.lax.add(jnp.ones(2), jnp.ones(3)), "shape")
told(lambda: jax.lax.psum(1, "absent"), "unbound axis name")
told(lambda: jnp.array([[1], [1, 2]]), "shape")
told(lambda: bool(jnp.ones(2)), "ambiguous")
told(lambda: int(jnp.ones(2)), "scalar")
told(lambda: jax.devices("nothing"), "nothing", "backend")
