"""Guards of transfers, of arrays in reference cycles and of threads."""

import json
import pathlib
import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from tests import fresh
from tests.runtime import guarded_calls

HOST = np.ones(3, "float32")
double = olympus.jit(lambda x: 2 * x)

# What moves data to a device: (call, is it explicit).
TO_DEVICE = {
    "argument of jit": (lambda: double(HOST), False),
    "asarray": (lambda: jnp.asarray(HOST), False),
    "list": (lambda: jnp.array([1.0, 2.0]), False),
    "operand": (lambda: jnp.ones(3) + HOST, False),
    "key": (lambda: olympus.random.key(12345), False),
    "device_put": (lambda: olympus.device_put(HOST), True),
    "device_put to a device": (
        lambda: olympus.device_put(HOST, olympus.devices()[0]),
        True,
    ),
}
GUARDS = ["transfer_guard", "transfer_guard_host_to_device"]


@pytest.mark.parametrize("call", TO_DEVICE)
@pytest.mark.parametrize("guard", GUARDS)
def test_transfers_to_devices(guard, call):
    transfer, is_explicit = TO_DEVICE[call]
    transfer()
    with getattr(olympus, guard)("allow"):
        transfer()
    message = "Disallowed host-to-device transfer(?s:.)*olympus.device_put"
    with (
        getattr(olympus, guard)("disallow_explicit"),
        pytest.raises(RuntimeError, match=message),
    ):
        transfer()
    with getattr(olympus, guard)("disallow"):
        if is_explicit:
            transfer()
        else:
            with pytest.raises(RuntimeError, match=message):
                transfer()
    transfer()


UNUSED = {
    "returned": lambda x, host: olympus.jit(lambda x, y: x)(x, host),
    "first": lambda x, host: olympus.jit(lambda y, x: x + 1)(host, x),
    "alone": lambda x, host: olympus.jit(lambda y: 1.0)(host),
    "by name": lambda x, host: olympus.jit(lambda x, *, y: x + 1)(x, y=host),
    "in a tree": lambda x, host: olympus.jit(lambda p: p["a"] + 1)({"a": x, "b": host}),
    "in an inner function": lambda x, host: olympus.jit(
        lambda x, y: olympus.jit(lambda x, y: x + 1)(x, y)
    )(x, host),
    "compiled": lambda x, host: (
        olympus.jit(lambda x, y: x + 1).lower(x, host).compile()(x, host)
    ),
}
HOST_VALUES = [HOST, np.float32(3), 3.0, 2, True]


@pytest.mark.parametrize("host", HOST_VALUES, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("call", UNUSED)
def test_arguments_that_a_program_does_not_take_are_not_moved(call, host):
    x = jnp.ones(3)
    for guard in ("disallow", "disallow_explicit"):
        with olympus.transfer_guard_host_to_device(guard):
            UNUSED[call](x, host)


@pytest.mark.parametrize("host", HOST_VALUES, ids=lambda x: type(x).__name__)
def test_arguments_that_a_program_takes_are_refused(host):
    """Also after one that it does not take, of the same value."""
    x = jnp.ones(3)
    functions = [
        olympus.jit(lambda x, y, z: x + y),
        olympus.jit(lambda x, y, z: x, keep_unused=True),
        olympus.jit(lambda x, y, z: x + y).lower(x, host, host).compile(),
    ]
    unused = olympus.jit(lambda x, y: x)
    for f in functions:
        f(x, host, host)
        for _ in range(2):
            with olympus.transfer_guard_host_to_device("disallow"):
                unused(x, host)
                with pytest.raises(RuntimeError, match="Disallowed host-to-device"):
                    f(x, host, host)
                if not isinstance(host, np.ndarray):
                    with pytest.raises(RuntimeError, match="Disallowed host-to-device"):
                        x + host


# Recorded from JAX 0.10.2: these move a number to the device.
NUMBERS = {
    "argument": lambda x: double(2.0),
    "NumPy argument": lambda x: double(np.float32(2)),
    "operand": lambda x: x + 1,
    "NumPy operand": lambda x: x + np.float32(1),
    "choice": lambda x: jnp.where(x > 0, x, 0.0),
    "array": lambda x: jnp.array(1),
    "update": lambda x: x.at[0].set(1.0),
}


@pytest.mark.parametrize("call", NUMBERS)
def test_numbers_are_refused_also_where_they_were_let_before(call):
    run, x = NUMBERS[call], jnp.ones(3)
    run(x)
    for _ in range(2):
        with (
            olympus.transfer_guard("disallow"),
            pytest.raises(RuntimeError, match="Disallowed host-to-device transfer"),
        ):
            run(x)
        run(x)
    with olympus.transfer_guard("disallow"):
        with olympus.transfer_guard("allow"):
            run(x)
        with pytest.raises(RuntimeError, match="Disallowed"):
            run(x)
        moved = olympus.device_put(1.0)
    assert moved == 1


@pytest.mark.parametrize(
    "guard", ["transfer_guard_device_to_host", "transfer_guard_device_to_device"]
)
def test_guards_of_other_directions_let_it_pass(guard):
    with getattr(olympus, guard)("disallow_explicit"):
        double(HOST)


@pytest.mark.parametrize(
    "read",
    [np.asarray, olympus.device_get, lambda x: float(x[0]), lambda x: x.tolist()],
)
def test_reading_moves_nothing_on_the_cpu(read):
    x = jnp.arange(3.0) + 1
    x[0].block_until_ready()
    with olympus.transfer_guard_device_to_host("disallow_explicit"):
        read(x)


def test_programs_that_are_known_move_nothing():
    x = double(jnp.ones(3))
    with olympus.transfer_guard("disallow"):
        double(x)
        jnp.sin(x)


def test_a_guard_is_of_its_thread():
    errors = []

    def run():
        try:
            double(HOST)
        except RuntimeError as error:
            errors.append(error)

    with olympus.transfer_guard("disallow"):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert not errors


def test_blocks_nest():
    with olympus.transfer_guard("disallow"):
        with olympus.transfer_guard("allow"):
            double(HOST)
        with pytest.raises(RuntimeError, match="Disallowed"):
            double(HOST)


def test_the_setting_is_of_all_threads():
    olympus.config.update("olympus_transfer_guard", "disallow")
    try:
        with pytest.raises(RuntimeError, match="Disallowed"):
            double(HOST)
        with olympus.transfer_guard("allow"):
            double(HOST)
    finally:
        olympus.config.update("olympus_transfer_guard", None)
    double(HOST)


def test_unknown_levels_are_refused():
    with pytest.raises(ValueError, match="the value must be one of 'allow'"):
        olympus.transfer_guard("never")


CYCLE = """
import gc
import olympus, olympus.numpy as jnp
def leave_cycle():
    cycle = [jnp.ones(3) + 1]
    cycle.append(cycle)
gc.collect()
with olympus.array_garbage_collection_guard("log"):
    leave_cycle()
    gc.collect()
leave_cycle()
gc.collect()
x = olympus.device_put(jnp.ones(3), olympus.devices()[0])
with olympus.transfer_guard_device_to_device("disallow"):
    olympus.device_put(x, olympus.devices()[1])
try:
    with olympus.transfer_guard_device_to_device("disallow_explicit"):
        olympus.device_put(x, olympus.devices()[1])
except RuntimeError as error:
    print(error)
with olympus.transfer_guard("log"):
    olympus.jit(lambda x: x)(__import__("numpy").ones(3))
with olympus.thread_guard(True):
    print(olympus.jit(lambda x: x + 1)(1.0))
"""


def test_cycles_are_logged_and_devices_guarded():
    flags = "--xla_force_host_platform_device_count=2"
    out, log = fresh.run(CYCLE, XLA_FLAGS=flags)
    assert log.count("deleted by the Python garbage collector") == 1
    assert "Disallowed device-to-device transfer" in out
    assert "host-to-device transfer: " in log
    assert out.endswith("2.0\n")


ENVIRONMENT = """
import numpy, olympus
try:
    olympus.jit(lambda x: x)(numpy.ones(3))
except RuntimeError as error:
    print(error)
"""


def test_the_environment_sets_guards():
    out, _ = fresh.run(ENVIRONMENT, OLYMPUS_TRANSFER_GUARD_HOST_TO_DEVICE="disallow")
    assert "Disallowed host-to-device transfer" in out


# What JAX puts on the device by itself, as numbers in its own programs.
NOTHING_MOVED = {"choice", "x[array]", "std", "softmax"}


@pytest.mark.parametrize("level", ["disallow", "disallow_explicit"])
def test_guards_let_pass_what_those_of_jax_do(level):
    path = pathlib.Path(__file__).parent.parent / "data" / "guards.json"
    recorded = json.loads(path.read_text())[level]
    expected = {k: v or k in NOTHING_MOVED for k, v in recorded.items()}
    assert guarded_calls.are_allowed("olympus", level) == expected
