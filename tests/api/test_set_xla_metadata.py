"""Attributes of operations by blocks, decorators and values."""

import re
import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, shard_map
from olympus._src.core import scopes
from olympus._src.interpreters import lowered_programs
from olympus.core import eval_olympuspr
from olympus.experimental.shard_alike import shard_alike
from olympus.experimental.xla_metadata import (
    fuse_limit,
    set_xla_metadata,
    xla_metadata_call,
)
from tests.lax import samples
from tests.sharding.meshes import P, divide, mesh

X = np.linspace(0.1, 1, 4, dtype=np.float32)
A = {"a": "in"}


def within(f, **attributes):
    """The function, in a block; a wrapper, so that nothing is a decorator."""

    def inside(*args):
        with set_xla_metadata(**(attributes or A)):
            return f(*args)

    return inside


# Constants, ends of blocks, and operations whose attributes stand at their end.
LEFT_OUT = ("constant", "return", "case", "if")


def rows(text):
    """Each operation but those left out, with its attributes."""
    found = []
    for line in text.splitlines():
        op = re.search(
            r'(?:= |= "|^\s*")((?:stablehlo|chlo)\.\w+|call|func\.call)', line
        )
        if op is None or op[1].removeprefix("stablehlo.") in LEFT_OUT:
            continue
        own = re.search(r"mhlo.frontend_attributes = \{([^}]*)\}", line)
        name = op[1].removeprefix("stablehlo.").removeprefix("func.")
        found.append((name, own[1] if own else ""))
    return found


def tags(f, *args):
    """The attributes of the operations of a compiled function, but of broadcasts."""
    text = olympus.jit(f).lower(*args).as_text()
    return [row for row in rows(text) if row[0] != "broadcast_in_dim"]


IN = 'a = "in"'


def nested(x):
    with set_xla_metadata(a=1, b=2):
        x = jnp.sin(x)
        with set_xla_metadata(a=3, c=4):
            x = jnp.cos(x)
        with set_xla_metadata(a=None):
            x = jnp.exp(x)
        return jnp.tan(x)


@olympus.custom_vjp
def custom(x):
    return jnp.sin(x)


custom.defvjp(lambda x: (jnp.sin(x), x), lambda r, g: (g * jnp.cos(r),))


@olympus.custom_jvp
def rule(x):
    return jnp.sin(x)


rule.defjvp(lambda p, t: (jnp.sin(p[0]), t[0] * jnp.cos(p[0])))

inner = olympus.jit(lambda x: jnp.sin(x))
slope = olympus.jit(lambda g, r: g * jnp.cos(r))


@olympus.custom_vjp
def calls_back(x):
    return jnp.sin(x)


calls_back.defvjp(lambda x: (jnp.sin(x), x), lambda r, g: (slope(g, r),))


@olympus.custom_jvp
def calls_forth(x):
    return jnp.sin(x)


calls_forth.defjvp(lambda p, t: (inner(p[0]), slope(t[0], p[0])))


def calls_thrice(x):
    return inner(x) + within(inner)(x) + inner(x)


def value_in_block(x):
    with set_xla_metadata(a="block", k=1):
        return set_xla_metadata(jnp.sin(x), a="value")


def within_limit(x):
    with fuse_limit():
        return jnp.sin(x)


# What jax 0.10.2 gives, as (operation, attributes), unless a comment says otherwise;
# bodies of loops are calls there.
PROGRAMS = {
    "block": (
        lambda x: within(lambda x: jnp.sin(x) * 2, n=3, q=True, r=0.5)(x) + 1,
        [
            ("sine", 'n = "3", q = "true", r = "0.5"'),
            ("multiply", 'n = "3", q = "true", r = "0.5"'),
            ("add", ""),
        ],
    ),
    "nested": (
        nested,
        [
            ("sine", 'a = "1", b = "2"'),
            ("cosine", 'a = "3", b = "2", c = "4"'),
            ("exponential", 'b = "2"'),
            ("tan", 'a = "1", b = "2"'),
        ],
    ),
    "decorator": (set_xla_metadata(**A)(jnp.sin), [("sine", IN)]),
    "limit": (within_limit, [("sine", 'FUSE_LIMIT = "true"')]),
    "value": (
        lambda x: set_xla_metadata(jnp.sin(x), **A) * 2,
        [("sine", IN), ("multiply", "")],
    ),
    "value of an argument": (lambda x: set_xla_metadata(x, **A) + 1, [("add", "")]),
    "value of a tree": (
        lambda x: set_xla_metadata({"p": x + 1, "q": x * 2}, **A),
        [("add", IN), ("multiply", IN)],
    ),
    "value of a call": (
        lambda x: set_xla_metadata(inner(x), **A),
        [("call", IN), ("sine", "")],
    ),
    "value of a loop": (
        lambda x: set_xla_metadata(lax.fori_loop(0, 3, lambda i, c: c * 2, x), **A),
        [("while", IN), ("compare", ""), ("multiply", ""), ("add", "")],
    ),
    "value twice": (
        lambda x: set_xla_metadata(set_xla_metadata(jnp.sin(x), a=1), a=5, b=2),
        [("sine", 'a = "1", b = "2"')],
    ),
    "value in a block": (value_in_block, [("sine", 'a = "block", k = "1"')]),
    "vmap of a value": (
        olympus.vmap(lambda x: set_xla_metadata(jnp.sin(x), **A)),
        [("sine", IN)],
    ),
    "grad of a value": (
        olympus.grad(lambda x: set_xla_metadata(jnp.sin(x), **A).sum()),
        [("cosine", ""), ("multiply", "")],
    ),
    "jvp of a value": (
        lambda x: olympus.jvp(lambda x: set_xla_metadata(x * x, **A), (x,), (x + 1,)),
        [
            ("add", ""),
            ("multiply", IN),
            ("multiply", ""),
            ("multiply", ""),
            ("add", IN),
        ],
    ),
    "calls in and outside": (
        calls_thrice,
        [
            ("call", ""),
            ("call", IN),
            ("add", ""),
            ("call", ""),
            ("add", ""),
            ("sine", ""),
            ("sine", IN),
        ],
    ),
    "grad": (
        olympus.grad(lambda x: within(lambda x: (jnp.sin(x) * x).sum())(x)),
        [("sine", IN), ("cosine", IN), *[("multiply", IN)] * 3, ("add", IN)],
    ),
    "grad inside": (
        within(olympus.grad(lambda x: jnp.sin(x).sum())),
        [("cosine", IN), ("multiply", IN)],
    ),
    "grad of a call": (
        olympus.grad(lambda x: within(inner)(x).sum()),
        [("call", IN), ("call", IN), ("cosine", IN), ("multiply", IN)],
    ),
    "vmap": (
        olympus.vmap(within(lambda x: jnp.sin(x) * 2)),
        [("sine", IN), ("multiply", IN)],
    ),
    "custom vjp": (
        olympus.grad(lambda x: within(custom)(x).sum()),
        [("cosine", IN), ("multiply", IN)],
    ),
    "custom jvp": (
        olympus.grad(lambda x: within(rule)(x).sum()),
        [("cosine", IN), ("multiply", IN)],
    ),
    "call in a backward pass": (
        olympus.grad(lambda x: within(calls_back)(x).sum()),
        [("call", IN), ("cosine", IN), ("multiply", IN)],
    ),
    "call in a branch's backward pass": (
        olympus.grad(
            lambda x: within(lambda x: lax.cond(x[0] > 0, calls_back, jnp.exp, x))(
                x
            ).sum()
        ),
        [
            *[(name, IN) for name in ("slice", "reshape", "compare", "convert")],
            *[("exponential", IN), ("multiply", IN), ("call", IN)],
            *[("cosine", IN), ("multiply", IN)],
        ],
    ),
    "calls in the rule of a body": (
        lambda x: olympus.jvp(
            lambda x: lax.fori_loop(0, 3, lambda i, c: within(calls_forth)(c), x),
            (x,),
            (x,),
        ),
        [
            *[("while", ""), ("compare", ""), ("call", IN), ("call", IN), ("add", "")],
            *[("sine", IN), ("cosine", IN), ("multiply", IN)],
        ],
    ),
    "block in a body": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: within(jnp.sin)(c), x),
        [("while", ""), ("compare", ""), ("sine", IN), ("add", "")],
    ),
    "loop in a block": (
        within(lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c), x)),
        [("while", IN), ("compare", IN), ("sine", IN), ("add", IN)],
    ),
    "reduction": (within(lambda x: x.sum()), [("reduce", IN)]),
    # Not in that release: a call's own attributes come first.
    "call with attributes": (
        within(xla_metadata_call(jnp.sin, a="call", z=1)),
        [("call", 'a = "call", z = "1"'), ("sine", IN)],
    ),
    "names and texts": (
        within(jnp.sin, **{"a.b": 'x"y', "c d": "é } : {"}),
        [("sine", r'a.b = "x\22y", "c d" = "\C3\A9 ')],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_operations_have_the_attributes_of_jax(name):
    f, expected = PROGRAMS[name]
    assert tags(f, X) == expected


def test_values_are_the_same():
    f = within(lambda x: lax.scan(lambda c, r: (c * jnp.sin(r), r * 2), 1.0, x))
    np.testing.assert_allclose(olympus.jit(f)(X)[0], np.prod(np.sin(X)), rtol=1e-5)
    slope = olympus.grad(lambda x: f(x)[0])
    expected = np.prod(np.sin(X)) / np.tan(X)
    np.testing.assert_allclose(olympus.jit(slope)(X), expected, rtol=1e-4)
    np.testing.assert_allclose(slope(X), expected, rtol=1e-4)
    optimized = olympus.jit(within(jnp.sin)).lower(X).compile().as_text()
    assert 'frontend_attributes={a="in"}' in optimized


def test_every_operation_of_loops_branches_and_checkpoints_has_them():
    def f(x):
        c, ys = lax.scan(lambda c, r: (c + jnp.sin(r), c * r), 0.0, x)
        n = lax.while_loop(lambda n: n < 3, lambda n: n + 1, c)
        last = lax.cond(n > 0, jnp.sin, jnp.cos, c)
        return last + olympus.checkpoint(lambda c: jnp.sin(jnp.sin(c)))(c) + ys.sum()

    programs = {within(f): X, olympus.grad(within(f)): X}
    programs[olympus.vmap(within(f))] = np.stack([X, X])
    for program, *arguments in programs.items():
        rows_ = tags(program, *arguments)
        assert len(rows_) > 10
        assert {attributes for _, attributes in rows_} == {IN}
    assert "}) {mhlo.frontend" in olympus.jit(within(f)).lower(X).as_text()


def test_printed_programs_do_not_show_blocks():
    plain = str(olympus.make_olympuspr(jnp.sin)(X))
    assert str(olympus.make_olympuspr(within(jnp.sin))(X)) == plain
    value = olympus.make_olympuspr(lambda x: set_xla_metadata(x, a=1))(X)
    assert "xla_metadata_value[xla_metadata_kvs=(('a', '1'),)] a" in str(value)


def test_programs_evaluated_in_a_block():
    program = olympus.make_olympuspr(within(jnp.sin))(X)
    run = lambda x: eval_olympuspr(program.olympuspr, program.consts, x)  # noqa: E731
    assert tags(within(run, a="outer", b="p"), X) == [("sine", 'a = "in", b = "p"')]
    assert tags(run, X) == [("sine", IN)]


def test_functions_are_traced_anew_where_attributes_differ():
    seen = []

    @olympus.jit
    def f(x):
        seen.append(config_value())
        return lax.fori_loop(0, 2, lambda i, c: inner(c), x)

    def config_value():
        return scopes.attributes(scopes.base())

    for _ in range(2):
        f(X)
        for value in ("1", "2", True):
            with set_xla_metadata(a=value):
                f(X)
        with set_xla_metadata():
            f(X)
    assert seen == [(), *[(("a", v),) for v in ("1", "2", "true")]]
    with set_xla_metadata(a=1):
        text, traced = f.lower(X).as_text(), f.trace(X)
    assert {row for row in rows(text) if row[0] == "sine"} == {("sine", 'a = "1"')}
    assert 'a = "1"' in traced.lower().as_text()
    outside = f.trace(X)
    with set_xla_metadata(a=1):
        assert "frontend" not in outside.lower().as_text()
    assert "frontend" not in f.lower(X).as_text()


@pytest.mark.parametrize(
    "transform",
    [olympus.vmap, lambda f: olympus.grad(lambda x: f(x).sum()), olympus.checkpoint],
)
def test_what_is_derived_of_a_program_in_a_block_is_not_tagged(transform):
    """Derived programs are kept with the program that they are made of."""
    program = olympus.make_olympuspr(
        lambda x: lax.scan(lambda c, r: (inner(c) * r, c), x, x)[1]
    )(X)
    run = lambda x: eval_olympuspr(program.olympuspr, program.consts, x)[0]  # noqa: E731
    f = transform(run)
    args = np.stack([X, X]) if transform is olympus.vmap else X
    plain = olympus.jit(lambda x: f(x)).lower(args).as_text()
    olympus.jit(within(f)).lower(args)
    assert olympus.jit(lambda x: f(x)).lower(args).as_text() == plain
    olympus.clear_caches()
    fresh = olympus.make_olympuspr(lambda x: inner(x) * 2)(X)
    g = transform(lambda x: eval_olympuspr(fresh.olympuspr, (), x)[0])
    olympus.jit(within(g)).lower(args)
    assert "frontend" not in olympus.jit(lambda x: g(x)).lower(args).as_text()


def test_eager_operations_have_them(monkeypatch):
    texts = []
    lower = lowered_programs.lower

    def spy(*args, **kwargs):
        lowered = lower(*args, **kwargs)
        texts.append(str(lowered.text))
        return lowered

    monkeypatch.setattr(lowered_programs, "lower", spy)
    x = jnp.asarray(np.full((3, 5), 0.25, np.float32))
    for _ in range(2):
        lax.sinh(x)
        with set_xla_metadata(a="eager"):
            lax.sinh(x)
    assert ['"a" = "eager"' in text for text in texts] == [False, True]
    assert set_xla_metadata(3, a=1).item() == 3
    np.testing.assert_array_equal(set_xla_metadata(X, a=1), X)


def test_threads_have_their_own_blocks():
    inside, checked = threading.Event(), threading.Event()
    texts = []

    def other():
        with set_xla_metadata(a="thread"):
            inside.set()
            checked.wait(20)
            texts.append(tags(lambda x: jnp.sin(x), X))

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(20)
    assert tags(lambda x: jnp.sin(x), X) == [("sine", "")]
    checked.set()
    thread.join()
    assert texts == [[("sine", 'a = "thread"')]]


def test_blocks_end_with_errors_and_can_be_used_again():
    block = set_xla_metadata(a=1)
    with pytest.raises(KeyError), block:
        raise KeyError
    assert tags(lambda x: jnp.sin(x), X) == [("sine", "")]
    with block, block:
        assert tags(lambda x: jnp.sin(x), X) == [("sine", 'a = "1"')]
    assert scopes.base() == ()


def test_locations_and_name_stacks_leave_them_out():
    @olympus.jit
    def f(x):
        with olympus.named_scope("layer"), set_xla_metadata(a="x : y loc("):
            return set_xla_metadata(jnp.sin(x), b=1)

    text = f.lower(X).as_text(debug_info=True)
    assert '"jit(f)/layer/sin"' in text
    assert 'a = "x : y loc(", b = "1"' in text


REFUSED = {
    "a list": lambda: set_xla_metadata(a=[1]),
    "an array": lambda: set_xla_metadata(X, a=np.ones(2)),
    "a function as a value": lambda: set_xla_metadata(jnp.sin, a=1),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    with pytest.raises(TypeError, match=r"^set_xla_metadata: .*must be"):
        REFUSED[case]()


@pytest.mark.eight_devices
def test_divided_programs():
    x = divide(np.stack([X] * 8), "x")
    across = shard_map(
        lambda x: lax.psum(jnp.sin(x), "x"),
        mesh=mesh(4, 2),
        in_specs=P("x"),
        out_specs=P(),
        axis_names={"x"},
    )

    @within
    def f(x):
        a, b = shard_alike(x, jnp.cos(x))
        c = lax.with_sharding_constraint(a * b, divided)
        return across(c)

    divided = x.sharding
    text = olympus.jit(f).lower(x).as_text()
    tagged = [name for name, attributes in rows(text) if attributes == IN]
    assert {"cosine", "multiply", "sine", "add"} <= {*tagged}
    expected = np.sin(x * np.cos(x)).reshape(4, 2, 4).sum(0)
    np.testing.assert_allclose(olympus.jit(f)(x), expected, rtol=1e-5)


def test_operations_of_every_primitive_take_attributes():
    """The text of each can be read, with its attributes, where it has operations."""
    one_of_each = {s.p.name: s for s in samples.SAMPLES}
    without = set()
    for name, s in one_of_each.items():
        f = olympus.jit(within(lambda *args, s=s: s.p.bind(*args, **s.params)))
        operations = rows(f.lower(*s.args).as_text())
        if operations and not any(attributes for _, attributes in operations):
            without.add(name)
    # The samples of these are empty, so that a number is repeated.
    assert without == {"eigh", "fft", "reduce_window_sum"}
