"""Mistakes that users make, and what the message of each must name.

The words are the user's own names and lines, what was expected and given, and the cure;
they were written down for each mistake by reading its message beside JAX's.
"""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, nn, random, sharding
from olympus._src import native
from olympus._src.foundation import source_info

MISTAKES = {}


def mistake(*words):
    def add(f):
        MISTAKES[f.__name__] = (f, words)
        return f

    return add


@mistake(
    "TracerBoolConversionError",
    "argument v",
    "numpy.where",
    "lax.cond",
    "static_argnames='v'",
    "function f at",
)
def if_tracer():
    @olympus.jit
    def f(x, v):
        if v < 3:
            return x
        return -x

    f(1.0, 2.0)


@mistake("argument x", "lax.while_loop")
def while_tracer():
    @olympus.jit
    def f(x):
        while x < 3:
            x = x + 1
        return x

    f(1.0)


@mistake("argument n", "mark it static", "jit(f, static_argnames='n')")
def range_n():
    @olympus.jit
    def f(x, n):
        for i in range(n):
            x = x + i
        return x

    f(1.0, 3)


@mistake("int() of", "argument n", "static_argnames='n'", "astype")
def int_tracer():
    @olympus.jit
    def f(x, n):
        return x * int(n)

    f(1.0, 3)


@mistake("differentiated", "stop_gradient")
def float_tracer():
    olympus.grad(lambda x: float(x) ** 2)(3.0)


@mistake("item() of", "argument x", "stays an array")
def item_tracer():
    @olympus.jit
    def f(x):
        return x.sum().item()

    f(jnp.ones(3))


@mistake("argument x", "Use olympus.numpy in place of numpy")
def np_tracer():
    @olympus.jit
    def f(x):
        return np.sin(np.asarray(x))

    f(jnp.ones(3))


@mistake("argument n", "static_argnames='n'")
def shape_tracer():
    @olympus.jit
    def f(n):
        return jnp.zeros((n, 3))

    f(3)


@mistake("numpy.arange", "argument n", "static_argnames='n'")
def arange_tracer():
    @olympus.jit
    def f(n):
        return jnp.arange(n)

    f(3)


@mistake("bool[3]", "argument x", "numpy.where")
def mask_tracer():
    @olympus.jit
    def f(x):
        return x[x > 0]

    f(jnp.ones(3))


@mistake("numpy.nonzero", "pass the argument `size`")
def nonzero_tracer():
    olympus.jit(lambda x: jnp.nonzero(x))(jnp.ones(3))


@mistake("numpy.unique", "pass the argument `size`")
def unique_tracer():
    olympus.jit(lambda x: jnp.unique(x))(jnp.ones(3))


@mistake("label 'j'", "got 3 (axis 1 of operand 0", "4 (axis 0 of operand 1")
def einsum_sizes():
    jnp.einsum("ij,jk->ik", jnp.ones((2, 3)), jnp.ones((4, 5)))


@mistake("'l'", "'ij,jk->il'", "(2, 3), (3, 5)")
def einsum_subs():
    jnp.einsum("ij,jk->il", jnp.ones((2, 3)), jnp.ones((3, 5)))


@mistake("operand 0", "'ijk'", "(2, 3)")
def einsum_rank():
    jnp.einsum("ijk,jk->i", jnp.ones((2, 3)), jnp.ones((3, 5)))


@mistake("f32[8,28,28,3]", "channels are last", "dimension_numbers=('NHWC'")
def conv_last():
    lax.conv(jnp.ones((8, 28, 28, 3)), jnp.ones((16, 3, 3, 3)), (1, 1), "SAME")


@mistake("(2, 4), (5,)", "the argument p['dec']['b'] of f", "result of dot_general at")
def bcast_path():
    def f(p, x):
        h = x @ p["enc"]["w"]
        return (h + p["dec"]["b"]).sum()

    olympus.jit(f)(
        {"enc": {"w": jnp.ones((3, 4))}, "dec": {"b": jnp.ones(5)}}, jnp.ones((2, 3))
    )


@mistake("numpy.matmul", "3 of f32[2,3]", "4 of f32[4,4]")
def matmul_path():
    def f(p, x):
        return (x @ p["enc"]["w"]).sum()

    olympus.grad(f)({"enc": {"w": jnp.ones((4, 4))}}, jnp.ones((2, 3)))


@mistake("tree['b']", "rest[0]['b']", "is_leaf=lambda x: x is None")
def treemap_none():
    olympus.tree.map(lambda a, b: a + b, {"a": 1, "b": None}, {"a": 1, "b": 2})


@mistake("list of 2 at tree['b']", "one of 1 at rest[0]['b']")
def treemap_struct():
    olympus.tree.map(lambda a, b: a + b, {"a": 1, "b": [1, 2]}, {"a": 1, "b": [1]})


@mistake("only tree has 'b'", "only rest[0] has 'c'")
def treemap_keys():
    olympus.tree.map(lambda a, b: a + b, {"a": 1, "b": 2}, {"a": 1, "c": 2})


@mistake("keys of a dict must have an order", "'str' and 'int'", "keys of one type")
def mixed_keys():
    olympus.jit(lambda d: d)({1: 2.0, "a": 3.0})


@mistake("position 1", "an array cannot be one", "static_argnums")
def static_array():
    f = olympus.jit(lambda x, n: x * n, static_argnums=1)
    f(1.0, jnp.ones(3))


@mistake("position 1", "type list", "pass a tuple")
def static_list():
    f = olympus.jit(lambda x, n: x, static_argnums=1)
    f(1.0, [1, 2])


@mistake("static_argnames='m'", "(x, n)")
def static_name_wrong():
    olympus.jit(lambda x, n: x, static_argnames="m")


@mistake("static_argnums=5", "takes only 2")
def static_num_wrong():
    olympus.jit(lambda x, n: x, static_argnums=5)(1.0, 2.0)


@mistake("deleted", "donated", "keep a copy")
def donated_again():
    f = olympus.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.ones(3)
    f(x)
    x + 1


@mistake("argument x of the function f at", "Return the value")
def leak():
    s = []

    @olympus.jit
    def f(x):
        s.append(x)
        return x

    f(1.0)
    s[0] + 1


@mistake("made by mul at", "function f at", "Return the value")
def leak_global():
    s = []

    def f(x):
        s.append(x * 2)
        return x * 2

    olympus.grad(f)(1.0)
    jnp.sin(s[0])


@mistake("cannot be changed in place", "x.at[idx].set(y)")
def setitem():
    x = jnp.zeros(3)
    x[0] = 1


@mistake("cannot be changed in place", "x.at[idx].add(y)")
def setitem_jit():
    @olympus.jit
    def f(x):
        x[0] += 1
        return x

    f(jnp.zeros(3))


@mistake("i32[] for x", "convert it to float")
def grad_int():
    olympus.grad(lambda x: x * 2)(3)


@mistake("returned f32[3]", "jacrev")
def grad_vec():
    olympus.grad(lambda x: x * 2)(jnp.ones(3))


@mistake("has_aux")
def grad_aux():
    olympus.grad(lambda x: (x * 2, x))(1.0)


@mistake("argnums=1", "called with only 1")
def grad_argnums():
    olympus.grad(lambda x: x * 2, argnums=1)(1.0)


@mistake("expected a callable", "3.0")
def grad_notfun():
    olympus.grad(3.0)


@mistake(
    "size 3: axis 0 of argument a",
    "size 4: axis 0 of argument b",
    "Use None in in_axes",
)
def vmap_sizes():
    olympus.vmap(lambda a, b: a + b)(jnp.ones(3), jnp.ones(4))


@mistake("1 entries for 2 positional arguments")
def vmap_inaxes():
    olympus.vmap(lambda a, b: a + b, in_axes=(0,))(jnp.ones(3), jnp.ones(3))


@mistake("argument b", "use None in in_axes")
def vmap_scalar():
    olympus.vmap(lambda a, b: a + b)(jnp.ones(3), 2.0)


@mistake("out_axes", "got 1")
def vmap_outaxes():
    olympus.vmap(lambda a: a, out_axes=1)(jnp.ones(3))


@mistake("argument a", "axis 2", "f32[3,2]")
def vmap_axis_range():
    olympus.vmap(lambda a: a, in_axes=2)(jnp.ones((3, 2)))


@mistake("carry['h']", "f32[2], expected f32[1]")
def scan_carry_shape():
    lax.scan(
        lambda c, x: ({"h": jnp.concatenate([c["h"], x[None]])}, None),
        {"h": jnp.ones(1)},
        jnp.ones(3),
    )


@mistake("pair of the carry and an output", "return (carry, None)")
def scan_noreturn():
    lax.scan(lambda c, x: c, 0.0, jnp.ones(3))


@mistake("3 for xs[0], 4 for xs[1]")
def scan_lengths():
    lax.scan(lambda c, x: (c, x), 0.0, (jnp.ones(3), jnp.ones(4)))


@mistake(
    "at result got i32[], expected f32[]", "convert one branch's result", "true_fun is"
)
def cond_types():
    lax.cond(True, lambda x: x, lambda x: x.astype(int), 1.0)


@mistake("a tuple at true_fun's result", "a leaf at false_fun's result")
def cond_struct():
    lax.cond(True, lambda x: (x, x), lambda x: x, 1.0)


@mistake("bool[2]", "numpy.any", "numpy.where")
def cond_pred():
    lax.cond(jnp.array([True, False]), lambda x: x, lambda x: -x, 1.0)


@mistake("missing 1 required positional argument: 'y'")
def cond_args():
    lax.cond(True, lambda x: x, lambda x, y: x, 1.0)


@mistake("body_fun", "a tuple of 2 at the carry and one of 1 at the result")
def while_body():
    lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1,), (0, 1.0))


@mistake("boolean scalar", "got f32[]")
def while_cond():
    lax.while_loop(lambda c: c, lambda c: c + 1, 0.0)


@mistake("takes 1 positional argument but 2 were given")
def fori_args():
    lax.fori_loop(0, 3, lambda c: c, 0)


@mistake("index must be an integer", "f32[]", "lax.cond")
def switch_idx():
    lax.switch(1.5, [lambda x: x, lambda x: -x], 1.0)


@mistake("numpy.add", "(3, 4), (3, 5)")
def add_shapes():
    jnp.ones((3, 4)) + jnp.ones((3, 5))


@mistake("numpy.matmul", "f32[3,4]", "f32[3,5]")
def matmul_shapes():
    jnp.ones((3, 4)) @ jnp.ones((3, 5))


@mistake("dimension 0", "f32[2,3], f32[2,4]")
def concat():
    jnp.concatenate([jnp.ones((2, 3)), jnp.ones((2, 4))])


@mistake("equal numbers of axes", "f32[2,3], f32[3]")
def concat_rank():
    jnp.concatenate([jnp.ones((2, 3)), jnp.ones(3)])


@mistake("numpy.concatenate", "as one list")
def concat_notseq():
    jnp.concatenate(jnp.ones((2, 3)), jnp.ones((2, 3)))


@mistake("numpy.stack", "(3,), (4,)")
def stack():
    jnp.stack([jnp.ones(3), jnp.ones(4)])


@mistake("(3, 4) (size 12)", "(5, -1)")
def reshape_size():
    jnp.ones((3, 4)).reshape(5, -1)


@mistake("one unknown axis", "(-1, -1)")
def reshape_neg():
    jnp.ones((3, 4)).reshape(-1, -1)


@mistake("numpy.sum", "axis 2", "dimension 2")
def axis_range():
    jnp.sum(jnp.ones((3, 4)), axis=2)


@mistake("got 4", "one tuple")
def zeros_two():
    jnp.zeros(3, 4)


@mistake("nonnegative", "(3, -4)")
def ones_neg():
    jnp.ones((3, -4))


@mistake("float: 1.0", "write 1")
def idx_float():
    jnp.ones(3)[1.0]


@mistake("'a'", "numbers, slices")
def idx_str():
    jnp.ones(3)["a"]


@mistake("1-dimensional", "2 were indexed")
def idx_many():
    jnp.ones(3)[1, 2]


@mistake("arr[array(seq)]")
def idx_list():
    jnp.ones(3)[[0, 1]]


@mistake("argument i", "static_argnames='i'")
def list_index():
    olympus.jit(lambda i: [1, 2, 3][i])(1)


@mistake("type <class 'str'>", "at path x", "static_argnums")
def str_arg():
    olympus.jit(lambda x: x)("hello")


@mistake("numpy.add", "NoneType", "position 0")
def none_add():
    jnp.add(None, 1)


@mistake("numpy.sum", "<class 'list'>", "numpy.asarray")
def list_sum():
    jnp.sum([1, 2, 3])


@mistake("<class 'object'>", "numbers and nested sequences")
def obj_array():
    jnp.asarray(object())


@mistake("'a'", "numbers and booleans")
def str_array():
    jnp.asarray(["a", "b"])


@mistake("numpy.array", "equal lengths")
def ragged():
    jnp.array([[1, 2], [3]])


@mistake("'arrange'", "did you mean 'arange'?")
def typo():
    jnp.arrange(3)


@mistake("'softmax'", "did you mean olympus.nn.softmax?")
def typo2():
    olympus.numpy.softmax(jnp.ones(3))


@mistake("'fill'", "full_like")
def method_np():
    jnp.ones(3).fill(0)


@mistake("expected a callable", "got 3")
def jit_notfun():
    olympus.jit(3)


@mistake("pass the function itself")
def jit_called_early():
    olympus.jit(jnp.sin(1.0))


@mistake("'foo'")
def jit_deco_args():
    @olympus.jit(static_argnums=0, foo=1)
    def f(x):
        return x


@mistake("'y'")
def missing_arg():
    olympus.jit(lambda x, y: x)(1.0)


@mistake("random.normal", "random.key")
def key_none():
    random.normal(None, (3,))


@mistake("random.normal", "random.key(0)")
def key_int():
    random.normal(0, (3,))


@mistake("random.normal", "first argument, before the shape")
def key_order():
    random.normal((3,), random.PRNGKey(0))


@mistake("shape (2,)", "olympus.vmap")
def key_batch():
    random.normal(random.split(random.PRNGKey(0)), (3,))


@mistake("got 4", "one tuple")
def shape_int_uniform():
    random.uniform(random.PRNGKey(0), 3, 4, "float99")


@mistake("numpy.linalg.solve", "f32[3,4]", "lstsq")
def solve_nonsquare():
    jnp.linalg.solve(jnp.ones((3, 4)), jnp.ones(3))


@mistake("numpy.linalg.inv", "f32[3,4]", "pinv")
def inv_nonsquare():
    jnp.linalg.inv(jnp.ones((3, 4)))


@mistake("numpy.linalg.cholesky", "f32[3]", "reshape")
def chol_vec():
    jnp.linalg.cholesky(jnp.ones(3))


@mistake("num_classes", "integer")
def onehot():
    nn.one_hot(jnp.ones(3, int), jnp.array(3.5))


@mistake("nn.softmax", "axis 2", "dimension 1")
def softmax_axis():
    nn.softmax(jnp.ones(3), axis=2)


@mistake("must return f32[3], got float32[4]", "result_shape_dtypes")
def pure_cb_shape():
    olympus.block_until_ready(
        olympus.pure_callback(
            lambda x: np.ones(4, np.float32),
            olympus.ShapeDtypeStruct((3,), jnp.float32),
            1.0,
        )
    )


@mistake("a tuple at the result", "a leaf of type float at the cotangent")
def vjp_struct():
    _, f = olympus.vjp(lambda x: (x, x), 1.0)
    f(1.0)


@mistake("must be f32[]", "got f32[3]")
def vjp_dtype():
    _, f = olympus.vjp(lambda x: x, 1.0)
    f(jnp.ones(3))


@mistake("tangent of x", "f32[]", "f32[3]")
def jvp_tangent():
    olympus.jvp(lambda x: x, (1.0,), (jnp.ones(3),))


@mistake("tangent of x", "float0")
def jvp_int():
    olympus.jvp(lambda x: x * 1.0, (1,), (1,))


@mistake("each of its 2 arguments", "got 1")
def custom_vjp_struct():
    @olympus.custom_vjp
    def f(x, y):
        return x * y

    f.defvjp(lambda x, y: (x * y, (x, y)), lambda r, g: (g,))
    olympus.grad(f)(1.0, 2.0)


@mistake("f.defvjp")
def custom_vjp_undefined():
    @olympus.custom_vjp
    def f(x):
        return x

    olympus.grad(f)(1.0)


@mistake("f.defjvp")
def custom_jvp_undefined():
    @olympus.custom_jvp
    def f(x):
        return x

    olympus.grad(f)(1.0)


@mistake("Argument 'x'", "float32[3]", "float32[4]")
def compiled_types():
    c = olympus.jit(lambda x: x).lower(jnp.ones(3)).compile()
    c(jnp.ones(4))


@mistake("2 axes", "got 1")
def dyn_slice():
    lax.dynamic_slice(jnp.ones((3, 4)), (0,), (2, 2))


@mistake("(5, 2) for f32[3,4]")
def dyn_slice_big():
    lax.dynamic_slice(jnp.ones((3, 4)), (0, 0), (5, 2))


@mistake("(3,) of f32[2,3]", "(2,) of f32[2,3]")
def dot_general():
    lax.dot_general(jnp.ones((2, 3)), jnp.ones((2, 3)), (((1,), (0,)), ((), ())))


@mistake("float32, int32", "olympus.numpy")
def lax_add_dtype():
    lax.add(jnp.ones(3), jnp.ones(3, int))


@mistake("f32[3] and f32[4]", "olympus.numpy")
def lax_add_shape():
    lax.add(jnp.ones(3), jnp.ones(4))


@mistake("(2,)", "(3,)")
def at_shape():
    jnp.ones(3).at[:2].set(jnp.ones(3))


@mistake("got x and no y", "give both")
def where_two():
    jnp.where(jnp.ones(3) > 0, 1.0)


@mistake("unbound axis name: i", "axis_name='i'")
def psum_noaxis():
    olympus.jit(lambda x: lax.psum(x, "i"))(1.0)


@mistake("a.any() or a.all()")
def bool_array():
    if jnp.array([True, False]):
        pass


@mistake("operators &, |, ~")
def and_tracer():
    olympus.jit(lambda x: (x > 0) and (x < 3))(1.0)


@mistake("operators &, |, ~")
def chained():
    olympus.jit(lambda x: 0 < x < 3)(1.0)


@mistake("3 sections of 10", "array_split")
def split_uneven():
    jnp.split(jnp.ones(10), 3)


@mistake("'flot32'", "did you mean 'float32'?")
def bad_dtype():
    jnp.zeros(3, dtype="flot32")


@mistake("numpy.take", "axis 1")
def take_axis():
    jnp.take(jnp.ones(3), 0, axis=1)


@mistake("numpy.transpose", "axis 2")
def transpose_axes():
    jnp.transpose(jnp.ones((2, 3)), (0, 1, 2))


@mistake("numpy.repeat", "3 elements", "(2,)")
def tile_neg():
    jnp.repeat(jnp.ones(3), jnp.array([1, 2]))


@mistake("numpy.repeat", "total_repeat_length", "argument n")
def repeat_traced():
    olympus.jit(lambda x, n: jnp.repeat(x, n))(jnp.ones(3), jnp.array([1, 2, 3]))


@mistake("numpy.add", "argument b of <lambda>", "(3, 4), (2, 5)")
def dot_of_arguments():
    olympus.jit(lambda a, b: jnp.add(a, b) * "x")(jnp.ones((3, 4)), jnp.ones((2, 5)))


@mistake("mapped by vmap", "numpy.where", "lax.cond")
def if_in_vmap():
    olympus.vmap(lambda x: 1 if x > 0 else 2)(jnp.ones(3))


@mistake("only in_axes[0] has 'b'", "only args[0] has 'a'")
def in_axes_of_a_dict():
    olympus.vmap(lambda d: d["a"], in_axes=({"b": 0},))({"a": jnp.ones(3)})


@mistake("device_put", "'gpu'", "olympus.devices()")
def device_by_name():
    olympus.device_put(jnp.ones(3), "gpu")


@mistake("numpy.arange", "step must not be zero")
def step_of_zero():
    jnp.arange(0, 1, 0)


@mistake("window_strides", "2 spatial axes", "(1,)")
def strides_of_a_convolution():
    lax.conv_general_dilated(
        jnp.ones((1, 1, 4, 4)), jnp.ones((1, 1, 2, 2)), (1,), "SAME"
    )


@mistake("debug.print", "'x' in '{x}'", "are y")
def name_in_a_format():
    olympus.debug.print("{x}", y=1)


@mistake("numpy.full", "fill_value", "'a'")
def text_as_a_number():
    jnp.full((3,), "a")


@mistake("output component result", "type <class 'str'>", "arrays and numbers only")
def text_returned():
    olympus.jit(lambda x: "a")(1.0)


@mistake("k must be from 0", "3, got 5")
def too_many_of_the_top():
    lax.top_k(jnp.ones(3), 5)


@mistake("query f32[2,3,4]", "value f32[2,3,5]")
def attention_of_three_axes():
    x = jnp.ones((2, 3, 4))
    nn.dot_product_attention(x, x, jnp.ones((2, 3, 5)))


@mistake("debug.print", "'.2f'")
def format_of_a_traced_value():
    olympus.jit(lambda x: f"{x:.2f}")(3.0)


# -- as a second reader planted them ---------------------------------------------------


@mistake("f32[2,2], expected f32[2]", "as with sum or reshape")
def carry_of_another_shape():
    lax.scan(lambda c, x: (c + x[:, None], None), jnp.zeros(2), jnp.ones((4, 2)))


@mistake("i32[], expected f32[3]", "numpy.full_like")
def branch_of_another_shape():
    lax.cond(True, lambda x: {"y": x}, lambda x: {"y": 0}, jnp.ones(3))


@mistake("fori_loop: <lambda> at", "must take 2 arguments (i, carry)", "takes 1 pos")
def body_without_index():
    lax.fori_loop(0, 3, lambda c: c * 0.5, 1.0)


@mistake("scan: <lambda> at", "must take 2 arguments", "takes 1 positional")
def body_without_element():
    lax.scan(lambda c: (c, None), 0.0, jnp.ones(3))


@mistake("must take 1 argument,", "missing 1 required positional argument: 'y'")
def branch_of_too_many_operands():
    def add(x, y):
        return x + y

    lax.cond(True, add, add, 1.0)


@mistake("takes 0 positional arguments but 1 was given")
def a_call_within_a_body_is_not_the_bodys():
    def none():
        return 0

    lax.scan(lambda c, x: (none(x), None), 0.0, jnp.ones(3))


@mistake("returned None", "`return`")
def loss_without_return():
    olympus.grad(lambda x: None)(1.0)


@mistake("got f32[]", "leave has_aux out")
def aux_that_is_not_there():
    olympus.grad(lambda x: x * 2, has_aux=True)(1.0)


@mistake("got (Traced<ShapedArray(int32[]", "static_argnames='n'")
def traced_shape():
    @olympus.jit
    def make(n):
        return jnp.zeros((n, 3))

    make(3)


@mistake("slice(None, a traced i32[], None)", "lax.dynamic_slice")
def traced_bound():
    @olympus.jit
    def head(x, n):
        return x[:n]

    head(jnp.ones(4), 2)


@mistake("numpy.mean: axis 2", "dimension 2; its axes are -2 to 1")
def axis_that_is_not_there():
    jnp.mean(jnp.ones((2, 3)), axis=2)


@mistake("axis 0 is out of bounds", "it has no axes")
def axis_of_a_number():
    jnp.sum(jnp.ones(()), axis=0)


@mistake("array 1 has size 3 on axis 0, array 0 has 2")
def parts_of_other_sizes():
    jnp.concatenate([jnp.ones((2, 3)), jnp.ones((3, 3))], axis=1)


@mistake("numpy.stack got (3,), (4,)", "numpy.concatenate")
def stack_of_other_sizes():
    jnp.stack([jnp.ones(3), jnp.ones(4)])


@mistake("pad them to one length")
def ragged_lists():
    jnp.array([[1, 2], [3]])


@mistake("axis 3 of the input and axis 2 of the kernel", "numpy.moveaxis(x, 1, 3)")
def images_with_channels_first():
    layout = ("NHWC", "HWIO", "NHWC")
    x, w = jnp.ones((1, 3, 16, 16)), jnp.ones((3, 3, 3, 8))
    lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout)


@mistake("axis 3 of the input and axis 2 of the kernel", "5 and 8 of f32[3,3,5,8]")
def images_of_other_channels():
    layout = ("NHWC", "HWIO", "NHWC")
    x, w = jnp.ones((1, 3, 16, 16)), jnp.ones((3, 3, 5, 8))
    lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout)


@mistake("axis 1 of size 3 has no 2:5:1")
def slice_past_the_end():
    lax.slice(jnp.ones((2, 3)), (0, 2), (2, 5))


@mistake("start indices must be a sequence", "got i32[]", "write (i,)")
def start_as_a_number():
    lax.dynamic_slice(jnp.ones(4), 1, (2,))


@mistake("at path self", "register the class Model", "register_dataclass")
def method_of_a_plain_class():
    class Model:
        @olympus.jit
        def call(self, x):
            return x

    Model().call(1.0)


@mistake("numpy.where", "got bool[3]")
def truth_of_several():
    bool(jnp.arange(3) > 0)


@mistake("for +: f32[2] and None", "`is None`")
def absent_bias():
    olympus.jit(lambda p, x: x + p["b"])({"b": None}, jnp.ones(2))


@mistake("for *: None and f32[2]")
def absent_scale():
    None * jnp.ones(2)


@mistake("got 1 of them", "return None for those without")
def rule_of_one_cotangent():
    f = olympus.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, y), lambda y, g: (g * y,))
    olympus.grad(f)(1.0, 2.0)


@mistake("got 1.0", "return (result, residuals)")
def rule_without_residuals():
    f = olympus.custom_vjp(lambda x: x)
    f.defvjp(lambda x: x, lambda _, g: (g,))
    olympus.grad(f)(1.0)


@mistake("got f32[]", "return (result, tangent)")
def rule_without_a_tangent():
    f = olympus.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: t[0])
    olympus.grad(f)(1.0)


@mistake("'x' compiled with float32[3]", "call the jitted function")
def compiled_for_another_shape():
    compiled = olympus.jit(lambda x: x * 2).lower(jnp.ones(3)).compile()
    compiled(jnp.ones(4))


@mistake("a tuple of 2 at compiled[0] and one of 1 at called[0]")
def compiled_for_another_count():
    x = jnp.ones(3)
    olympus.jit(lambda x, y: x * y).lower(x, x).compile()(x)


@mistake("f32[]", "olympus.debug.print('{:.3f}', x)")
def format_of_a_traced_number():
    olympus.jit(lambda x: f"{x:.3f}")(3.0)


@mistake("keys of one type")
def keys_of_two_types():
    olympus.jit(lambda d: d)({"a": 1.0, 1: 2.0})


@mistake("did you mean 'float32'?")
def dtype_misspelt():
    jnp.zeros(3, dtype="float23")


@mistake("got 3 of f32[2,3] and 4 of f32[3,4]")
def axes_as_lists():
    jnp.tensordot(jnp.ones((2, 3)), jnp.ones((3, 4)), axes=([1], [1]))


@mistake("must be one of ('data',)", "'model'")
def axis_of_no_mesh():
    mesh = olympus.make_mesh((1,), ("data",))
    sharding.NamedSharding(mesh, sharding.PartitionSpec("model"))


@mistake("numpy.add: `out` must be None")
def result_in_place():
    jnp.add(jnp.ones(3), 1.0, out=jnp.ones(3))


@mistake("'z' did not appear in the input", "after '->': i, j, k")
def einsum_of_an_unknown_label():
    jnp.einsum("ij,jk->iz", jnp.ones((2, 3)), jnp.ones((3, 4)))


@mistake("unexpected keyword argument 'where'")
def exp_of_chosen_elements():
    jnp.exp(jnp.ones(3), where=jnp.ones(3, bool))


def test_there_are_a_hundred():
    assert len(MISTAKES) >= 100


@pytest.mark.parametrize("name", MISTAKES)
def test_the_message_names_what_matters(name):
    f, words = MISTAKES[name]
    with pytest.raises(Exception) as info:  # noqa: PT011 - each has its own class
        f()
    lines = [str(info.value), *getattr(info.value, "__notes__", ())]
    message = f"{type(info.value).__name__}: " + "\n".join(lines)
    missing = [word for word in words if word not in message]
    assert not missing, message


@pytest.mark.skipif(native.calls is None, reason="frames are taken out in C")
@pytest.mark.parametrize("name", MISTAKES)
def test_the_traceback_shows_the_users_lines(name):
    f, _ = MISTAKES[name]
    with pytest.raises(Exception) as info:  # noqa: PT011 - each has its own class
        f()
    # What Python prints: with the errors before it, where they are not left out.
    printed = traceback.TracebackException.from_exception(info.value)
    internal = [f for f in _printed_frames(printed) if source_info.is_internal(f)]
    assert len(internal) <= 1, internal


def _printed_frames(printed):
    files = [frame.filename for frame in printed.stack]
    if printed.__cause__ is not None:
        return files + _printed_frames(printed.__cause__)
    if printed.__context__ is not None and not printed.__suppress_context__:
        return files + _printed_frames(printed.__context__)
    return files


@pytest.mark.parametrize("name", ["floar32", "lingspace"])
def test_one_suggestion_for_a_misspelt_name(name):
    with pytest.raises(AttributeError) as info:
        getattr(jnp, name)
    text = "".join(traceback.format_exception(info.value))
    assert text.lower().count("did you mean") == 1
