"""`checkpoint`: values, gradients, and what is kept between the two passes.

Expected texts and counts of kept values are those of JAX 0.10.2 for the same programs.
"""

import functools
import gc
import weakref

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import ad_checkpoint, lax, random
from olympus import checkpoint_policies as policies
from olympus._src.lowering import module as lowering
from olympus.ad_checkpoint import checkpoint_name, print_saved_residuals

X = np.linspace(0.1, 0.9, 3, dtype="float32")
W = np.arange(9, dtype="float32").reshape(3, 3) / 9


def f(x, w):
    y = checkpoint_name(onp.sin(w @ x), "a")
    return onp.sum(onp.cos(y))


def count(program, name):
    """How often an operation occurs in a program and the programs inside it."""
    closed = getattr(program, "olympuspr", program)
    total = 0
    for eqn in closed.eqns:
        total += eqn.primitive.name == name
        for value in eqn.params.values():
            for item in value if isinstance(value, tuple) else (value,):
                if hasattr(item, "eqns"):
                    total += count(item, name)
    return total


def text_for(platform, fun, *args, **options):
    """What a function is lowered to for a platform, which need not be there."""
    program = olympus.make_olympuspr(fun)(*args).olympuspr
    return lowering.lower_module(program, name="f", platform=platform, **options).text()


def remat_equations(program):
    return [e for e in program.eqns if e.primitive.name == "remat2"]


OFFLOAD = policies.save_and_offload_only_these_names(
    names_which_can_be_saved=[],
    names_which_can_be_offloaded=["a"],
    offload_src="device",
    offload_dst="pinned_host",
)
POLICIES = {
    "none": None,
    "everything": policies.everything_saveable,
    "nothing": policies.nothing_saveable,
    "dots": policies.dots_saveable,
    "plain dots": policies.dots_with_no_batch_dims_saveable,
    "only a": policies.save_only_these_names("a"),
    "names but a": policies.save_any_names_but_these("a"),
    "names but b": policies.save_any_names_but_these("b"),
    "anything except a": policies.save_anything_except_these_names("a"),
    "both": policies.save_from_both_policies(
        policies.dots_saveable, policies.save_only_these_names("a")
    ),
    "offload a": OFFLOAD,
    "offload dots": policies.offload_dot_with_no_batch_dims("device", "pinned_host"),
}


# -- values ----------------------------------------------------------------------------


QUICK = ("none", "dots", "offload a")


@pytest.mark.parametrize(
    "name",
    [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in POLICIES],
)
def test_gradient_is_that_without_checkpoint(name):
    g = olympus.checkpoint(f, policy=POLICIES[name])
    expected = olympus.grad(f, (0, 1))(X, W)
    for found, want in zip(olympus.grad(g, (0, 1))(X, W), expected, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-6)


# Bytes and dots that JAX 0.10.2 keeps and computes again for `f` above: residuals
# beside the two arguments, and products in the equation of the reverse pass.
KEPT = {
    "none": (["from the argument x", "from the argument w"], 2),
    "everything": (["argument x", "argument w", "output of cos", "output of sin"], 1),
    "dots": (["argument x", "argument w", "output of dot_general"], 1),
    "only a": (["argument x", "argument w", "named 'a'"], 2),
    "names but a": (["argument x", "argument w"], 2),
    "anything except a": (
        ["argument x", "argument w", "output of cos", "output of sin"],
        1,
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_policy_decides_what_is_kept(name):
    origins, dots = KEPT[name]
    g = olympus.checkpoint(f, policy=POLICIES[name])
    found = ad_checkpoint.saved_residuals(g, X, W)
    assert len(found) == len(origins)
    for (_, text), want in zip(found, origins, strict=True):
        assert want in text
    (again,) = remat_equations(olympus.make_olympuspr(olympus.grad(g))(X, W))
    assert count(again.params["jaxpr"], "dot_general") == dots


def test_saved_residuals_are_printed_with_their_place(capsys):
    print_saved_residuals(f, X, W)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["f32[3] from the argument x", "f32[3,3] from the argument w"]
    assert lines[2].startswith("f32[3] output of cos from ")
    assert lines[2].endswith(" (f)")
    assert "test_remat.py:" in lines[2]
    assert len(lines) == 4


def test_saved_residuals_of_calls_constants_and_containers(capsys):
    c = onp.arange(3.0)

    def g(x, p):
        return onp.sum(onp.sin(x * c) * olympus.jit(onp.cos)(x) * p["a"][0])

    print_saved_residuals(g, X, {"a": [X]})
    text = capsys.readouterr().out
    lines = [line.split(" from /")[0] for line in text.splitlines()]
    assert lines == [
        "f32[3] from a constant",
        "f32[3] from the argument p['a'][0]",
        "f32[3] output of sin",
        "f32[3] output of cos",
        "f32[3] output of jitted function 'cos'",
        "f32[3] output of jitted function 'cos'",
    ]  # JAX keeps the product of the two functions' values too


def test_nothing_is_kept_of_a_linear_function(capsys):
    print_saved_residuals(lambda x: x + 1, X)
    assert capsys.readouterr().out == ""


def test_program_prints_as_one_equation():
    text = str(olympus.make_olympuspr(olympus.checkpoint(onp.sin))(1.0))
    assert text == (
        "{ lambda ; a:f32[]. let\n"
        "    b:f32[] = remat2[\n"
        "      differentiated=False\n"
        "      olympuspr={ lambda ; c:f32[]. let d:f32[] = sin c in (d,) }\n"
        "      policy=None\n"
        "      prevent_cse=True\n"
        "    ] a\n"
        "  in (b,) }"
    )


def test_only_inputs_cross_to_the_reverse_pass():
    def deep(x):
        for _ in range(10):
            x = onp.sin(x)
        return onp.sum(x)

    program = olympus.make_olympuspr(olympus.grad(olympus.checkpoint(deep)))(X)
    (again,) = remat_equations(program)
    assert len(again.invars) == 2  # x and the cotangent
    assert again.invars[0] is program.olympuspr.invars[0]
    assert count(program.replace(olympuspr=program.olympuspr), "cos") == 10
    assert again.params["differentiated"] is True


# -- transformations -------------------------------------------------------------------


@pytest.mark.slow
def test_transformations_agree_with_those_without():
    g = olympus.checkpoint(f)
    np.testing.assert_allclose(olympus.jit(g)(X, W), f(X, W), rtol=1e-6)
    for transform in (
        lambda h: olympus.jvp(h, (X, W), (X, W)),
        lambda h: olympus.linearize(h, X, W)[1](X, W),
        lambda h: olympus.vmap(h, (0, None))(np.stack([X, X + 1]), W),
        lambda h: olympus.vmap(olympus.grad(h), (0, None))(np.stack([X, X + 1]), W),
        lambda h: olympus.grad(lambda xs: onp.sum(olympus.vmap(h, (0, None))(xs, W)))(
            np.stack([X, X + 1])
        ),
    ):
        for found, want in zip(
            olympus.tree.leaves(transform(g)),
            olympus.tree.leaves(transform(f)),
            strict=True,
        ):
            np.testing.assert_allclose(found, want, rtol=1e-5)


@pytest.mark.parametrize(
    "policy",
    [
        "none",
        pytest.param("dots", marks=pytest.mark.slow),
        pytest.param("only a", marks=pytest.mark.slow),
        pytest.param("offload a", marks=pytest.mark.slow),
    ],
)
def test_second_derivatives(policy):
    g = olympus.checkpoint(f, policy=POLICIES[policy])

    def slope(h):
        return lambda x: onp.sum(olympus.grad(h)(x, W) ** 2)

    expected = olympus.grad(slope(f))(X)
    np.testing.assert_allclose(olympus.grad(slope(g))(X), expected, rtol=1e-5)
    np.testing.assert_allclose(
        olympus.jit(olympus.grad(olympus.checkpoint(slope(g))))(X), expected, rtol=1e-5
    )
    _, along = olympus.jvp(slope(g), (X,), (onp.ones(3),))
    np.testing.assert_allclose(along, np.sum(expected), rtol=1e-5)
    _, back = olympus.vjp(lambda x: olympus.jvp(g, (x, W), (x, W))[1], X)
    _, want = olympus.vjp(lambda x: olympus.jvp(f, (x, W), (x, W))[1], X)
    np.testing.assert_allclose(back(1.0)[0], want(1.0)[0], rtol=1e-5)


def test_transpose_is_that_of_the_linear_part():
    g = olympus.checkpoint(f)
    _, tangent = olympus.linearize(lambda x: g(x, W), X)
    _, pull = olympus.vjp(lambda x: g(x, W), X)
    v = np.array([0.3, -0.2, 0.5], "float32")
    np.testing.assert_allclose(tangent(v), np.dot(pull(1.0)[0], v), rtol=1e-5)


def test_nested_checkpoints_compute_inner_values_only_when_needed():
    inner = olympus.checkpoint(lambda x: onp.sin(onp.sin(x)))
    outer = olympus.checkpoint(lambda x: inner(inner(x)))
    (again,) = remat_equations(olympus.make_olympuspr(olympus.grad(outer))(1.0))
    assert len(again.invars) == 2
    body = again.params["jaxpr"]
    assert [len(e.invars) for e in remat_equations(body)] == [2, 2]
    want = olympus.grad(lambda x: onp.sin(onp.sin(onp.sin(onp.sin(x)))))(1.0)
    np.testing.assert_allclose(olympus.grad(outer)(1.0), want, rtol=1e-6)


def test_inner_calls_are_split_by_the_policy():
    @olympus.jit
    def inner(x, w):
        return onp.sin(onp.sin(w @ x))

    def g(x, w):
        return onp.sum(inner(inner(x, w), w))

    kept = ad_checkpoint.saved_residuals(
        olympus.checkpoint(g, policy=policies.dots_saveable), X, W
    )
    # JAX 0.10.2 keeps the arguments and the two products.
    assert [a.shape for a, _ in kept] == [(3,), (3, 3), (3,), (3,)]
    checked = olympus.checkpoint(g, policy=policies.dots_saveable)
    (again,) = remat_equations(olympus.make_olympuspr(olympus.grad(checked))(X, W))
    assert count(again.params["jaxpr"], "dot_general") == 2  # the transposed ones
    np.testing.assert_allclose(
        olympus.grad(checked)(X, W), olympus.grad(g)(X, W), rtol=1e-5
    )


def test_a_kept_result_of_an_inner_call_is_no_second_result():
    inner = olympus.jit(lambda x: checkpoint_name(onp.sin(x), "a"))
    g = olympus.checkpoint(
        lambda x: onp.sum(onp.sin(inner(x))), policy=policies.save_only_these_names("a")
    )
    program = olympus.make_olympuspr(olympus.grad(g))(X)
    (call,) = [e for e in program.eqns if e.primitive.name == "pjit"]
    assert len(call.outvars) == 1
    want = np.cos(np.sin(X)) * np.cos(X)
    np.testing.assert_allclose(olympus.grad(g)(X), want, rtol=1e-5)


def scanned(body):
    def run(c, ws):
        last, ys = lax.scan(body, c, ws)
        return onp.sum(last) + onp.sum(ys * ys)

    return run


def step(c, w):
    y = w @ onp.sin(c)
    z = onp.tanh(onp.sin(y) + c)
    return z, onp.cos(z)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["none", "dots", "everything"])
def test_checkpoint_around_and_in_a_scan(policy):
    ws = np.stack([W, W + 0.1, W - 0.2, W * 2])
    expected = olympus.grad(scanned(step), (0, 1))(X, ws)
    around = olympus.checkpoint(scanned(step), policy=POLICIES[policy])
    inside = scanned(
        olympus.checkpoint(step, policy=POLICIES[policy], prevent_cse=False)
    )
    for g in (around, inside):
        for found, want in zip(olympus.grad(g, (0, 1))(X, ws), expected, strict=True):
            np.testing.assert_allclose(found, want, rtol=2e-5, atol=1e-6)


def test_a_scan_keeps_of_each_step_what_the_policy_allows():
    ws = np.zeros((4, 3, 3), "float32")
    plain = ad_checkpoint.saved_residuals(scanned(step), X, ws)
    recomputing = scanned(olympus.checkpoint(step))
    kept = ad_checkpoint.saved_residuals(recomputing, X, ws)
    assert sum(a.size for a, _ in kept) < sum(a.size for a, _ in plain)
    # The carry and the rows of each step, and the results that are squared.
    assert sorted(a.shape for a, _ in kept) == [(4, 3), (4, 3), (4, 3, 3)]
    around = olympus.checkpoint(scanned(step), policy=policies.dots_saveable)
    program = olympus.make_olympuspr(olympus.grad(around))(X, ws)
    (again,) = remat_equations(program)
    # One product in the transposed loop; the others are kept.
    assert count(again.params["jaxpr"], "dot_general") == 1


@pytest.mark.slow
def test_branches_are_split_by_the_policy():
    def g(x, w):
        y = lax.cond(
            x[0] > 0,
            lambda v: onp.sin(w @ onp.sin(w @ v)),
            lambda v: onp.exp(v * 2.0),
            x,
        )
        return onp.sum(y * y)

    checked = olympus.checkpoint(g, policy=policies.dots_saveable)
    for sign in (1, -1):
        np.testing.assert_allclose(
            olympus.grad(checked)(sign * X, W),
            olympus.grad(g)(sign * X, W),
            rtol=1e-5,
        )
    program = olympus.make_olympuspr(olympus.grad(checked))(X, W)
    (again,) = remat_equations(program)
    # Two products in the transposed branch; the two of the branch itself are kept.
    assert count(again.params["jaxpr"], "dot_general") == 2
    assert count(program, "dot_general") == 4


@pytest.mark.slow
def test_branches_and_loops_by_any_policy():
    def g(x):
        y = lax.cond(x[0] > 0, onp.sin, onp.cos, x)
        return onp.sum(lax.fori_loop(0, 3, lambda i, v: onp.sin(v), y))

    for policy in (None, policies.dots_saveable, policies.everything_saveable):
        checked = olympus.checkpoint(g, policy=policy)
        np.testing.assert_allclose(
            olympus.grad(checked)(X), olympus.grad(g)(X), rtol=1e-6
        )


# -- arguments -------------------------------------------------------------------------


def test_integers_booleans_keys_and_none():
    def g(x, n, flag, key):
        noise = random.normal(key, (3,))
        return onp.sum(onp.where(flag, onp.sin(x) * n, noise)), (n + 1, None)

    key = random.key(3)
    checked = olympus.checkpoint(g)
    found, aux = olympus.grad(checked, has_aux=True)(X, 3, True, key)
    np.testing.assert_allclose(found, 3 * np.cos(X), rtol=1e-6)
    assert aux[0] == 4
    assert aux[1] is None
    for h in (checked, olympus.jit(g)):
        loss = lambda n, h=h: h(X, n, True, key)[0]  # noqa: E731
        assert olympus.grad(loss, allow_int=True)(3).dtype == olympus.float0


def test_static_arguments():
    @functools.partial(
        olympus.checkpoint, static_argnums=(1, -1), static_argnames="mode"
    )
    def g(x, kind, factors, *, mode="a"):
        assert isinstance(kind, str)
        return onp.sin(x) * (2 if kind == mode else len(factors))

    assert olympus.grad(g)(0.0, "a", [1, 2, 3]) == 2
    assert olympus.grad(g)(0.0, "b", [1, 2, 3]) == 3
    assert olympus.grad(g)(0.0, "b", [1, 2, 3], mode="b") == 2


def test_keyword_arguments_are_traced():
    g = olympus.checkpoint(lambda x, *, scale: onp.sin(x) * scale)
    assert olympus.grad(g)(0.0, scale=3.0) == 3


def test_closures_over_arrays_and_tracers():
    c = onp.arange(3.0)

    def outer(x):
        g = olympus.checkpoint(lambda y: onp.sum(onp.sin(x * y) * c))
        return g(X)

    np.testing.assert_allclose(
        olympus.grad(outer)(X), np.arange(3) * X * np.cos(X * X), rtol=1e-5
    )
    np.testing.assert_allclose(
        olympus.jit(olympus.grad(outer))(X),
        np.arange(3) * X * np.cos(X * X),
        rtol=1e-5,
    )


def test_what_a_function_reads_may_change_between_calls():
    scale = 2.0
    g = olympus.checkpoint(lambda x: scale * onp.sin(x))
    assert olympus.grad(g)(0.0) == 2
    scale = 3.0
    assert olympus.grad(g)(0.0) == 3


@pytest.mark.slow
def test_arrays_that_a_function_closed_over_are_let_go():
    def differentiate():
        big = onp.arange(100.0)
        f = olympus.checkpoint(lambda x: onp.sum(onp.sin(x * big)))
        olympus.grad(f)(1.0)
        return weakref.ref(big)

    gone = differentiate()
    gc.collect()
    assert gone() is None


def test_calls_of_one_function_share_their_program():
    layer = olympus.checkpoint(lambda x, w: onp.sin(w @ x))

    def deep(x, w):
        for _ in range(3):
            x = layer(x, w)
        return onp.sum(x)

    program = olympus.make_olympuspr(olympus.grad(deep))(X, W)
    bodies = {id(e.params["jaxpr"]) for e in remat_equations(program)}
    assert len(bodies) == 1
    assert text_for("cuda", olympus.grad(deep), X, W).count("func.func private") == 1


@pytest.mark.parametrize(
    ("prevent_cse", "held"), [(True, 3), (False, 0), ((True, False), 2)]
)
def test_prevent_cse_holds_operands_behind_a_barrier(prevent_cse, held):
    g = olympus.checkpoint(
        lambda x, y: onp.sum(onp.sin(x) * y), prevent_cse=prevent_cse
    )
    text = text_for("cuda", olympus.grad(g), X, X)
    lines = [line for line in text.splitlines() if "optimization_barrier" in line]
    assert sum(line.count("tensor<") for line in lines) == held
    # Older versions of XLA drop barriers on the CPU; a branch takes their place.
    assert text_for("cpu", olympus.grad(g), X, X).count("stablehlo.case") == (held > 0)
    assert text_for("cpu", olympus.grad(g), X, X, keeps_barriers=True) == text
    np.testing.assert_allclose(olympus.grad(g)(X, X), np.cos(X) * X, rtol=1e-6)
    mapped = olympus.vmap(olympus.grad(g))(np.stack([X, X]), np.stack([X, X]))
    np.testing.assert_allclose(mapped[1], np.cos(X) * X, rtol=1e-6)


def test_effects_happen_again_in_the_reverse_pass(capfd):
    def g(x):
        olympus.debug.print("here {}", x)
        return onp.sin(onp.sin(x))

    olympus.checkpoint(g)(1.0)
    olympus.effects_barrier()
    assert capfd.readouterr().out.count("here 1.0") == 1
    for run in (olympus.grad, lambda h: olympus.jit(olympus.grad(h))):
        run(olympus.checkpoint(g))(1.0)
        olympus.effects_barrier()
        assert capfd.readouterr().out.count("here 1.0") == 2  # as in JAX


# -- memory ----------------------------------------------------------------------------


def temporary_bytes(loss, *args):
    compiled = olympus.jit(olympus.grad(loss)).lower(*args).compile()
    return compiled.memory_analysis().temp_size_in_bytes


def layer(c, w):
    return onp.tanh(onp.sin(c @ w) * onp.cos(c))


def deep(apply, n=30, per_block=1):
    """The loss of `n` layers, applied in blocks."""

    def block(c, ws):
        for w in ws:
            c = layer(c, w)
        return c

    def loss(ws, x):
        for i in range(0, n, per_block):
            x = apply(block)(x, ws[i : i + per_block])
        return onp.sum(x)

    return loss


@pytest.mark.slow
def test_a_scan_needs_less_memory():
    ws = np.zeros((30, 16, 16), "float32")
    x = np.zeros((256, 16), "float32")

    def temporary(apply):
        def loss(ws):
            return onp.sum(lax.scan(lambda c, w: (apply(layer)(c, w), None), x, ws)[0])

        return temporary_bytes(loss, ws)

    plain, checked = temporary(lambda f: f), temporary(olympus.checkpoint)
    carry = 30 * x.nbytes
    assert checked < 2 * carry < plain


@pytest.mark.parametrize("n", [6, pytest.param(30, marks=pytest.mark.slow)])
def test_a_deep_chain_needs_less_memory(n):
    ws = [np.zeros((16, 16), "float32")] * n
    x = np.zeros((512, 16), "float32")
    plain = temporary_bytes(deep(lambda f: f, n), ws, x)
    each = temporary_bytes(deep(olympus.checkpoint, n), ws, x)
    # Of each layer its input alone, and what one layer needs at a time.
    assert each <= (n + 6) * x.nbytes
    assert plain >= 2 * (n - 1) * x.nbytes
    if n == 30:
        blocks = temporary_bytes(deep(olympus.checkpoint, n, 5), ws, x)
        assert blocks < each
        merged = functools.partial(olympus.checkpoint, prevent_cse=False)
        assert temporary_bytes(deep(merged, n), ws, x) >= each


def test_values_are_those_of_the_branch_on_any_operand():
    # What the branch's condition reads: numbers that are no numbers, halves, nothing.
    g = olympus.checkpoint(lambda x: onp.sin(onp.sin(x)))
    slope = olympus.jit(lambda x, ct: olympus.vjp(g, x)[1](ct)[0])
    for dtype in ("float32", "float16", onp.bfloat16):
        x = onp.array([np.nan, 0.5, np.inf], dtype)
        found = slope(x, onp.ones(3, dtype))
        want = np.cos(np.sin(0.5)) * np.cos(0.5)
        assert found.dtype == dtype
        np.testing.assert_allclose(float(found[1]), want, rtol=1e-2)
    assert slope(onp.zeros((0,)), onp.zeros((0,))).shape == (0,)
    z = onp.array([0.5 + 1j])
    np.testing.assert_allclose(
        slope(z, onp.ones_like(z)), np.cos(np.sin(z)) * np.cos(z), rtol=1e-5
    )


# -- names and policies ----------------------------------------------------------------


def test_checkpoint_name_is_the_identity():
    tree = {"a": X, "b": (1, True)}
    named = checkpoint_name(tree, "n")
    np.testing.assert_array_equal(named["a"], X)
    assert named["b"] == (1, True)
    text = str(olympus.make_olympuspr(lambda x: checkpoint_name(x, "n"))(1.0))
    assert text == "{ lambda ; a:f32[]. let b:f32[] = name[name=n] a in (b,) }"
    assert olympus.grad(lambda x: checkpoint_name(x * x, "n"))(3.0) == 6
    np.testing.assert_array_equal(
        olympus.vmap(lambda x: ad_checkpoint.checkpoint_name_fwd(x, "n"))(X), X
    )


def test_policies_answer():
    dots = {"dimension_numbers": (((1,), (0,)), ((), ()))}
    batched = {"dimension_numbers": (((2,), (1,)), ((0,), (0,)))}
    assert policies.everything_saveable()
    assert not policies.nothing_saveable()
    assert policies.dots_saveable(lax.dot_general_p)
    assert policies.dots_saveable(lax.conv_general_dilated_p)
    assert not policies.dots_saveable(lax.sin_p)
    plain = policies.dots_with_no_batch_dims_saveable
    assert plain(lax.dot_general_p, **dots)
    assert not plain(lax.dot_general_p, **batched)
    assert policies.checkpoint_dots is policies.dots_saveable
    moved = policies.offload_dot_with_no_batch_dims("device", "pinned_host")
    answer = ad_checkpoint.Offloadable("device", "pinned_host")
    assert moved(lax.dot_general_p, **dots) == answer
    assert moved(lax.sin_p) is ad_checkpoint.Recompute
    assert OFFLOAD(ad_checkpoint.name_p, name="a") == answer
    assert OFFLOAD(ad_checkpoint.name_p, name="b") is ad_checkpoint.Recompute


def test_policies_made_alike_are_equal():
    assert policies.save_only_these_names("a", "b") == policies.save_only_these_names(
        "b", "a"
    )
    assert policies.save_only_these_names("a") != policies.save_only_these_names("b")
    text = repr(policies.save_only_these_names("b", "a"))
    assert text == "save_only_these_names('a', 'b')"


def test_a_policy_may_answer_by_decisions():
    def policy(prim, *avals, **params):
        assert all(hasattr(a, "shape") for a in avals)
        dot = prim is lax.dot_general_p
        return ad_checkpoint.Saveable if dot else ad_checkpoint.Recompute

    kept = ad_checkpoint.saved_residuals(olympus.checkpoint(f, policy=policy), X, W)
    assert len(kept) == 3


# -- what is refused -------------------------------------------------------------------


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match="checkpoint: expected a callable, got 3"):
        olympus.checkpoint(3)
    with pytest.raises(TypeError, match="policy must be a function or None"):
        olympus.checkpoint(f, policy="dots")
    with pytest.raises(TypeError, match="policy must be hashable"):
        olympus.checkpoint(f, policy=type("P", (), {"__call__": f, "__eq__": f})())
    with pytest.raises(TypeError, match="prevent_cse must be a bool"):
        olympus.checkpoint(f, prevent_cse=None)
    with pytest.raises(TypeError, match="static_argnums must be an int"):
        olympus.checkpoint(f, static_argnums="x")
    with pytest.raises(ValueError, match="got 5 in a call of f with 2 of them"):
        olympus.checkpoint(f, static_argnums=5)(X, W)
    with pytest.raises(TypeError, match="passed to the function at path s"):
        olympus.checkpoint(lambda x, s: x)(X, "a")
    with pytest.raises(TypeError, match=r"output component result\[1\]"):
        olympus.checkpoint(lambda x: (x, "a"))(X)
    with pytest.raises(TypeError, match="must return a bool, Saveable"):
        olympus.grad(olympus.checkpoint(f, policy=lambda *a, **k: None))(X, W)
    with pytest.raises(ValueError, match="prevent_cse"):
        olympus.checkpoint(f, prevent_cse=(True,))(X, W)


def test_python_control_flow_on_an_argument_names_the_cure():
    with pytest.raises(olympus.errors.TracerBoolConversionError) as info:
        olympus.checkpoint(lambda x: x if x > 0 else -x)(1.0)
    assert "for checkpoint / remat" in str(info.value)
    assert "argument x" in str(info.value)
    assert "static_argnums" in str(info.value)


def test_names_must_be_strings_in_one_list():
    with pytest.raises(TypeError, match="names must be strings, got 3"):
        policies.save_only_these_names(3)
    with pytest.raises(ValueError, match="in one list only"):
        policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["a"],
            names_which_can_be_offloaded=["a"],
            offload_src="device",
            offload_dst="pinned_host",
        )
    both = policies.save_from_both_policies(OFFLOAD, policies.dots_saveable)
    with pytest.raises(ValueError, match="both policies must return bools"):
        both(lax.dot_general_p)
