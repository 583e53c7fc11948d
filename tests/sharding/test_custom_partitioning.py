"""Functions that users divide over a mesh: rules, values and errors."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, shard_map
from olympus.experimental.custom_partitioning import (
    BATCHING,
    ArrayMapping,
    CompoundFactor,
    SdyShardingRule,
    custom_partitioning,
)
from olympus.sharding import NamedSharding
from tests.sharding.meshes import P, divide, entries, mesh

X = np.arange(64, dtype=np.float32).reshape(8, 8) / 64
Y = np.cos(np.arange(32, dtype=np.float32)).reshape(8, 4)


def define(fun, rule, *, on_parts=None, specs=None, static=(), seen=None, **factors):
    """A divided function, whose parts are treated as the whole unless said otherwise.

    Args:
      fun: the function.
      rule: of its factors.
      on_parts: what one device does; None for `fun`.
      specs: of the results and of the arguments; None for what the compiler chose.
      static: static argument numbers.
      seen: gets what `partition` is given.
    """

    def partition(*args):
        *statics, over, args, results = args
        if seen is not None:
            seen.append((statics, over, args, results))
        leaves = lambda tree: olympus.tree.map(lambda x: x.sharding, tree)  # noqa: E731
        outs, ins = leaves(results), leaves(args)
        if specs is not None:
            outs, ins = (
                olympus.tree.map(lambda s: NamedSharding(over, s), tree)
                for tree in specs
            )
        return over, on_parts or fun, outs, ins

    f = custom_partitioning(fun, static_argnums=static)
    f.def_partition(partition, sharding_rule=rule, **factors)
    return f


def rule_of(fun, rule, *args, **factors):
    """The rule in the text of a program over a mesh."""
    args = [divide(x) for x in args]
    text = olympus.jit(lambda *xs: define(fun, rule, **factors)(*xs)).lower(*args)
    begin = "sdy.op_sharding_rule<"
    return text.as_text().partition(begin)[2].partition(", custom>")[0]


# -- rules -----------------------------------------------------------------------------

double = lambda x: x * 2  # noqa: E731
BOTH = "([i, j])->([i, j]) {i=8, j=8}"
PRODUCT = "([i, j], [j, k])->([i, k]) {i=8, j=8, k=4}"
SPLIT = "([ij, k])->([ij, k]) {i=2, j=4, k=8}"

# What jax 0.10.2 writes.
RULES = {
    "names": (double, "i j -> i j", {}, BOTH),
    "long names": (double, "a1 b_2->a1 b_2", {}, BOTH),
    "ellipsis": (double, "... j -> ... j", {}, BOTH),
    "ellipsis alone": (double, "... -> ...", {}, BOTH),
    "named ellipsis": (double, "...a j -> ...a j", {}, BOTH),
    "another": (double, "i j -> i k", {}, "([i, j])->([i, k]) {i=8, j=8, k=8}"),
    "product": (double, "(i k) j -> (i k) j", {"i": 2, "k": 4}, SPLIT),
    "object": (
        double,
        SdyShardingRule(((BATCHING, "j"),), ((BATCHING, "j"),)),
        {},
        BOTH,
    ),
    "object of products": (
        double,
        SdyShardingRule(
            (ArrayMapping(CompoundFactor("i", "k"), "j"),),
            (ArrayMapping(CompoundFactor("i", "k"), "j"),),
            i=2,
            k=4,
        ),
        {},
        SPLIT,
    ),
    "function": (double, lambda over, ins, outs: "i j -> i j", {}, BOTH),
    "function of an object": (
        double,
        lambda over, ins, outs: SdyShardingRule((("i", "j"),), (("i", "j"),)),
        {},
        BOTH,
    ),
    "results": (
        lambda x: (x, x.sum(0)),
        "i j -> i j, j",
        {},
        "([i, j])->([i, j], [j]) {i=8, j=8}",
    ),
    "number": (
        lambda x: x.sum(),
        "i j ->",
        {"reduction_factors": ("i", "j")},
        "([i, j])->([]) {i=8, j=8} reduction={i, j}",
    ),
    "other sizes": (
        lambda x: x[:, :5],
        "i j -> i j",
        {"need_replication_factors": ("j",)},
        "([i, j])->([i, j]) {i=8, j=5} need_replication={j}",
    ),
}


@pytest.mark.eight_devices
@pytest.mark.parametrize("name", RULES)
def test_rules_as_shardy_takes_them(name):
    fun, rule, factors, expected = RULES[name]
    assert rule_of(fun, rule, X, **factors) == expected


@pytest.mark.eight_devices
def test_keys_have_no_rule():
    keys = olympus.random.split(olympus.random.key(0), 8)
    f = define(olympus.random.key_data, "i -> i j")
    np.testing.assert_array_equal(f(keys), olympus.random.key_data(keys))
    divided = olympus.device_put(keys, NamedSharding(mesh(8), P("x")))
    with pytest.raises(TypeError, match="must be arrays of numbers, got key"):
        olympus.jit(f)(divided)


@pytest.mark.eight_devices
def test_rules_of_several_operands():
    product = lambda x, y: x @ y  # noqa: E731
    assert rule_of(product, "i j, j k -> i k", X, Y) == PRODUCT
    assert rule_of(product, "... j, j k -> ... k", X, Y) == PRODUCT
    sets = {"permutation_factors": ("j",), "need_replication_factors": ("k",)}
    text = rule_of(product, "i j, j k -> i k", X, Y, **sets)
    assert text == f"{PRODUCT} need_replication={{k}} permutation={{j}}"
    later = rule_of(lambda x, y: x * y.sum(), "(i k) j, i k -> (i k) j", X, Y[:2])
    assert later == "([ij, k], [i, j])->([ij, k]) {i=2, j=4, k=8}"
    batched = lambda x, y: olympus.vmap(product, (0, None))(x, y)  # noqa: E731
    stack = np.stack([X, X])
    f = define(product, "i j, j k -> i k")
    text = olympus.jit(olympus.vmap(f, (0, None))).lower(divide(stack), Y).as_text()
    assert "([i, j, k], [k, l])->([i, j, l]) {i=2, j=8, k=8, l=4}, custom>" in text
    assert batched(stack, Y).shape == (2, 8, 4)


MALFORMED = {
    "no arrow": ("i j", {}, "one ->"),
    "two arrows": ("i -> i -> i", {}, "one ->"),
    "a number": ("i 2 -> i 2", {}, "begins with a letter, got '2'"),
    "an underscore": ("_i -> _i", {}, "begins with a letter"),
    "parentheses": ("i (j -> i j", {}, "balanced"),
    "one in parentheses": ("(i) j -> (i) j", {}, "at least two factors"),
    "ellipsis within": ("i ... -> i ...", {}, "begins with a letter"),
    "no size": ("(i k) j -> (i k) j", {"i": 2}, "factor k requires a size"),
    "size of an axis": ("i j -> i j", {"i": 8}, "the size of i must be"),
    "size of none": ("i j -> i j", {"q": 8}, "factor q must be in the rule"),
    "size of no integer": ("(i k) -> (i k)", {"i": 2, "k": "4"}, "an integer"),
    "no such factor": (
        "i -> i",
        {"reduction_factors": ("z",)},
        "z must be in the rule",
    ),
    "no tuple": ("i -> i", {"reduction_factors": "i"}, "must be a tuple"),
    "one factor of two axes": ("i i -> i", {}, "must be that of one axis"),
    "a sum over a result": (
        "i j -> i j",
        {"reduction_factors": ("j",)},
        "must not be of a result",
    ),
    "two sets": (
        "i -> i",
        {"need_replication_factors": ("i",), "permutation_factors": ("i",)},
        "in one of the sets",
    ),
    "factors beside an object": (
        SdyShardingRule((("i",),), (("i",),)),
        {"reduction_factors": ("i",)},
        "in a rule that is a text",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_rules(case):
    rule, factors, message = MALFORMED[case]
    with pytest.raises(ValueError, match=message):
        define(double, rule, **factors)


def test_rules_of_other_types():
    with pytest.raises(TypeError, match=r"must be a string.*got int"):
        define(double, 3)
    with pytest.raises(TypeError, match="callable"):
        custom_partitioning(double).def_partition(None, sharding_rule="i -> i")
    with pytest.raises(ValueError, match="begins with a letter, got 3"):
        ArrayMapping("i", 3)
    with pytest.raises(ValueError, match="begins with a letter"):
        CompoundFactor("i", BATCHING)
    assert repr(SdyShardingRule((("i", "j"),), (("i",),))) == (
        "SdyShardingRule((('i', 'j'),), (('i',),), {})"
    )


UNFIT = {
    "axes": ("i -> i", {}, "operand 0 must have as many axes.*1, got 2"),
    "results": ("i j -> i", {}, "result 0 must have as many axes.*1, got 2"),
    "operands": ("i j, k -> i j", {}, "each of 1 operands, got 2"),
    "more results": ("i j -> i j, k", {}, "each of 1 results, got 2"),
    "sizes": ("(i k) j -> (i k) j", {"i": 3, "k": 4}, "have the product 8"),
    "too few": ("... i j k -> ... i j k", {}, "operand 0 must have as many"),
}


@pytest.mark.eight_devices
@pytest.mark.parametrize("case", UNFIT)
def test_rules_of_other_values(case):
    rule, factors, message = UNFIT[case]
    with pytest.raises(ValueError, match=message):
        rule_of(double, rule, X, **factors)


# -- values ----------------------------------------------------------------------------


def test_one_device_runs_the_function():
    seen = []
    f = define(double, "i j -> i j", seen=seen)
    for run in (f, olympus.jit(f), olympus.vmap(f), olympus.jit(olympus.vmap(f))):
        np.testing.assert_array_equal(run(X), X * 2)
    assert "custom_call" not in olympus.jit(f).lower(X).as_text()
    assert seen == []
    program = str(olympus.make_olympuspr(f)(X))
    assert "custom_partitioning[" in program
    assert "sharding_rule=SdyShardingRule((('i', 'j'),), (('i', 'j'),), {})" in program
    assert "static_args=()" in program


SPECS = [(), ("x",), (None, "y"), ("x", "y"), ("y", "x"), (("x", "y"),), (("y", "x"),)]


@pytest.mark.eight_devices
@pytest.mark.parametrize("spec", SPECS)
def test_parts_are_as_the_rule_says(spec):
    seen = []
    f = define(jnp.sin, "i j -> i j", seen=seen)
    out = olympus.jit(lambda x: f(x) + 1)(divide(X, *spec))
    np.testing.assert_allclose(out, np.sin(X) + 1, rtol=1e-6)
    assert entries(out)[: len(spec)] == spec
    ((statics, over, (arg,), result),) = seen
    assert (statics, over.axis_names) == ([], ("x", "y"))
    assert (arg.shape, arg.dtype) == (X.shape, X.dtype)
    assert arg.sharding.is_equivalent_to(result.sharding, 2)


@pytest.mark.eight_devices
@pytest.mark.parametrize("specs", [(("x", "y"), ("y",)), ((), ("x",)), (("y",), ())])
def test_collectives_of_the_parts(specs):
    """Devices sum their parts of a product, and get operands as they ask for them."""
    f = define(
        lambda x, y: x @ y,
        "i j, j k -> i k",
        on_parts=lambda x, y: lax.psum(x @ y, "y"),
        specs=(P("x"), (P("x", "y"), P("y"))),
        reduction_factors=("j",),
    )
    run = olympus.jit(lambda x, y: f(x, y) * 2)
    out = run(divide(X, *specs[0]), divide(Y, *specs[1]))
    np.testing.assert_allclose(out, X @ Y * 2, rtol=1e-5, atol=1e-6)
    assert "all-reduce" in run.lower(divide(X, "x"), divide(Y)).compile().as_text()


@pytest.mark.eight_devices
def test_trees_defaults_static_arguments_and_settings():
    def fun(tree, n, scale=2.0):
        return {
            "sum": (tree["a"] + tree["b"][0]) * n * scale,
            "count": tree["a"].sum(1),
        }

    seen = []

    def on_parts(tree, scale):
        count = lax.psum(tree["a"].sum(1), "y")
        return {"sum": (tree["a"] + tree["b"][0]) * 3 * scale, "count": count}

    f = define(
        fun,
        lambda n, over, ins, outs: f"i j, i j, -> {'i' * (n - 2)}, i j",
        static=1,
        seen=seen,
        on_parts=on_parts,
    )
    run = olympus.jit(lambda a: f({"a": a, "b": [a * 2]}, 3))
    out = run(divide(X, "x", "y"))
    np.testing.assert_allclose(out["sum"], X * 18, rtol=1e-6)
    np.testing.assert_allclose(out["count"], X.sum(1), rtol=1e-6)
    assert seen[0][0] == [3]
    assert entries(out["count"]) == ("x",)
    with olympus.enable_x64(True):
        g = define(lambda x: x + 1, "i j -> i j", on_parts=lambda x: x + jnp.ones(()))
        x = divide(X.astype(np.float64), "x")
        assert olympus.jit(g)(x).dtype == np.float64


@pytest.mark.eight_devices
@pytest.mark.parametrize(
    ("transform", "args", "spec"),
    [
        (lambda f: olympus.vmap(f, (0, None)), (np.stack([X] * 4), Y), ("x",)),
        (lambda f: olympus.vmap(f, (1, None)), (np.stack([X] * 4, 1), Y), ("y", "x")),
        (lambda f: olympus.vmap(f, (None, 2), 2), (X, np.stack([Y] * 4, 2)), ("x",)),
        (
            lambda f: olympus.vmap(olympus.vmap(f, (0, None)), (0, 0)),
            (np.stack([np.stack([X] * 4)] * 2), np.stack([Y] * 2)),
            ("y", "x"),
        ),
    ],
)
def test_vmap(transform, args, spec):
    seen = []
    f = define(lambda x, y: x @ y, "i j, j k -> i k", seen=seen)
    g = define(lambda x, y: x @ y, "i j, j k -> i k", need_replication_factors=("j",))
    expected = olympus.jit(transform(lambda x, y: x @ y))(*args)
    out = olympus.jit(transform(g))(divide(args[0], *spec), args[1])
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    np.testing.assert_allclose(olympus.jit(transform(f))(*args), expected, rtol=1e-5)


@pytest.mark.eight_devices
def test_loops_custom_rules_and_manual_programs():
    f = define(jnp.sin, "i j -> i j")
    rows = divide(np.stack([X, X + 1]), None, "x")
    scanned = olympus.jit(lambda x: lax.scan(lambda c, r: (c + f(r), f(r)), X, x))
    total, outs = scanned(rows)
    np.testing.assert_allclose(total, X + np.sin(X) + np.sin(X + 1), rtol=1e-5)
    np.testing.assert_allclose(outs, np.sin(rows), rtol=1e-5)

    @olympus.custom_jvp
    def g(x):
        return f(x)

    g.defjvp(lambda p, t: (f(*p), t[0] * jnp.cos(p[0])))
    slope = olympus.jit(olympus.grad(lambda x: g(x).sum()))
    np.testing.assert_allclose(slope(divide(X, "x")), np.cos(X), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="custom_partitioning"):
        olympus.grad(lambda x: f(x).sum())(X)
    inside = shard_map(f, mesh=mesh(4, 2), in_specs=P("x"), out_specs=P("x"))
    np.testing.assert_allclose(
        olympus.jit(inside)(divide(X, "x")), np.sin(X), rtol=1e-5
    )


@pytest.mark.eight_devices
def test_parts_of_an_axis_of_the_mesh():
    seen = []
    f = define(jnp.sin, "i j -> i j", seen=seen)
    x = divide(np.arange(8, dtype=np.float32), "x", over=mesh(8))
    out = olympus.jit(lambda x: f(x.reshape(2, 4)))(x)
    np.testing.assert_allclose(out, np.sin(np.arange(8)).reshape(2, 4), rtol=1e-6)
    ((_, over, (arg,), _),) = seen
    assert over.size == 8
    assert arg.sharding.mesh == over


@pytest.mark.eight_devices
def test_without_a_rule_results_are_whole():
    whole = lambda x: lax.all_gather(x, "x", axis=0, tiled=True) * 2  # noqa: E731
    f = define(double, None, on_parts=whole, specs=(P(), (P("x"),)))
    out = olympus.jit(f)(divide(X, "x", "y"))
    np.testing.assert_array_equal(out, X * 2)
    g = custom_partitioning(double)
    g.def_partition(lambda *args: None, infer_sharding_from_operands=lambda *args: None)
    with pytest.raises(NotImplementedError, match="a sharding_rule is required"):
        olympus.jit(g)(divide(X, "x"))


@pytest.mark.eight_devices
def test_programs_are_not_mistaken_for_each_other():
    """Two functions of one rule and one text, also where compiled programs are kept."""
    x = divide(X, "x")
    for factor in (2, 3, 4):
        f = define(lambda x, k=factor: x * k, "i j -> i j", on_parts=None)
        g = custom_partitioning(lambda x: x)
        g.def_partition(
            lambda over, args, out, k=factor: (
                over,
                lambda x: x * k,
                out.sharding,
                [a.sharding for a in args],
            ),
            sharding_rule="i j -> i j",
        )
        np.testing.assert_array_equal(olympus.jit(lambda x, g=g: g(x))(x), X * factor)
        assert f(X, factor).shape == X.shape
    run = olympus.jit(lambda x: g(x))
    np.testing.assert_array_equal(run(x), X * 4)
    olympus.clear_caches()
    np.testing.assert_array_equal(run(x), X * 4)
    np.testing.assert_array_equal(run.lower(x).compile()(x), X * 4)


# -- errors ----------------------------------------------------------------------------


def partition_to(fun, *, outs=None, ins=None, over=None):
    def partition(given, args, result):
        return (
            given if over is None else over(),
            fun,
            result.sharding if outs is None else outs(given),
            [a.sharding for a in args] if ins is None else ins(given),
        )

    return partition


def fail(x):
    raise KeyError("mine")


REFUSED = {
    "shape": (partition_to(lambda x: x[:1]), ValueError, r"must return the parts"),
    "dtype": (
        partition_to(lambda x: x > 0),
        ValueError,
        r"f32\[2,4\].*got bool\[2,4\]",
    ),
    "structure": (partition_to(lambda x: (x, x)), ValueError, "must return the parts"),
    "error": (partition_to(fail), KeyError, "mine"),
    "answer": (lambda *args: 3, TypeError, "must return a mesh, a function.*got 3"),
    "mesh": (
        partition_to(double, over=lambda: mesh(4)),
        ValueError,
        "must have the devices of",
    ),
    "sharding": (
        partition_to(double, outs=lambda over: P()),
        TypeError,
        "results must",
    ),
    "structure of shardings": (
        partition_to(double, ins=lambda over: []),
        TypeError,
        "shardings of arguments must be NamedShardings in the structure",
    ),
    "effect": (
        partition_to(lambda x: [olympus.debug.print("a"), x][1]),
        NotImplementedError,
        "must have no effects",
    ),
}


@pytest.mark.eight_devices
@pytest.mark.parametrize("case", REFUSED)
def test_what_partition_may_not_return(case):
    partition, kind, message = REFUSED[case]
    f = custom_partitioning(double)
    f.def_partition(partition, sharding_rule="i j -> i j")
    with pytest.raises(kind, match=message):
        olympus.jit(f)(divide(X, "x", "y"))
    g = define(double, "i j -> i j")
    np.testing.assert_array_equal(olympus.jit(g)(divide(X, "x")), X * 2)


def test_what_is_refused_of_calls():
    with pytest.raises(AttributeError, match="def_partition"):
        custom_partitioning(double)(X)
    with pytest.raises(TypeError, match="callable"):
        custom_partitioning(3)
    f = define(lambda x, n: x * n, "i j -> i j", static=1)
    with pytest.raises(olympus.errors.UnexpectedTracerError, match="argument n"):
        olympus.jit(f)(X, 2)
    closes = lambda x, y: define(lambda z: z + y, "i j -> i j")(x)  # noqa: E731
    with pytest.raises(olympus.errors.UnexpectedTracerError, match="close over"):
        olympus.jit(closes)(X, X)
    prints = define(lambda x: [olympus.debug.print("a"), x][1], "i j -> i j")
    with pytest.raises(NotImplementedError, match="no effects"):
        prints(X)
