"""Programs with refs against the same programs without them."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from olympus.experimental import checkify
from olympus.test_util import check_grads


def with_scan(x):
    ref = olympus.new_ref(x)

    def step(carry, i):
        ref[i] = onp.sin(ref[i]) * carry
        return carry + ref[i], ref[0]

    last, seen = lax.scan(step, 1.0, onp.arange(3))
    return olympus.freeze(ref).sum() * last + seen.sum()


def without_scan(x):
    carry, total = 1.0, 0.0
    for i in range(3):
        x = x.at[i].set(onp.sin(x[i]) * carry)
        carry, total = carry + x[i], total + x[0]
    return x.sum() * carry + total


def with_fori(x):
    ref = olympus.new_ref(x)

    def step(i, _):
        ref[i] = ref[i] * 2 + ref[0] ** 2

    lax.fori_loop(0, 3, step, None)
    return (ref[...] ** 2).sum()


def without_fori(x):
    for i in range(3):
        x = x.at[i].set(x[i] * 2 + x[0] ** 2)
    return (x**2).sum()


def with_while(x):
    ref = olympus.new_ref(x)

    def step(i):
        ref.addupdate(ref[i] * ref[i - 1], i)
        return i + 1

    lax.while_loop(lambda i: (i < 3) & (ref[0] < 100.0), step, 1, max_steps=3)
    return ref[2] * ref[1]


def without_while(x):
    for i in (1, 2):
        x = x.at[i].add(x[i] * x[i - 1])
    return x[2] * x[1]


def with_cond(x):
    ref = olympus.new_ref(x)

    def double(y):
        ref[0] = ref[0] * y
        return ref[1]

    def other(y):
        return y * ref[2]

    out = lax.cond(x[1] > 0.3, double, other, x[2])
    return out * ref[0] * ref[1]


def without_cond(x):
    yes = x[1] * (x[0] * x[2]) * x[1]
    no = x[2] * x[2] * x[0] * x[1]
    return onp.where(x[1] > 0.3, yes, no)


def with_switch_in_scan(x):
    ref = olympus.new_ref(x)

    def step(_, i):
        lax.switch(
            i,
            [
                lambda: ref.__setitem__(0, ref[1] * ref[2]),
                lambda: ref.addupdate(onp.cos(ref[0]), 1),
                lambda: None,
            ],
        )
        return None, ref[...]

    return lax.scan(step, None, onp.arange(3))[1].prod()


def without_switch_in_scan(x):
    x = x.at[0].set(x[1] * x[2])
    y = x.at[1].add(onp.cos(x[0]))
    return x.prod() * y.prod() ** 2


def with_jit(x):
    ref = olympus.new_ref(x)

    @olympus.jit
    def change(ref, y):
        ref[1] = onp.exp(y) * ref[0]
        return olympus.ref.swap(ref, 2, y)

    return change(ref, x[0]) * ref[1] + ref[...].sum()


def without_jit(x):
    y = x.at[1].set(onp.exp(x[0]) * x[0])
    return x[2] * y[1] + y.at[2].set(x[0]).sum()


def with_checkpoint(x):
    ref = olympus.new_ref(x)

    @olympus.checkpoint
    def change(y):
        inner = olympus.new_ref(y)
        inner[0] = onp.sin(inner[1]) * y[0]
        ref[0] = ref[0] * inner[0]
        return inner[...].sum()

    return change(x) * ref[0]


def without_checkpoint(x):
    y = x.at[0].set(onp.sin(x[1]) * x[0])
    return y.sum() * (x[0] * y[0])


def with_custom_jvp(x):
    @olympus.custom_jvp
    def square(x):
        ref = olympus.new_ref(x)
        ref[...] = ref[...] ** 2
        return ref[...]

    square.defjvp(lambda p, t: (square(*p), 2 * p[0] * t[0]))
    ref = olympus.new_ref(x)

    def step(i, _):
        ref[i] = square(ref[i])

    lax.fori_loop(0, 2, step, None)
    return ref[...].sum()


def without_custom_jvp(x):
    return (x[:2] ** 2).sum() + x[2]


TO, FROM = np.array([2, 0, 2]), np.array([1, 1, 2])  # where one is written twice


def with_positions(x):
    ref = olympus.new_ref(x)

    def step(i, _=None):
        ref[TO] = onp.sin(ref[FROM]) * ref[i] + ref[TO]

    step(0)
    lax.fori_loop(1, 3, step, None)
    return (ref[...] ** 2).sum()


def without_positions(x):
    for i in range(3):
        values = onp.sin(x[FROM]) * x[i] + x[TO]
        x = onp.stack([values[1], x[1], values[2]])
    return (x**2).sum()


PAIRS = [
    (with_positions, without_positions),
    (with_scan, without_scan),
    (with_fori, without_fori),
    (with_while, without_while),
    (with_cond, without_cond),
    (with_switch_in_scan, without_switch_in_scan),
    (with_jit, without_jit),
    (with_checkpoint, without_checkpoint),
    (with_custom_jvp, without_custom_jvp),
]

TRANSFORMATIONS = {
    "value": lambda f: f,
    "jit": olympus.jit,
    "grad": olympus.grad,
    "jit grad": lambda f: olympus.jit(olympus.grad(f)),
    "grad jit": lambda f: olympus.grad(olympus.jit(f)),
    "jvp": lambda f: lambda x: olympus.jvp(f, (x,), (onp.cos(x),)),
    "linearize": lambda f: lambda x: olympus.linearize(f, x)[1](onp.cos(x)),
    "hessian": olympus.hessian,
    "checkpoint": lambda f: olympus.grad(olympus.checkpoint(f)),
    "checkify": lambda f: lambda x: checkify.checkify(olympus.jit(f))(x)[1],
}
POINT = onp.array([0.7, 0.4, -1.2], "float32")


QUICK = ("value", "jit", "jit grad")


@pytest.mark.parametrize("pair", PAIRS, ids=[f.__name__ for f, _ in PAIRS])
@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in TRANSFORMATIONS
    ],
)
def test_against_the_same_without_refs(pair, name):
    apply = TRANSFORMATIONS[name]
    if name == "hessian" and pair[0] is with_while:
        apply = olympus.grad  # forward over reverse of a bounded loop is another matter
    got, expected = (apply(f)(POINT) for f in pair)
    for a, b in zip(
        olympus.tree.leaves(got), olympus.tree.leaves(expected), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids=[f.__name__ for f, _ in PAIRS])
def test_mapped(pair):
    points = onp.stack([POINT, -POINT, 0.5 * POINT])
    for transform in (lambda f: f, olympus.grad):
        with_refs, without = map(transform, pair)
        expected = onp.stack([without(x) for x in points])
        for mapped in (olympus.vmap(with_refs), olympus.jit(olympus.vmap(with_refs))):
            np.testing.assert_allclose(mapped(points), expected, rtol=2e-5, atol=1e-5)

    def total(points):
        return olympus.vmap(pair[0])(points).sum()

    expected = onp.stack([olympus.grad(pair[1])(x) for x in points])
    np.testing.assert_allclose(
        olympus.grad(total)(points), expected, rtol=2e-5, atol=1e-5
    )


@pytest.mark.slow
@pytest.mark.parametrize("f", [f for f, _ in PAIRS], ids=[f.__name__ for f, _ in PAIRS])
def test_derivatives_against_differences(f):
    modes = ["fwd", "rev"]
    check_grads(f, (POINT,), order=1, modes=modes, rtol=2e-2, atol=2e-2)


def test_refs_are_mapped_as_arguments():
    ref = olympus.new_ref(onp.zeros((3, 2)))

    def write(ref, x):
        ref[0] = x
        ref.addupdate(1.0)

    olympus.vmap(write)(ref, onp.arange(3.0))
    np.testing.assert_array_equal(ref[...], [[1, 1], [2, 1], [3, 1]])
    olympus.jit(olympus.vmap(write, in_axes=(1, 0)))(
        olympus.new_ref(ref[...]), onp.ones(2)
    )
    same = olympus.new_ref(onp.arange(3.0))
    np.testing.assert_array_equal(
        olympus.vmap(lambda i: same[i] * 2)(onp.arange(3)), [0, 2, 4]
    )
    olympus.vmap(lambda x: same.__setitem__(0, 9.0) or x)(onp.arange(3.0))
    np.testing.assert_array_equal(same[...], [9, 1, 2])


def test_a_mapped_loop_with_a_mapped_condition_writes_while_it_runs():
    def count(n):
        ref = olympus.new_ref(onp.zeros(4))

        def step(i):
            ref[i] = 1.0
            return i + 1

        lax.while_loop(lambda i: i < n, step, 0)
        return ref[...]

    out = olympus.vmap(count)(onp.array([1, 3]))
    np.testing.assert_array_equal(out, [[1, 0, 0, 0], [1, 1, 1, 0]])


@olympus.custom_vjp
def keep_cotangent(ref, x):
    return x


keep_cotangent.defvjp(
    lambda ref, x: (x, ref), lambda ref, ct: (ref.__setitem__(..., ct), (None, ct))[1]
)


@pytest.mark.parametrize("place", ["outside", "jit of grad", "grad of jit"])
def test_cotangents_can_be_kept_in_a_ref(place):
    ref = olympus.new_ref(0.0)

    def f(x):
        return onp.sin(keep_cotangent(ref, x))

    transformed = {
        "outside": olympus.grad(f),
        "jit of grad": olympus.jit(olympus.grad(f)),
        "grad of jit": olympus.grad(olympus.jit(f)),
    }[place]
    np.testing.assert_allclose(transformed(2.0), np.cos(2.0), rtol=1e-6)
    np.testing.assert_allclose(ref[...], np.cos(2.0), rtol=1e-6)


def test_values_without_a_derivative_leave_a_differentiated_function():
    ref = olympus.new_ref(onp.zeros(2))

    def f(x):
        ref[0] = lax.stop_gradient(x)
        return x * ref[1]

    olympus.grad(f)(3.0)
    assert float(ref[0]) == 3.0


def test_exported_programs_may_use_refs_of_their_own():
    exported = olympus.export.export(olympus.jit(with_fori))(POINT)
    np.testing.assert_allclose(exported.call(POINT), without_fori(POINT), rtol=1e-5)


@pytest.mark.eight_devices
def test_refs_over_a_mesh_stay_divided():
    mesh = olympus.make_mesh((8,), ("x",), (olympus.sharding.AxisType.Auto,))
    rows = olympus.NamedSharding(mesh, olympus.P("x"))
    ref = olympus.new_ref(olympus.device_put(onp.arange(16.0), rows))

    def body(ref, y):
        ref[...] = ref[...] * 2 + y
        return y

    spec = olympus.P("x")
    divided = olympus.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)
    olympus.jit(divided)(ref, onp.ones(16))
    assert ref.sharding == rows
    olympus.jit(lambda ref: ref.__setitem__(3, -1.0))(ref)
    olympus.jit(lambda: ref.addupdate(1.0))()
    assert ref.sharding == rows
    expected = np.arange(16.0) * 2 + 1
    expected[3] = -1
    np.testing.assert_array_equal(ref[...], expected + 1)


@pytest.mark.eight_devices
def test_refs_of_arrays_that_explicit_axes_divide():
    mesh = olympus.make_mesh((8,), ("x",))
    rows = olympus.NamedSharding(mesh, olympus.P("x"))
    x = olympus.device_put(onp.arange(16.0), rows)
    ref = olympus.new_ref(x)
    with olympus.set_mesh(mesh):
        olympus.jit(lambda ref: ref.addupdate(1.0))(ref)
        assert ref.sharding == rows
        assert repr(olympus.typeof(ref)) == "Ref{float32[16@x]}"

        def f(x):
            own = olympus.new_ref(x)
            own[...] = own[...] * x
            return (own[...] ** 2).sum()

        slope = olympus.jit(olympus.grad(f))(x)
    np.testing.assert_allclose(slope, 4 * np.arange(16.0) ** 3)
    assert slope.sharding == rows
