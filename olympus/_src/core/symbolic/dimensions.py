"""Symbolic sizes: integers that are not known yet, as polynomials in named sizes.

A `Dim` is a sum of integer multiples of products of powers of atoms. An atom is a
variable, or one of `floordiv`, `mod`, `max` and `min` of two sizes that has no simpler
form. The form is normal: sizes that are equal as polynomials are equal as data. What is
constant is never a `Dim` but a plain integer.

Variables stand for sizes of axes of arguments, and are at least 1. What else is known
of them is recorded in the scope they belong to (`core.symbolic_scope`); what follows is
found in `core.symbolic_bounds`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from olympus._src.core import array_type, avals, dtypes, sizes, trace
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic import dim_bounds
from olympus._src.core.symbolic.monomials import (
    Atom,
    Monomial,
    divide_monomials,
    monomial_key,
    terms_of,
    text,
    times,
)
from olympus._src.foundation import config, errors

_USUAL = 128  # what sizes are taken to be where costs are compared

# -- sizes -----------------------------------------------------------------------------


class Dim:
    """A symbolic size. Made by `symbolic_shape` and by arithmetic on such.

    Args:
      terms: monomials and their multiples, in printed order.
      scope: what is known of its variables.
    """

    __slots__ = ("_hash", "scope", "terms")
    is_symbolic_dim = True
    __array_ufunc__ = None  # NumPy's scalars leave arithmetic with sizes to us
    __array_priority__ = 1000
    terms: tuple[tuple[Monomial, int], ...]
    scope: Any

    def __init__(self, terms: tuple[tuple[Monomial, int], ...], scope: Any) -> None:
        self.terms = terms
        self.scope = scope
        self._hash = hash((terms, id(scope)))

    # -- arithmetic ------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(operator.add, self, other)
        return _sum(_joint_scope(self, size, "+"), [(self, 1), (size, 1)])

    def __radd__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(operator.add, other, self)
        return _sum(self.scope, [(self, 1), (size, 1)])

    def __sub__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(operator.sub, self, other)
        return _sum(_joint_scope(self, size, "-"), [(self, 1), (size, -1)])

    def __rsub__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(operator.sub, other, self)
        return _sum(self.scope, [(self, -1), (size, 1)])

    def __neg__(self) -> Any:
        return _sum(self.scope, [(self, -1)])

    def __mul__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(operator.mul, self, other)
        if type(size) is int:
            return _sum(self.scope, [(self, size)])
        scope = _joint_scope(self, size, "*")
        terms: dict[Monomial, int] = {}
        for m, c in self.terms:
            for n, d in size.terms:
                product = times(m, n)
                terms[product] = terms.get(product, 0) + c * d
        return make(terms, scope)

    def __rmul__(self, other: Any) -> Any:
        if _operand(other) is None:
            return _as_array(operator.mul, other, self)
        return self * other

    def __pow__(self, exponent: Any, modulo: Any = None) -> Any:
        if modulo is not None or type(_operand(exponent)) is not int:
            return _as_array(operator.pow, self, exponent)
        if exponent < 0:
            raise ValueError(
                f"symbolic size '{self}': powers must not be negative, got {exponent}"
            )
        result: Any = 1
        for _ in range(exponent):
            result = result * self
        return result

    def __rpow__(self, base: Any) -> Any:
        return _as_array(operator.pow, base, self)

    def __truediv__(self, other: Any) -> Any:
        return _as_array(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _as_array(operator.truediv, other, self)

    def __floordiv__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(operator.floordiv, self, other)
        return divide(self, size)[0]

    def __rfloordiv__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(operator.floordiv, other, self)
        return divide(size, self)[0]

    def __mod__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(operator.mod, self, other)
        return divide(self, size)[1]

    def __rmod__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(operator.mod, other, self)
        return divide(size, self)[1]

    def __divmod__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(divmod, self, other)
        return divide(self, size)

    def __rdivmod__(self, other: Any) -> Any:
        size = _operand(other)
        if size is None:
            return _as_array(divmod, other, self)
        return divide(size, self)

    def maximum(self, other: Any, *, reflected: bool = False) -> Any:
        """The larger of this size and another (`reflected`: of another and this)."""
        return _extreme("max", *((other, self) if reflected else (self, other)))

    def minimum(self, other: Any, *, reflected: bool = False) -> Any:
        """The smaller of this size and another (`reflected`: of another and this)."""
        return _extreme("min", *((other, self) if reflected else (self, other)))

    # -- comparison ------------------------------------------------------------------

    def __eq__(self, other: Any) -> Any:
        if self is other:
            return True
        size = _operand(other)
        if size is None:
            return NotImplemented
        if type(size) is Dim:
            if size.scope is not self.scope:
                return False
            if size._hash == self._hash and size.terms == self.terms:
                return True
        return dim_bounds.are_equal(_sum(self.scope, [(self, 1), (size, -1)]))

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self) -> int:
        return self._hash

    def __ge__(self, other: Any) -> Any:
        return _compare(self, other, ">=", operator.ge)

    def __le__(self, other: Any) -> Any:
        return _compare(self, other, "<=", operator.le)

    def __gt__(self, other: Any) -> Any:
        return _compare(self, other, ">", operator.gt)

    def __lt__(self, other: Any) -> Any:
        return _compare(self, other, "<", operator.lt)

    def __bool__(self) -> bool:
        return bool(self != 0)  # as with `!=`, true unless it is known to be zero

    def is_never_negative(self) -> bool:
        """Whether it is known to be at least zero."""
        return dim_bounds.bounds(self)[0] >= 0

    def typical(self) -> int:
        """Its value where all variables are of some usual size."""
        env = dict.fromkeys(variables(self), _USUAL)
        return int(evaluate(self, env))

    def upper_bound(self) -> int | None:
        """The largest value that it is known to have at most."""
        upper = dim_bounds.bounds(self)[1]
        return None if upper == float("inf") else int(upper)

    # -- where Python wants an integer -----------------------------------------------

    def __index__(self) -> int:
        raise errors.InconclusiveDimensionOperation(
            f"symbolic size '{self}': an integer is required here (`int`, `range`, an "
            "index of a list, ...), and its value is unknown while a program for many "
            "sizes is traced; loop with lax.fori_loop or lax.scan, make indices with "
            "numpy.arange, or give this axis a fixed size"
        )

    __int__ = __index__

    def __float__(self) -> float:
        raise TypeError(
            f"symbolic size '{self}': a number is required here (`float`), and its "
            "value is unknown while a program for many sizes is traced; compute with "
            "olympus.numpy, which takes sizes as arrays"
        )

    def __olympus_array__(self) -> Any:
        return self.dimension_as_value()

    def dimension_as_value(self) -> Any:
        """The size as a value of the program: an integer scalar of weak type."""
        dtype = np.dtype(np.int64 if config.x64_enabled() else np.int32)
        return dim_as_value_p.bind(dim=self, dtype=dtype)

    # -- the rest --------------------------------------------------------------------

    def evaluate(self, env: Mapping[str, Any], ops: Any) -> Any:
        """The size's value; see the function `evaluate`."""
        return evaluate(self, env, ops)

    def get_vars(self) -> set[str]:
        """Names of the variables in it."""
        return set(variables(self))

    def __str__(self) -> str:
        return _sum_text(self.terms)

    __repr__ = __str__

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: Any) -> Dim:
        return self


# -- making them -----------------------------------------------------------------------


def variable(name: str, scope: Any) -> Any:
    """The size of a name in a scope; what the scope's equalities make of it."""
    return make({((Atom("var", name, ()), 1),): 1}, scope)


def make(terms: Mapping[Monomial, int], scope: Any) -> Any:
    """The sum of multiples of monomials: a `Dim`, or an integer where it is constant.

    Equalities of the scope are applied.
    """
    rules = scope.rules
    if rules:
        terms = rules.rewritten(terms)
    nonzero_terms = [(m, c) for m, c in terms.items() if c]
    if not nonzero_terms:
        return 0
    if len(nonzero_terms) == 1 and not nonzero_terms[0][0]:
        return nonzero_terms[0][1]
    nonzero_terms.sort(key=lambda term: monomial_key(term[0]), reverse=True)
    return Dim(tuple(nonzero_terms), scope)


def _sum(scope: Any, parts: Iterable[tuple[Any, int]]) -> Any:
    terms: dict[Monomial, int] = {}
    for size, factor in parts:
        for m, c in terms_of(size):
            terms[m] = terms.get(m, 0) + c * factor
    return make(terms, scope)


def _operand(x: Any) -> Any:
    """Another operand as a size; None for what is not one."""
    kind = type(x)
    if kind is int or kind is Dim:
        return x
    if isinstance(x, (float, complex, str, trace.Tracer)) or not hasattr(
        x, "__index__"
    ):
        return None
    try:
        return operator.index(x)
    except TypeError:  # an array of several elements, or of another dtype
        return None


def _joint_scope(a: Dim, b: Any, what: str) -> Any:
    if type(b) is Dim and b.scope is not a.scope:
        raise ValueError(
            f"symbolic sizes: '{a} {what} {b}' mixes two scopes: {a.scope}, and "
            f"{b.scope}; create both with one call of symbolic_shape, or pass the "
            "same `scope` to all calls"
        )
    return a.scope


def _as_array(function: Any, left: Any, right: Any) -> Any:
    """An operation with an operand that is not a size: computed by the program."""
    for x in (left, right):
        if type(x) is not Dim and not avals.is_array_like(x):
            return NotImplemented
        if isinstance(x, array_type.Array):
            return NotImplemented  # its own operator takes the size as an array
    left = left.dimension_as_value() if type(left) is Dim else left
    right = right.dimension_as_value() if type(right) is Dim else right
    return function(left, right)


def _compare(a: Dim, other: Any, sign: str, compare: Any) -> Any:
    size = _operand(other)
    if size is None:
        return _as_array(compare, a, other)
    scope = _joint_scope(a, size, sign)
    difference = _sum(scope, [(a, 1), (size, -1)])
    if type(difference) is int:
        return compare(difference, 0)
    answer = dim_bounds.decide(difference, sign)
    if answer is None:
        raise scope.undecided(f"'{a}' {sign} '{size}'", *_constraints(a, size, sign))
    return answer


def _constraints(a: Any, b: Any, sign: str) -> tuple[str, str]:
    """Constraints that make a comparison true, and false."""
    if sign in (">=", "<"):
        texts = f"{a} >= {b}", f"{a} <= {text(b - 1)}"
    else:
        texts = f"{a} >= {text(b + 1)}", f"{a} <= {b}"
    return texts if sign in (">=", ">") else (texts[1], texts[0])


def divide(dividend: Any, divisor: Any) -> tuple[Any, Any]:
    """Quotient and remainder of two sizes, one of them symbolic, as Python's `divmod`.

    What divides term by term is divided; otherwise both results are operations.
    """
    if type(divisor) is int and divisor == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    if type(dividend) is Dim:
        scope = _joint_scope(dividend, divisor, "//")
    else:
        scope = divisor.scope
    quotient: Any = 0
    remainder = dividend
    lead, factor = _find_leading_term(divisor)
    while type(remainder) is Dim:
        m, c = _find_leading_term(remainder)
        part = divide_monomials(m, lead)
        if part is None or c % factor:
            break
        step = make({part: c // factor}, scope)
        quotient, remainder = quotient + step, remainder - step * divisor
    if type(remainder) is int:
        if remainder == 0:
            return quotient, 0
        if type(divisor) is int:
            return quotient + remainder // divisor, remainder % divisor
    evenly = _divide_evenly(dividend, divisor)
    if evenly is not None:
        return evenly, 0
    return (
        operation("floordiv", dividend, divisor, scope),
        operation("mod", dividend, divisor, scope),
    )


def _divide_evenly(dividend: Any, divisor: Any) -> Any:
    """The quotient if a smaller division is exact: 3*b by 6, where b is even."""
    if type(dividend) is int or not dividend.scope.rules:
        return None
    common = math.gcd(*[c for _, c in (*dividend.terms, *terms_of(divisor))])
    if common == 1:
        return None
    parts = [
        make({m: c // common for m, c in terms_of(size)}, dividend.scope)
        for size in (dividend, divisor)
    ]
    quotient, remainder = divmod(parts[0], parts[1])
    return quotient if type(remainder) is int and remainder == 0 else None


def _find_leading_term(size: Any) -> tuple[Monomial, int]:
    """The term of highest degree, by an order that products keep."""
    if type(size) is int:
        return (), size
    return max(
        size.terms,
        key=lambda t: (sum(n for _, n in t[0]), [(a.key, n) for a, n in t[0]]),
    )


def operation(name: str, a: Any, b: Any, scope: Any) -> Any:
    """An operation that has no simpler form, as a size."""
    return make({((Atom(name, "", (a, b)), 1),): 1}, scope)


def _extreme(name: str, a: Any, b: Any) -> Any:
    a, b = _size(a), _size(b)
    symbolic = a if type(a) is Dim else b
    scope = _joint_scope(symbolic, b if symbolic is a else a, name)
    difference = _sum(scope, [(a, 1), (b, -1)])
    if type(difference) is int:
        first = difference >= 0
    else:
        lower, upper = dim_bounds.bounds(difference)
        if not (lower >= 0 or upper <= 0):
            return operation(name, a, b, scope)
        first = lower >= 0
    return a if first == (name == "max") else b


def _size(x: Any) -> Any:
    size = _operand(x)
    if size is None:
        raise TypeError(f"max_dim, min_dim: sizes must be integers, got {x!r}")
    return size


# -- text ------------------------------------------------------------------------------


def _sum_text(terms: tuple[tuple[Monomial, int], ...]) -> str:
    pieces: list[str] = []
    for m, c in terms:
        sign = "-" if c < 0 else "+"
        factors = [f"{a}^{n}" if n > 1 else str(a) for a, n in m]
        if abs(c) != 1 or not m:
            factors.insert(0, str(abs(c)))
        if pieces or sign == "-":
            pieces.append(sign)
        pieces.append("*".join(factors))
    return " ".join(pieces)


# -- what others ask -------------------------------------------------------------------


def variables(size: Any) -> list[str]:
    """Sorted names of the variables of a size; of an integer, none."""
    names: set[str] = set()
    pending = [size]
    while pending:
        for m, _ in terms_of(pending.pop()):
            for atom, _ in m:
                if atom.operation == "var":
                    names.add(atom.name)
                else:
                    pending.extend(atom.operands)
    return sorted(names)


def shape_variables(shapes: Iterable[Iterable[Any]]) -> list[str]:
    """Sorted names of the variables in several shapes."""
    names: set[str] = set()
    for shape in shapes:
        for d in shape:
            if type(d) is Dim:
                names.update(variables(d))
    return sorted(names)


class Integers:
    """The operations of sizes that Python's operators on numbers do not give."""

    max: Any = staticmethod(max)
    min: Any = staticmethod(min)
    floordiv = staticmethod(operator.floordiv)
    mod = staticmethod(operator.mod)


class Sizes(Integers):
    """The same of symbolic sizes, to replace variables by expressions."""

    max = staticmethod(sizes.maximum)
    min = staticmethod(sizes.minimum)


def evaluate(size: Any, env: Mapping[str, Any], ops: Any = Integers) -> Any:
    """The value of a size for values of its variables.

    Args:
      size: symbolic, or an integer, which is returned.
      env: a number for each name. Any class with `+` and `*`, with integers too.
      ops: `floordiv`, `mod`, `max` and `min` of two such numbers or integers.

    Raises:
      KeyError: a variable has no value.
    """
    if type(size) is int:
        return size
    total: Any = None
    for m, c in size.terms:
        value: Any = None
        for atom, exponent in m:
            factor = _atom_value(atom, env, ops)
            for _ in range(exponent):
                value = factor if value is None else value * factor
        if value is None:
            value = c
        elif c != 1:
            value = value * c
        total = value if total is None else total + value
    return total


def _atom_value(atom: Atom, env: Mapping[str, Any], ops: Any) -> Any:
    if atom.operation == "var":
        return env[atom.name]
    return getattr(ops, atom.operation)(*[evaluate(x, env, ops) for x in atom.operands])


# -- a size as a value -----------------------------------------------------------------


def _value_abstract(*, dim: Any, dtype: Any) -> Any:
    return avals.ShapedArray((), dtype, True)


def _value_lower(ctx: Any, *, dim: Any, dtype: Any) -> str:
    scalar = ctx.block.dimension(dim)
    if dtype == np.dtype(np.int32):
        return scalar
    narrow = avals.ShapedArray((), np.dtype(np.int32))
    return ctx.block.convert(scalar, narrow, ctx.avals_out[0])


def _value_impl(*, dim: Any, dtype: Any) -> Any:
    raise NotImplementedError(
        f"symbolic size '{dim}': it has no value here; sizes become values in programs "
        "that are traced with symbolic shapes, by export or eval_shape"
    )


dim_as_value_p = Primitive(
    "dim_as_value",
    abstract=_value_abstract,
    lower=_value_lower,
    print=lambda eqn: [("dim", eqn.params["dim"])],
    impl=_value_impl,
)


def _value_aval(size: Any) -> Any:
    wide = config.x64_enabled()
    return avals.ShapedArray((), dtypes.as_dtype("int64" if wide else "int32"), True)


avals.register_aval(Dim, _value_aval)
