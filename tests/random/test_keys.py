"""Keys: making, printing, deriving, mapping, refusing."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import dtypes, random
from olympus._src.core import checker
from olympus._src.foundation import config
from olympus._src.lax import random_bits
from olympus._src.random import implementations


def words(keys):
    return np.asarray(random.key_data(keys))


# -- what a key is ---------------------------------------------------------------------


def test_a_key_prints_its_words():
    assert repr(random.key(0)) == "Array((), dtype=key<fry>) overlaying:\n[0 0]"
    several = random.split(random.key(0), 2)
    assert repr(several) == (
        "Array((2,), dtype=key<fry>) overlaying:\n"
        "[[1797259609 2579123966]\n [ 928981903 3453687069]]"
    )


def test_the_dtype_of_keys_belongs_to_its_families():
    dtype = random.key(0).dtype
    assert dtype == random.key_dtype("threefry2x32") != random.key_dtype("rbg")
    assert dtypes.issubdtype(dtype, dtypes.prng_key)
    assert dtypes.issubdtype(dtype, dtypes.extended)
    assert not dtypes.issubdtype(dtype, np.number)
    assert dtype.itemsize == 8


@pytest.mark.parametrize("name", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_a_key_survives_pickling_copies_and_unwrapping(name):
    key = random.split(random.key(3, impl=name), 2)
    for other in (
        pickle.loads(pickle.dumps(key)),
        copy.deepcopy(key),
        random.wrap_key_data(random.key_data(key), impl=name),
        random.clone(key),
    ):
        assert other.dtype is key.dtype or other.dtype == key.dtype
        np.testing.assert_array_equal(words(other), words(key))
    assert random.key_impl(key) == name


def test_keys_are_indexed_shaped_and_iterated_like_arrays():
    keys = random.split(random.key(0), (2, 3))
    assert keys.shape == (2, 3)
    np.testing.assert_array_equal(words(keys[1]), words(keys)[1])
    np.testing.assert_array_equal(words(keys[:, 1]), words(keys)[:, 1])
    np.testing.assert_array_equal(words(keys.reshape(6)), words(keys).reshape(6, 2))
    np.testing.assert_array_equal(words(keys.T), words(keys).swapaxes(0, 1))
    assert [k.shape for k in keys] == [(3,), (3,)]


def test_keys_have_no_numbers():
    key = random.key(0)
    for read in (np.asarray, float, bool, lambda k: k.item(), lambda k: k.tolist()):
        with pytest.raises(TypeError, match=r"key<fry>.*random\.key_data\(keys\)"):
            read(key)
    with pytest.raises(TypeError, match="key<fry>"):
        key + 1


def test_keys_compare_as_wholes():
    keys = random.split(random.key(1), 3)
    np.testing.assert_array_equal(keys == keys[1], [False, True, False])
    np.testing.assert_array_equal(keys != keys[1], [True, False, True])
    mapped = olympus.vmap(lambda k: k == keys[0])(keys)
    np.testing.assert_array_equal(mapped, [True, False, False])
    assert olympus.jit(lambda a, b: a == b)(random.key(3), random.key(3))
    with pytest.raises(TypeError, match="combined with itself"):
        keys == random.key(1, impl="rbg")  # noqa: B015


def test_a_key_stands_beside_arrays_of_keys():
    keys = random.split(random.key(1), 3)
    out = jnp.where(np.array([True, False, False]), keys, keys[2])
    np.testing.assert_array_equal(words(out), words(keys)[[0, 2, 2]])


def test_arrays_of_keys_are_filled_with_words():
    keys = random.split(random.key(1), 3)
    assert words(jnp.zeros_like(keys)).tolist() == [[0, 0]] * 3
    assert words(jnp.ones((2,), keys.dtype)).tolist() == [[1, 1]] * 2
    traced = olympus.jit(jnp.zeros_like)(keys)
    assert traced.dtype == keys.dtype
    assert words(traced).tolist() == [[0, 0]] * 3


def test_keys_have_no_order():
    keys = random.split(random.key(1), 3)
    with pytest.raises(TypeError, match="sort does not accept dtype key<fry>"):
        jnp.sort(keys)


@pytest.mark.slow
def test_keys_are_shuffled_as_numbers_are():
    keys = random.split(random.key(2), 5)
    order = random.permutation(random.key(0), np.arange(5))
    np.testing.assert_array_equal(
        words(random.permutation(random.key(0), keys)), words(keys)[np.asarray(order)]
    )


def test_a_number_of_keys_may_be_an_array():
    assert random.split(random.key(0), jnp.int32(3)).shape == (3,)


# -- seeds -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "want"),
    [
        (0, [0, 0]),
        (True, [0, 1]),
        (-1, [0, 2**32 - 1]),
        (2**32 + 5, [0, 5]),
        (2**63, [0, 0]),
        (np.uint8(7), [0, 7]),
        (np.int64(-1), [0, 2**32 - 1]),
        (np.array(9), [0, 9]),
    ],
)
def test_seeds_of_any_integer_type(seed, want):
    assert words(random.key(seed)).tolist() == want
    assert random.PRNGKey(seed).tolist() == want


def test_wide_seeds_fill_both_words():
    with olympus.enable_x64(True):
        assert random.PRNGKey(-1).tolist() == [2**32 - 1, 2**32 - 1]
        assert random.PRNGKey(2**40 + 5).tolist() == [2**8, 5]


@pytest.mark.parametrize("seed", [np.int8(-3), np.int32(-3), np.array(-3, np.int16)])
@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_narrow_negative_seeds_fill_one_word(seed, impl):
    with olympus.enable_x64(True):
        eager = random.PRNGKey(seed, impl=impl).tolist()
        jitted = olympus.jit(lambda s: random.PRNGKey(s, impl=impl))(seed).tolist()
    assert eager[:2] == [0, 2**32 - 3]  # as JAX has it
    assert eager == jitted


def test_a_traced_seed_makes_the_same_key():
    for seed in (3, -1, np.uint8(200)):
        jitted = olympus.jit(random.PRNGKey)(seed)
        assert jitted.tolist() == random.PRNGKey(seed).tolist()
    many = olympus.vmap(random.PRNGKey)(np.arange(3))
    assert many.tolist() == [[0, 0], [0, 1], [0, 2]]


@pytest.mark.parametrize("name", ["nonsense", "", None, 3])
def test_settings_take_no_unknown_generator(name):
    message = "olympus_default_prng_impl: the value must be one of 'philox2x32'"
    with pytest.raises(ValueError, match=message):
        olympus.config.update("olympus_default_prng_impl", name)
    with pytest.raises(ValueError, match=message), config.default_prng_impl(name):
        pass
    assert config.default_prng_impl.value == "threefry2x32"


def test_settings_know_every_generator():
    assert set(implementations.registry) <= config.generator_names
    for name in sorted(config.generator_names):
        with config.default_prng_impl(name):
            assert random.key_impl(random.key(0)) == name


def test_settings_choose_the_generator_and_shift_seeds():
    with config.default_prng_impl("rbg"):
        assert random.key_impl(random.key(0)) == "rbg"
        assert random.PRNGKey(1).shape == (4,)
    with config.random_seed_offset(10):
        assert random.PRNGKey(1).tolist() == [0, 11]
    with config.enable_custom_prng(True):
        assert random.PRNGKey(1).dtype == random.key_dtype()


@pytest.mark.parametrize("make", [random.key, random.PRNGKey])
def test_bad_seeds_are_refused(make):
    for seed in (1.5, "a", [1], None):
        with pytest.raises(TypeError, match="seed must be an integer"):
            make(seed)
    with pytest.raises(TypeError, match=r"single seed.*\(2,\).*olympus\.vmap"):
        make(np.arange(2))
    with pytest.raises(OverflowError, match="64 bits"):
        make(2**64)
    with pytest.raises(ValueError, match=r'"foo".*threefry2x32'):
        make(0, impl="foo")


# -- deriving --------------------------------------------------------------------------


def test_keys_and_words_give_the_same_numbers():
    raw, typed = random.PRNGKey(5), random.key(5)
    np.testing.assert_array_equal(random.split(raw), words(random.split(typed)))
    np.testing.assert_array_equal(random.normal(raw, (3,)), random.normal(typed, (3,)))


def test_split_by_counts_and_shapes():
    key = random.key(1)
    assert random.split(key).shape == (2,)
    assert random.split(key, 0).shape == (0,)
    assert random.split(key, (2, 3)).shape == (2, 3)
    with pytest.raises(ValueError, match="negative"):
        random.split(key, -1)


@pytest.mark.parametrize("name", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_derived_keys_are_distinct(name):
    key = random.key(0, impl=name)
    # Threefry's fold_in by a small number is the key that split has there.
    folded = [random.fold_in(key, i) for i in (1000, 2**31, 2**32 - 1)]
    found = [*random.split(key, 100), key, *folded]
    assert len({words(k).tobytes() for k in found}) == len(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["threefry2x32", "rbg"])
def test_mapping_derives_as_a_loop_does(name):
    keys = random.split(random.key(0, impl=name), 3)
    for derive in (random.split, lambda k: random.fold_in(k, 7)):
        mapped = words(olympus.vmap(derive)(keys))
        np.testing.assert_array_equal(mapped, [words(derive(k)) for k in keys])
    counts = np.arange(3, dtype=np.uint32)
    folded = olympus.vmap(random.fold_in, (None, 0))(keys[0], counts)
    one_by_one = [words(random.fold_in(keys[0], int(i))) for i in counts]
    np.testing.assert_array_equal(words(folded), one_by_one)
    pairs = olympus.vmap(random.fold_in)(keys, counts)
    one_by_one = [
        words(random.fold_in(k, int(i))) for k, i in zip(keys, counts, strict=True)
    ]
    np.testing.assert_array_equal(words(pairs), one_by_one)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "draw",
    [
        lambda k: random.bits(k, (2, 3)),
        lambda k: random.normal(k, (4,)),
        lambda k: random.permutation(k, 5),
        lambda k: random.gamma(k, 0.7, (2,)),
        lambda k: random.poisson(k, np.float32([2, 30])),
        lambda k: random.randint(k, (2,), 0, 9),
    ],
)
@pytest.mark.parametrize("scheme", [True, False], ids=["by position", "older"])
@pytest.mark.slow
def test_mapping_draws_as_a_loop_does(draw, scheme):
    with config.threefry_partitionable(scheme):
        keys = random.split(random.key(2), 3)
        mapped = np.asarray(olympus.vmap(draw)(keys))
        looped = np.stack([np.asarray(draw(k)) for k in keys])
        twice = olympus.vmap(olympus.vmap(draw))(keys.reshape(3, 1))
    np.testing.assert_allclose(mapped, looped, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(twice)[:, 0], looped, rtol=1e-6)


def test_numbers_do_not_hang_on_how_many_are_drawn():
    key = random.key(0)
    np.testing.assert_array_equal(random.bits(key, (7,))[:3], random.bits(key, (3,)))


def test_bits_are_the_cipher_s():
    counts = np.arange(4, dtype=np.uint32)
    high, low = random_bits.threefry2x32_p.reference(
        np.uint32(0), np.uint32(9), np.zeros(4, np.uint32), counts
    )
    key = random.key(9)
    np.testing.assert_array_equal(random.bits(key, (4,)), high ^ low)
    np.testing.assert_array_equal(words(random.split(key, 4)), np.stack([high, low], 1))


def test_the_cipher_s_published_vectors():
    # Random123's kat_vectors, threefry2x32 with 20 rounds: counter, key, result.
    for counter, key, want in (
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ):
        args = [np.uint32(x) for x in (*key, *counter)]
        assert tuple(map(int, random_bits.threefry2x32(*args))) == want


# -- programs --------------------------------------------------------------------------


def printed(f, *args):
    program = olympus.make_olympuspr(f)(*args)
    checker.check_olympuspr(program)
    return str(program)


def test_programs_show_keys():
    key = random.key(0)
    assert printed(lambda k: random.bits(k, (5,)), key) == (
        "{ lambda ; a:key<fry>[]. let\n"
        "    b:u32[5] = random_bits[bit_width=32 shape=(5,)] a\n"
        "  in (b,) }"
    )
    assert printed(random.key, 1) == (
        "{ lambda ; a:i32[]. let b:key<fry>[] = random_seed[impl=fry] a in (b,) }"
    )
    assert printed(random.split, random.PRNGKey(0)) == (
        "{ lambda ; a:u32[2]. let\n"
        "    b:key<fry>[] = random_wrap[impl=fry] a\n"
        "    c:key<fry>[2] = random_split[shape=(2,)] b\n"
        "    d:u32[2,2] = random_unwrap c\n"
        "  in (d,) }"
    )


def test_keys_pass_through_jit_and_closures():
    key = random.key(4)
    assert olympus.jit(lambda k: k)(key).dtype == key.dtype
    np.testing.assert_array_equal(
        olympus.jit(lambda: random.bits(key, (2,)))(), random.bits(key, (2,))
    )


def test_draws_have_no_derivative_by_their_key():
    slope = olympus.grad(lambda x: (x * random.normal(random.key(0), (3,))).sum())
    want = np.asarray(random.normal(random.key(0), (3,))).sum()
    np.testing.assert_allclose(slope(2.0), want, rtol=1e-6)


# -- refusals --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (3, TypeError, r"random\.normal: key must be.*random\.key\(3\)"),
        (np.zeros(3, np.uint32), TypeError, r"end with \(2,\), got u32\[3\]"),
        (np.zeros(2, np.int32), TypeError, r"must be uint32, got i32\[2\]"),
        (np.zeros((2, 2), np.uint32), ValueError, r"single key.*\(2,\).*olympus\.vmap"),
    ],
)
def test_bad_keys_are_refused(key, error, message):
    with pytest.raises(error, match=message):
        random.normal(key)


def test_raw_keys_can_be_warned_of_or_refused():
    with (
        config.legacy_prng_key("warn"),
        pytest.warns(UserWarning, match="wrap_key_data"),
    ):
        random.bits(random.PRNGKey(0))
    with (
        config.legacy_prng_key("error"),
        pytest.raises(ValueError, match="wrap_key_data"),
    ):
        random.bits(random.PRNGKey(0))


def test_bad_numbers_to_fold_in_are_refused():
    key = random.key(0)
    with pytest.raises(OverflowError, match="out of bounds for uint32"):
        random.fold_in(key, -1)
    with pytest.raises(TypeError, match=r"single number.*\(3,\)"):
        random.fold_in(key, np.arange(3))


def test_the_dtype_of_a_key_may_be_named():
    for dtype in ("rbg", random.key_dtype("rbg")):
        assert random.key(0, dtype=dtype).dtype == random.key_dtype("rbg")
    with pytest.raises(ValueError, match="unrecognized PRNG implementation"):
        random.key(0, dtype="other")
    for dtype in (int, 3):
        with pytest.raises(TypeError, match="a dtype of keys or the name"):
            random.key(0, dtype=dtype)
