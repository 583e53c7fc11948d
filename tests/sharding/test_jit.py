"""Programs divided over eight devices by the compiler."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.experimental import io_callback, serialize_executable
from olympus.sharding import (
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    SingleDeviceSharding,
    get_mesh,
)
from tests import disk_caches
from tests.sharding.meshes import divide, entries, mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
X = np.arange(32.0, dtype=np.float32).reshape(8, 4) / 7


def sharding_of(*spec):
    return NamedSharding(mesh(4, 2), P(*spec))


FUNCTIONS = {
    "sin": jnp.sin,
    "sum": jnp.sum,
    "sum of rows": lambda x: x.sum(1),
    "max": lambda x: x.max(0),
    "argmax": lambda x: x.argmax(1),
    "matmul": lambda x: x @ x.T,
    "einsum": lambda x: jnp.einsum("ij,kj->ik", x, x),
    "transpose": lambda x: x.T * 2,
    "reshape": lambda x: x.reshape(4, 8) + 1,
    "slice": lambda x: x[1:7, 2],
    "reversed": lambda x: x[::-1],
    "gather": lambda x: x[jnp.array([3, 0, 7])],
    "set": lambda x: x.at[2].set(9.0),
    "add": lambda x: x.at[jnp.array([1, 1, 5])].add(1.0),
    "concatenate": lambda x: jnp.concatenate([x, x * 2], 1),
    "sort": lambda x: jnp.sort(-x, 0),
    "cumsum": lambda x: jnp.cumsum(x, 0),
    "softmax": lambda x: olympus.nn.softmax(x, 0),
    "top_k": lambda x: lax.top_k(x, 2)[0],
    "roll": lambda x: jnp.roll(x, 3, 0),
    "where": lambda x: jnp.where(x > 2, x, -x),
    "pad": lambda x: jnp.pad(x, 1),
    "convolve": lambda x: jnp.convolve(x[:, 0], jnp.ones(3)),
    "fft": lambda x: jnp.abs(jnp.fft.fft(x, axis=0)),
    "cholesky": lambda x: jnp.linalg.cholesky(x.T @ x + 9 * jnp.eye(4)),
    "svd": lambda x: jnp.linalg.svd(x, compute_uv=False),
    "scan": lambda x: lax.scan(lambda c, r: (c + r, c * r), x[0], x)[1],
    "while": lambda x: lax.while_loop(lambda c: c.sum() < 99, lambda c: c * 2, x),
    "cond": lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x),
    "vmap": olympus.vmap(lambda r: r / r.sum()),
    "quantile": lambda x: jnp.quantile(x, 0.3, axis=0),
    "normal": lambda x: x + olympus.random.normal(olympus.random.key(0), x.shape),
    "permutation": lambda x: olympus.random.permutation(olympus.random.key(1), x),
    "grad": olympus.grad(lambda x: (jnp.sin(x) ** 2).sum()),
    "hessian": lambda x: olympus.hessian(lambda r: (r**3).sum())(x[0]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("spec", [("x", "y"), (("y", "x"),), (None, "x")], ids=str)
def test_divided_values_are_the_whole_ones(name, spec):
    f = FUNCTIONS[name]
    x = divide(X, *spec)
    np.testing.assert_allclose(olympus.jit(f)(x), f(jnp.asarray(X)), 2e-5, 2e-5)


@pytest.mark.parametrize("name", ["sin", "sum", "matmul", "set", "grad", "cumsum"])
def test_operations_outside_of_jit(name):
    f = FUNCTIONS[name]
    np.testing.assert_allclose(f(divide(X, "x", "y")), f(jnp.asarray(X)), 2e-5, 2e-5)


# -- options ---------------------------------------------------------------------------


def test_in_and_out_shardings():
    f = olympus.jit(
        lambda x, tree: (x + 1, {"y": x.sum() + tree["a"]}),
        in_shardings=(sharding_of("x"), {"a": None}),
        out_shardings=(sharding_of("y"), None),
    )
    out, tree = f(X, {"a": np.float32(2)})
    assert entries(out) == ("y",)
    np.testing.assert_allclose(out, X + 1)
    np.testing.assert_allclose(tree["y"], X.sum() + 2, 1e-6)
    compiled = f.lower(X, {"a": np.float32(2)}).compile()
    (first, rest), _ = compiled.input_shardings
    assert first is sharding_of("x")
    assert rest["a"].is_fully_replicated
    assert compiled.output_shardings[0] is sharding_of("y")


def test_specs_as_options_need_a_mesh():
    f = olympus.jit(lambda x: x * 2, in_shardings=P("x"), out_shardings=P(None, "y"))
    with pytest.raises(RuntimeError, match=r"jit in_shardings.*requires a mesh"):
        f(X)
    with olympus.set_mesh(mesh(4, 2)):
        assert entries(f(X)) == (None, "y")
    with olympus.set_mesh(mesh(2, 2)):
        assert f(X).sharding.num_devices == 4


def test_constraints_choose_the_devices():
    f = olympus.jit(lambda x: lax.with_sharding_constraint(x, sharding_of("y")) * 2)
    assert entries(f(X)) == ("y",)
    assert "sdy.sharding_constraint" in f.lower(X).as_text()
    outside = lax.with_sharding_constraint(X, sharding_of("x"))
    assert entries(outside) == ("x",)


def test_constraints_under_transformations():
    def rows(r):
        return lax.with_sharding_constraint(r * 2, NamedSharding(mesh(4, 2), P("y")))

    assert entries(olympus.vmap(rows)(X))[1] == "y"
    spread = olympus.vmap(rows, spmd_axis_name="x")
    assert entries(olympus.jit(spread)(X)) == ("x", "y")
    g = olympus.jit(olympus.grad(lambda x: olympus.vmap(rows)(x).sum()))
    np.testing.assert_array_equal(g(X), np.full_like(X, 2))

    def body(c, r):
        return c, lax.with_sharding_constraint(r, NamedSharding(mesh(4, 2), P("x")))

    np.testing.assert_array_equal(lax.scan(body, 0.0, X)[1], X)


def test_shardings_inside_of_other_programs():
    inner = olympus.jit(lambda x: x + 1, out_shardings=sharding_of("x"))
    assert entries(olympus.jit(lambda x: inner(x) * 2)(X)) == ("x",)
    grad = olympus.grad(lambda x: inner(x).sum())(X)
    np.testing.assert_array_equal(grad, np.ones_like(X))


def test_donated_arguments():
    x = divide(X, "x")
    f = olympus.jit(lambda x: x + 1, donate_argnums=0)
    view = np.asarray(x.addressable_shards[0].data).copy()
    out = f(x)
    assert x.is_deleted()
    np.testing.assert_allclose(out, X + 1)
    np.testing.assert_array_equal(view, X[:2])


@pytest.mark.parametrize("spec", [("x",), ("y", "x"), ()], ids=str)
def test_donated_arguments_whose_results_are_divided_otherwise(spec):
    """XLA refuses to share a buffer among parts of different sizes."""
    functions = [
        olympus.jit(lambda x: x + 1, donate_argnums=0, out_shardings=sharding_of("x")),
        olympus.jit(
            lambda x: lax.with_sharding_constraint(x + 1, sharding_of("y")),
            donate_argnums=0,
        ),
        olympus.jit(lambda x: x + jnp.ones((8, 4)), donate_argnums=0),
    ]
    for f in functions:
        x = divide(X, *spec)
        np.testing.assert_array_equal(f(x), X + 1)
        assert x.is_deleted()
    swap = olympus.jit(
        lambda x, y: (y, x * 2),
        donate_argnums=(0, 1),
        out_shardings=(sharding_of("y"), None),
    )
    out, double = swap(divide(X, *spec), divide(-X, "x"))
    np.testing.assert_array_equal(out, -X)
    np.testing.assert_array_equal(double, X * 2)


def test_donated_memory_is_used():
    f = olympus.jit(lambda x: x + 1, donate_argnums=0)
    assert "input_output_alias={ {}: (0" in f.lower(divide(X, "x")).compile().as_text()


def test_static_and_keyword_arguments_and_constants():
    table = divide(X, None, "x")
    f = olympus.jit(lambda x, n, *, y: (x + table) * n + y, static_argnums=1)
    np.testing.assert_allclose(f(divide(X, "x"), 3, y=1.0), X * 6 + 1, 1e-6)


def test_stages():
    shape = olympus.ShapeDtypeStruct((8, 4), "float32", sharding=sharding_of("x"))
    lowered = olympus.jit(lambda x: x + 1).lower(shape)
    text = lowered.as_text()
    assert "mhlo.num_partitions = 8" in text
    assert '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}' in text
    compiled = lowered.compile()
    assert compiled.input_shardings == ((sharding_of("x"),), {})
    np.testing.assert_allclose(compiled(X), X + 1)
    with pytest.raises(ValueError, match="Argument 'x' compiled with"):
        compiled(divide(X, "y"))


def test_a_mesh_of_one_device():
    for device in (0, 5):
        m = Mesh(np.array(olympus.devices()[device]).reshape(1, 1), ("x", "y"))
        x = divide(X, "x", over=m)
        f = olympus.jit(lambda x, n: (x * n, {"sum": x.sum(), "same": x}))
        out, tree = f(x, 2.0)
        np.testing.assert_array_equal(out, X * 2)
        np.testing.assert_allclose(tree["sum"], X.sum(), 1e-6)
        assert out.sharding.mesh is tree["same"].sharding.mesh is m
        np.testing.assert_array_equal(-x + x.sum(), X.sum() - X)
        compiled = f.lower(x, 2.0).compile()
        np.testing.assert_array_equal(compiled(x, 2.0)[0], X * 2)
        assert compiled.input_shardings[0][1].mesh is m
        grad = olympus.grad(lambda x: (x**2).sum())(x)
        np.testing.assert_array_equal(grad, 2 * X)


def test_devices_in_another_order():
    devices = np.array(olympus.devices())[::-1].reshape(2, 4)
    m = Mesh(devices, ("x", "y"))
    x = olympus.device_put(X, NamedSharding(m, P("y", "x")))
    np.testing.assert_allclose(olympus.jit(lambda x: x @ x.T)(x), X @ X.T, 1e-5)
    assert x.addressable_shards[0].device == olympus.devices()[7]


def test_ordered_callbacks_on_several_devices():
    """They keep their order among programs of one device and of several."""
    x, calls = divide(X, "x", "y"), []

    def note(value):
        calls.append(float(value))
        return np.float32(value)

    def ordered(value):
        kind = olympus.ShapeDtypeStruct((), np.float32)
        return io_callback(note, kind, value, ordered=True)

    def divided(x):
        first = ordered(x[0, 0] - 1)
        lax.scan(lambda c, row: (c, ordered(row[0])), None, x[:3])
        return first + lax.cond(x.sum() > 0, lambda: ordered(9.0), lambda: 0.0) + x

    one, whole = olympus.jit(ordered), olympus.jit(divided)
    expected = [-1, 0, X[1, 0], X[2, 0], 9]
    for i in range(4):
        one(20.0 + i)
        np.testing.assert_allclose(whole(x), X + 8)
    olympus.effects_barrier()
    rows = np.reshape(calls, (4, 6))
    np.testing.assert_allclose(rows[:, 0], [20, 21, 22, 23])
    np.testing.assert_allclose(rows[:, 1:], [expected] * 4)


LOOPS_OF_CALLS = {
    "alone": lambda call: call(1),
    "scan": lambda call: lax.scan(
        lambda c, i: (c + call(i), None), np.float32(0), np.arange(1, 3)
    )[0],
    "while": lambda call: lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + call(c[0])), (1, np.float32(0))
    )[1],
    "cond": lambda call: lax.cond(lax.axis_index("x") >= 0, call, lambda i: 0.0, 1),
    "jit": lambda call: olympus.jit(lambda: call(1))(),
}


@pytest.mark.parametrize("loop", LOOPS_OF_CALLS)
@pytest.mark.parametrize("check_vma", [True, False])
def test_ordered_callbacks_in_shard_map(loop, check_vma):
    """Each device's calls are in order; those of different devices are in none."""
    calls = []

    def note(step, device):
        calls.append((int(device), int(step)))
        return np.float32(step)

    def call(step):
        kind = olympus.ShapeDtypeStruct((), np.float32)
        device = lax.axis_index("x")
        return io_callback(note, kind, step, device, ordered=True)

    def f(x):
        first = call(0)
        total = LOOPS_OF_CALLS[loop](call)
        return x + first + total + call(9)

    f = olympus.shard_map(
        f, mesh=mesh(8), in_specs=P("x"), out_specs=P("x"), check_vma=check_vma
    )
    steps = [0, 1, 2, 9] if loop in ("scan", "while") else [0, 1, 9]
    f = olympus.jit(f)
    for _ in range(3):
        calls.clear()
        np.testing.assert_allclose(f(X), X + sum(steps))
        for device in range(8):
            assert [step for d, step in calls if d == device] == steps


def test_order_of_callbacks_of_programs_with_shard_map():
    """A later program calls after all devices of an earlier one did."""
    calls = []
    show = lambda x: olympus.debug.callback(calls.append, x.sum(), ordered=True)  # noqa: E731
    parts = olympus.shard_map(
        lambda x: (show(x), x)[1], mesh=mesh(8), in_specs=P("x"), out_specs=P("x")
    )
    parts, one = olympus.jit(parts), olympus.jit(lambda x: (show(x), x)[1])
    for _ in range(3):
        one(np.float32(-1))
        parts(X)
        one(np.float32(-2))
    olympus.effects_barrier()
    rows = np.reshape(calls, (3, 10))
    np.testing.assert_allclose(rows[:, [0, 9]], [[-1, -2]] * 3)
    np.testing.assert_allclose(np.sort(rows[:, 1:9]), [np.sort(X.sum(1))] * 3)


CALLBACKS = {
    "pure": lambda x: olympus.pure_callback(np.sin, x, x),
    "io": lambda x: io_callback(np.sin, x, x),
    "print": lambda x: (olympus.debug.print("{}", x.sum()), x)[1],
    "debug": lambda x: (olympus.debug.callback(np.sum, x), x)[1],
}


@pytest.mark.parametrize("name", CALLBACKS)
def test_callbacks_on_a_mesh_of_one_device(name):
    f = olympus.jit(CALLBACKS[name])
    x = divide(X, over=mesh(1))
    np.testing.assert_allclose(f(x), X if name in ("print", "debug") else np.sin(X))


def test_ordered_callbacks_on_a_mesh_of_one_device():
    f = olympus.jit(lambda x: io_callback(np.sin, x, x, ordered=True))
    for x in (divide(X, over=mesh(1)), jnp.asarray(X), divide(X, over=mesh(1))):
        np.testing.assert_allclose(f(x), np.sin(X))


@pytest.mark.parametrize("n", [1, 8])
def test_compiled_programs_over_meshes_are_serialized(n):
    compiled = olympus.jit(lambda x: x + 1).lower(divide(X, over=mesh(n))).compile()
    parts = serialize_executable.serialize(compiled)
    again = serialize_executable.deserialize_and_load(*parts)
    np.testing.assert_array_equal(again(X), X + 1)


def test_results_on_one_device():
    place = SingleDeviceSharding(olympus.devices()[3])
    f = olympus.jit(lambda x: (x + 1, x.sum()), out_shardings=place)
    for x in (X, jnp.asarray(X), olympus.device_put(X, place)):
        for _ in range(2):
            out, total = f(x)
            np.testing.assert_array_equal(out, X + 1)
            assert out.devices() == total.devices() == {place._device}
    for x in (divide(X, "x"), olympus.device_put(X, olympus.devices()[2])):
        with pytest.raises(ValueError, match="incompatible devices"):
            f(x)
    assert f.lower(X).compile()(X)[0].devices() == {place._device}
    parts = olympus.jit(lambda x: (x, x), out_shardings=(place, sharding_of("x")))
    with pytest.raises(ValueError, match="incompatible devices"):
        parts(X)


def test_programs_read_from_disk(tmp_path):
    for expected_hits in (0, 2):
        olympus.clear_caches()
        with disk_caches.in_folder(tmp_path) as counts:
            f = olympus.jit(lambda: jnp.ones((8, 4)), out_shardings=sharding_of("x"))
            np.testing.assert_array_equal(f(), np.ones((8, 4)))
            g = olympus.jit(lambda x: x[::-1] * 2)
            np.testing.assert_array_equal(g(divide(X, "x")), X[::-1] * 2)
        assert counts.hits == expected_hits


# -- hazards ---------------------------------------------------------------------------


def test_arguments_are_put_where_the_program_takes_them():
    """A program would read wrong parts, or memory that is not its own."""
    f = olympus.jit(lambda x: x * 2, in_shardings=sharding_of("x", "y"))
    for spec in [("x", "y"), ("y", "x"), (), (None, "y")]:
        x = jnp.asarray(X) if not spec else divide(X, *spec)
        if spec in ((), ("x", "y")):
            np.testing.assert_allclose(f(x), X * 2)
        else:
            with pytest.raises(ValueError, match="jit in_shardings: x must be divided"):
                f(x)
    g = olympus.jit(lambda x: x * 2)
    for spec in [("x", "y"), ("y", "x"), (None, "y"), ("x", "y")]:
        np.testing.assert_allclose(g(divide(X, *spec)), X * 2)


def test_arguments_that_were_donated_are_refused():
    """On several devices, jaxlib would end the process."""
    x = divide(X, "x")
    kept = olympus.jit(lambda x, y: x + y)
    np.testing.assert_array_equal(kept(x, 1.0), X + 1)
    f = olympus.jit(lambda x: x + 1, donate_argnums=0)
    for _ in range(2):
        y = f(divide(X, "x"))
        f(x) if not x.is_deleted() else None
    calls = [
        lambda: f(x),
        lambda: kept(x, 1.0),
        lambda: kept(y, x),
        lambda: x + 1,
        lambda: olympus.jit(lambda v: v + x)(y),
        lambda: olympus.device_put(x, sharding_of("y")),
        lambda: olympus.jit(lambda v: v, in_shardings=sharding_of("x"))(x),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="deleted"):
            call()


@pytest.mark.parametrize("donated", [(0,), (1,), (0, 1)], ids=str)
def test_a_donated_array_is_one_argument_only(donated):
    """On several devices, jaxlib would end the process where it is two."""
    f = olympus.jit(lambda x, y: (x + 1, y + 2), donate_argnums=donated)
    x = divide(X, "x")
    with pytest.raises(RuntimeError, match="must be one argument only"):
        f(x, x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(f(x, x + 0)[0], X + 1)


def test_many_programs_that_nobody_waits_for():
    f = olympus.jit(lambda x: x + x.sum() * 0)
    x = divide(X, "x", "y")
    out = x
    for _ in range(300):
        out = f(out)
        f(x)
    np.testing.assert_allclose(out, X)


def test_programs_of_several_threads():
    f = olympus.jit(lambda x: x + x.sum() * 0)
    errors = []

    def work(k):
        try:
            x = divide(X + k, "x", "y")
            for _ in range(40):
                x = f(x)
            np.testing.assert_allclose(x, X + k)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors


@pytest.mark.parametrize("out_shardings", [None, P(), P("x")])
def test_the_compilers_choice_for_one_device(out_shardings):
    over = mesh(1)
    x = divide(X, "x", over=over)
    place = None if out_shardings is None else NamedSharding(over, out_shardings)
    out = olympus.jit(lambda x: x + 1, out_shardings=place)(x)
    np.testing.assert_array_equal(out, X + 1)


def test_mesh_is_set_by_its_own_block():
    """Blocks may be nested, also of one mesh, and belong to their thread."""
    outer, inner, spec = mesh(8), mesh(2, 4), P("x")
    seen = []

    def divided_over():
        constrain = olympus.jit(lambda x: lax.with_sharding_constraint(x * 1, spec))
        return constrain(X[:, 0]).sharding.mesh

    with outer as same:
        assert same is outer
        with inner, inner:
            assert divided_over() is inner
            thread = threading.Thread(target=lambda: seen.append(get_mesh().empty))
            thread.start()
            thread.join()
        assert divided_over() is outer
        with pytest.raises(ZeroDivisionError), inner:
            raise ZeroDivisionError
        assert divided_over() is outer
    assert get_mesh().empty
    assert seen == [True]


def test_calls_tell_devices_apart_however_many_there_are():
    f = olympus.jit(lambda x: x * 2)
    for _ in range(3):  # more devices than the part in C remembers, in turns
        for i, device in enumerate(olympus.devices()):
            out = f(olympus.device_put(X + i, device))
            assert out.devices() == {device}
            assert out.committed
            np.testing.assert_array_equal(out, (X + i) * 2)
    assert f._cache_size() == 8


def test_equal_shardings_share_a_call():
    f = olympus.jit(lambda x: x + 1)
    for _ in range(10):
        fresh = Mesh(np.array(olympus.devices()).reshape(4, 2), ("x", "y"))
        x = olympus.device_put(X, NamedSharding(fresh, P("x")))
        np.testing.assert_array_equal(f(x), X + 1)
    assert f._cache_size() == 1


def test_a_compiled_function_takes_arrays_from_where_they_are():
    first, second = olympus.devices()[:2]
    x = olympus.device_put(X, first)
    compiled = olympus.jit(lambda x: x + 1).lower(x).compile()
    for _ in range(3):
        here = compiled(x)
        assert here.devices() == {first}
        uncommitted = compiled(jnp.asarray(X + 1))
        assert uncommitted.devices() == {first}
        np.testing.assert_array_equal(uncommitted, X + 1 + 1)
        with olympus.default_device(second):
            elsewhere = compiled(jnp.asarray(X + 2))
        np.testing.assert_array_equal(elsewhere, X + 2 + 1)
        assert elsewhere.devices() == {first}


NAMES = {
    "other letters": ("é", "日"),
    "quotes": ('"', "'"),
    "lines": ("x\n", "x\\n"),
    "signs that stand for others": ("%", "%25"),
    "controls": ("\x12", '"'),
    "nothing": ("", " "),
    "half of a letter": ("\ud800", "x"),
    "a number and its text": (1, "1"),
    "a number and its mark": (12, "#12"),
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_names_of_mesh_axes(names):
    """XLA ends the process at letters of names that MLIR escapes."""
    over = olympus.make_mesh((4, 2), names, (AxisType.Auto,) * 2)
    x = divide(X, *names, over=over)
    place = NamedSharding(over, P(names[1], names[0]))
    out = olympus.jit(lambda x: x @ x.T, out_shardings=place)(x)
    np.testing.assert_allclose(out, X @ X.T, 1e-6)
    assert entries(out) == (names[1], names[0])
    out = olympus.jit(lambda x: (x @ x.T).reshape(2, 4, 8))(x)
    np.testing.assert_allclose(out, (X @ X.T).reshape(2, 4, 8), 1e-6)
