"""Compiled functions as bytes: they come back whole, or are refused with the reason."""

import copy
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import olympus
import olympus.numpy as jnp
from olympus._src.export import executables
from olympus._src.foundation import container
from olympus._src.foundation.container import Container
from olympus.experimental import io_callback
from olympus.experimental.serialize_executable import deserialize_and_load, serialize
from tests import fresh

TABLE = jnp.arange(-1000.0, 1000.0)  # not so small that it is written in the program


def weighted(x, unused, *, scale):
    return {"a": x * scale + TABLE[-1], "b": (x > 1, [x.astype("bfloat16")])}


@pytest.fixture(scope="module")
def compiled():
    x = jnp.ones(3)
    return olympus.jit(weighted).lower(x, {"w": x}, scale=2.0).compile()


@pytest.fixture(scope="module")
def parts(compiled):
    return serialize(compiled)


@pytest.fixture(scope="module")
def loaded(parts):
    return deserialize_and_load(*parts)


def check_same(a, b):
    assert olympus.tree.structure(a) == olympus.tree.structure(b)
    for x, y in zip(olympus.tree.leaves(a), olympus.tree.leaves(b), strict=True):
        assert (x.dtype, x.weak_type) == (y.dtype, y.weak_type)
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def test_a_loaded_function_computes_what_the_compiled_one_does(compiled, loaded):
    x = jnp.asarray([0.5, 1.5, 2.5])
    args = (x, {"w": x})
    check_same(loaded(*args, scale=3.0), compiled(*args, scale=3.0))
    check_same(loaded.call(*args, scale=3.0), compiled(*args, scale=3.0))


def instructions(compiled):
    """The program, without the user's lines, which only the one compiled here knows."""
    return re.sub(r", metadata=\{[^}]*\}", "", compiled.as_text())


def test_a_loaded_function_tells_all_that_the_compiled_one_does(compiled, loaded):
    for name in ("in_tree", "out_tree", "in_avals", "args_info", "donate_argnums"):
        assert getattr(loaded, name) == getattr(compiled, name), name
    assert str(loaded.out_info) == str(compiled.out_info)
    assert loaded.cost_analysis() == compiled.cost_analysis()
    assert instructions(loaded) == instructions(compiled)
    assert loaded.memory_analysis().argument_size_in_bytes > 4000
    assert loaded.input_shardings == compiled.input_shardings
    assert loaded.input_shardings[0][1] == {"w": None}  # which is not used
    assert len(olympus.tree.leaves(loaded.output_shardings)) == 3
    assert repr(loaded) == repr(compiled) == "Compiled(weighted)"


def test_a_loaded_function_names_the_arguments_that_are_wrong(loaded):
    x = jnp.ones(3)
    with pytest.raises(TypeError, match=r"Argument 'x' .*float32\[3\].*float32\[4\]"):
        loaded(jnp.ones(4), {"w": x}, scale=2.0)
    with pytest.raises(TypeError, match=r"'unused\['w'\]' .* called with int32\[3\]"):
        loaded(x, {"w": jnp.arange(3)}, scale=2.0)
    with pytest.raises(TypeError, match=r"argument to weighted as .* path x"):
        loaded("text", {"w": x}, scale=2.0)
    with pytest.raises(TypeError, match="input pytree"):
        loaded(x, {"w": x})
    with pytest.raises(TypeError, match="transformations"):
        olympus.jit(loaded)(x, {"w": x}, scale=2.0)


def test_a_loaded_function_can_be_written_again(parts, loaded):
    again = deserialize_and_load(*serialize(loaded))
    args = (jnp.ones(3), {"w": jnp.ones(3)})
    check_same(again(*args, scale=2.0), loaded(*args, scale=2.0))


def test_donated_arguments_are_taken():
    add = olympus.jit(lambda x, y: x + y, donate_argnums=0)
    found = deserialize_and_load(*serialize(add.lower(1.0, 1.0).compile()))
    x = jnp.asarray(1.0)
    assert float(found(x, 2.0)) == 3.0
    assert x.is_deleted()
    assert found.donate_argnums == (0,)


def test_static_arguments_are_part_of_it():
    power = olympus.jit(lambda n, x: x**n, static_argnums=0)
    found = deserialize_and_load(*serialize(power.lower(3, 1.0).compile()))
    assert float(found(2.0)) == 8.0
    with pytest.raises(TypeError, match="'x' compiled with"):
        found(jnp.ones(2))


def test_bad_numbers_are_found_in_a_loaded_function():
    log = serialize(olympus.jit(lambda x: x - x / x).lower(1.0).compile())
    with olympus.debug_nans(True):
        found = deserialize_and_load(*log)
        assert float(found(2.0)) == 1.0
        with pytest.raises(FloatingPointError, match=r"\(nan\)"):
            found(0.0)


# Each as `(function, arguments)`: kinds of values that bytes could lose.
WITHIN_X64 = {
    "wide": (lambda x, z: (x.sum(), z * z), (np.arange(3), np.ones(2, complex))),
    "empty": (lambda x: (x, x.sum(0), ()), (np.ones((0, 3), np.float32),)),
    "small": (lambda x: x.astype("float8_e4m3fn"), (np.ones(2, jnp.bfloat16),)),
    "nibbles": (lambda x: x + x, (np.ones(3, jnp.int4),)),
    "nothing": (lambda x: None, (1,)),
    "tangents": (lambda x: olympus.vjp(lambda i: i * 1.0, x)[1](1.0), (1,)),
}


def random_pair(key):
    return olympus.random.split(key)[1], olympus.random.normal(key, (2,))


@pytest.mark.slow
def test_every_kind_of_value_comes_back_in_another_process(parts, tmp_path):
    stored = {"weighted": parts}
    expected = {}
    arguments = {"weighted": ((np.ones(3, np.float32), {"w": np.ones(3, np.float32)}))}
    with olympus.enable_x64(True):
        for name, (fun, args) in WITHIN_X64.items():
            arguments[name] = args
            compiled = olympus.jit(fun).lower(*args).compile()
            stored[name] = serialize(compiled)
            expected[name] = olympus.tree.map(np.asarray, compiled(*args))
    key = olympus.random.key(7)
    compiled = olympus.jit(random_pair).lower(key).compile()
    stored["keys"] = serialize(compiled)
    expected["keys"] = np.asarray(compiled(key)[1])
    path = tmp_path / "stored"
    path.write_bytes(pickle.dumps((stored, arguments, expected)))
    fresh.run(_SECOND_PROCESS, STORED=str(path))


_SECOND_PROCESS = """
    import os, pickle
    import numpy as np
    import olympus
    from olympus import monitoring
    from olympus.experimental.serialize_executable import deserialize_and_load

    events = []
    note = lambda name, *_, **__: events.append(name)
    monitoring.register_event_duration_secs_listener(note)
    with open(os.environ["STORED"], "rb") as file:
        stored, arguments, expected = pickle.load(file)
    loaded = {name: deserialize_and_load(*parts) for name, parts in stored.items()}
    out = loaded.pop("weighted")(*arguments.pop("weighted"), scale=2.0)
    assert out["a"].tolist() == [1001.0] * 3, out

    def check_same(x, y):
        assert x.dtype == y.dtype, (x, y)
        np.testing.assert_array_equal(np.asarray(x), y)

    with olympus.enable_x64(True):
        for name, args in arguments.items():
            olympus.tree.map(check_same, loaded.pop(name)(*args), expected[name])
    assert not events, events
    key = olympus.random.key(7)
    new, numbers = loaded.pop("keys")(key)
    assert new.dtype == key.dtype
    np.testing.assert_array_equal(np.asarray(numbers), expected["keys"])
    assert not loaded
"""


# -- what is refused -------------------------------------------------------------------


def test_what_is_no_compiled_function_is_refused():
    jitted = olympus.jit(lambda x: x)
    for wrong in (jitted, jitted.trace(1), jitted.lower(1), b"bytes", None):
        with pytest.raises(TypeError, match=r"serialize: .* compiled .*\.compile\(\)"):
            serialize(wrong)


def test_programs_that_call_python_are_refused():
    def shown(x):
        return io_callback(lambda x: x, x, x, ordered=True)

    compiled = olympus.jit(shown).lower(1.0).compile()
    with pytest.raises(ValueError, match="program of shown must not call Python"):
        serialize(compiled)


def test_damaged_bytes_are_refused(parts):
    data, *trees = parts
    for size in (0, 1, 7, 8, 15, 16, 100, len(data) // 2, len(data) - 1):
        with pytest.raises(ValueError, match=r"^deserialize_and_load: compiled exec"):
            deserialize_and_load(data[:size], *trees)
    for place in range(0, len(data), len(data) // 40):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(ValueError, match=r"^deserialize_and_load: compiled exec"):
            deserialize_and_load(bytes(flipped), *trees)
    with pytest.raises(ValueError, match="something else"):
        deserialize_and_load(pickle.dumps({"a": 1}), *trees)
    with pytest.raises(TypeError, match="must be bytes, got str"):
        deserialize_and_load("text", *trees)


def rewritten(data, change, kind=executables.KIND, version=1):
    """The bytes with other fields or sections, under a digest that is right."""
    found = container.unpack(data, executables.KIND, range(1, 2))
    fields, sections = copy.deepcopy(found.fields), found.sections
    change(fields, sections)
    return container.pack(Container(kind, version, fields, sections))


def test_other_kinds_and_versions_are_refused(parts):
    data, *trees = parts

    def same(fields, sections):
        pass

    with pytest.raises(
        ValueError, match=r"kind 'compiled executable', got .* 'bundle'"
    ):
        deserialize_and_load(rewritten(data, same, kind="bundle"), *trees)
    with pytest.raises(ValueError, match="version 2, which a newer olympus wrote"):
        deserialize_and_load(rewritten(data, same, version=2), *trees)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("jaxlib", "0.9.1", "its jaxlib is '0.9.1', and this machine's is"),
        ("platform_version", "CUDA 1", "its platform version is 'CUDA 1'"),
        ("device_kind", "NVIDIA H100", "its device kind is 'NVIDIA H100'"),
        ("architecture", "riscv64", "its architecture is 'riscv64'"),
        ("cpu_features", "avx1024", "this CPU lacks avx1024 and it was built for one"),
        ("something", "new", "its something is 'new', and this machine's is 'unknown'"),
    ],
)
def test_other_machines_are_refused_with_the_reason(parts, name, value, reason):
    def change(fields, sections):
        fields["machine"][name] = value

    data, *trees = parts
    with pytest.raises(ValueError, match=f"another kind of machine: .*{reason}"):
        deserialize_and_load(rewritten(data, change), *trees)


def test_a_platform_that_does_not_run_here_is_refused(parts):
    with pytest.raises(RuntimeError, match=r"platform must be one of .* got 'abacus'"):
        deserialize_and_load(*parts, backend="abacus")


def test_devices_are_counted(parts):
    device = olympus.devices()[0]
    assert deserialize_and_load(*parts, execution_devices=[device])
    assert deserialize_and_load(*parts, backend="cpu")
    for wrong in ([], [device, device]):
        with pytest.raises(ValueError, match="execution_devices must be 1 device"):
            deserialize_and_load(*parts, execution_devices=wrong)


def test_trees_that_do_not_fit_are_refused(parts):
    data, in_tree, out_tree = parts
    one = olympus.tree.structure(1)
    with pytest.raises(ValueError, match="in_tree must be the structure of 3 leaves"):
        deserialize_and_load(data, one, out_tree)
    with pytest.raises(ValueError, match="out_tree must be the structure of 3 leaves"):
        deserialize_and_load(data, in_tree, one)


def test_results_of_another_type_than_the_code_gives_are_refused(parts):
    def larger(fields, sections):
        fields["results"][0]["shape"] = [1 << 20]

    def wider(fields, sections):
        fields["results"][0]["dtype"] = "float64"

    data, *trees = parts
    for change in (larger, wider):
        with pytest.raises(ValueError, match="results must be those of its machine co"):
            deserialize_and_load(rewritten(data, change), *trees)


def test_machine_code_that_is_none_is_refused(parts):
    def spoil(fields, sections):
        sections["executable"] = b"no code"

    data, *trees = parts
    with pytest.raises(ValueError, match="able to load the machine code, got"):
        deserialize_and_load(rewritten(data, spoil), *trees)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-1, 3),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.sampled_from(["float32", "int8", "key<fry>"]),
    st.lists(st.integers(-2, 5), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.data())
def test_no_header_leads_to_more_than_an_error(parts, data):
    def change(fields, sections):
        inner, key = fields, data.draw(st.sampled_from(sorted(fields)))
        while inner[key] and isinstance(inner[key], (dict, list)) and data.draw(FLIP):
            inner = inner[key]
            keys = inner if isinstance(inner, dict) else range(len(inner))
            key = data.draw(st.sampled_from(sorted(keys)))
        inner[key] = data.draw(VALUES)

    packed, *trees = parts
    args = (jnp.ones(3), {"w": jnp.ones(3)})
    try:
        out = deserialize_and_load(rewritten(packed, change), *trees)(*args, scale=2.0)
    except (ValueError, TypeError, RuntimeError):
        return
    assert out["a"].tolist() == [1001.0] * 3


FLIP = st.integers(0, 3).map(bool)


@pytest.mark.slow
def test_a_chosen_device_is_where_it_runs():
    fresh.run(
        """
        import olympus, olympus.numpy as jnp
        from olympus.experimental.serialize_executable import (
            deserialize_and_load, serialize)
        table = jnp.arange(500.0)
        first, second = olympus.devices()
        f = olympus.jit(lambda x: x + table.sum())
        parts = serialize(f.lower(1.0).compile())
        home = deserialize_and_load(*parts)(1.0)
        moved = deserialize_and_load(*parts, execution_devices=[second])(1.0)
        assert home.devices() == {first} and moved.devices() == {second}
        assert float(home) == float(moved)
        pinned = olympus.jit(lambda x: x + 1, device=second).lower(1.0).compile()
        again = deserialize_and_load(*serialize(pinned))(1.0)
        assert again.devices() == {second} and float(again) == 2.0
        """,
        OLYMPUS_NUM_CPU_DEVICES="2",
    )


@pytest.mark.slow
def test_kernels_of_lapack_are_found_in_a_second_process(tmp_path):
    x = jnp.asarray([[2.0, 1.0], [0.0, 4.0]])
    parts = serialize(olympus.jit(jnp.linalg.inv).lower(x).compile())
    path = tmp_path / "stored"
    path.write_bytes(pickle.dumps(parts))
    code = """
        import os, pickle, numpy as np, olympus
        from olympus.experimental.serialize_executable import deserialize_and_load
        with open(os.environ["STORED"], "rb") as file:
            f = deserialize_and_load(*pickle.load(file))
        x = np.float32([[2, 1], [0, 4]])
        np.testing.assert_allclose(f(x) @ x, np.eye(2), atol=1e-6)
        """
    fresh.run(code, STORED=str(path))
