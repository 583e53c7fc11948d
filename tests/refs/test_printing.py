"""How programs with refs are printed, and which effects they have."""

import olympus
import olympus.numpy as onp
from olympus import lax


def test_operations():
    def f(x, i):
        ref = olympus.new_ref(x)
        ref[1] = 3.0
        y = ref[i]
        ref.addupdate(1.0, 2)
        z = olympus.ref.swap(ref, slice(0, 2), y)
        ref[...] = x
        w = ref[olympus.ds(i, 2)]
        return z, w, olympus.freeze(ref)

    program = olympus.make_olympuspr(f)(onp.arange(3.0), 1)
    assert str(program) == PRINTED
    assert not program.effects


PRINTED = """\
{ lambda ; a:f32[3] b:i32[]. let
    c:Ref{f32[3]} = new_ref a
    c[1] <- 3.0:f32[]
    d:f32[] <- c[b]
    c[2] += 1.0:f32[]
    e:f32[2] = broadcast_in_dim d
    f:f32[2], c[:2] <- c[:2], e
    c[...] <- a
    g:f32[2] <- c[b:b+2]
    h:f32[3] = freeze c
  in (f, g, h) }"""


def test_loops_keep_refs():
    ref = olympus.new_ref(onp.zeros(3))

    def f():
        lax.fori_loop(0, 3, lambda i, _: ref.__setitem__(i, 1.0), None)

    program = olympus.make_olympuspr(f)()
    assert "scan[" in str(program)
    assert "<- 1.0:f32[]" in str(program)
    assert {repr(e) for e in program.effects} == {"ReadEffect", "WriteEffect"}
    read = olympus.make_olympuspr(lambda: ref[0])()
    assert {repr(e) for e in read.effects} == {"ReadEffect"}


def test_lines_are_shown():
    ref = olympus.new_ref(onp.zeros(3))
    program = olympus.make_olympuspr(lambda: ref.__setitem__(0, 1.0))()
    assert "test_printing.py" in program.pretty_print(source_info=True)
