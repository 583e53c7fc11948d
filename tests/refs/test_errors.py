"""What refs refuse, and what the messages say."""

import copy
import pickle

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from olympus.experimental import serialize_executable


def new():
    return olympus.new_ref(onp.arange(3.0))


def used_after_freeze(x):
    ref = olympus.new_ref(x)
    out = olympus.freeze(ref)
    ref[0] = 1.0
    return out


def write_both(a, b):
    a[0] = 1.0
    b[0] = 2.0


SHARED = new()


def write_captured(a):
    SHARED[0] = 1.0
    a[0] = 2.0


def a_mapped_write():
    ref = new()
    olympus.vmap(lambda x: ref.__setitem__(0, x))(onp.arange(3.0))


def a_mapped_addition():
    ref = new()
    olympus.vmap(lambda x: ref.addupdate(x, 0))(onp.arange(3.0))


def a_differentiated_write():
    ref = new()
    olympus.grad(lambda x: (ref.__setitem__(0, x), x)[1])(1.0)


def a_differentiated_write_in_a_loop():
    ref = new()

    def f(x):
        lax.fori_loop(0, 3, lambda i, _: ref.__setitem__(i, x), None)
        return x

    olympus.grad(f)(1.0)


def a_write_in_a_condition():
    ref = new()
    lax.while_loop(lambda i: (ref.__setitem__(0, 1.0), i < 3)[1], lambda i: i + 1, 0)


CASES = {
    "returned": (
        lambda: olympus.jit(lambda: olympus.new_ref(1.0))(),
        ValueError,
        r"must not return a ref.*made by new_ref at .*test_errors",
    ),
    "returned by a loop": (
        lambda: lax.scan(lambda c, x: (c, None), new(), None, length=2),
        ValueError,
        "scan: .* must not return a ref.*the argument c",
    ),
    "given twice": (
        lambda: (lambda r: olympus.jit(write_both)(r, r))(new()),
        ValueError,
        "given a ref once, got one of type Ref{f32.3.} as a and b of write_both",
    ),
    "given and captured": (
        lambda: olympus.jit(write_captured)(SHARED),
        ValueError,
        "as a value that the function closes over and a of write_captured",
    ),
    "used after freeze": (
        lambda: used_after_freeze(onp.ones(2)),
        ValueError,
        "made at .*test_errors.* was frozen at .*test_errors",
    ),
    "used after freeze in a program": (
        lambda: olympus.jit(used_after_freeze)(onp.ones(2)),
        ValueError,
        "was frozen at .*test_errors.*It is used at .*test_errors",
    ),
    "a mapped write": (a_mapped_write, ValueError, "ref_swap: a mapped value"),
    "a mapped addition": (a_mapped_addition, ValueError, "ref_addupdate: a mapped"),
    "a differentiated write": (
        a_differentiated_write,
        ValueError,
        "ref_swap: a differentiated value.*stop_gradient",
    ),
    "a differentiated write in a loop": (
        a_differentiated_write_in_a_loop,
        ValueError,
        "a differentiated value",
    ),
    "a write in a condition": (
        a_write_in_a_condition,
        ValueError,
        "while_loop: cond_fun must not write",
    ),
    "out of bounds": (lambda: new()[3], IndexError, "index 3 is out of bounds"),
    "a write out of bounds": (
        lambda: new().__setitem__(-4, 0.0),
        IndexError,
        "index -4 is out of bounds",
    ),
    "out of bounds in a program": (
        lambda: olympus.jit(lambda r: r[3])(new()),
        IndexError,
        "index 3 is out of bounds",
    ),
    "another dtype": (
        lambda: new().__setitem__(0, onp.int32(3)),
        TypeError,
        r"must have the ref's dtype, float32, got int32; convert it with \.astype",
    ),
    "a number that does not fit": (
        lambda: olympus.new_ref(onp.arange(3)).__setitem__(0, 1.5),
        TypeError,
        "must have the ref's dtype, int32",
    ),
    "another shape": (
        lambda: new().__setitem__(slice(None), onp.ones(2)),
        ValueError,
        r"must broadcast to the shape \(3,\)",
    ),
    "a text": (lambda: new().__setitem__(0, "a"), TypeError, "array or a number"),
    "arithmetic": (lambda: onp.add(new(), 1), TypeError, r"read it with ref\[...\]"),
    "arithmetic in a program": (
        lambda: olympus.jit(onp.sin)(new()),
        TypeError,
        r"sin: an array is required, got a ref.*ref\[...\]",
    ),
    "NumPy": (lambda: np.asarray(new()), TypeError, r"ref\[...\]"),
    "a truth value": (lambda: bool(new()), TypeError, r"ref\[...\]"),
    "pickling": (lambda: pickle.dumps(new()), TypeError, "must not be pickled"),
    "copying": (lambda: copy.deepcopy(new()), TypeError, "must not be pickled"),
    "differentiated": (
        lambda: olympus.grad(lambda r: r[0])(new()),
        TypeError,
        r"got Ref{f32\[3\]} for r of",
    ),
    "scanned over, without rows": (
        lambda: lax.scan(lambda c, x: (c, x[...]), 0.0, olympus.new_ref(1.0)),
        ValueError,
        "scan: xs must have a leading axis",
    ),
    "exported": (
        lambda: olympus.export.export(olympus.jit(lambda r: r[0]))(new()),
        ValueError,
        "must not use refs from outside",
    ),
    "serialized": (
        lambda: serialize_executable.serialize(
            olympus.jit(lambda r: r[0]).lower(new()).compile()
        ),
        ValueError,
        "must not use refs from outside",
    ),
    "no ref": (lambda: olympus.freeze(1.0), TypeError, "freeze: a ref is required"),
    "a ref of a ref": (
        lambda: olympus.new_ref(new()),
        TypeError,
        "new_ref: init_val must be an array",
    ),
    "a ref of text": (lambda: olympus.new_ref("a"), TypeError, "new_ref: init_val"),
    "another memory": (
        lambda: olympus.new_ref(1.0, memory_space="vmem"),
        NotImplementedError,
        "memory_space",
    ),
    "the host's memory": (
        lambda: olympus.empty_ref(new().aval, olympus.memory.Space.Host),
        NotImplementedError,
        "empty_ref: memory_space must be Space.Device, got Space.Host",
    ),
    "pinned memory": (
        lambda: olympus.jit(lambda x: olympus.new_ref(x, pin=True)[...])(1.0),
        NotImplementedError,
        "new_ref: pin must be False, got True",
    ),
    "a kind": (
        lambda: olympus.ref.AbstractRef(new().aval.inner_aval, kind="mut"),
        NotImplementedError,
        "AbstractRef: kind must be None, got 'mut'",
    ),
    "a slice that runs backward": (
        lambda: olympus.ds(0, 2, -1),
        ValueError,
        "ds: stride must be 1 or more, got -1",
    ),
    "a slice that is too long": (
        lambda: new()[olympus.ds(0, 4)],
        IndexError,
        r"ds: a slice must fit its axis, got ds\(0, 4\)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_errors(name):
    call, kind, text = CASES[name]
    with pytest.raises(kind, match=f"(?s){text}"):
        call()


def test_a_ref_that_ended_shows_it():
    ref = new()
    olympus.free_ref(ref)
    assert repr(ref) == "<freed Ref{float32[3]}>"
    with pytest.raises(ValueError, match="was freed at"):
        olympus.jit(lambda ref: ref[0])(ref)
