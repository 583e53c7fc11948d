"""The Primitive record: one operation of the language with all its rules.

Each rule is a field. A rule that is None does not exist, and the interpreter that needs
it says which field to write. Signatures:

  abstract(*avals, **params) -> aval, or a sequence of avals for several results
  effects(*avals, **params) -> frozenset of effects            None: no effects
  lower(ctx, *operands, **params) -> operand, or a sequence    see lowering.builder
  decompose(*args, **params) -> results                        instead of `lower`
  rewrite(platform, *avals, **params) -> decompose or None     None: by `lower`
  jvp(primals, tangents, **params) -> (results, tangents)      a tangent may be a Zero
  linearize(primals, **params) -> (results, tangent function)  None: made from jvp
  taylor(series, **params) -> series of results                None: made from jvp
  transpose(cotangents, *args, **params) -> cotangents         Linear marks unknowns
  transpose_into(total, cts, *args, **params) -> total         None: transpose, add
  batch(axis, args, dims, **params) -> (results, dims)         dim: int or None
  axes(**params) -> names of mapped axes it refers to          None: its programs'
  partial_eval, dce(used, eqn) -> (used inputs, eqn or None)   None: by the defaults
  print(eqn) -> params to show                                 None: all of them
  check(*avals, **params) -> None                              None: compare `abstract`
  checkify(checks, *args, **params) -> results                 None: look for NaN
  stage(trace, args, params) -> results                        None: one equation
  impl(*args, **params) -> results                             None: compile and run
  reference(*arrays, **params) -> arrays                       its meaning, in NumPy

`rewrite` is for operations that a backend runs slowly for some types: it returns a
function of the operands over other operations, which are lowered instead.

`transpose_into` is for operations linear in their first operand that read a part of it:
it adds to the cotangent that this operand has already, without an array of zeros. It
may return None, to have that done after all.

`stage` is for primitives whose parameters hold Python functions. Interpreters that
compute call such functions as they are, so that Python's own control flow works on
concrete values in them; a trace that records a program asks `stage`, which traces the
functions to programs and records the equation by `trace.record(p, args, params)`.

Rules of a primitive with several results take and return sequences; only `bind` of a
primitive with one result unwraps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.core import trace
from olympus._src.foundation import caching

Rule = Callable[..., Any] | None

RULES = (
    "abstract",
    "effects",
    "lower",
    "decompose",
    "rewrite",
    "jvp",
    "linearize",
    "taylor",
    "transpose",
    "transpose_into",
    "batch",
    "axes",
    "partial_eval",
    "dce",
    "print",
    "check",
    "checkify",
    "stage",
    "impl",
    "reference",
)

registry: dict[str, Primitive] = {}


class Primitive:
    """An operation of the language; see the module's text for its fields.

    Args:
      name: the printed name.
      multiple_results: rules return sequences and `bind` a list.
      file: where the record is written; errors about missing rules name it.
      rules: the rules, by field name.
    """

    __slots__ = (
        "__dict__",
        "abstract_cache",
        "file",
        "lower_by_platform",
        "multiple_results",
        "name",
        *RULES,
    )
    # Whether nobody else can change a rule, so that what a rule gave may be kept.
    rules_are_fixed = True
    # Declared for readers and checkers; values live in the slots.
    abstract: Rule
    effects: Rule
    lower: Rule
    decompose: Rule
    rewrite: Rule
    jvp: Rule
    linearize: Rule
    taylor: Rule
    transpose: Rule
    transpose_into: Rule
    batch: Rule
    axes: Rule
    partial_eval: Rule
    dce: Rule
    print: Rule
    check: Rule
    checkify: Rule
    stage: Rule
    impl: Rule
    reference: Rule

    def __init__(
        self,
        name: str,
        *,
        multiple_results: bool = False,
        file: str = "the file that defines it",
        **rules: Rule,
    ) -> None:
        self.name = name
        self.multiple_results = multiple_results
        self.file = file
        self.lower_by_platform: dict[str, Callable[..., Any]] = {}
        self.abstract_cache: dict[Any, Any] = {}
        for field in RULES:
            setattr(self, field, rules.pop(field, None))
        if rules:
            raise TypeError(f"Primitive {name}: there is no rule field {min(rules)!r}")
        registry[name] = self

    def bind(self, *args: Any, **params: Any) -> Any:
        """Applies the operation in the current interpreter."""
        return trace.current.trace.process(self, args, params)

    def __repr__(self) -> str:
        return self.name

    def results(self, avals: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The result aval (or avals) and effects, cached: `(avals, effects)`."""
        if not self.rules_are_fixed:
            return self._infer(avals, params)
        try:
            key = (avals, *params.items()) if params else avals
            result = self.abstract_cache.get(key)
        except TypeError:  # a parameter that has no hash
            return self._infer(avals, params)
        if result is None:
            result = self._infer(avals, params)
            if not all(map(is_told_by_value, params.values())):
                return result
            if len(self.abstract_cache) >= _MAX_CACHED_RESULTS:
                self.abstract_cache.clear()
            self.abstract_cache[key] = result
        return result

    def _infer(self, avals: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if self.abstract is None:
            raise missing_rule(self, "abstract")
        effects: frozenset[Any] = frozenset()
        if self.effects is not None:
            effects = self.effects(*avals, **params)
        out = self.abstract(*avals, **params)
        return (tuple(out) if self.multiple_results else out), effects


_MAX_CACHED_RESULTS = 4096


def is_told_by_value(parameter: Any) -> bool:
    """Whether a cache may be keyed by a parameter: it is plain data.

    Programs and functions are what they are; a key would keep them, with the arrays
    that they hold, for programs that will never come again.
    """
    if type(parameter) is tuple:
        return all(map(is_told_by_value, parameter))
    if isinstance(parameter, type):
        return True
    return not callable(parameter) and not hasattr(parameter, "eqns")


def _clear_caches() -> None:
    for primitive in registry.values():
        primitive.abstract_cache.clear()


caching.register(_clear_caches, "abstract rules")


def missing_rule(
    primitive: Primitive, field: str, position: Any = None
) -> NotImplementedError:
    """The error for a rule that is not written.

    Args:
      primitive: the operation.
      field: the rule.
      position: where the operation was applied, if that is not where the error rises.
    """
    place = "" if position is None else f", needed for the operation at {position}"
    return NotImplementedError(
        f"{primitive.name}: there is no rule for {_TASKS.get(field, field)}{place}; "
        f"write the field `{field}` of the record {primitive.name} in {primitive.file}"
    )


_TASKS = {
    "abstract": "the types of its results (abstract evaluation)",
    "lower": "its lowering to StableHLO",
    "jvp": "forward-mode differentiation (jvp)",
    "transpose": "transposition (reverse-mode differentiation)",
    "batch": "batching (vmap)",
    "effects": "its effects",
}
