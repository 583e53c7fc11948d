"""A computation on an array that is gone says so, and not in the compiler's words."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

USES = {
    "operator": lambda x: x + 1,
    "function": jnp.sin,
    "several results": lambda x: jnp.split(x, 3),
    "staged": lambda x: olympus.jit(lambda y: (y, y * 2))(x),
}


@pytest.mark.parametrize("use", USES)
def test_a_deleted_operand_is_named(use):
    x = jnp.arange(3.0)
    x.delete()
    with pytest.raises(RuntimeError, match="deleted") as caught:
        USES[use](x)
    assert "INVALID_ARGUMENT" not in str(caught.value)


@pytest.mark.parametrize(
    ("dtype", "read"),
    [
        ("float32", np.asarray),
        ("bfloat16", np.asarray),
        ("float32", np.from_dlpack),
    ],
)
@pytest.mark.parametrize("end", ["delete", "donate"])
def test_views_outlive_arrays_that_are_deleted_or_donated(dtype, read, end):
    """They ended the process: jaxlib checks that nobody holds what it frees."""
    x = olympus.jit(lambda x: x * 2)(jnp.arange(300, dtype=dtype))
    view = read(x)
    want = view.copy()
    if end == "delete":
        x.delete()
    else:
        olympus.jit(lambda x: x + 1, donate_argnums=0)(x).block_until_ready()
    del x
    gc.collect()
    olympus.jit(lambda x: x - 1)(jnp.arange(300, dtype=dtype)).block_until_ready()
    np.testing.assert_array_equal(view, want)


@pytest.mark.slow
def test_live_arrays_hold_nothing_that_another_thread_is_making():
    # Python refuses to let tuples grow that somebody else holds.
    stop, errors = threading.Event(), []
    others = [[] for _ in range(200_000)]  # which take some time to look at

    def make_tuples():
        while not stop.is_set():
            try:
                tuple(max(sum(range(9)) for _ in range(3)) for _ in range(300))
            except SystemError as error:
                errors.append(error)

    threads = [threading.Thread(target=make_tuples) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            olympus.live_arrays()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert others
    assert not errors


def test_arrays_that_another_thread_is_making_are_not_live_yet():
    making = type(jnp.arange(3)).__new__(type(jnp.arange(3)))
    making._own_buffer = None
    live = olympus.live_arrays()
    assert not any(x is making for x in live)
