"""Random trees for properties of the tree functions."""

from collections import OrderedDict, defaultdict, namedtuple

from hypothesis import strategies as st

from olympus import tree_util

Point = namedtuple("Point", ["x", "y"])


class Box:
    """A registered node with static data and no keys."""

    def __init__(self, items, label):
        self.items = list(items)
        self.label = label

    def __eq__(self, other):
        return type(other) is Box and vars(self) == vars(other)

    __hash__ = None

    def __repr__(self):
        return f"Box({self.items}, {self.label!r})"


tree_util.register_pytree_node(
    Box, lambda b: (b.items, b.label), lambda label, items: Box(items, label)
)


def _containers(inner):
    keys = st.sampled_from("abcde")
    dicts = st.dictionaries(keys, inner, max_size=3)
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        dicts,
        dicts.map(OrderedDict),
        dicts.map(lambda d: defaultdict(int, d)),
        st.tuples(inner, inner).map(lambda pair: Point(*pair)),
        st.builds(Box, st.lists(inner, max_size=3), st.sampled_from("mn")),
    )


LEAVES = st.integers(-9, 9)
TREES = st.recursive(st.one_of(LEAVES, st.none()), _containers, max_leaves=12)


def leaves_by_hand(tree):
    """The meaning of `tree.leaves`, written by recursion."""
    if tree is None:
        return []
    if isinstance(tree, Box):
        children = tree.items
    elif isinstance(tree, OrderedDict):
        children = tree.values()
    elif isinstance(tree, dict):
        children = [tree[key] for key in sorted(tree)]
    elif isinstance(tree, (list, tuple)):
        children = tree
    else:
        return [tree]
    return [leaf for child in children for leaf in leaves_by_hand(child)]


def step(tree, key):
    """What one key of a path leads to."""
    if isinstance(key, (tree_util.DictKey, tree_util.SequenceKey)):
        return tree[getattr(key, "key", getattr(key, "idx", None))]
    if isinstance(key, tree_util.GetAttrKey):
        return getattr(tree, key.name)
    return tree.items[key.key]
