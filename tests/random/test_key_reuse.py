"""`debug_key_reuse`: keys that are consumed twice, in eager code and in programs."""

import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, random
from olympus.errors import KeyReuseError
from olympus.experimental import checkify, key_reuse
from olympus.sharding import PartitionSpec as P

draw = random.uniform


@pytest.fixture(autouse=True)
def follow_keys():
    with olympus.debug_key_reuse(True):
        yield


def key():
    return random.key(0)


def keys(n=3):
    return random.split(key(), n)


def both(f, g):
    """A program that consumes one key by `f` and by `g`."""
    return lambda: olympus.jit(lambda k: (f(k), g(k)))(key())


def with_key(f, make=key):
    """A call with a key, which it may close over."""
    return lambda: f(make())


def fail(k):
    """A program that cannot be traced; it consumes nothing."""
    with pytest.raises(ZeroDivisionError):
        olympus.jit(lambda k: 1 / 0)(k)


def in_turn(f, g, make=key):
    """Both, one after the other, on concrete keys."""

    def run():
        k = make()
        return f(k), g(k)

    return run


@olympus.custom_jvp
def noisy(x, k):
    return x * draw(k)


noisy.defjvp(lambda primals, tangents: (noisy(*primals), tangents[0]))


@olympus.custom_vjp
def noisy_twice(x, k):
    return x * draw(k)


noisy_twice.defvjp(lambda x, k: (x * draw(k), k), lambda k, ct: (ct * draw(k), None))


def scan_carry(step, *carry):
    return lambda: lax.scan(lambda c, _: step(*c), carry, length=3)


def until(condition, step, *carry):
    return lambda: lax.while_loop(condition, step, (0, *carry))


def shard(f):
    mesh = olympus.make_mesh((1,), ("i",))
    return olympus.shard_map(f, mesh=mesh, in_specs=P(), out_specs=P())


ROWS = olympus.vmap(draw)
draw_some = olympus.jit(lambda n, k: draw(k, (n,)), static_argnums=0)
draw_named = olympus.jit(lambda *, k: draw(k))

REUSED = {
    "twice": in_turn(draw, draw),
    "split, split": in_turn(random.split, random.split),
    "draw, split": in_turn(draw, random.split),
    "bits, gamma": in_turn(random.bits, lambda k: random.gamma(k, 1.0)),
    "permutation, normal": in_turn(lambda k: random.permutation(k, 3), random.normal),
    "wrapped words": in_turn(
        draw, draw, lambda: random.wrap_key_data(random.key_data(key()))
    ),
    "element": in_turn(lambda k: draw(k[0]), lambda k: draw(k[0]), keys),
    "element, all": in_turn(lambda k: draw(k[0]), ROWS, keys),
    "all, element": in_turn(ROWS, lambda k: draw(k[1]), keys),
    "all, row of an iteration": in_turn(ROWS, lambda k: draw(list(k)[1]), keys),
    "slices": in_turn(lambda k: ROWS(k[:2]), lambda k: ROWS(k[1:]), keys),
    "index array": in_turn(
        lambda k: ROWS(k[np.array([0, 1])]), lambda k: draw(k[1]), keys
    ),
    "reshape": in_turn(lambda k: draw(k.reshape(1)[0]), draw),
    "transpose": in_turn(
        lambda k: draw(k.T[1, 0]),
        lambda k: draw(k[0, 1]),
        lambda: random.split(key(), (2, 2)),
    ),
    "copy": in_turn(lambda k: draw(k.copy()), draw),
    "array": in_turn(lambda k: draw(jnp.array(k)), draw),
    "device_put": in_turn(
        lambda k: draw(olympus.device_put(k, olympus.devices()[0])), draw
    ),
    "where": in_turn(lambda k: draw(jnp.where(True, k, random.key(1))), draw),
    "vmap twice": lambda: olympus.vmap(lambda k: (draw(k), draw(k)))(keys()),
    "vmap of one key, twice": lambda: olympus.vmap(
        lambda x, k: draw(k) + draw(k), in_axes=(0, None)
    )(jnp.arange(3.0), key()),
    "jit": both(draw, random.normal),
    "jit, eager": in_turn(olympus.jit(draw), draw),
    "eager, jit": in_turn(draw, olympus.jit(draw)),
    "one jitted function twice": in_turn(*[olympus.jit(draw)] * 2),
    "what jit returns": in_turn(lambda k: draw(olympus.jit(lambda x: x)(k)), draw),
    "what jit has consumed": lambda: draw(
        olympus.jit(lambda k: (k, draw(k)))(key())[0]
    ),
    "nested jit": both(olympus.jit(draw), olympus.jit(draw)),
    "two arguments": lambda: (
        lambda k: olympus.jit(lambda a, b: draw(a) + draw(b))(k, k)
    )(key()),
    "constant of a jitted function": in_turn(
        lambda f: f(),
        lambda f: f(),
        lambda: (lambda k: olympus.jit(lambda: draw(k)))(key()),
    ),
    "stack": both(lambda k: ROWS(jnp.stack([k, random.key(1)])), draw),
    "same key stacked": lambda: jnp.stack([k := key(), k]),
    "element in a program": lambda: olympus.jit(lambda k: draw(k[0]) + draw(k[0]))(
        keys()
    ),
    "one unknown element": lambda: olympus.jit(lambda k, i: draw(k[i]) + draw(k[i]))(
        random.split(random.key(0), 3), 1
    ),
    "one unknown slice": lambda: olympus.jit(
        lambda k, i: [
            olympus.vmap(draw)(lax.dynamic_slice(k, (i,), (2,))) for _ in range(2)
        ]
    )(random.split(random.key(0), 3), 1),
    "unknown element": lambda: olympus.jit(lambda k, i: draw(k[i]) + draw(k[0]))(
        keys(), 1
    ),
    "elements of a broadcast": both(lambda k: draw(jnp.broadcast_to(k, (3,))[1]), draw),
    "constant of scan": with_key(
        lambda k: lax.scan(lambda c, x: (c, draw(k)), 0.0, jnp.arange(3))
    ),
    "constant of fori_loop": with_key(
        lambda k: lax.fori_loop(0, 3, lambda i, x: x + draw(k), 0.0)
    ),
    "keys of scan twice": lambda: lax.scan(
        lambda c, k: (c, draw(k) + draw(k)), 0.0, keys()
    ),
    "keys of scan, all": in_turn(lambda k: lax.map(draw, k), ROWS, keys),
    "carry of scan": scan_carry(lambda k: ((k,), draw(k)), key()),
    "carry that changes places": scan_carry(
        lambda a, b: ((b, a), draw(a)), key(), random.key(1)
    ),
    "carry of while": until(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1], c[2] + draw(c[1])), key(), 0.0
    ),
    "condition of while": until(
        lambda c: (c[0] < 3) & (draw(c[1]) < 2), lambda c: (c[0] + 1, c[1]), key()
    ),
    "branch": in_turn(lambda k: lax.cond(True, draw, lambda k: 1.0, k), draw),
    "branch in a program": both(lambda k: lax.cond(True, draw, lambda k: 1.0, k), draw),
    "result of branches": both(
        lambda k: draw(lax.cond(True, lambda k: k, lambda k: random.key(1), k)), draw
    ),
    "grad": lambda: olympus.grad(lambda x, k: x * draw(k) * draw(k))(1.0, key()),
    "jvp, draw": in_turn(
        lambda k: olympus.jvp(lambda x: x * draw(k), (1.0,), (1.0,)), draw
    ),
    "remat": both(olympus.checkpoint(draw), draw),
    "remat, eager": in_turn(olympus.checkpoint(draw), draw),
    "custom_jvp": both(lambda k: noisy(1.0, k), draw),
    "custom_vjp, forward and backward": lambda: olympus.jit(olympus.grad(noisy_twice))(
        1.0, key()
    ),
    "shard_map": both(shard(draw), draw),
    "static argument": in_turn(*[lambda k: draw_some(2, k)] * 2),
    "argument by name": in_turn(*[lambda k: draw_named(k=k)] * 2),
    "value of a ref": in_turn(
        lambda r: draw(r[...]), lambda r: draw(r[...]), lambda: olympus.new_ref(key())
    ),
    "checkify": lambda: checkify.checkify(lambda k: draw(k) + draw(k))(key()),
    "rbg": in_turn(draw, draw, lambda: random.key(0, impl="rbg")),
    "associative_scan": both(
        lambda k: lax.associative_scan(jnp.add, draw(k) * jnp.ones(4)), draw
    ),
    "linear solve": both(
        lambda k: lax.custom_linear_solve(
            lambda v: 2 * v, jnp.ones(()), lambda _, b: b * draw(k)
        ),
        draw,
    ),
    "make_olympuspr": lambda: olympus.make_olympuspr(lambda k: draw(k) + draw(k))(
        key()
    ),
}


@pytest.mark.parametrize("case", REUSED)
def test_reuse_is_an_error(case):
    with pytest.raises(KeyReuseError, match="may be consumed once, got"):
        REUSED[case]()


SINGLE = {
    "fold_in": in_turn(lambda k: random.fold_in(k, 1), lambda k: random.fold_in(k, 2)),
    "draw, fold_in": in_turn(draw, lambda k: random.fold_in(k, 1)),
    "clone": in_turn(draw, lambda k: draw(random.clone(k))),
    "words": in_turn(draw, random.key_data),
    "keys of words": in_turn(
        *[lambda d: draw(random.wrap_key_data(d))] * 2, lambda: random.key_data(key())
    ),
    "equality": in_turn(draw, lambda k: k == k),
    "shape": in_turn(draw, lambda k: (k.shape, repr(k), k.reshape(1), k.copy())),
    "raw words": in_turn(draw, draw, lambda: random.PRNGKey(0)),
    "elements": in_turn(lambda k: draw(k[0]), lambda k: draw(k[1]), keys),
    "an unused element": in_turn(lambda k: draw(k[0]), lambda k: k[0], keys),
    "slices apart": in_turn(lambda k: ROWS(k[:2]), lambda k: ROWS(k[2:]), keys),
    "rows": lambda: [draw(k) for k in keys()],
    "replaced element": in_turn(
        lambda k: draw(k[1]), lambda k: draw(k.at[1].set(random.key(7))[1]), keys
    ),
    "vmap of one key": lambda: olympus.vmap(lambda x, k: draw(k), in_axes=(0, None))(
        jnp.arange(3.0), key()
    ),
    "broadcast": lambda: ROWS(jnp.broadcast_to(key(), (3,))),
    "elements by unknown indices": with_key(
        lambda k: lax.fori_loop(0, 3, lambda i, x: x + draw(k[i]), 0.0), keys
    ),
    "scan over keys": lambda: lax.scan(lambda c, k: (c, draw(k)), 0.0, keys()),
    "carry that is split": scan_carry(
        lambda k: (lambda a, b: ((a,), draw(b)))(*random.split(k)), key()
    ),
    "carry that is passed on": both(
        lambda k: lax.scan(lambda k, _: (k, None), k, length=3)[0] == k, draw
    ),
    "fold_in in a loop": with_key(
        lambda k: lax.fori_loop(0, 3, lambda i, x: x + draw(random.fold_in(k, i)), 0.0)
    ),
    "while that splits": until(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, random.split(c[1])[0]), key()
    ),
    "both branches": lambda: lax.cond(True, draw, random.normal, key()),
    "one branch consumes, the other returns": lambda: draw(
        lax.cond(True, lambda k: k, lambda k: random.split(k)[0], key())
    ),
    "grad of remat": lambda: olympus.grad(
        olympus.checkpoint(lambda x, k: jnp.sin(x * draw(k)))
    )(1.0, key()),
    "grad of scan": lambda: olympus.jit(
        olympus.grad(
            lambda x, k: lax.scan(lambda c, k: (jnp.sin(c * draw(k)), c), x, k)[0]
        )
    )(1.0, keys()),
    "grad of a bounded loop": lambda: olympus.grad(
        lambda x, k: lax.while_loop(
            lambda c: c[0] < 2,
            lambda c: (c[0] + 1, c[1] * draw(random.fold_in(k, c[0]))),
            (0, x),
            max_steps=3,
        )[1]
    )(1.0, key()),
    "custom_jvp": lambda: olympus.grad(noisy)(1.0, key()),
    "eval_shape": in_turn(lambda k: olympus.eval_shape(draw, k), draw),
    "elements in batches": lambda: lax.map(draw, keys(4), batch_size=2),
    "checkify": lambda: checkify.checkify(draw)(key()),
    "second derivative of remat": lambda: olympus.grad(
        olympus.grad(olympus.checkpoint(lambda x, k: jnp.sin(x * draw(k))))
    )(1.0, key()),
    "two methods": lambda: random.poisson(key(), 3.0),
    "shard_map": lambda: shard(ROWS)(keys()),
    "an error elsewhere": in_turn(fail, draw),
}


@pytest.mark.parametrize("case", SINGLE)
def test_a_single_use_is_none(case):
    SINGLE[case]()


def draw_twice(k):
    first = random.normal(k)
    second = random.uniform(k)
    return first + second


def test_message_shows_both_lines_and_the_function():
    with pytest.raises(KeyReuseError) as caught:
        olympus.jit(draw_twice)(key())
    text = str(caught.value)
    line = draw_twice.__code__.co_firstlineno + 1
    assert text.startswith("draw_twice: each random key may be consumed once, got one")
    assert f"first: {__file__}:{line} (draw_twice): first = random.normal(k)" in text
    assert f"again: {__file__}:{line + 1} (draw_twice): second = " in text
    assert "`key, subkey = random.split(key)`" in text
    assert text.endswith(f"before line {line} of test_key_reuse.py")


def test_message_shows_where_compiled_functions_were_called():
    k = key()
    f = olympus.jit(lambda k: random.normal(k))
    f(k)
    with pytest.raises(
        KeyReuseError, match=r"(?s)first: .*called at .*again: .*called at"
    ):
        f(k)


def test_message_of_a_loop():
    with pytest.raises(KeyReuseError, match="every iteration of a loop") as caught:
        REUSED["constant of scan"]()
    assert "carry the key" in str(caught.value)


def test_a_refused_call_consumes_nothing():
    a, b = keys(2)
    draw(b)
    with pytest.raises(KeyReuseError):
        olympus.jit(lambda a, b: draw(a) + draw(b))(a, b)
    draw(a)


def test_switching_it_on_later_finds_reuse_in_what_was_traced_before():
    f = olympus.jit(lambda k: random.normal(k) + random.uniform(k))
    with olympus.debug_key_reuse(False):
        f(key())
    with pytest.raises(KeyReuseError):
        f(key())
    with olympus.debug_key_reuse(False):
        f(key())


def test_uses_while_it_is_off_do_not_count():
    k = key()
    with olympus.debug_key_reuse(False):
        draw(k)
    draw(k)
    with olympus.debug_key_reuse(False):
        draw(k)


def test_it_is_a_setting_of_all_threads():
    caught = []

    def run():
        try:
            REUSED["jit"]()
        except KeyReuseError as error:
            caught.append(error)

    for value in (True, False):
        olympus.config.update("olympus_debug_key_reuse", value)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert len(caught) == 1


def test_the_error_is_named_where_users_look():
    assert key_reuse.KeyReuseError is KeyReuseError
    assert issubclass(KeyReuseError, TypeError)


def test_values_are_those_without_it():
    with olympus.debug_key_reuse(False):
        plain = draw(key(), (3,)), random.normal(keys()[1])
    np.testing.assert_array_equal(plain[0], draw(key(), (3,)))
    np.testing.assert_array_equal(plain[1], random.normal(keys()[1]))


def test_one_of_many_threads_may_use_a_key():
    k, refused = key(), []

    def run():
        with olympus.debug_key_reuse(True):
            try:
                draw(k)
            except KeyReuseError as error:
                refused.append(error)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7


def test_large_arrays_of_keys_are_followed_as_a_whole():
    many = random.split(key(), 1 << 17)
    random.uniform(many[5])
    ROWS(many)
    with pytest.raises(KeyReuseError):
        ROWS(many)


def test_two_uses_on_one_line_are_told_apart_by_their_columns():
    def f():
        keys = random.split(random.key(0), 2)
        return random.normal(keys[0]) + random.normal(keys[0])

    with olympus.debug_key_reuse(True), pytest.raises(KeyReuseError) as caught:
        f()
    line = f.__code__.co_firstlineno + 2
    assert f"first: {__file__}:{line}:16 (" in str(caught.value)
    assert f"again: {__file__}:{line}:41 (" in str(caught.value)
    assert "called at" in str(caught.value)


def test_a_key_that_was_split_is_left_alone():
    def f():
        key = random.key(0)
        random.split(key)
        return random.normal(key)

    with olympus.debug_key_reuse(True), pytest.raises(KeyReuseError) as caught:
        f()
    assert "use the keys that the split gave" in str(caught.value)
