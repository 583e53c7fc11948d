"""Bundles: a function in a file computes what it did, elsewhere or not at all."""

import collections
import copy
import functools
import os
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import olympus
import olympus.numpy as jnp
from olympus import bundle, export
from olympus._src.export import arrays, bundle_files, executables, result_checks
from olympus._src.foundation import container
from olympus._src.foundation.container import Container
from tests import fresh
from tests.export import programs

State = collections.namedtuple("State", "mean count")
export.register_namedtuple_serialization(State, serialized_name="tests.State")

# More than is written into a program's text.
TABLE = jnp.arange(2000.0)


@olympus.jit
def predict(params, x, *, scale):
    """Scores of rows.

    Not shown.
    """
    scores = x @ params["w"] + params["b"][0] + TABLE[-1]
    return {"scores": scores, "total": scale * scores.sum()}


PARAMS = {"w": jnp.asarray([[1.0], [2.0]]), "b": [jnp.asarray([0.5])]}
X = jnp.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.fixture(scope="module")
def made():
    return bundle.make(predict, vjp_order=1)(PARAMS, X, scale=2.0)


@pytest.fixture(scope="module")
def data(made):
    return made.to_bytes()


def check_same(a, b):
    assert olympus.tree.structure(a) == olympus.tree.structure(b)
    for x, y in zip(olympus.tree.leaves(a), olympus.tree.leaves(b), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-6)


def changed_executables(data, change):
    """The bundle with other fields in its executables, and digests that are right."""
    contents = bundle_files.unpack(data)
    for i, code in enumerate(contents.executables):
        found = container.unpack(code, executables.KIND, range(1, 2))
        fields = copy.deepcopy(found.fields)
        change(fields)
        packed = Container(found.kind, found.version, fields, found.sections)
        contents.executables[i] = container.pack(packed)
    return bundle_files.pack(contents)


def of_another_machine(data):
    def change(fields):
        fields["machine"]["cpu_features"] += " avx1024"

    return changed_executables(data, change)


# -- what it does ----------------------------------------------------------------------


def test_a_bundle_computes_what_the_function_does(made, data):
    for found in (made, bundle.load(data), bundle.load(data, executables=False)):
        check_same(found(PARAMS, X, scale=3.0), predict(PARAMS, X, scale=3.0))
    assert bundle.load(data).uses_machine_code
    assert not bundle.load(data, executables=False).uses_machine_code


def test_a_bundle_tells_what_it_takes_and_gives(data):
    found = bundle.load(data)
    assert (found.name, found.doc.split("\n")[0]) == ("predict", "Scores of rows.")
    assert found.argument_paths == ("params['b'][0]", "params['w']", "x", "scale")
    assert found.result_paths == ("result['scores']", "result['total']")
    types = ["float32[1]", "float32[2,1]", "float32[3,2]", "float32[]"]
    assert [slot.type_text() for slot in found.arguments] == types
    assert repr(found).startswith("Bundle(predict(params['b'][0]: float32[1], ")
    assert found.in_tree == olympus.tree.structure(((PARAMS, X), {"scale": 2.0}))
    assert (found.platforms, found.vjp_order) == (("cpu",), 1)
    assert set(found.made_by) == {"olympus", "jaxlib", "python", "system"}
    (code,) = found.executables
    assert (code.platform, code.obstacles) == ("cpu", ())
    assert code.size > 1000


def test_what_was_read_is_written_the_same(data, tmp_path):
    assert bundle_files.pack(bundle_files.unpack(data)) == data
    path = tmp_path / "predict.bundle"
    bundle.load(data).save(path)
    assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["predict.bundle"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~bundle_files.umask()


def test_captured_arrays_are_kept_once():
    data = bundle.make(predict)(PARAMS, X, scale=2.0).to_bytes()
    assert data.count(np.asarray(TABLE[-4:]).tobytes()) == 1
    found = bundle.load(data)
    check_same(found(PARAMS, X, scale=3.0), predict(PARAMS, X, scale=3.0))


@pytest.mark.slow
def test_a_bundle_is_transformed_by_its_portable_program(data):
    found = bundle.load(data)

    def total(f, params):
        return f(params, X, scale=2.0)["total"]

    expected = olympus.grad(lambda p: total(predict, p))(PARAMS)
    check_same(olympus.grad(lambda p: total(found, p))(PARAMS), expected)
    check_same(olympus.jit(found)(PARAMS, X, scale=3.0), predict(PARAMS, X, scale=3.0))
    leaves = olympus.tree.leaves(((PARAMS, X), {"scale": 2.0}))
    cotangents = [jnp.zeros((3, 1)), jnp.ones(())]
    slopes = found.vjp().call(*leaves, *cotangents)
    check_same(list(slopes[:2]), olympus.tree.leaves(expected))


def test_a_bundle_for_another_machine_compiles_its_portable_program(data):
    found = bundle.load(of_another_machine(data), check=True)
    assert not found.uses_machine_code
    (code,) = found.executables
    assert "this CPU lacks avx1024" in code.obstacles[0]
    check_same(found(PARAMS, X, scale=3.0), predict(PARAMS, X, scale=3.0))


def test_machine_code_of_a_later_olympus_is_passed_over(data):
    contents = bundle_files.unpack(data)
    found = container.unpack(contents.executables[0], executables.KIND, range(1, 2))
    later = container.pack(Container(found.kind, 2, {}, {}))
    contents.executables.insert(0, later)
    read = bundle.load(bundle_files.pack(contents), check=True)
    assert read.uses_machine_code
    (why,) = read.executables[0].obstacles
    assert "version 2, which a newer olympus wrote" in why
    contents.executables[1:] = []
    assert not bundle.load(bundle_files.pack(contents), check=True).uses_machine_code


def test_machine_code_that_does_not_load_is_passed_over_with_a_warning(data, caplog):
    contents = bundle_files.unpack(data)
    found = container.unpack(contents.executables[0], executables.KIND, range(1, 2))
    sections = {**found.sections, "executable": b"no code"}
    packed = container.pack(Container(found.kind, 1, found.fields, sections))
    contents.executables[0] = packed
    read = bundle.load(bundle_files.pack(contents), check=True)
    assert not read.uses_machine_code
    assert "predict: machine code of the bundle was not loaded" in caplog.text


def test_machine_code_is_added_for_this_machine(data, tmp_path):
    path = tmp_path / "predict.bundle"
    path.write_bytes(of_another_machine(data))
    bundle.add_executable(path)
    found = bundle.load(path)
    assert [bool(code.obstacles) for code in found.executables] == [True, False]
    check_same(found(PARAMS, X, scale=3.0), predict(PARAMS, X, scale=3.0))
    assert found.uses_machine_code
    # For the same machine and types once more: it takes the other's place.
    assert len(found.add_executable().executables) == 2


def test_open_sizes_have_machine_code_for_those_that_were_asked_for():
    rows = olympus.jit(lambda x: (x * 2).sum(1))
    shape = export.symbolic_shape("n, 3")
    made = bundle.make(rows)(olympus.ShapeDtypeStruct(shape, "float32"))
    assert made.arguments[0].type_text() == "float32[n,3]"
    assert not made.executables
    with pytest.raises(
        ValueError, match=r"sizes must be given, since those of \['x'\]"
    ):
        made.add_executable()
    found = bundle.load(made.add_executable(jnp.ones((4, 3))).to_bytes())
    for n in (4, 2):
        x = jnp.arange(3.0 * n).reshape(n, 3)
        check_same(found(x), rows(x))
    with pytest.raises(TypeError, match=r"'x' must be of type float32\[n,3\], got"):
        found(jnp.ones((4, 2)))


def test_an_exported_program_is_bundled(data):
    exported = export.export(predict)(PARAMS, X, scale=2.0)
    made = bundle.make(exported, argument_names=["p", "rows"], name="other")()
    assert made.argument_paths == ("p['b'][0]", "p['w']", "rows", "scale")
    found = bundle.load(made.to_bytes())
    check_same(found(PARAMS, X, scale=3.0), predict(PARAMS, X, scale=3.0))
    assert found.name == "other"
    assert not found.has_sample


def test_donated_arguments_are_taken():
    add = olympus.jit(lambda state, x: state + x, donate_argnums=0)
    made = bundle.make(add)(jnp.ones(3), 1.0)
    for found in (
        bundle.load(made.to_bytes()),
        bundle.load(made.to_bytes(), executables=False),
    ):
        found.check()
        state = jnp.zeros(3)
        check_same(found(state, 2.0), jnp.full(3, 2.0))
        assert state.is_deleted()


def test_static_arguments_are_part_of_the_function():
    @functools.partial(olympus.jit, static_argnums=(0, 3), static_argnames="mode")
    def power(n, x, y, name, *, mode, scale):
        return scale * x**n + (y if mode == "add" else -y)

    made = bundle.make(power)(2, 3.0, 1.0, "a", mode="add", scale=2.0)
    assert made.argument_paths == ("x", "y", "scale")
    assert made.doc == ""
    assert made.has_sample
    found = bundle.load(made.to_bytes(), check=True)
    assert float(found(4.0, 1.0, scale=1.0)) == 17.0


def test_the_compilers_options_hold_for_machine_code():
    options = {"xla_backend_optimization_level": 0}
    double = olympus.jit(lambda x: 2 * x, compiler_options=options)
    for portable in (True, False):
        made = bundle.make(double, portable=portable)(1.0)
        (code,) = bundle_files.unpack(made.to_bytes()).executables
        fields = container.unpack(code, executables.KIND, range(1, 2)).fields
        assert fields["options"] == [["xla_backend_optimization_level", "0"]]


# Each as `(function, arguments)`: kinds of values and trees that a file could lose.
def _running(state, x):
    return State(state.mean + x, state.count + 1), None


PROGRAMS = {
    "wide": (lambda x, i: {"sum": x.sum() + i}, (np.ones(3), np.int64(1 << 40))),
    "keys": (lambda k: (olympus.random.split(k), k), (olympus.random.key(3),)),
    "small": (lambda x: [x * 2, x.astype("int4")], (jnp.ones(2, "bfloat16"),)),
    "empty": (lambda x: (x, ()), (jnp.ones((0, 2)),)),
    "tuples": (_running, (State(jnp.ones(2), 0), 0.5)),
    "nothing": (lambda: 1.0, ()),
    "tangents": (lambda i: olympus.vjp(lambda i: i * 1.5, i)[1](1.0), (3,)),
}


@pytest.mark.slow
def test_nothing_is_traced_or_compiled_in_another_process(data, tmp_path):
    (tmp_path / "predict").write_bytes(data)
    for name, (fun, args) in PROGRAMS.items():
        with olympus.enable_x64(name == "wide"):
            made = bundle.make(olympus.jit(fun), name=name)(*args)
        made.save(tmp_path / name)
    fresh.run(_SECOND_PROCESS, FOLDER=str(tmp_path))


_SECOND_PROCESS = """
    import collections, os
    import numpy as np
    import olympus
    from olympus import bundle, export, monitoring

    events = []
    note = lambda name, *_, **__: events.append(name)
    monitoring.register_event_duration_secs_listener(note)
    State = collections.namedtuple("State", "mean count")
    export.register_namedtuple_serialization(State, serialized_name="tests.State")
    os.chdir(os.environ["FOLDER"])
    x = np.float32([[1, 2], [3, 4], [5, 6]])
    params = {"w": np.float32([[1], [2]]), "b": [np.float32([0.5])]}
    predict = bundle.load("predict")
    out = predict(params, x, scale=2.0)
    assert out["scores"].tolist() == [[2004.5], [2010.5], [2016.5]], out
    for name in os.listdir("."):
        found = bundle.load(name, check=True)
        assert found.uses_machine_code, name
    wide = bundle.load("wide")(np.ones(3), np.int64(1 << 40))["sum"]
    assert wide.dtype == "float64" and float(wide) == 3 + 2**40
    new, nothing = bundle.load("tuples")(State(np.float32([1, 2]), 4), 0.5)
    assert type(new) is State and int(new.count) == 5 and nothing is None
    assert not events, events
    portable = bundle.load("predict", executables=False, check=True)
    assert not portable.uses_machine_code
    assert "/olympus/core/compile/to_mlir_module_duration" in events
    np.testing.assert_allclose(portable(params, x, scale=2.0)["scores"], out["scores"])
"""


GROUPS = [sorted(programs.PROGRAMS)[i::4] for i in range(4)]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("names", GROUPS, ids="+".join)
def test_whole_models_start_at_once_in_another_process(names, tmp_path):
    for name in names:
        f, args, kwargs, smooth = programs.PROGRAMS[name]
        make = bundle.make(olympus.jit(f), name=name, vjp_order=int(smooth))
        make(*args, **kwargs).save(tmp_path / name)
    fresh.run(_MODELS, FOLDER=str(tmp_path))


_MODELS = """
    import os
    import olympus
    from olympus import bundle, monitoring

    events = []
    note = lambda name, *_, **__: events.append(name)
    monitoring.register_event_duration_secs_listener(note)
    os.chdir(os.environ["FOLDER"])
    for name in os.listdir("."):
        assert bundle.load(name, check=True).uses_machine_code
    assert not events, events
    for name in os.listdir("."):
        assert not bundle.load(name, check=True, executables=False).uses_machine_code
"""


@pytest.mark.slow
def test_a_chosen_device_is_where_a_bundle_runs(data, tmp_path):
    (tmp_path / "predict").write_bytes(data)
    fresh.run(
        """
        import os
        import numpy as np
        import olympus
        from olympus import bundle
        first, second = olympus.devices()
        path = os.path.join(os.environ["FOLDER"], "predict")
        for executables in (True, False):
            found = bundle.load(path, device=second, executables=executables)
            args, kwargs = found.sample_arguments()
            assert found(*args, **kwargs)["total"].devices() == {second}
            found.check()
            home = bundle.load(path, executables=executables)
            assert home(*args, **kwargs)["total"].devices() == {first}
        """,
        FOLDER=str(tmp_path),
        OLYMPUS_NUM_CPU_DEVICES="2",
    )


RECORDED = sorted(pathlib.Path(__file__).parent.parent.glob("data/bundle_*.bin"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_bundles_of_earlier_versions_are_read(path):
    found = bundle.load(path, check=True)
    assert found.name == "advance"
    assert found.argument_paths == ("state.mean", "state.count", "x", "key")
    assert found.result_paths == ("result[0].mean", "result[0].count", "result[1][0]")
    args, kwargs = found.sample_arguments()
    state, (x,) = found(*args, **kwargs)
    assert type(state) is State
    assert (int(state.count), x.dtype) == (5, "bfloat16")


def test_both_versions_of_jaxlib_have_written_bundles():
    assert len(RECORDED) >= 2


# -- what is refused -------------------------------------------------------------------


def test_wrong_arguments_are_named(data):
    found = bundle.load(data)
    with pytest.raises(
        TypeError, match=r"'x' must be of type float32\[3,2\], got int32"
    ):
        found(PARAMS, jnp.ones((3, 2), int), scale=2.0)
    with pytest.raises(
        TypeError, match=r"params\['w'\]\" must be .* got float32\[1,2\]"
    ):
        found({**PARAMS, "w": jnp.ones((1, 2))}, X, scale=2.0)
    with pytest.raises(TypeError, match=r"arguments must have the structure .*'scale'"):
        found(PARAMS, X)
    with pytest.raises(TypeError, match=r"argument to predict .* at path x"):
        found(PARAMS, "text", scale=2.0)


def test_without_a_portable_program_other_machines_are_refused():
    made = bundle.make(predict, portable=False)(PARAMS, X, scale=2.0)
    data = made.to_bytes()
    found = bundle.load(data, check=True)
    check_same(found(PARAMS, X, scale=3.0), predict(PARAMS, X, scale=3.0))
    with pytest.raises(ValueError, match="cannot run here: it has no portable program"):
        bundle.load(of_another_machine(data))
    with pytest.raises(ValueError, match="no portable program, and executables=False"):
        bundle.load(data, executables=False)
    for use in (lambda: found.exported, found.vjp, found.add_executable):
        with pytest.raises(ValueError, match="was made with portable=False"):
            use()
    with pytest.raises(ValueError, match="was made with portable=False"):
        olympus.jit(found)(PARAMS, X, scale=2.0)


def test_a_program_for_other_platforms_is_refused_with_the_reason():
    made = bundle.make(olympus.jit(jnp.sin), platforms=["cuda"], executables=False)
    with pytest.raises(ValueError, match="program is for cuda, and this is 'cpu'"):
        bundle.load(made(olympus.ShapeDtypeStruct((3,), "float32")).to_bytes())


def test_a_program_for_several_platforms_runs_on_one_of_them():
    made = bundle.make(olympus.jit(jnp.sin), platforms=["cuda", "cpu"])(0.5)
    assert made.platforms == ("cuda", "cpu")
    for choice in (True, False):
        found = bundle.load(made.to_bytes(), executables=choice, check=True)
        assert found.uses_machine_code == choice


def test_derivatives_that_are_not_in_it_are_missed():
    found = bundle.make(olympus.jit(jnp.sin), executables=False)(1.0)
    assert not found.has_vjp()
    again = bundle.load(found.to_bytes())
    with pytest.raises(ValueError, match="No VJP is available"):
        again.vjp()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"portable": False, "executables": False}, ValueError, "nothing to store"),
        ({"portable": False, "vjp_order": 1}, ValueError, "vjp_order must be 0"),
        ({"argument_names": ["a", "b"]}, ValueError, "must be 1 names, got"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        bundle.make(olympus.jit(lambda x: x), **options)(1.0)


def test_what_cannot_be_bundled_is_refused():
    with pytest.raises(TypeError, match=r"jitted function .* got <function"):
        bundle.make(lambda x: x)
    described = olympus.ShapeDtypeStruct((), "float32")
    with pytest.raises(ValueError, match="self_test=True needs arrays"):
        bundle.make(olympus.jit(lambda x: x), self_test=True)(described)


def test_files_are_written_whole_or_not_at_all(made, tmp_path, monkeypatch):
    path = tmp_path / "predict.bundle"
    path.write_bytes(b"what was there")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        made.save(path)
    assert path.read_bytes() == b"what was there"
    assert os.listdir(tmp_path) == ["predict.bundle"]


def test_damaged_files_are_refused(data, tmp_path):
    path = tmp_path / "a.bundle"
    sizes = (0, 1, 8, 15, 500, len(data) // 2, len(data) - 1)
    flipped = [bytearray(data) for _ in range(30)]
    for i, spoilt in enumerate(flipped):
        spoilt[i * len(data) // 30] ^= 1 << i % 8
    for spoilt in (*[data[:n] for n in sizes], *flipped):
        path.write_bytes(spoilt)
        with pytest.raises(ValueError, match=r"bundle.load: .*a\.bundle: bundle: "):
            bundle.load(path)
    with pytest.raises(FileNotFoundError):
        bundle.load(tmp_path / "no such file")
    exported = export.export(olympus.jit(jnp.sin))(1.0).serialize()
    with pytest.raises(ValueError, match="kind 'bundle', got one of kind 'exported"):
        bundle.load(exported)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("in_tree", [""], "in_tree: there are no nodes ''"),
        ("in_tree", ["*"], "in_tree must have 4 leaves, got 1"),
        ("out_tree", None, "out_tree: must be a list, got None"),
        ("executables", 2, "its sections must be"),
        ("executables", -1, "must be at least 0"),
        ("arguments", [], "donated: must be 0 values"),
        ("made_by", {"olympus": 1}, "made_by: must be an object of strings"),
    ],
)
def test_headers_that_contradict_the_contents_are_refused(data, name, value, message):
    found = container.unpack(data, bundle_files.KIND, range(1, 2))
    fields = {**found.fields, name: value}
    packed = container.pack(Container(found.kind, 1, fields, found.sections))
    with pytest.raises(ValueError, match=f"^bundle.load: bundle.*{message}"):
        bundle.load(packed)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-1, 3),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.sampled_from(["float32", "int8", "key<fry>", "*", "n"]),
    st.lists(st.integers(-2, 5), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data())
def test_no_header_leads_to_more_than_an_error(data, drawn):
    found = container.unpack(data, bundle_files.KIND, range(1, 2))
    fields = copy.deepcopy(found.fields)
    inner, key = fields, drawn.draw(st.sampled_from(sorted(fields)))
    while inner[key] and isinstance(inner[key], (dict, list)) and drawn.draw(DEEPER):
        inner = inner[key]
        keys = inner if isinstance(inner, dict) else range(len(inner))
        key = drawn.draw(st.sampled_from(sorted(keys)))
    inner[key] = drawn.draw(VALUES)
    packed = container.pack(Container(found.kind, 1, fields, found.sections))
    try:
        out = bundle.load(packed)(PARAMS, X, scale=3.0)
    except (ValueError, TypeError, RuntimeError):
        return
    check_same(
        olympus.tree.leaves(out), olympus.tree.leaves(predict(PARAMS, X, scale=3.0))
    )


DEEPER = st.integers(0, 3).map(bool)


# -- self-tests ------------------------------------------------------------------------


def with_other_result(data, change):
    contents = bundle_files.unpack(data)
    results = [arrays.encode_array(change(x.array())) for x in contents.sample.results]
    contents.sample = contents.sample._replace(results=results)
    return bundle_files.pack(contents)


def test_a_bundle_that_computes_something_else_fails_its_test(data):
    wrong = with_other_result(data, lambda x: x * 1.01)
    assert bundle.load(wrong)
    with pytest.raises(
        ValueError, match=r"self-test: result\['scores'\] is off by 0.0099"
    ):
        bundle.load(wrong, check=True)
    bundle.load(with_other_result(data, lambda x: x * 1.0001), check=True)


def test_the_tolerance_is_the_users(made):
    loose = bundle.make(predict, tolerance=0.05)(PARAMS, X, scale=2.0).to_bytes()
    bundle.load(with_other_result(loose, lambda x: x * 1.01), check=True)


def test_samples_are_kept_where_they_are_concrete_small_or_wanted():
    double = olympus.jit(lambda x: 2 * x)
    large = jnp.ones(1 << 18)
    assert bundle.make(double)(1.0).has_sample
    assert not bundle.make(double, self_test=False)(1.0).has_sample
    assert not bundle.make(double)(large).has_sample
    assert bundle.make(double, self_test=True)(large).has_sample
    made = bundle.make(double)(olympus.ShapeDtypeStruct((), "float32"))
    assert not made.has_sample
    with pytest.raises(ValueError, match="must have a self-test, got none"):
        made.check()


@pytest.mark.parametrize(
    ("found", "expected", "far"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 2.2], [1.0, 2.0], 0.1),
        ([0.0, 1e-9], [0.0, 0.0], 1e-9),
        ([np.nan, 1.0], [np.nan, 1.0], 0.0),
        ([np.nan, 1.0], [1.0, 1.0], np.inf),
        ([np.inf, 1.0], [np.inf, 1.0], 0.0),
        ([-np.inf, 1.0], [np.inf, 1.0], np.inf),
        ([], [], 0.0),
        ([1.0], [1.0, 1.0], np.inf),
    ],
)
def test_deviations_are_shares_of_the_largest_value(found, expected, far):
    got = result_checks.deviation(np.float64(found), np.float64(expected))
    np.testing.assert_allclose(got, far, rtol=1e-6)


def test_whole_numbers_must_be_equal():
    assert result_checks.deviation(np.int32([1, 2]), np.int32([1, 2])) == 0
    assert result_checks.deviation(np.int32([1, 3]), np.int32([1, 2])) == np.inf
    assert result_checks.deviation(np.int8([1]), np.int32([1])) == np.inf
