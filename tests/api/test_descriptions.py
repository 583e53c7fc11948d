"""`ShapeDtypeStruct`: what it describes, and values it is made like."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp

Struct = olympus.ShapeDtypeStruct


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros(3, "float32"), "shape=(3,), dtype=float32"),
        (1.5, "shape=(), dtype=float32, weak_type=True"),
        (onp.zeros((2, 3), "int8"), "shape=(2, 3), dtype=int8"),
        (Struct((4,), "bool"), "shape=(4,), dtype=bool"),
    ],
)
def test_like(value, text):
    assert repr(Struct.like(value)) == f"ShapeDtypeStruct({text})"


def test_like_a_traced_value():
    seen = []
    olympus.jit(lambda x: seen.append(Struct.like(x)))(onp.zeros(3))
    assert seen == [Struct((3,), "float32")]


def test_like_a_committed_array():
    x = olympus.device_put(onp.zeros(3), olympus.devices()[0])
    like = Struct.like(x)
    assert like.sharding == x.sharding
    assert like.format.sharding == x.sharding
    assert Struct((3,), "float32", sharding=like.format) == like


def test_refs():
    ref = olympus.new_ref(onp.arange(3.0))
    like = Struct.like(ref)
    assert like.is_ref
    assert like != Struct((3,), "float32")
    assert "is_ref=True" in repr(like)
    assert float(olympus.jit(lambda r: r[1]).lower(like).compile()(ref)) == 1.0
    program = olympus.make_olympuspr(lambda r: r[0])(like)
    assert "a:Ref{f32[3]}" in str(program)


def test_what_varies_over_devices():
    struct = Struct((3,), "float32", vma={"x"})
    assert struct.vma == struct.manual_axis_type.varying == {"x"}
    assert Struct((3,), "float32", manual_axis_type=struct.manual_axis_type) == struct
    assert Struct((3,), "float32").manual_axis_type is None
    assert struct.update(vma=()) == Struct((3,), "float32")
    with pytest.raises(TypeError, match="color"):
        Struct((3,), "float32", color=1)
    with pytest.raises(
        TypeError, match=r"must be a sharding.ManualAxisType, got {'x'}"
    ):
        Struct((3,), "float32", manual_axis_type={"x"})
    with pytest.raises(NotImplementedError, match="ShapeDtypeStruct: memory_space"):
        Struct((3,), "float32", _memory_space=olympus.memory.Space.Host)


def test_results_that_are_only_described_have_names_in_errors_alone():
    asked = []

    class Pair:
        def __init__(self, first, second):
            self.parts = first, second

    def with_keys(pair):
        asked.append(pair)
        keys = map(olympus.tree_util.GetAttrKey, ("first", "second"))
        return tuple(zip(keys, pair.parts, strict=True)), None

    olympus.tree_util.register_pytree_with_keys(
        Pair, with_keys, lambda _, parts: Pair(*parts), lambda pair: (pair.parts, None)
    )
    described = olympus.eval_shape(lambda x: Pair(x, 2 * x), onp.zeros(3))
    assert described.parts == (Struct((3,), "float32"), Struct((3,), "float32"))
    assert not asked
    with pytest.raises(TypeError, match=r"output component result\.second"):
        olympus.eval_shape(lambda x: Pair(x, "two"), 1.0)
    info = olympus.make_olympuspr(lambda x: Pair(x, x))(1.0).debug_info
    assert info.result_paths == ["result.first", "result.second"]
