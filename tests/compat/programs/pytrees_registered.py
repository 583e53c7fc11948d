"""Node types of one's own, in each way that they are registered."""

import dataclasses
from functools import partial

import jax
import jax.flatten_util
import jax.numpy as jnp


class Special:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Special({self.x}, {self.y})"


jax.tree_util.register_pytree_node(Special, lambda s: ((s.x,), s.y), lambda y, xs: Special(xs[0], y))
print(jax.tree.map(lambda v: v * 2, Special(1, "aux")), jax.tree.structure(Special(1, "aux")))
print(jax.tree_util.tree_leaves_with_path(Special([1, 2], 0)))


@jax.tree_util.register_pytree_node_class
class Box:
    def __init__(self, content):
        self.content = content

    def tree_flatten(self):
        return (self.content,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


print(jax.jit(lambda b: Box(b.content + 1))(Box(1.0)).content, jax.tree.structure(Box({"a": 1})))


@partial(jax.tree_util.register_dataclass, data_fields=["w"], meta_fields=["name"])
@dataclasses.dataclass
class Layer:
    w: jax.Array
    name: str


layer = Layer(jnp.ones(2), "dense")
print(jax.tree.map(jnp.shape, layer), jax.tree.structure(layer))
print(jax.tree_util.tree_leaves_with_path(layer)[0][0], jax.grad(lambda l: (l.w**2).sum())(layer))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Auto:
    a: int
    b: int = dataclasses.field(default=3, metadata={"static": True})


print(jax.tree.leaves(Auto(1)), jax.tree.structure(Auto(1)) == jax.tree.structure(Auto(2)), jax.tree.structure(Auto(1)) == jax.tree.structure(Auto(1, 4)))


@jax.tree_util.register_pytree_with_keys_class
class Keyed:
    def __init__(self, **values):
        self.values = values

    def tree_flatten_with_keys(self):
        names = tuple(sorted(self.values))
        return [(jax.tree_util.GetAttrKey(n), self.values[n]) for n in names], names

    @classmethod
    def tree_unflatten(cls, names, children):
        return cls(**dict(zip(names, children)))


print([jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_leaves_with_path([Keyed(b=1, a={"k": 2})])])


@jax.tree_util.register_static
class Mode(str):
    pass


print(jax.tree.leaves(Mode("train")), jax.tree.structure(Mode("train")))
keys = [jax.tree_util.SequenceKey(1), jax.tree_util.DictKey("a"), jax.tree_util.GetAttrKey("w"), jax.tree_util.FlattenedIndexKey(2)]
print(keys, jax.tree_util.keystr(tuple(keys)), [str(k) for k in keys], keys[0].idx, keys[1].key, keys[2].name, keys[3].key)
for again in [lambda: jax.tree_util.register_pytree_node(Special, None, None), lambda: jax.tree_util.register_dataclass(Layer, ["w"], [])]:
    try:
        again()
    except Exception as error:
        print(type(error).__name__)
partial_tree = jax.tree_util.Partial(jnp.add, 1)
print(partial_tree(2), jax.tree.leaves(partial_tree), jax.jit(lambda f, x: f(x))(partial_tree, 3))
print(jax.vmap(lambda b: b.content.sum())(Box(jnp.ones((3, 2)))))
print(jax.flatten_util.ravel_pytree({"a": jnp.ones(2), "b": 3.0})[0])
