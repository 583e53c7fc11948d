"""Symbolic shapes and constraints as text: the parser.

shape       ::= '(' sizes ')' | sizes
sizes       ::= [size (',' size)* [',']]       a size may be '_', the last one '...'
expression  ::= ['-'] term (('+' | '-') term)*
term        ::= factor ('*' factor)*
factor      ::= atom ['^' number]
atom        ::= ['-'] number | name | operation '(' expression ',' expression ')'
operation   ::= 'floordiv' | 'mod' | 'max' | 'min'
constraint  ::= expression ('>=' | '<=' | '==') expression
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from olympus._src.core import sizes
from olympus._src.core.symbolic import dimensions

_TOKEN = re.compile(
    r"\s*(?:(\d+(?![\w.]))|([^\W\d]\w*)|(\.\.\.|[<>=]=|[-+*^(),])|(\d[\w.]*|\S))"
)
_OPERATIONS = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "max": sizes.maximum,
    "min": sizes.minimum,
}
# Texts may come with a file: absurd ones would take forever, or all the stack.
_MOST_LETTERS = 1 << 16
_MOST_DIGITS = 30
_MOST_POWER = 64
_MOST_NESTED = 100
_HINTS = {
    "/": "write floordiv(a, b) for a // b",
    "%": "write mod(a, b) for a % b",
    "*": "write a^2 for a power, a*b for a product",
    "(": "write products out: there are no parentheses inside expressions, and the "
    "operations are floordiv, mod, max and min",
    "": "",
}


def parse_shape(text: str, scope: Any, like: Sequence[Any] | None) -> tuple[Any, ...]:
    """The shape that a text describes.

    Args:
      text: the description.
      scope: of its names.
      like: a shape that '_' and '...' copy from.

    Raises:
      ValueError: with the place in the text.
    """
    return _Parser(text, "symbolic shape", scope, like).shape()


def parse_size(text: str, scope: Any) -> Any:
    """The size that an expression describes, as it was printed by `str`.

    Raises:
      ValueError: with the place in the text.
    """
    parser = _Parser(text, "symbolic size", scope, None)
    size = parser.expression()
    parser.end()
    return size


def parse_constraint(text: Any, scope: Any) -> tuple[Any, str, Any]:
    """Both sides of a constraint and the sign between them.

    Raises:
      ValueError: with the place in the text.
    """
    if not isinstance(text, str):
        raise ValueError(f"SymbolicScope: a constraint must be a string, got {text!r}")
    parser = _Parser(text, "constraint", scope, None)
    left = parser.expression()
    sign = parser.token
    if sign not in (">=", "<=", "=="):
        parser.fail("it must contain one of '==', '>=' and '<='")
    parser.advance()
    right = parser.expression()
    parser.end()
    return left, sign, right


class _Parser:
    """Reads a text from left to right, one token ahead."""

    __slots__ = (
        "depth",
        "kind",
        "like",
        "next",
        "scope",
        "start",
        "text",
        "token",
        "what",
    )

    def __init__(self, text: str, what: str, scope: Any, like: Any) -> None:
        self.text = text
        self.what = what
        self.scope = scope
        self.like = like
        self.next = 0
        self.depth = 0
        if len(text) > _MOST_LETTERS:
            raise ValueError(
                f"a {what} must have {_MOST_LETTERS} characters or less, got "
                f"{len(text)}"
            )
        self.advance()

    def advance(self) -> None:
        """Makes the next token the current one; `kind` is "" at the end."""
        match = _TOKEN.match(self.text, self.next)
        if match is None:
            self.start, self.kind, self.token = len(self.text), "", ""
            return
        group = match.lastindex or 0
        self.kind = ("", "number", "name", "sign", "other")[group]
        self.token = match.group(group)
        self.start, self.next = match.start(group), match.end()

    def fail(self, why: str) -> NoReturn:
        """Raises the error, with a mark under the current token."""
        hint = _HINTS.get(self.token, "")
        if hint and hint not in why:
            why = f"{why}; {hint}"
        mark = " " * self.start + "^"
        raise ValueError(
            f"syntax error in {self.what} {self.text!r} at column {self.start + 1}: "
            f"{why}\n    {self.text}\n    {mark}"
        )

    def accept(self, sign: str) -> bool:
        """Passes a sign if it is the current token."""
        if self.kind != "sign" or self.token != sign:
            return False
        self.advance()
        return True

    def require(self, sign: str) -> None:
        """Passes a sign that must be there."""
        if not self.accept(sign):
            self.fail(f"expected '{sign}', got {self._describe_token()}")

    def end(self) -> None:
        """Requires that all is read."""
        if self.kind:
            self.fail(f"expected an operator or the end, got {self._describe_token()}")

    def _describe_token(self) -> str:
        return f"'{self.token}'" if self.kind else "the end"

    # -- shapes ----------------------------------------------------------------------

    def shape(self) -> tuple[Any, ...]:
        """All sizes."""
        inside = self.accept("(")
        result: list[Any] = []
        while self.kind and not (inside and self.token == ")"):
            if self.token == "...":
                result.extend(self._rest(len(result)))
                break
            result.append(self._size(len(result)))
            if not self.accept(","):
                break
        if inside:
            self.require(")")
        if self.kind:
            self.fail(
                f"expected ',' or an operator or the end, got {self._describe_token()}"
            )
        return tuple(result)

    def _rest(self, n: int) -> Sequence[Any]:
        if self.like is None:
            self.fail("'...' stands for the rest of a shape `like`, which is not given")
        self.advance()
        self.accept(",")
        if self.kind and self.token != ")":
            self.fail("'...' must come last")
        return self.like[n:]

    def _size(self, n: int) -> Any:
        known = self.like[n] if self.like is not None and n < len(self.like) else None
        if self.token == "_":
            if known is None:
                self.fail("'_' copies a size of the shape `like`, which has none here")
            self.advance()
            return known
        start = self.start
        size = self.expression()
        if type(size) is int and type(known) is int and size != known:
            self.start = start
            self.fail(f"the size {size} is {known} in the shape `like`, {self.like}")
        return size

    # -- expressions -----------------------------------------------------------------

    def expression(self) -> Any:
        """A sum."""
        total = -self._term() if self.accept("-") else self._term()
        while True:
            if self.accept("+"):
                total = total + self._term()
            elif self.accept("-"):
                total = total - self._term()
            else:
                return total

    def _term(self) -> Any:
        product = self._factor()
        while self.accept("*"):
            product = product * self._factor()
        return product

    def _factor(self) -> Any:
        base = self._atom()
        if self.accept("^"):
            if self.kind != "number":
                self.fail(
                    f"expected a number as exponent, got {self._describe_token()}"
                )
            if len(self.token) > _MOST_DIGITS or int(self.token) > _MOST_POWER:
                self.fail(f"the exponent must be {_MOST_POWER} or less")
            base = base ** int(self.token)
            self.advance()
        return base

    def _atom(self) -> Any:
        negative = self.accept("-")
        if self.kind == "number":
            if len(self.token) > _MOST_DIGITS:
                self.fail(f"a number must have {_MOST_DIGITS} digits or less")
            value = int(self.token)
            self.advance()
            return -value if negative else value
        if negative or self.kind != "name":
            expected = "a number" if negative else "a name or a number"
            self.fail(f"expected {expected}, got {self._describe_token()}")
        name = self.token
        if name == "_":
            self.fail("'_' stands for a whole size")
        self.advance()
        if name not in _OPERATIONS or not self.accept("("):
            return dimensions.variable(name, self.scope)
        self.depth += 1
        if self.depth > _MOST_NESTED:
            self.fail(f"operations must be nested {_MOST_NESTED} deep or less")
        left = self.expression()
        self.require(",")
        right = self.expression()
        self.depth -= 1
        start = self.start
        self.require(")")
        if type(right) is int and right == 0 and name in ("floordiv", "mod"):
            self.start = start
            self.fail(f"{name} by zero")
        return _OPERATIONS[name](left, right)
