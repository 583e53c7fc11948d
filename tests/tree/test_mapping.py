"""Maps, reductions, transposition and prefixes: laws and messages."""

import collections

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olympus import tree, tree_util
from olympus._src import tree as room
from tree.trees import LEAVES, TREES, Box, Point, leaves_by_hand


def _double(x):
    return 2 * x


@given(TREES)
def test_map_keeps_structure_and_composes(t):
    once = tree.map(_double, t)
    assert tree.structure(once) == tree.structure(t)
    assert leaves_by_hand(once) == [2 * x for x in leaves_by_hand(t)]
    assert tree.map(str, once) == tree.map(lambda x: str(_double(x)), t)
    assert tree.map(lambda x: x, t) == t


@given(TREES)
def test_map_of_two(t):
    other = tree.map(lambda x: x + 100, t)
    assert tree.map(lambda x, y: y - x, t, other) == tree.map(lambda _: 100, t)


@given(TREES)
def test_map_with_path_sees_paths_in_order(t):
    seen = []
    other = tree.map(str, t)
    tree.map_with_path(lambda path, x, y: seen.append((path, x, y)), t, other)
    assert seen == [(path, x, str(x)) for path, x in tree.leaves_with_path(t)]


@given(TREES)
def test_reductions(t):
    leaves = leaves_by_hand(t)
    assert tree.reduce(lambda a, b: [*a, b], t, []) == leaves
    assert tree.all(t) == all(leaves)
    # An associative operation that is not commutative.
    joined = tree.reduce_associative(
        lambda a, b: a + b,
        tree.map(lambda x: (x,), t),
        identity=(),
        is_leaf=lambda x: type(x) is tuple and len(x) == 1 and type(x[0]) is int,
    )
    assert joined == tuple(leaves)


def test_reductions_of_nothing():
    with pytest.raises(TypeError, match=r"tree.reduce: .* pass initializer"):
        tree.reduce(max, [None])
    with pytest.raises(TypeError, match=r"tree.reduce_associative: .* pass identity"):
        tree.reduce_associative(max, ())
    assert tree.reduce(max, [], None) is None
    assert tree.reduce_associative(max, [], identity=None) is None
    assert tree.all([])


def test_associative_reduction_goes_by_halves():
    def pair(a, b):
        return (a, b)

    assert tree.reduce_associative(pair, list(range(7))) == (
        (0, (1, 2)),
        ((3, 4), (5, 6)),
    )


@given(TREES, st.lists(LEAVES, min_size=1, max_size=3))
def test_transpose_twice_is_the_identity(t, row):
    outer, inner = tree.structure(t), tree.structure(row)
    if outer.num_leaves == 0:
        return
    whole = tree.map(lambda x: [x + y for y in row], t)
    turned = tree.transpose(outer, inner, whole)
    assert turned == [tree.map(lambda x, y=y: x + y, t) for y in row]
    assert tree.transpose(inner, outer, turned) == whole
    assert tree.transpose(outer, None, whole) == turned


def test_transpose_counts_leaves():
    with pytest.raises(TypeError, match=r"transpose: .*\(\[\{'a': \*\}\]\), got"):
        tree.transpose(tree.structure([0]), tree.structure({"a": 0}), [{"a": (1, 2)}])


def _spread_by_hand(prefix, t):
    """Copies leaves of a prefix of `t` that was cut out of it by hand."""
    if tree_util.all_leaves([prefix]):
        return [prefix] * len(leaves_by_hand(t))
    ones, others = (list(tree_util.flatten_one_level(x)[0]) for x in (prefix, t))
    return [x for a, b in zip(ones, others, strict=True) for x in _spread_by_hand(a, b)]


@given(TREES, st.integers(0, 3))
def test_broadcast_of_a_tree_cut_off_at_a_depth(t, depth):
    count = iter(range(100))
    prefix = tree_util.tree_map_with_path(
        lambda path, x: next(count),
        t,
        is_leaf=lambda path, x: len(path) == depth,
        is_leaf_takes_path=True,
    )
    spread = tree.broadcast(prefix, t)
    assert tree.structure(spread) == tree.structure(t)
    assert tree.leaves(spread) == _spread_by_hand(prefix, t)
    axes = room.broadcast_axes("f", "axes", prefix, tree.structure(t))
    assert axes == tree.leaves(spread)


def test_broadcast_leaf_and_none():
    assert tree.broadcast(1, [2, (3,), None]) == [1, (1,), None]
    assert tree.broadcast(1, None) is None
    with pytest.raises(ValueError, match="None is a node without leaves"):
        tree.broadcast([None], [1])
    assert tree.broadcast([None], [1], is_leaf=lambda x: x is None) == [None]
    assert tree.broadcast(1, [None, 2], is_leaf=lambda x: x is None) == [None, 1]
    with pytest.raises(
        ValueError, match=r"vmap: in_axes and args must .* at args\[1\]"
    ):
        room.broadcast_prefix([0, [1]], [0, 1], what="vmap in_axes", full_name="args")


# -- axes ------------------------------------------------------------------------------


def _axes(axes, t):
    return room.broadcast_axes("vmap", "in_axes", axes, tree.structure(t))


def test_axes_take_none_as_a_leaf():
    assert _axes(0, [1, (2, 3)]) == [0, 0, 0]
    assert _axes(None, [1, (2, 3)]) == [None] * 3
    assert _axes([None, (0, 1)], [1, (2, 3)]) == [None, 0, 1]
    assert _axes([None, 1], [1, (2, 3)]) == [None, 1, 1]
    assert _axes(Point(0, None), Point({"a": 1}, [2, 3])) == [0, None, None]
    ordered = collections.OrderedDict
    assert _axes(ordered(b=0, a=1), ordered(b=(1, 2), a=3)) == [0, 0, 1]
    assert _axes({"a": 1, "b": None}, {"b": 1, "a": [2, 3]}) == [1, 1, None]
    assert _axes(Box([0, None], "m"), Box([1, 2], "m")) == [0, None]
    assert _axes((None, 3), (None, (1, 2))) == [3, 3]


class Strict:
    """A node that can be made of numbers alone."""

    def __init__(self, x):
        self.x = x + 0


tree_util.register_pytree_node(
    Strict, lambda s: ((s.x,), None), lambda _, children: Strict(*children)
)


def test_axes_never_build_the_users_nodes():
    assert _axes((0, None), (Strict(1), Strict(2))) == [0, None]


@pytest.mark.parametrize(
    ("axes", "t", "message"),
    [
        (
            (0, 1),
            (1,),
            "vmap: in_axes and args must agree in structure, got a tuple of 2 at "
            "in_axes and one of 1 at args",
        ),
        (
            (0, [1]),
            (1, (2,)),
            "got a list at in_axes[1] and a tuple at args[1]; lists and tuples are "
            "different nodes; write one as the other",
        ),
        ((0, (1, 2)), (1, 3), "got a tuple at in_axes[1] and a leaf at args[1]"),
        (
            {"a": 0},
            {"b": 0},
            "got different keys: only in_axes has 'a', only args has 'b'",
        ),
        (
            Box([0], "m"),
            Box([0], "n"),
            "got a Box with static data 'm' at in_axes and with 'n' at args; static "
            "data is compared by ==",
        ),
    ],
)
def test_axes_that_do_not_match_are_explained(axes, t, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared
        _axes(axes, t)
    assert message in str(caught.value)


# -- messages --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            {"a": 1, "b": {"c": [1]}},
            {"a": 1, "b": {"c": (2,)}},
            "tree.map: tree and rest[0] must agree in structure, got a list at "
            "tree['b']['c'] and a tuple at rest[0]['b']['c']; lists and tuples are "
            "different nodes; write one as the other",
        ),
        ([1, 2], [1, 2, 3], "got a list of 2 at tree and one of 3 at rest[0]"),
        (
            {"a": 1, "b": 2, "d": 0},
            {"a": 1, "c": 2},
            "got a dict with 3 children at tree and one with 2 at rest[0], only tree "
            "has ['b'], ['d'], only rest[0] has ['c']",
        ),
        (
            [1, None],
            [1, 2],
            "got None at tree[1] and a leaf of type int at rest[0][1]; None is a node "
            "without leaves; to treat it as a leaf, pass is_leaf=lambda x: x is None",
        ),
        (
            collections.OrderedDict(a=1),
            {"a": 1},
            "got an OrderedDict at tree and a dict at rest[0]",
        ),
        (
            [(1,), (1,)],
            [[1], [1]],
            "\n  and a tuple at tree[1] and a list at rest[0][1]",
        ),
        ([(1,)] * 9, [[1]] * 9, "and 5 more places"),
        (
            Point(1, (2,)),
            Point(1, [2]),
            "got a tuple at tree.y and a list at rest[0].y",
        ),
    ],
)
def test_trees_that_do_not_match_are_explained(first, second, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared
        tree.map(lambda x, y: x, first, second)
    assert message in str(caught.value)


def test_classes_of_one_name_are_told_apart():
    def make():
        return collections.namedtuple("Point", ["x", "y"])

    with pytest.raises(ValueError, match=r"a \S*Point \(class 0x\w+\) at tree and a"):
        tree.map(lambda x, y: x, make()(1, 2), make()(1, 2))


def test_an_error_of_the_users_flatten_stays():
    class Broken:
        pass

    def fail(x):
        raise ValueError("the user's own")

    tree_util.register_pytree_node(Broken, fail, lambda _, c: Broken())
    with pytest.raises(ValueError, match=r"^the user's own(?m:$)"):
        tree.leaves(Broken())


@given(TREES)
def test_a_tree_is_a_prefix_of_itself(t):
    assert room.prefix_errors(t, t) == []
    assert room.equality_errors(t, t) == []
    assert room.treedef_errors(tree.structure(t), tree.structure(t)) == []


@given(TREES, TREES)
def test_mismatches_are_found_exactly_where_the_engine_refuses(a, b):
    try:
        tree.structure(a).flatten_up_to(b)
        refused = False
    except ValueError:
        refused = True
    assert bool(room.prefix_errors(a, b)) == refused
    differ = tree.structure(a) != tree.structure(b)
    assert bool(room.equality_errors(a, b)) == differ
    found = room.treedef_errors(tree.structure(a), tree.structure(b))
    assert bool(found) == differ
    for m in found:
        assert m.describe("a", "b")


def test_equality_tells_leaves_from_nodes():
    (found,) = room.equality_errors({"x": 1}, {"x": [1]})
    assert found.describe("carry", "result") == (
        "a leaf at carry['x'] and a list at result['x']"
    )


def test_is_leaf_of_a_map():
    assert tree.map(
        lambda x, y: (x, y), [1, None], [1, 2], is_leaf=lambda x: x is None
    ) == [(1, 1), (None, 2)]
    with pytest.raises(ValueError, match=r"got a list of 2 at tree and one of 1"):
        tree.map_with_path(lambda p, x, y: x, [1, 2], [3])
