"""Refs outside of programs, and what they share with arrays."""

import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax

INDICES = {
    "all": ...,
    "number": 1,
    "from the end": -1,
    "row and column": (1, 2),
    "column": (slice(None), 2),
    "slice": slice(1, 3),
    "steps": slice(0, 3, 2),
    "backward": slice(None, None, -1),
    "both": (slice(1, 3), slice(0, 2)),
    "array": np.array([2, 0]),
    "arrays": (np.array([2, 0]), np.array([1, 3])),
    "slice and array": (slice(0, 2), np.array([1, 3])),
    "mask": np.array([True, False, True]),
    "new axis": (None, 1),
    "ellipsis": (..., 1),
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16"])
def test_reads_and_writes_as_numpy_does(index, dtype):
    values = (np.arange(12).reshape(3, 4) % 2).astype(onp.dtype(dtype))
    expected = values.copy()
    ref = olympus.new_ref(values)
    np.testing.assert_array_equal(ref[index], expected[index])
    new = np.ones_like(expected[index])
    old = olympus.ref.swap(ref, index, new)
    np.testing.assert_array_equal(old, values[index])
    expected[index] = new
    np.testing.assert_array_equal(ref[...], expected)
    if dtype != "bool":
        olympus.ref.addupdate(ref, index, new)
        np.add.at(expected, index, new)
        np.testing.assert_array_equal(ref[...], expected)


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_programs_read_and_write_as_refs_outside_do(index):
    def program(x, new):
        ref = olympus.new_ref(x)
        before = ref[index]
        ref[index] = new
        ref.addupdate(new, index)
        return before, olympus.ref.swap(ref, index, 0.0), olympus.freeze(ref)

    x = np.arange(12.0, dtype="float32").reshape(3, 4)
    new = np.full_like(x[index], 7)
    expected = program(x, new)
    for got in (olympus.jit(program)(x, new),):
        for a, b in zip(expected, got, strict=True):
            np.testing.assert_array_equal(a, b)


def test_arrays_that_were_read_never_change():
    x = onp.arange(4.0)
    ref = olympus.new_ref(x)
    write = olympus.jit(lambda ref, value: ref.__setitem__(2, value))
    whole = ref[...]
    ref[0] = 9.0
    part = np.asarray(ref[1:3])
    write(ref, 5.0)
    after = np.asarray(ref[...])
    write(ref, 6.0)
    ref[3] = -1.0
    np.testing.assert_array_equal(x, [0, 1, 2, 3])
    np.testing.assert_array_equal(whole, [0, 1, 2, 3])
    np.testing.assert_array_equal(part, [1, 2])
    np.testing.assert_array_equal(after, [9, 1, 5, 3])
    np.testing.assert_array_equal(ref[...], [9, 1, 6, -1])


def test_refs_outlive_the_arrays_they_were_made_of():
    double = olympus.jit(lambda x: x * 2, donate_argnums=0)
    for read in (lambda ref: ref[...], lambda ref: ref[:], lambda ref: ref[()]):
        x = onp.arange(1000.0)
        ref = olympus.new_ref(x)
        double(x)
        double(read(ref))
        read(ref).delete()
        y = onp.ones(1000)
        ref[...] = y
        double(y)
        olympus.ref.swap(ref, ..., y_again := onp.zeros(1000)).delete()
        y_again.delete()
        np.testing.assert_array_equal(ref[...], np.zeros(1000))


def test_a_result_of_a_program_that_writes_is_no_view_of_the_ref():
    ref = olympus.new_ref(onp.zeros(4))

    @olympus.jit
    def step(ref):
        ref[...] += 1
        return ref[...]

    results = [step(ref) for _ in range(3)]
    assert [float(x[0]) for x in results] == [1, 2, 3]


def test_writes_reuse_the_memory():
    ref = olympus.new_ref(onp.zeros(50_000))  # kernels without the runtime copy less
    write = olympus.jit(lambda ref: ref.__setitem__(1, 5.0))
    write(ref)  # what it was made from stays
    address = ref.unsafe_buffer_pointer()
    for _ in range(3):
        write(ref)
        ref[0] = 1.0
    assert ref.unsafe_buffer_pointer() == address


@pytest.mark.parametrize("captured", [False, True])
def test_loops_write_in_place(captured):
    """A loop over the rows of a large ref needs no memory of its size."""
    ref = olympus.new_ref(onp.zeros((256, 1024)))

    def fill(ref):
        def step(i, _):
            ref[i] = ref[i - 1] + 1

        lax.fori_loop(1, 256, step, None)

    jitted = olympus.jit(lambda: fill(ref)) if captured else olympus.jit(fill)
    args = () if captured else (ref,)
    memory = jitted.lower(*args).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 64 * 1024
    assert memory.alias_size_in_bytes == 4 * 256 * 1024
    jitted(*args)
    np.testing.assert_array_equal(ref[:, 0], np.arange(256))


def test_threads_write_one_after_another():
    ref = olympus.new_ref(onp.zeros(100))

    @olympus.jit
    def count(ref):
        ref[...] += 1

    def work():
        for _ in range(50):
            count(ref)
            ref.addupdate(1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(np.asarray(ref[...])) == {400.0}


def test_two_refs_are_taken_in_one_order_by_all_threads():
    a, b = olympus.new_ref(onp.zeros(10)), olympus.new_ref(onp.zeros(10))

    @olympus.jit
    def move(x, y):
        x[...] += 1
        y[...] += 1

    def work(x, y):
        for _ in range(100):
            move(x, y)

    threads = [threading.Thread(target=work, args=p) for p in ((a, b), (b, a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert float(a[0]) == float(b[0]) == 200.0


def test_parts():
    ref = olympus.new_ref(onp.arange(6.0))
    part = ref.at[1:5]
    assert part.shape == (4,)
    assert part.ndim == 1
    assert part.dtype == "float32"
    part[0] = 7.0
    part.at[1:3][...] = 0.0
    np.testing.assert_array_equal(ref[...], [0, 7, 0, 0, 4, 5])
    np.testing.assert_array_equal(part[...], [7, 0, 0, 4])


def test_dynamic_slices():
    ref = olympus.new_ref(onp.arange(6))
    read = olympus.jit(lambda i: ref[olympus.ds(i, 2)])
    np.testing.assert_array_equal(read(1), [1, 2])
    np.testing.assert_array_equal(read(5), [4, 5])  # moved inside

    @olympus.jit
    def write(i):
        ref[olympus.ds(i, 2)] = onp.array([8, 9])

    write(3)
    np.testing.assert_array_equal(ref[...], [0, 1, 2, 8, 9, 5])
    np.testing.assert_array_equal(onp.arange(6)[olympus.ds(2, 3)], [2, 3, 4])


@pytest.mark.parametrize("start", [0, 1, 5, 9])
def test_dynamic_slices_with_strides(start):
    assert repr(olympus.ds(start, 3, 2)) == f"ds({start}, 3, 2)"
    inside = min(start, 5) + 2 * np.arange(3)
    ref = olympus.new_ref(onp.arange(10))
    read = olympus.jit(lambda i: ref[olympus.ds(i, 3, stride=2)])
    np.testing.assert_array_equal(read(start), inside)
    assert ref[olympus.ds(start, 0, 2)].shape == (0,)

    @olympus.jit
    def write(i):
        ref[olympus.ds(i, 3, 2)] = onp.array([-1, -2, -3])

    write(start)
    expected = np.arange(10)
    expected[inside] = [-1, -2, -3]
    np.testing.assert_array_equal(ref[...], expected)


def test_dynamic_slices_beside_arrays_are_moved_inside():
    ref = olympus.new_ref(onp.zeros((4, 3)))

    @olympus.jit
    def write(i):
        ref[olympus.ds(i, 2), onp.array([0, 2])] = 1.0
        return ref[olympus.ds(i, 2), onp.array([0, 2])]

    np.testing.assert_array_equal(write(3), onp.ones((2, 2)))
    np.testing.assert_array_equal(ref[...], [[0] * 3, [0] * 3, [1, 0, 1], [1, 0, 1]])


@pytest.mark.parametrize("i", [-9, -1, 0, 3, 8])
def test_numbers_known_when_it_runs_are_moved_inside(i):
    ref = olympus.new_ref(onp.arange(4))
    olympus.jit(lambda i: ref.__setitem__(i, -1))(i)
    place = min(max(i + 4 if i < 0 else i, 0), 3)
    np.testing.assert_array_equal(np.flatnonzero(np.asarray(ref[...]) < 0), [place])
    assert int(olympus.jit(lambda i: ref[i])(i)) == -1


def test_attributes():
    ref = olympus.new_ref(onp.ones((2, 3), "bfloat16"))
    assert (ref.shape, ref.ndim, ref.size, len(ref)) == ((2, 3), 2, 6, 2)
    assert ref.dtype == onp.bfloat16
    assert not ref.weak_type
    assert repr(olympus.typeof(ref)) == "Ref{bfloat16[2,3]}"
    assert not isinstance(ref, olympus.Array)
    assert isinstance(ref, olympus.Ref)
    assert repr(olympus.new_ref(1.5)) == "Ref(1.5, dtype=float32)"
    assert [int(x) for x in olympus.new_ref(onp.arange(3))] == [0, 1, 2]
    assert olympus.tree.leaves({"a": ref}) == [ref]
    assert olympus.empty_ref(olympus.ShapeDtypeStruct((2,), "int8"))[1] == 0


def test_empty_arrays():
    ref = olympus.new_ref(onp.zeros((2, 0)))
    ref[0] = 1.0
    olympus.jit(lambda ref: ref.__setitem__(1, 2.0))(ref)
    assert ref[...].shape == (2, 0)


def test_keys():
    ref = olympus.new_ref(olympus.random.key(0))

    @olympus.jit
    def draw():
        new, own = olympus.random.split(ref[...])
        ref[...] = new
        return olympus.random.uniform(own)

    assert float(draw()) != float(draw())


def test_sixty_four_bits():
    with olympus.enable_x64(True):
        ref = olympus.new_ref(np.arange(3.0))
        olympus.jit(lambda ref: ref.addupdate(0.5, 1))(ref)
        assert ref.dtype == "float64"
        assert float(ref[1]) == 1.5


def test_the_search_for_nan_keeps_what_a_ref_held():
    ref = olympus.new_ref(onp.zeros(2))
    with olympus.debug_nans(True), pytest.raises(FloatingPointError):
        olympus.jit(lambda ref: ref.__setitem__(0, onp.log(ref[0] - 1)))(ref)
    np.testing.assert_array_equal(ref[...], [0, 0])


def test_a_body_that_reads_another_ref_later_is_traced_again():
    refs = [olympus.new_ref(0.0), olympus.new_ref(10.0)]
    current = refs[0]

    def step(carry, _):
        current[...] += 1
        return carry, None

    lax.scan(step, 0, None, length=3)
    current = refs[1]
    lax.scan(step, 0, None, length=3)
    lax.scan(step, 0, None, length=3)
    assert [float(r[...]) for r in refs] == [3.0, 16.0]


@pytest.mark.parametrize("transform", [lambda f: f, olympus.jit])
@pytest.mark.parametrize("of_a_part", [False, True])
def test_methods_read_and_write_as_the_functions_do(transform, of_a_part):
    start = np.arange(24.0, dtype="float32").reshape(2, 3, 4)
    expected = start.copy()
    part = expected[1] if of_a_part else expected
    old = part[0].copy()
    part[0] = 1.0
    part[1] += 2.0
    if of_a_part:
        np.add.at(part, [2, 2], 3.0)
    part[..., 1] = 7.0

    def run(ref):
        view = ref.at[1] if of_a_part else ref
        before = view.swap(1.0, 0)
        view.addupdate(2.0, 1)
        if of_a_part:
            view.addupdate(3.0, np.array([2, 2]))
        view.set(7.0, (..., 1))
        return before, view.get(), view.get((0, 1))

    ref = olympus.new_ref(start)
    before, now, one = transform(run)(ref)
    np.testing.assert_array_equal(before, old)
    np.testing.assert_array_equal(now, part)
    np.testing.assert_array_equal(one, part[0, 1])
    np.testing.assert_array_equal(ref[...], expected)
    assert ref.at[1].size == 12


def test_tracers_of_arrays_have_no_methods_of_refs():
    names = ("get", "set", "swap", "addupdate")

    @olympus.jit
    def f(x):
        assert not any(hasattr(x, name) for name in names)
        return x

    f(1.0)
