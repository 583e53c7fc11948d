"""The gamma distribution, and those made of gamma numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.control_flow import scan as scans
from olympus._src.control_flow import while_loop as loops
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    DTypeLike,
    KeyArray,
    Placement,
    Shape,
)
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    barriers,
    concatenation,
    families,
    reductions,
    shaping,
    sharding_rules,
    special,
    stacking,
)
from olympus._src.lax import elementwise as ew
from olympus._src.lax.families import ShapedArray
from olympus._src.numerics import igamma
from olympus._src.numpy import promotion
from olympus._src.random import arguments, keys
from olympus._src.random.arguments import (
    as_dtype,
    broadcast_parameter,
    number,
    one_program,
    spread,
)
from olympus._src.random.continuous import draw_exponential, draw_normal, parameters
from olympus._src.random.uniform import draw_sign, draw_uniform, split_in

# -- drawing ---------------------------------------------------------------------------

# The constant of the quick acceptance test, from the paper's figure 1.
_SQUEEZE = 0.0331


def _abstract(key: Any, a: Any, *, log_space: bool) -> Any:
    return ShapedArray(a.shape, a.dtype)


def _decompose(key: Any, a: Any, *, log_space: bool) -> Any:
    """Each element draws from a key of its own."""
    aval, key_aval = avals.aval_of(a), avals.aval_of(key)
    per_key = math.prod(aval.shape[key_aval.ndim :])
    own = keys.random_split_p.bind(key, shape=(per_key,))
    own = _fence(shaping.reshape(own, (aval.size,)))
    flat = shaping.reshape(a, (aval.size,))
    draw = _draw if _draws_alike(key) else _draw_in_turn
    return shaping.reshape(draw(own, flat, log_space), aval.shape)


def _draws_alike(key: Any) -> bool:
    """Whether each of several keys draws together what it would draw alone."""
    return avals.aval_of(key).dtype.implementation.name == "threefry2x32"


def _fence(own: Any) -> Any:
    """Keys that are computed once: fused into each use, they take long to compile."""
    impl = avals.aval_of(own).dtype.implementation
    words = barriers.optimization_barrier(keys.random_unwrap_p.bind(own))
    return keys.random_wrap_p.bind(words, impl=impl)


def _batch(axis: Any, args: Any, dims: Any, *, log_space: bool) -> Any:
    key, a = (families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True))
    return random_gamma_p.bind(key, a, log_space=log_space), 0


def _jvp(primals: Any, tangents: Any, *, log_space: bool) -> Any:
    """Implicit reparametrisation: the number moves so that its quantile stays.

    Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients" (2018).
    """
    key, a = primals
    t = tangents[1]
    out = random_gamma_p.bind(key, a, log_space=log_space)
    if type(t) is Zero:
        return out, Zero(avals.aval_of(out).to_tangent())
    if not log_space:
        return out, ew.mul(t, igamma.random_gamma_grad(a, out))
    # Of numbers too small for the dtype only the first term of igamma's series is left.
    x = ew.exp(out)
    tiny = ew.eq(x, _constant(avals.aval_of(x), 0))
    safe = ew.select(tiny, _constant(avals.aval_of(x), 1), x)
    slope = ew.div(igamma.random_gamma_grad(a, safe), safe)
    raised = ew.add(a, number(1, avals.aval_of(a).dtype))
    first_term = ew.div(ew.sub(special.digamma(raised), out), a)
    return out, ew.mul(t, ew.select(tiny, first_term, slope))


random_gamma_p = Primitive(
    "random_gamma",
    key_reuse=lambda uses, eqn, operands: uses.consume(operands[0]),
    shard=sharding_rules.elementwise,
    abstract=_abstract,
    decompose=_decompose,
    jvp=_jvp,
    batch=_batch,
)


def _pick(mask: Any, x: Any, y: Any) -> Any:
    """Elements of `x` where the mask [n] holds, else of `y`."""
    shape = avals.aval_of(x).shape
    if len(shape) > 1:
        mask = shaping.broadcast_in_dim(mask, shape, (0,))
    return ew.select(mask, x, y)


def _any(mask: Any) -> Any:
    return reductions.reduce_or(mask, (0,))


def _split_each(words: Any, impl: Any, count: int) -> list[Any]:
    """Words [n, ...] of keys, split in `count` such arrays."""
    several = impl.split(words, (count,))
    return [
        concatenation.index_in_dim(several, i, axis=1, keepdims=False)
        for i in range(count)
    ]


def _draw(own: Any, a: Any, log_space: bool) -> Any:
    """Gamma numbers for keys [n] and shape parameters [n].

    Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), for
    parameters from 1 on; smaller ones are raised by one and scaled back (section 6).
    """
    aval = avals.aval_of(a)
    one = _constant(aval, 1)
    impl = avals.aval_of(own).dtype.implementation
    words = keys.random_unwrap_p.bind(own)
    words, boost_words = _split_each(words, impl, 2)
    large = ew.ge(a, one)
    raised = ew.select(large, a, ew.add(a, one))
    third = number(1 / 3, aval.dtype)
    d = ew.sub(raised, third)
    v = _accepted_cube(words, impl, d, ew.div(third, ew.sqrt(d)))
    boost_key = keys.random_wrap_p.bind(boost_words, impl=impl)
    power = ew.div(one, a)
    if log_space:
        log_u = ew.neg(draw_exponential(boost_key, (), aval.dtype))
        zero = _constant(aval, 0)
        nothing = ew.bitwise_or(large, ew.eq(log_u, zero))
        boost = ew.select(nothing, zero, ew.mul(log_u, power))
        return ew.add(ew.add(ew.log(d), ew.log(v)), boost)
    u = ew.sub(one, draw_uniform(boost_key, (), aval.dtype))
    return ew.mul(ew.mul(d, v), ew.select(large, one, ew.pow_(u, power)))


def _draw_in_turn(own: Any, a: Any, log_space: bool) -> Any:
    """The same, one element after the other."""

    def draw_one(_: Any, this: Any) -> Any:
        key, a = (shaping.reshape(x, (1,)) for x in this)
        return (), shaping.reshape(_draw(key, a, log_space), ())

    return scans.scan(draw_one, (), (own, a))[1]


def _constant(aval: Any, value: float) -> Any:
    return shaping.full(aval.shape, number(value, aval.dtype))


def _accepted_cube(words: Any, impl: Any, d: Any, c: Any) -> Any:
    """Cubes (1 + cx)^3 of normal x, drawn until the paper's test accepts each."""
    aval = avals.aval_of(d)
    everyone = shaping.full(aval.shape, number(True, np.bool_))

    def is_running(state: Any) -> Any:
        return _any(state[2])

    def again(state: Any) -> Any:
        words, v, active = state
        next_words, x_words, u_words = _split_each(words, impl, 3)
        x, base = _positive_base(x_words, impl, c, active)
        u_key = keys.random_wrap_p.bind(u_words, impl=impl)
        u = draw_uniform(u_key, (), aval.dtype)
        cube = ew.mul(ew.mul(base, base), base)
        refused = _is_refused(ew.mul(x, x), cube, u, d)
        return (
            _pick(active, next_words, words),
            _pick(active, cube, v),
            ew.bitwise_and(active, refused),
        )

    first = (words, _constant(aval, 1), everyone)
    return loops.while_loop(is_running, again, first)[1]


def _positive_base(words: Any, impl: Any, c: Any, active: Any) -> tuple[Any, Any]:
    """Normal x and 1 + cx, drawn until the latter is positive where it is wanted."""
    aval = avals.aval_of(c)
    zero, one = _constant(aval, 0), _constant(aval, 1)

    def missing(base: Any) -> Any:
        return ew.bitwise_and(active, ew.le(base, zero))

    def again(state: Any) -> Any:
        words, x, base = state
        is_missing = missing(base)
        next_words, drawn = _split_each(words, impl, 2)
        key = keys.random_wrap_p.bind(drawn, impl=impl)
        new = draw_normal(key, (), aval.dtype)
        return (
            _pick(is_missing, next_words, words),
            _pick(is_missing, new, x),
            _pick(is_missing, ew.add(one, ew.mul(new, c)), base),
        )

    first = (words, zero, ew.neg(one))
    _, x, base = loops.while_loop(lambda state: _any(missing(state[2])), again, first)
    return x, base


def _is_refused(square: Any, cube: Any, u: Any, d: Any) -> Any:
    """Whether a draw fails both tests of acceptance, the quick and the exact one."""
    dtype = avals.aval_of(d).dtype
    one = number(1, dtype)
    quick = ew.sub(one, ew.mul(number(_SQUEEZE, dtype), ew.mul(square, square)))
    exact = ew.add(
        ew.mul(square, number(0.5, dtype)),
        ew.mul(d, ew.add(ew.sub(one, cube), ew.log(cube))),
    )
    return ew.bitwise_and(ew.ge(u, quick), ew.ge(ew.log(u), exact))


def draw_gamma(
    key: Any, a: Any, shape: Any, dtype: Any, log_space: bool = False
) -> Any:
    """Gamma numbers, or their logarithms, which do not vanish for small parameters."""
    a = broadcast_parameter(as_dtype(a, dtype), shape)
    return random_gamma_p.bind(key, a, log_space=log_space)


def _draw_two_logs(key: Any, a: Any, b: Any, shape: Any, dtype: Any) -> list[Any]:
    """Logarithms of gamma numbers of parameters `a` and `b`, from the halves of a key.

    One loop for both where keys side by side draw alike: a loop takes most of the time
    to compile.
    """
    parameters = [broadcast_parameter(as_dtype(x, dtype), shape) for x in (a, b)]
    if not _draws_alike(key):
        halves = split_in(key, 2)
        return [
            random_gamma_p.bind(k, x, log_space=True)
            for k, x in zip(halves, parameters, strict=True)
        ]
    halves = keys.random_split_p.bind(key, shape=(2,))
    both = random_gamma_p.bind(halves, stacking.stack(parameters), log_space=True)
    return [concatenation.index_in_dim(both, i, keepdims=False) for i in range(2)]


# -- gamma -----------------------------------------------------------------------------


@promotion.divides_result("random.gamma")
def gamma(
    key: KeyArray,
    a: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Samples of the gamma distribution of scale 1.

    The density is `x^(a-1) exp(-x)` over the gamma function of a.

    Args:
      key: one key.
      a: shape parameters, positive.
      shape: shape of the result, to which `a` broadcasts; default that of `a`.
      dtype: float dtype; default the default one.
      method: None.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Raises:
      ValueError: several keys are given, the dtype is of the wrong kind, or `a` does
        not broadcast to `shape`.

    Source: Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.

    Example:
      >>> from olympus import random
      >>> random.gamma(random.key(0), jnp.array([0.5, 2.0])).shape
      (2,)
    """
    args = parameters("gamma", key, shape, dtype, a)
    _refuse_method("gamma", method)
    return _gamma(args.key, a, shape=args.shape, dtype=args.dtype)


def _refuse_method(name: str, method: str | None) -> None:
    if method is not None:
        raise ValueError(
            f"random.{name}: method must be None, which is rejection, got {method!r}; "
            "leave it out"
        )


@one_program
def _gamma(key: Any, a: Any, *, shape: Any, dtype: Any) -> Any:
    return draw_gamma(key, a, shape, dtype)


@promotion.divides_result("random.loggamma")
def loggamma(
    key: KeyArray,
    a: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Logarithms of gamma numbers, exact also where those are too small for the dtype.

    Args:
      key: one key.
      a: shape parameters, positive.
      shape: shape of the result, to which `a` broadcasts; default that of `a`.
      dtype: float dtype; default the default one.
      method: None.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Example:
      >>> from olympus import random
      >>> random.loggamma(random.key(0), jnp.array([0.001, 2.0])).shape
      (2,)
    """
    args = parameters("loggamma", key, shape, dtype, a)
    _refuse_method("loggamma", method)
    return _loggamma(args.key, a, shape=args.shape, dtype=args.dtype)


@one_program
def _loggamma(key: Any, a: Any, *, shape: Any, dtype: Any) -> Any:
    return draw_gamma(key, a, shape, dtype, log_space=True)


# -- quotients of gammas ---------------------------------------------------------------


@promotion.divides_result("random.beta")
def beta(
    key: KeyArray,
    a: ArrayLike,
    b: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Samples of the beta distribution.

    The density is in proportion to `x^(a-1) (1-x)^(b-1)`.

    Args:
      key: one key.
      a: positive.
      b: positive.
      shape: shape of the result, to which `a` and `b` broadcast; default their shape.
      dtype: float dtype; default the default one.
      method: None.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape] from 0 to 1.

    Example:
      >>> from olympus import random
      >>> random.beta(random.key(0), 2.0, jnp.array([1.0, 3.0])).shape
      (2,)
    """
    args = parameters("beta", key, shape, dtype, a, b)
    _refuse_method("beta", method)
    return _beta(args.key, a, b, shape=args.shape, dtype=args.dtype)


@one_program
def _beta(key: Any, a: Any, b: Any, *, shape: Any, dtype: Any) -> Any:
    x, y = _draw_two_logs(key, a, b, shape, dtype)
    # Beside the larger one, so that not both vanish.
    larger = ew.max_(x, y)
    x, y = ew.exp(ew.sub(x, larger)), ew.exp(ew.sub(y, larger))
    return ew.div(x, ew.add(x, y))


@promotion.divides_result("random.dirichlet")
def dirichlet(
    key: KeyArray,
    alpha: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Points of the Dirichlet distribution: positive numbers that add up to 1.

    Args:
      key: one key.
      alpha: concentrations [..., n], positive.
      shape: shape of the result without its last axis, to which that of `alpha`
        broadcasts; default its shape.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape, n].

    Raises:
      ValueError: `alpha` is a scalar, or does not broadcast to `shape`.

    Example:
      >>> from olympus import random
      >>> random.dirichlet(random.key(0), jnp.ones(3)).sum().round(4)
      Array(1., dtype=float32)
    """
    key = keys.single_key("dirichlet", key)
    dtype = arguments.float_dtype("dirichlet", dtype)
    alpha_shape = avals.aval_of(alpha).shape
    if not alpha_shape:
        raise ValueError(
            "random.dirichlet: alpha must have an axis of concentrations, got a "
            "scalar; give one number for each part"
        )
    if shape is None:
        shape = alpha_shape[:-1]
    shape = arguments.shape_of("dirichlet", shape)
    arguments.check_broadcast("dirichlet", shape, alpha_shape[:-1])
    return _dirichlet(key, alpha, shape=shape + alpha_shape[-1:], dtype=dtype)


@one_program
def _dirichlet(key: Any, alpha: Any, *, shape: Any, dtype: Any) -> Any:
    logs = draw_gamma(key, alpha, shape, dtype, log_space=True)
    last = (len(shape) - 1,)
    largest = _again(reductions.reduce_max(logs, last), shape)
    parts = ew.exp(ew.sub(logs, largest))
    return ew.div(parts, _again(reductions.reduce_sum(parts, last), shape))


def _again(x: Any, shape: Any) -> Any:
    """What was reduced over the last axis, repeated along it."""
    return shaping.broadcast_in_dim(x, shape, tuple(range(len(shape) - 1)))


@promotion.divides_result("random.chisquare")
def chisquare(
    key: KeyArray,
    df: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Samples of the chi-square distribution.

    Args:
      key: one key.
      df: degrees of freedom, positive.
      shape: shape of the result, to which `df` broadcasts; default that of `df`.
      dtype: float dtype; default the default one.
      method: None.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Positive floats [*shape].

    Example:
      >>> from olympus import random
      >>> random.chisquare(random.key(0), 3.0, shape=(2,)).shape
      (2,)
    """
    args = parameters("chisquare", key, shape, dtype, df)
    _refuse_method("chisquare", method)
    return _chisquare(args.key, df, shape=args.shape, dtype=args.dtype)


@one_program
def _chisquare(key: Any, df: Any, *, shape: Any, dtype: Any) -> Any:
    two = number(2, dtype)
    half = ew.div(as_dtype(df, dtype), two)
    logs = draw_gamma(key, half, shape, dtype, log_space=True)
    return ew.mul(ew.exp(logs), two)


@promotion.divides_result("random.f")
def f(
    key: KeyArray,
    dfnum: ArrayLike,
    dfden: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Samples of the F distribution: quotients of mean squares of normal numbers.

    Args:
      key: one key.
      dfnum: degrees of freedom of the numerator, positive.
      dfden: degrees of freedom of the denominator, positive.
      shape: shape of the result, to which both broadcast; default their shape.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Positive floats [*shape].

    Example:
      >>> from olympus import random
      >>> random.f(random.key(0), 3.0, 5.0, shape=(2,)).shape
      (2,)
    """
    args = parameters("f", key, shape, dtype, dfnum, dfden)
    return _f(args.key, dfnum, dfden, shape=args.shape, dtype=args.dtype)


@one_program
def _f(key: Any, dfnum: Any, dfden: Any, *, shape: Any, dtype: Any) -> Any:
    two = number(2, dtype)
    dfnum, dfden = as_dtype(dfnum, dtype), as_dtype(dfden, dtype)
    logs = _draw_two_logs(key, ew.div(dfden, two), ew.div(dfnum, two), shape, dtype)
    below, above = (
        ew.div(ew.mul(ew.exp(x), two), spread(df, shape))
        for x, df in zip(logs, (dfden, dfnum), strict=True)
    )
    return ew.div(above, below)


@promotion.divides_result("random.t")
def t(
    key: KeyArray,
    df: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Numbers of Student's t distribution.

    Args:
      key: one key.
      df: degrees of freedom, positive.
      shape: shape of the result, to which `df` broadcasts; default that of `df`.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Example:
      >>> from olympus import random
      >>> random.t(random.key(0), 4.0, shape=(2,)).shape
      (2,)
    """
    args = parameters("t", key, shape, dtype, df)
    return _t(args.key, df, shape=args.shape, dtype=args.dtype)


@one_program
def _t(key: Any, df: Any, *, shape: Any, dtype: Any) -> Any:
    normal_key, gamma_key = split_in(key, 2)
    half = ew.div(as_dtype(df, dtype), number(2, dtype))
    x = draw_normal(normal_key, shape, dtype)
    if dtypes.itemsize_bits(dtype) < 32:  # whose logarithms have too few digits
        g = draw_gamma(gamma_key, half, shape, dtype)
        return ew.mul(x, ew.sqrt(ew.div(spread(half, shape), g)))
    # Gamma numbers of small parameters vanish, and their logarithms do not.
    log = draw_gamma(gamma_key, half, shape, dtype, log_space=True)
    root = ew.sqrt(spread(half, shape))
    return ew.mul(x, ew.mul(root, ew.exp(ew.mul(number(-0.5, dtype), log))))


@promotion.divides_result("random.generalized_normal")
def generalized_normal(
    key: KeyArray,
    p: ArrayLike,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Numbers with density in proportion to `exp(-|x|^p)`.

    Args:
      key: one key.
      p: the exponent, positive.
      shape: shape of the result.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Example:
      >>> from olympus import random
      >>> random.generalized_normal(random.key(0), 2.0, shape=(2,)).shape
      (2,)
    """
    args = parameters("generalized_normal", key, shape, dtype)
    return _generalized_normal(args.key, p, shape=args.shape, dtype=args.dtype)


@one_program
def _generalized_normal(key: Any, p: Any, *, shape: Any, dtype: Any) -> Any:
    return draw_generalized_normal(key, p, shape, dtype)


def draw_generalized_normal(key: Any, p: Any, shape: Any, dtype: Any) -> Any:
    """Powers of gamma numbers with random signs."""
    gamma_key, sign_key = split_in(key, 2)
    power = ew.div(number(1, dtype), as_dtype(p, dtype))
    size = ew.pow_(draw_gamma(gamma_key, power, shape, dtype), power)
    return ew.mul(draw_sign(sign_key, shape, dtype), size)
