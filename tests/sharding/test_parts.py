"""Parts of arrays over eight devices: which of them live on, and what they leave alone.

What went wrong here ended the process or never returned: such cases run in processes.
"""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from tests import fresh
from tests.sharding.meshes import divide

pytestmark = pytest.mark.eight_devices

START = """
    import random, sys, threading, time
    import numpy as np
    import olympus
    import olympus.numpy as jnp
    from olympus.sharding import Mesh, NamedSharding, PartitionSpec as P

    mesh = Mesh(np.array(olympus.devices()).reshape(4, 2), ("x", "y"))
    where = NamedSharding(mesh, P("x", "y"))
    VALUES = np.arange(64).reshape(8, 8) % 7
    add = olympus.jit(lambda x: x + x)
    double_in_place = olympus.jit(lambda x: x + x, donate_argnums=0)

    def make(dtype="float32", add_to=0):
        return olympus.device_put((VALUES + add_to).astype(jnp.dtype(dtype)), where)
"""

X = np.arange(64.0, dtype=np.float32).reshape(8, 8)


def parts_of(x):
    return [(s.index, s.data) for s in x.addressable_shards]


def delete(x):
    x.delete()


def donate(x):
    olympus.jit(lambda x: x * 0, donate_argnums=0)(x).block_until_ready()


@pytest.mark.parametrize("end", [delete, donate])
def test_used_parts_outlive_the_array(end):
    x = divide(X, "x", "y") + 1
    parts = parts_of(x)
    for _, part in parts:
        (part + 1).block_until_ready()
    end(x)
    for index, part in parts:
        np.testing.assert_array_equal(part + 1, X[index] + 2)
    with pytest.raises(RuntimeError, match="deleted"):
        _ = x.addressable_shards


@pytest.mark.parametrize("end", [delete, donate])
@pytest.mark.parametrize(
    "use",
    [
        np.asarray,
        jnp.sin,
        olympus.jit(lambda x: x + 1),
        np.from_dlpack,
        lambda x: x.block_until_ready(),
        lambda x: x.is_ready(),
        lambda x: x.__copy__(),
        lambda x: olympus.device_put(x, olympus.devices()[1]),
        olympus.device_get,
        lambda x: olympus.jit(lambda y: x + y)(np.ones((2, 4), np.float32)),
    ],
)
def test_parts_that_were_not_used_are_deleted_with_the_array(end, use):
    x = divide(X, "x", "y") + 1
    parts = parts_of(x)
    end(x)
    for _, part in parts:
        assert part.is_deleted()
        with pytest.raises(RuntimeError, match="deleted"):
            use(part)
        part.delete()  # which has nothing to do
        assert part.shape == (2, 4)
        assert part.sharding == olympus.sharding.SingleDeviceSharding(part.device)


def test_values_that_were_read_live_on():
    x = divide(X, "x", "y") + 1
    parts = parts_of(x)
    values = [np.asarray(part) for _, part in parts]
    made = olympus.jit(lambda x: x * 2, donate_argnums=0)(x)
    for (index, _), value in zip(parts, values, strict=True):
        np.testing.assert_array_equal(value, X[index] + 1)
        with pytest.raises(ValueError, match="read-only"):
            value[...] = 0
    np.testing.assert_array_equal(made, 2 * X + 2)


def test_a_large_part_does_not_keep_the_array():
    x = divide(np.ones((8, 1 << 15), np.float32), "x", "y") + 1
    part = x.addressable_shards[3].data
    x.delete()
    np.testing.assert_array_equal(part, np.full((2, 1 << 14), 2))


def test_arrays_that_are_not_divided_are_their_own_part():
    x = jnp.arange(3.0)
    (shard,) = x.addressable_shards
    assert shard.data is x
    assert shard.local_data() is x


def test_parts_are_the_arguments_of_calls():
    x = divide(X, "x", "y") + 1
    f = olympus.jit(lambda a, b: a + b, donate_argnums=0)
    for shard in x.addressable_shards:
        part = shard.data
        with pytest.raises((RuntimeError, ValueError), match="donate"):
            f(part, part)
        part = shard.data
        other = shard.data  # of the same memory
        np.testing.assert_array_equal(f(part, other), 2 * X[shard.index] + 2)
        assert part.is_deleted()
        np.testing.assert_array_equal(other, X[shard.index] + 1)
    np.testing.assert_array_equal(x, X + 1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "int4"])
def test_the_array_is_left_alone(dtype):
    """By parts that are deleted, donated, moved or exported."""
    fresh.run(
        START
        + f"""
    twice = {dtype!r} != "bool"
    add = olympus.jit(lambda x: x + x if twice else x & x)
    give = olympus.jit(lambda x: x + x if twice else ~x, donate_argnums=0)
    x = add(make({dtype!r}))
    expected = np.asarray(x).copy()
    ends = [
        lambda p: p.delete(),
        lambda p: give(p),
        lambda p: olympus.device_put(p, olympus.devices()[7], donate=True),
    ]
    for end in ends:
        for shard in x.addressable_shards:
            end(shard.data)
        for _ in range(3):
            after = np.asarray(add(x))
            np.testing.assert_array_equal(after, np.asarray(add(jnp.array(expected))))
        np.testing.assert_array_equal(np.asarray(x), expected)
        for shard in x.addressable_shards:
            np.testing.assert_array_equal(shard.data, expected[shard.index])
"""
    )


def test_the_process_ends_while_parts_are_unused():
    out, _ = fresh.run(
        START
        + """
    x = add(make())
    parts = [s.data for s in x.addressable_shards]
    used = [s.data + 1 for s in x.addressable_shards]
    views = [np.asarray(s.data) for s in x.addressable_shards]
    print("end")
"""
    )
    assert out == "end\n"


USES = {
    "calls": """
        same(add(x), 2 * want)
        same(x + x, 2 * want)
""",
    "reads": """
        same(x, want)
        same(x.__copy__(), want)
        same(olympus.device_put(x, olympus.devices()[3]), want)
""",
    "parts": """
        for shard in x.addressable_shards:
            same(shard.data, want[shard.index])
            same(add(shard.data), 2 * want[shard.index])
            same(np.from_dlpack(shard.data), want[shard.index])
        shard.data.delete()
        same(double_in_place(shard.data), 2 * want[shard.index])
""",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "end", ["x.delete()", "double_in_place(x)", "view_and_donate(x)"]
)
@pytest.mark.parametrize("name", USES)
def test_threads_that_use_what_others_delete(name, end):
    """Each gets the value, or the error that the array is deleted."""
    out, _ = fresh.run(
        START
        + f"""
    sys.setswitchinterval(1e-5)
    end_of_test = time.monotonic() + 4
    newest = [(VALUES, make())]
    problems = []

    def same(got, want):
        np.testing.assert_array_equal(got, want)

    def view_and_donate(x):
        part = random.choice(x.addressable_shards)
        view = np.asarray(part.data)
        kept = view.copy()
        double_in_place(x)
        same(view, kept)

    def use():
        want, x = newest[0]
{USES[name]}

    def end():
        x = newest[0][1]
        more = random.randrange(100)
        newest[0] = ((VALUES + more).astype(np.float32), make(add_to=more))
        {end}

    def work(number):
        while time.monotonic() < end_of_test and not problems:
            try:
                use() if number < 2 else end()
            except RuntimeError as error:
                if "deleted" not in str(error):
                    problems.append(repr(error))
            except BaseException as error:
                problems.append(repr(error))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print(problems)
"""
    )
    assert out == "[]\n"
