"""Settings: values, blocks, threads, the trace context, messages."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olympus._src.foundation import config, setting_states


@pytest.fixture
def restored():
    """Puts the global values back after a test that updates them."""
    before = {state: state.value for state in config.config.states.values()}
    yield
    for state, value in before.items():
        if state.value != value:
            state.set(value)


def test_update_and_read(restored):
    config.update("olympus_numpy_rank_promotion", "raise")
    assert config.read("olympus_numpy_rank_promotion") == "raise"
    assert config.config.olympus_numpy_rank_promotion == "raise"
    assert config.config.numpy_rank_promotion is config.numpy_rank_promotion
    assert config.config.values["olympus_numpy_rank_promotion"] == "raise"
    assert config.numpy_rank_promotion.value == "raise"


def test_block_restores_even_after_an_error():
    before = config.enable_x64.value

    def fail():
        with config.enable_x64(not before):
            assert config.x64_enabled() is not before
            raise KeyError("out")

    with pytest.raises(KeyError, match="out"):
        fail()
    assert config.x64_enabled() is before


def test_a_truth_needs_no_value_in_a_block():
    with config.disable_jit():
        assert config.jit_disabled() is True
    with config.checking_leaks():
        assert config.check_leaks() is True
    assert config.check_leaks() is False


def test_one_block_object_nests_and_decorates():
    block = config.default_matmul_precision("high")
    with block:
        with block:
            assert config.default_matmul_precision.value == "high"
        assert config.default_matmul_precision.value == "high"
    assert config.default_matmul_precision.value is None

    @block
    def read(x):
        """Reads."""
        return config.default_matmul_precision.value, x

    assert read(3) == ("high", 3)
    assert read.__name__ == "read"
    assert config.default_matmul_precision.value is None


def test_update_inside_a_block_waits_for_its_end(restored):
    with config.numpy_rank_promotion("warn"):
        config.update("olympus_numpy_rank_promotion", "raise")
        assert config.numpy_rank_promotion.value == "warn"
    assert config.numpy_rank_promotion.value == "raise"


@pytest.mark.filterwarnings("ignore:.*nothing depends on it yet")
def test_transfer_guard_sets_all_directions():
    with config.transfer_guard("disallow"):
        assert config.transfer_guard_host_to_device.value == "disallow"
        with config.transfer_guard_host_to_device("log"):
            assert config.transfer_guard_host_to_device.value == "log"
            with config.transfer_guard("allow"):
                assert config.transfer_guard_host_to_device.value == "allow"
            assert config.transfer_guard_host_to_device.value == "log"
        assert config.transfer_guard_device_to_host.value == "disallow"
    assert config.transfer_guard_device_to_host.value is None


def test_a_block_holds_in_its_thread_alone():
    entered, seen = threading.Event(), threading.Event()
    found = []

    def other():
        entered.wait(10)
        found.append((config.x64_enabled(), config.trace_context()))
        seen.set()

    thread = threading.Thread(target=other)
    thread.start()
    outside = config.trace_context()
    with config.enable_x64(True):
        entered.set()
        assert seen.wait(10)
    thread.join()
    assert found == [(False, outside)]


def test_threads_do_not_disturb_each_other():
    def work(i):
        precision = config.MATMUL_PRECISIONS[i % 6]
        contexts = set()
        for _ in range(300):
            with config.default_matmul_precision(precision):
                contexts.add(config.trace_context())
                assert config.default_matmul_precision.value == precision
        return precision, contexts

    before = config.trace_context()
    with ThreadPoolExecutor(6) as pool:
        results = dict(pool.map(work, range(6)))
    assert all(len(contexts) == 1 for contexts in results.values())
    assert len(set.union(*results.values())) == 6
    assert config.trace_context() is before


def test_the_trace_context_follows_values(restored):
    before = config.trace_context()
    config.update("olympus_enable_x64", not config.x64_enabled())
    changed = config.trace_context()
    assert changed is not before
    config.update("olympus_log_compiles", True)
    assert config.trace_context() is changed
    with config.log_compiles(False):
        assert config.trace_context() is changed
    config.update("olympus_enable_x64", not config.x64_enabled())
    assert config.trace_context() is before
    assert changed.differences(before) == [("olympus_enable_x64", True, False)]


def test_a_context_changed_in_an_open_block_is_seen_by_it(restored):
    with config.numpy_rank_promotion("warn"):
        first = config.trace_context()
        config.update("olympus_enable_x64", True)
        assert config.trace_context() is not first
        config.update("olympus_enable_x64", False)
        assert config.trace_context() is first


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["enable_x64", "debug_nans", "default_matmul_precision"]),
        st.sampled_from([True, False, "high", None]),
    ),
    max_size=6,
)


@given(OPERATIONS)
def test_contexts_are_equal_where_all_values_are(operations):
    """Nested blocks against a plain dict of what they should have set."""
    seen = {}

    def values():
        return tuple(s.value for s in config.config.states.values() if s.traces)

    def note():
        context = config.trace_context()
        assert seen.setdefault(values(), context) is context
        assert len(set(map(id, seen.values()))) == len(seen)

    def descend(rest):
        note()
        if not rest:
            return
        (name, value), *rest = rest
        state = getattr(config, name)
        try:
            block = state(value)
        except ValueError:
            return
        before = values()
        with block:
            assert state.value == value
            descend(rest)
        assert values() == before
        note()

    descend(operations)


def test_user_contexts_take_part():
    training = config.make_user_context("no")
    before = config.trace_context()
    with training("yes"):
        assert training.value == "yes"
        assert config.trace_context() is not before
    assert config.trace_context() is before
    with pytest.raises(TypeError, match=r"must be hashable, .* got list"):
        training([])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("enable_x64", "maybe", "olympus_enable_x64: .* True or False, got 'maybe'"),
        ("enable_x64", 2, "True or False, got 2"),
        ("numpy_rank_promotion", "x", "one of 'allow', 'warn', 'raise', got 'x'"),
        ("default_matmul_precision", "exact", "'highest'.* or None, got 'exact'"),
        ("num_cpu_devices", "3", "an integer or None, got '3'"),
        ("num_cpu_devices", True, "an integer or None, got True"),
        ("default_device", 3, "Device .* the name of a platform or None, got 3"),
        ("compilation_cache_dir", 3, "a path or None, got 3"),
    ],
)
def test_wrong_values_are_named(name, value, message):
    with pytest.raises(ValueError, match=message):
        config.update(f"olympus_{name}", value)
    with pytest.raises(ValueError, match=message):
        getattr(config.config, name)(value)


def test_texts_of_truths_are_read(restored):
    config.update("olympus_enable_x64", "True")
    assert config.x64_enabled() is True
    config.update("olympus_enable_x64", "false")
    assert config.x64_enabled() is False


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("jax_enable_x64", "olympus_enable_x64"),
        ("enable_x64", "olympus_enable_x64"),
        ("olympus_debug_nan", "olympus_debug_nans"),
        ("olympus_platform", "olympus_platforms"),
    ],
)
def test_unknown_names_are_answered_with_near_ones(name, near):
    with pytest.raises(AttributeError, match=f"no setting '{name}'; .*{near}"):
        config.update(name, 1)


def test_assigning_an_attribute_shows_the_call():
    with pytest.raises(AttributeError, match=r"config.update\('olympus_x', 1\)"):
        config.config.olympus_x = 1


def test_a_setting_has_no_truth_and_some_need_a_value():
    with pytest.raises(TypeError, match=r"read `enable_x64.value`"):
        bool(config.enable_x64)
    with pytest.raises(TypeError, match=r"requires a value, got none"):
        config.default_device()


def test_watchers_may_refuse(restored):
    state = setting_states.State("olympus_test", lambda v: v, 1, "For this test.")

    def refuse(value):
        raise RuntimeError(f"too late for {value}")

    state.watch(refuse)
    with pytest.raises(RuntimeError, match="too late for 2"):
        state.set(2)
    assert state.value == 1


def _in_environment(code, **variables):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_environment_gives_start_values():
    done = _in_environment(
        "from olympus._src.foundation import config as c\n"
        "print(c.enable_x64.value, c.num_cpu_devices.value, c.platforms.value,"
        " c.compiler.compilation_cache_dir.value, c.enable_x64.default)",
        OLYMPUS_ENABLE_X64="1",
        OLYMPUS_NUM_CPU_DEVICES="4",
        OLYMPUS_PLATFORMS="cpu",
        OLYMPUS_COMPILATION_CACHE_DIR="",
    )
    assert done.stdout.split() == ["True", "4", "cpu", "None", "False"], done.stderr


def test_a_wrong_variable_is_named():
    done = _in_environment(
        "from olympus._src.foundation import config", OLYMPUS_ENABLE_X64="maybe"
    )
    assert "OLYMPUS_ENABLE_X64: the environment variable must be True or" in done.stderr


def test_every_setting_is_explained():
    for name, state in config.config.states.items():
        assert name == "olympus_" + state.short_name
        assert len(state.help) > 20
        assert state.help.endswith(".")


def test_a_block_takes_its_value_by_name():
    with config.enable_x64(new_val=True):
        assert config.enable_x64.value
    with config.disable_jit(disable=False):
        assert not config.disable_jit.value
