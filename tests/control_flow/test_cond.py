"""`cond` and `switch`: choice, types, printing, mapping, dead code, messages."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

import olympus
from olympus._src.control_flow import cond as cond_
from olympus._src.core import checker
from olympus._src.foundation import config
from olympus._src.interpreters import partial_eval
from olympus._src.lax import elementwise as el
from olympus._src.lax import reductions

cond, switch = cond_.cond, cond_.switch
X = np.array([1.0, -2.0, 3.0], np.float32)


def double(x):
    return el.mul(x, 2.0)


def grow(x):
    return el.add(x, 1.0)


def printed(f, *args):
    program = olympus.make_olympuspr(f)(*args)
    checker.check_olympuspr(program)
    return str(program)


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    "pred", [True, False, 1, 0, 2.5, np.bool_(True), np.float32(0)]
)
def test_cond_chooses_by_truth(wrap, pred):
    out = wrap(lambda p, x: cond(p, grow, double, x))(pred, X)
    np.testing.assert_array_equal(out, X + 1 if pred else X * 2)


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32])
def test_switch_clamps_its_index(wrap, dtype):
    branches = [grow, double, el.neg]
    oracle = [X + 1, X * 2, -X]
    for index in (-5, -1, 0, 1, 2, 3, 100, np.iinfo(dtype).max):
        if index < np.iinfo(dtype).min:
            continue
        if np.issubdtype(dtype, np.unsignedinteger) and index < 0:
            continue
        out = wrap(lambda i, x: switch(i, branches, x))(np.asarray(index, dtype), X)
        np.testing.assert_array_equal(out, oracle[min(max(index, 0), 2)])


def test_switch_of_one_branch_is_that_branch():
    assert "cond" not in printed(lambda i, x: switch(i, [grow], x), 3, X)


def test_operands_may_be_trees_and_results_too():
    out = cond(
        True,
        lambda d, y: {"sum": el.add(d["a"], y), "pair": (y, d["a"])},
        lambda d, y: {"sum": el.sub(d["a"], y), "pair": (d["a"], y)},
        {"a": X},
        2 * X,
    )
    np.testing.assert_array_equal(out["sum"], 3 * X)
    np.testing.assert_array_equal(out["pair"][0], 2 * X)


def test_older_forms():
    assert float(np.asarray(cond(False, 1.0, grow, 5.0, double))) == 10.0
    assert float(np.asarray(cond(True, grow, double, operand=3.0))) == 4.0
    assert cond(True, lambda x: 1, lambda x: 2, operand=None).dtype == np.int32
    assert float(np.asarray(switch(0, [grow, double], operand=3.0))) == 4.0


def test_weak_types_join():
    assert cond(True, lambda: 1.0, lambda: 2.0).weak_type
    assert not cond(True, lambda: 1.0, lambda: np.float32(2)).weak_type
    assert not cond(False, lambda: 1.0, lambda: np.float32(2)).weak_type


def test_printed():
    assert printed(
        lambda x: cond(el.gt(reductions.reduce_sum(x, (0,)), 0.0), grow, double, x), X
    ) == (
        "{ lambda ; a:f32[3]. let\n"
        "    b:f32[] = reduce_sum[axes=(0,)] a\n"
        "    c:bool[] = gt b 0.0:f32[]\n"
        "    d:i32[] = convert_element_type[new_dtype=int32 weak_type=False] c\n"
        "    e:f32[3] = cond[\n"
        "      branches=(\n"
        "        { lambda ; f:f32[3]. let g:f32[3] = mul f 2.0:f32[] in (g,) }\n"
        "        { lambda ; h:f32[3]. let i:f32[3] = add h 1.0:f32[] in (i,) }\n"
        "      )\n"
        "    ] d a\n"
        "  in (e,) }"
    )
    assert printed(
        lambda i, x: switch(i, [grow, double, el.neg], x), np.int32(1), X
    ) == (
        "{ lambda ; a:i32[] b:f32[3]. let\n"
        "    c:i32[] = clamp 0:i32[] a 2:i32[]\n"
        "    d:f32[3] = cond[\n"
        "      branches=(\n"
        "        { lambda ; e:f32[3]. let f:f32[3] = add e 1.0:f32[] in (f,) }\n"
        "        { lambda ; g:f32[3]. let h:f32[3] = mul g 2.0:f32[] in (h,) }\n"
        "        { lambda ; i:f32[3]. let j:f32[3] = neg i in (j,) }\n"
        "      )\n"
        "    ] c b\n"
        "  in (d,) }"
    )
    assert printed(lambda x: cond(True, lambda: 1, lambda: 2), 1.0) == (
        "{ lambda ; a:f32[]. let\n"
        "    b:i32[] = cond[\n"
        "      branches=(\n"
        "        { lambda ; . let  in (2:i32[],) }\n"
        "        { lambda ; . let  in (1:i32[],) }\n"
        "      )\n"
        "    ] 1:i32[]\n"
        "  in (b,) }"
    )


def test_closed_over_arrays_are_operands_once_and_results_are_passed_on():
    text = printed(
        lambda p, x: cond(p, lambda a: (x, double(x)), lambda a: (x, a), x), True, X
    )
    assert text == (
        "{ lambda ; a:bool[] b:f32[3]. let\n"
        "    c:i32[] = convert_element_type[new_dtype=int32 weak_type=False] a\n"
        "    d:f32[3] = cond[\n"
        "      branches=(\n"
        "        { lambda ; e:f32[3] f:f32[3]. let  in (f,) }\n"
        "        { lambda ; g:f32[3] h:f32[3]. let"
        " i:f32[3] = mul g 2.0:f32[] in (i,) }\n"
        "      )\n"
        "    ] c b b\n"
        "  in (b, d) }"
    )


def test_nested_in_each_other_and_in_jit():
    def f(p, q, x):
        inner = olympus.jit(lambda y: cond(q, grow, double, y))
        return cond(p, inner, lambda y: switch(2, [grow, double, el.neg], inner(y)), x)

    for p in (True, False):
        for q in (True, False):
            y = X + 1 if q else X * 2
            np.testing.assert_array_equal(olympus.jit(f)(p, q, X), y if p else -y)
            np.testing.assert_array_equal(f(p, q, X), y if p else -y)


def test_only_the_chosen_branch_runs_under_disable_jit():
    seen = []

    def note(name):
        return lambda x: seen.append(name) or x

    with config.disable_jit(True):
        cond(True, note("true"), note("false"), 1.0)
        switch(1, [note("zero"), note("one"), note("two")], 1.0)
    assert seen == ["true", "one"]


@pytest.mark.parametrize("count", [2, 3])
def test_mapped_index_selects_rows(count, rng):
    x = rng.normal(size=(5, 3)).astype(np.float32)
    index = np.array([0, 1, 2, 1, 7], np.int32)
    branches = [grow, double, el.neg][:count]
    out = olympus.vmap(lambda i, v: switch(i, branches, v))(index, x)
    oracle = [x + 1, x * 2, -x]
    for row, i in enumerate(np.clip(index, 0, count - 1)):
        np.testing.assert_array_equal(np.asarray(out)[row], oracle[i][row])


def test_mapped_operands_keep_the_choice(rng):
    x = rng.normal(size=(4, 3)).astype(np.float32)

    def f(v):
        return cond(True, lambda a, b: (a, b), lambda a, b: (b, double(b)), v, X)

    text = printed(olympus.vmap(f, in_axes=1), x.T.copy())
    assert "cond[" in text
    assert "select_n" not in text
    out = olympus.vmap(f, in_axes=1)(x.T.copy())
    np.testing.assert_array_equal(out[0], x)
    np.testing.assert_array_equal(out[1], np.broadcast_to(X, (4, 3)))


def test_doubly_mapped(rng):
    x = rng.normal(size=(2, 3)).astype(np.float32)
    p = np.array([True, False, True, False])

    def f(flag, v):
        return cond(flag, grow, lambda y: double(y), v)

    inner = olympus.vmap(f, in_axes=(None, 0))
    out = olympus.vmap(inner, in_axes=(0, None))(p, x)
    np.testing.assert_array_equal(out, np.where(p[:, None, None], x + 1, x * 2))
    inner = olympus.vmap(f, in_axes=(0, None))
    out = olympus.vmap(inner, in_axes=(None, 0))(p, x)
    np.testing.assert_array_equal(
        out, np.where(p[None, :, None], (x + 1)[:, None], (x * 2)[:, None])
    )


def test_dead_results_and_operands_go():
    program = olympus.make_olympuspr(
        lambda p, x, y: cond(
            p, lambda a, b: (double(a), b), lambda a, b: (a, double(b)), x, y
        )
    )(True, X, X).olympuspr
    small, kept = partial_eval.dce_olympuspr(program, [False, True])
    checker.check_olympuspr(small)
    assert kept == [True, False, True]
    (eqn,) = [e for e in small.eqns if e.primitive is cond_.cond_p]
    assert len(eqn.invars) == 2
    assert len(eqn.outvars) == 1


def test_dead_operands_stay_where_another_branch_needs_them():
    program = olympus.make_olympuspr(
        lambda p, x, y, z: cond(
            p, lambda a, b, c: (a, b), lambda a, b, c: (b, a), x, y, z
        )
    )(True, X, X, X).olympuspr
    small, kept = partial_eval.dce_olympuspr(program, [False, True])
    checker.check_olympuspr(small)
    assert kept == [True, True, True, False]
    (eqn,) = [e for e in small.eqns if e.primitive is cond_.cond_p]
    assert [len(b.olympuspr.invars) for b in eqn.params["branches"]] == [2, 2]
    for b in eqn.params["branches"]:
        assert len(b.olympuspr.debug_info.arg_names) == 2


@pytest.mark.parametrize("transform", [lambda f: f, olympus.grad], ids=["f", "grad"])
def test_nested_branches_are_looked_through_once(transform, monkeypatch):
    counts = []
    original = partial_eval.dce_olympuspr

    def count_and_call(*args, **kwargs):
        counts[-1] += 1
        return original(*args, **kwargs)

    def nest(x, depth):
        if depth == 0:
            return double(x)
        return cond(x > 0, lambda y: nest(y, depth - 1), lambda y: y, x)

    monkeypatch.setattr(partial_eval, "dce_olympuspr", count_and_call)
    for depth in (4, 8):
        counts.append(0)
        olympus.jit(transform(functools.partial(nest, depth=depth))).lower(1.0)
    assert counts[1] < 4 * counts[0]


ERRORS = {
    "vector predicate": (
        lambda: cond(np.ones(2), grow, double, 1.0),
        TypeError,
        "cond: pred must be a scalar, got f32[2]; reduce it with numpy.all",
    ),
    "no predicate": (
        lambda: cond(None, grow, double, 1.0),
        TypeError,
        "cond: pred must be a boolean scalar, got None",
    ),
    "text": (
        lambda: cond("a", grow, double, 1.0),
        TypeError,
        "cond: pred must be a boolean scalar, got 'a'",
    ),
    "no function": (
        lambda: cond(True, grow, 3, 1.0),
        TypeError,
        "cond: false_fun must be a function, got 3",
    ),
    "types": (
        lambda: cond(True, lambda x: {"a": x, "b": 1}, lambda x: {"a": x, "b": 1.5}, 1),
        TypeError,
        "cond: true_fun and false_fun must return equal types; at result['b'] got "
        "f32[], expected i32[] (which true_fun returns)",
    ),
    "structures": (
        lambda: cond(True, lambda x: x, lambda x: (x, x), 1),
        TypeError,
        "cond: true_fun and false_fun must return the same structure, got a leaf at "
        "true_fun's result and a tuple at false_fun's result",
    ),
    "operand": (
        lambda: cond(True, grow, double, {"x": "text"}),
        TypeError,
        "cond: operands[0]['x'] must be an array or a number, got 'text'",
    ),
    "result": (
        lambda: cond(True, lambda x: x, lambda x: "text", 1.0),
        TypeError,
        "must return arrays, got a value of type str at result",
    ),
    "keyword": (
        lambda: cond(True, grow, double, x=1.0),
        TypeError,
        "unexpected keyword argument 'x'",
    ),
    "no branches": (
        lambda: switch(0, [], 1.0),
        ValueError,
        "switch: branches must be one function or more, got an empty sequence",
    ),
    "float index": (
        lambda: switch(1.0, [grow, double], 1.0),
        TypeError,
        "switch: index must be an integer, got f32[]",
    ),
    "boolean index": (
        lambda: switch(True, [grow, double], 1.0),
        TypeError,
        "switch: index must be an integer, got bool[]",
    ),
    "vector index": (
        lambda: switch(np.ones(2, np.int32), [grow, double], 1.0),
        TypeError,
        "switch: index must be a scalar, got i32[2]",
    ),
    "branch types": (
        lambda: switch(1, [grow, lambda x: 2], 1.0),
        TypeError,
        "switch: branches[0] and branches[1] must return equal types; at result got "
        "i32[], expected f32[]",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, message = ERRORS[name]
    with pytest.raises(kind, match=re.escape(message)):
        call()


def test_errors_name_both_branches_and_their_lines():
    with pytest.raises(TypeError) as caught:
        cond(True, grow, lambda x: 1, 1.0)
    text = str(caught.value)
    line = grow.__code__.co_firstlineno
    assert f"true_fun is grow at {__file__}:{line}" in text
    assert f"false_fun is <lambda> at {__file__}:" in text
