"""What libraries take from private modules: arguments, jaxlib, nodes of trees."""

import collections
import dataclasses
import inspect

import jax
import jax.numpy as jnp
import numpy as np
from jax import tree_util
from jax._src.api_util import infer_argnums_and_argnames
from jax._src.lib import version, xla_client
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import func, hlo
from jax._src.numpy import util
from jax._src.tree_util import _registry


def either(a, b=1, *args, c, **others):
    """Parameters of all kinds."""


def first_alone(x, /, y):
    """One that has no name for callers."""


for function in (either, first_alone):
    signature = inspect.signature(function)
    for numbers, names in [
        (0, None),
        ((0, 1), None),
        (None, "b"),
        (None, ("c", "a")),
        ((-1,), None),
        (None, None),
        ((0,), ("c",)),
        ((7,), None),
    ]:
        print(infer_argnums_and_argnames(signature, numbers, names))


def show(values):
    return [(str(x.dtype), x.shape, x.weak_type) for x in values]


tall, flat = np.ones((2, 1), np.int8), jnp.ones(3)
for arguments in [
    (1,),
    (1, 2.0),
    (True,),
    (True, 1),
    (2j, 1.0),
    (tall, flat),
    (1, tall, flat),
    (jnp.bfloat16(1), np.float16(1)),
]:
    print(show(util.promote_dtypes(*arguments)))
    print(show(util.promote_dtypes_inexact(*arguments)))
    print(show(util.promote_dtypes_numeric(*arguments)))
    print(show(util.promote_dtypes_complex(*arguments)))
    print(show(util.promote_args("f", *arguments)))
    print(show(util.promote_args_inexact("f", *arguments)))
    print(show(util.promote_shapes("f", *arguments)))
    print(show(util.ensure_arraylike_tuple("f", arguments)))

for wrong in ([1], None):
    try:
        util.check_arraylike("f", wrong)
    except TypeError:
        print("refused")
util.check_arraylike_or_none("f", None, 1)

print(jax.jit(lambda x: util.promote_args_inexact("f", x, 2)[1] * x)(3))
print(len(version) > 2, hlo.AddOp.__name__, func.FuncOp.__name__, ir.Module.__name__)
try:
    raise xla_client.XlaRuntimeError("told")
except jax.errors.JaxRuntimeError as error:
    print(error)


class Pair:
    """A node of a user's class."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __eq__(self, other):
        return (self.a, self.b) == (other.a, other.b)


@tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    """A node of a data class."""

    weight: float
    name: str = dataclasses.field(metadata={"static": True})


tree_util.register_pytree_node(
    Pair, lambda p: ((p.a,), p.b), lambda b, children: Pair(*children, b)
)
nodes = [
    (1, (2, 3)),
    [1, 2],
    {"b": 1, "a": [2]},
    None,
    Pair(1, 2),
    Layer(1.0, "first"),
    collections.OrderedDict(b=1, a=2),
    collections.defaultdict(int, b=1),
]
for node in nodes:
    entry = _registry[type(node)]
    children, static = entry.to_iter(node)
    print(
        type(node).__name__, list(children), entry.from_iter(static, children) == node
    )
print(str in _registry, tuple in _registry)

# Some libraries copy functions from the dictionaries of JAX's modules.
own = {name: f for name, f in jnp.__dict__.items() if callable(f)}
print(
    "angle" in own, own["sin"] is jnp.sin, "linspace" in vars(jnp), "jit" in vars(jax)
)
print(
    {"scan", "cond", "add", "dot_general"} - vars(jax.lax).keys(),
    "relu" in vars(jax.nn),
)
