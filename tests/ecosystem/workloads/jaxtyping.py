"""Jaxtyping: shapes and dtypes in annotations, checked when functions are called."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jaxtyping
import pytest
from beartype import beartype
from jaxtyping import (
    Array,
    ArrayLike,
    Bool,
    Complex,
    Float,
    Float32,
    Int,
    Integer,
    Key,
    Num,
    PRNGKeyArray,
    PyTree,
    Shaped,
    UInt8,
    jaxtyped,
)


@jaxtyped(typechecker=beartype)
def _matmul(x: Float[Array, "m k"], y: Float[Array, "k n"]) -> Float[Array, "m n"]:
    return x @ y


@jaxtyped(typechecker=beartype)
def _broken(x: Float[Array, " n"]) -> Float[Array, " n"]:
    return x[:-1]


@jaxtyped(typechecker=beartype)
def _tree_sum(tree: PyTree[Float[Array, "..."], "T"]) -> Float[Array, ""]:
    return sum(jnp.sum(x) for x in jax.tree.leaves(tree))


@jaxtyped(typechecker=beartype)
def _sample(key: PRNGKeyArray, n: int) -> Float[Array, " {n}"]:
    return jax.random.normal(key, (n,))


def _refuses(function, *arguments):
    with pytest.raises(jaxtyping.TypeCheckError):
        function(*arguments)
    return True


def is_instance():
    x = jnp.zeros((2, 3))
    cases = {
        "float": Float[Array, "2 3"],
        "float32": Float32[Array, "a b"],
        "repeated": Float[Array, "a a"],
        "variadic": Float[Array, "... 3"],
        "named_variadic": Float[Array, "*batch 3"],
        "broadcast": Float[Array, "2 #3"],
        "int": Int[Array, "2 3"],
        "num": Num[Array, "2 3"],
        "shaped": Shaped[Array, "2 _"],
        "rank": Float[Array, "a b c"],
        "bool": Bool[Array, "2 3"],
        "complex": Complex[Array, "2 3"],
        "array_like": Float[ArrayLike, "2 3"],
    }
    return {name: isinstance(x, kind) for name, kind in cases.items()}


def kinds():
    return {
        "typed_key": isinstance(jax.random.key(0), Key[Array, ""]),
        "key": isinstance(jax.random.PRNGKey(0), PRNGKeyArray),
        "integer": isinstance(jnp.arange(3), Integer[Array, "3"]),
        "uint8": isinstance(jnp.zeros(2, "uint8"), UInt8[Array, "2"]),
        "python_float": isinstance(1.0, Float[ArrayLike, ""]),
        "struct": isinstance(
            jax.ShapeDtypeStruct((2,), jnp.float32), Float[jax.ShapeDtypeStruct, "2"]
        ),
        "name": Float[Array, "a b"].__name__,
    }


def calls():
    x, y = jnp.ones((2, 3)), jnp.ones((3, 4))
    return {
        "value": _matmul(x, y),
        "wrong_shape": _refuses(_matmul, x, x),
        "wrong_dtype": _refuses(_matmul, x, jnp.ones((3, 4), "int32")),
        "wrong_result": _refuses(_broken, jnp.ones(3)),
        "sizes_by_value": _sample(jax.random.key(1), 3),
    }


def traced():
    x = jnp.ones((2, 3))
    mapped = jax.vmap(_matmul, in_axes=(0, None))
    return {
        "jit": jax.jit(_matmul)(x, x.T),
        "vmap": mapped(jnp.ones((5, 2, 3)), x.T).shape,
        "grad": jax.grad(lambda x: jnp.sum(_matmul(x, x.T)))(x),
        "refused_in_jit": _refuses(jax.jit(_matmul), x, x),
    }


def trees():
    tree = {"a": jnp.ones(3), "b": (jnp.arange(2.0),)}
    return {
        "sum": _tree_sum(tree),
        "leaf": isinstance(tree, PyTree[Float[Array, "..."]]),
        "other": isinstance({"a": 1}, PyTree[Float[Array, "..."]]),
        "refused": _refuses(_tree_sum, {"a": "text"}),
    }


def modules():
    @jaxtyped(typechecker=beartype)
    class Layer(eqx.Module):
        weight: Float[Array, "n m"]
        bias: Float[Array, " n"]

        def __call__(self, x: Float[Array, " m"]) -> Float[Array, " n"]:
            return self.weight @ x + self.bias

    layer = Layer(jnp.ones((2, 3)), jnp.zeros(2))
    return {
        "value": layer(jnp.arange(3.0)),
        "refused": _refuses(Layer, jnp.ones((2, 3)), jnp.zeros(3)),
    }
