"""Caches: bounds, order, threads, clearing."""

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olympus._src.foundation import caching
from tests import fresh


@pytest.fixture(autouse=True)
def _forget():
    """Caches that a test makes are no longer known after it."""
    known = list(caching._entries)
    yield
    caching._entries[:] = known


def test_bounded_cache_keeps_the_last_used():
    calls = []

    @caching.bounded_cache(2, "squares")
    def square(x):
        calls.append(x)
        return x * x

    assert [square(x) for x in (1, 2, 1, 3, 1, 2)] == [1, 4, 1, 9, 1, 4]
    assert calls == [1, 2, 3, 2]
    assert caching.cache_sizes()["squares"] == 2
    caching.clear_all()
    assert caching.cache_sizes()["squares"] == 0
    square(1)
    assert calls == [1, 2, 3, 2, 1]


def test_typed_tells_equal_numbers_apart():
    @caching.bounded_cache(8, "names", typed=True)
    def name(x):
        return type(x).__name__

    assert [name(1), name(True), name(1.0)] == ["int", "bool", "float"]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), max_size=60))
def test_bounded_is_an_ordered_dict_with_a_bound(operations):
    cache, model = caching.Bounded(4), OrderedDict()
    for write, key in operations:
        if write:
            cache[key] = -key
            model[key] = -key
            model.move_to_end(key)
            if len(model) > 4:
                model.popitem(last=False)
        else:
            assert cache.get(key, "none") == model.get(key, "none")
            if key in model:
                model.move_to_end(key)
    assert {k: cache[k] for k in model} == dict(model)
    assert len(cache) == len(model)


def test_bounded_as_a_mapping():
    cache = caching.Bounded(3, "test of bounded")
    assert cache.setdefault("a", 1) == 1
    assert cache.setdefault("a", 2) == 1
    assert "a" in cache
    assert caching.cache_sizes()["test of bounded"] == 1
    with pytest.raises(KeyError, match="b"):
        cache["b"]
    assert cache.pop("a") == 1
    assert cache.pop("a", "gone") == "gone"
    with pytest.raises(ValueError, match="maxsize must be positive, got 0"):
        caching.Bounded(0)


@given(st.lists(st.tuples(st.sampled_from("wdpc"), st.integers(0, 9)), max_size=60))
def test_bounded_by_bytes_keeps_count(operations):
    cache = caching.BoundedBytes(4, 20, lambda key: 3 * key, "test of bytes")
    for what, key in operations:
        if what == "w":
            cache[key] = -key
            assert cache.get(key) == -key  # the last stays, whatever its size
        elif what == "d":
            cache.discard(key, -key)
        elif what == "p":
            cache.pop(key)
        else:
            cache.clear()
        assert cache.total_bytes == sum(3 * k for k in cache._data)
        assert cache.total_bytes <= 20 or len(cache) == 1
        assert len(cache) <= 4


def test_bounded_survives_threads():
    cache = caching.Bounded(8)

    def work(seed):
        for i in range(3000):
            key = (i * seed) % 23
            cache[key] = key
            assert cache.get(key, key) == key
            cache.pop(key + 1)
        return len(cache)

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(work, range(1, 5))) <= 8


def test_register_counts_the_owner_of_a_bound_method():
    table = {1: 1, 2: 2}
    caching.register(table.clear, "a table")
    caching.register(lambda: None, "no size")
    sizes = caching.cache_sizes()
    assert sizes["a table"] == 2
    assert "no size" not in sizes
    caching.clear_all()
    assert table == {}


def test_caches_are_empty_as_python_ends_and_programs_still_run():
    code = """
    import atexit

    @atexit.register
    def end():  # registered first, so it comes last
        print(sum(caching.cache_sizes().values()) < known, float(double(3.0)))

    import olympus
    from olympus._src.foundation import caching

    double = olympus.jit(lambda x: 2 * x)
    double(1.0)
    known = sum(caching.cache_sizes().values())
    """
    assert fresh.run(code)[0] == "True 6.0\n"
