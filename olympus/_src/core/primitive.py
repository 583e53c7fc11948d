"""The Primitive record: one operation of the language with all its rules.

Each rule is a field. A rule that is None does not exist, and the interpreter that needs
it says which field to write. Signatures:

  abstract(*avals, **params) -> aval, or a sequence of avals for several results
  effects(*avals, **params) -> frozenset of effects            None: no effects
  lower(ctx, *operands, **params) -> operand, or a sequence    see lowering.builder
  decompose(*args, **params) -> results                        instead of `lower`; or
       beside it, in programs that other processes run, or that are divided
  rewrite(platform, *avals, **params) -> decompose or None     None: by `lower`
  jvp(primals, tangents, **params) -> (results, tangents)      a tangent may be a Zero
  jvp_by_spread(primals, tangents, source, its tangent, repeat) -> (result, tangent)
       where the last operand is `repeat(source)`              None: `jvp`
  linearize(primals, **params) -> (results, tangent function)  None: made from jvp
  taylor(series, **params) -> series of results                None: made from jvp
  transpose(cotangents, *args, **params) -> cotangents         Linear marks unknowns
  transpose_into(total, reads, cts, *args, **params) -> total
       None: transpose, add
  batch(axis, args, dims, **params) -> (results, dims)         dim: int or None
  axes(**params) -> names of mapped axes it refers to          None: its programs'
  vary(joined, **params) -> manual axes its results vary along, or None for what
       `abstract` says of them                                 None: its operands'
  shard(out types, *avals, **params) -> for each result what divides its axes along
       explicit axes of a mesh (see lax.sharding_rules)        None: it is refused
  partial_eval(trace, *tracers, **params) -> results           None: applied to known
       operands, else recorded (see interpreters.partial_values)
  dce(used, eqn) -> (used inputs, eqn or None)                 None: all or nothing
  print(eqn) -> params to show                                 None: all of them
  print_equation(eqn, results, operands) -> the equation as text, from the texts of its
       results (name and type) and operands (name)              None: `print` is shown
  check(*avals, **params) -> None                              None: compare `abstract`
  checkify(checks, *args, **params) -> results                 None: look for NaN
  discharge(context, values, **params) -> (results, last values of refs)
       None: it takes no refs (see interpreters.discharge)
  to_low(*args, **params) -> results        for values of high types, or programs that
       hold some                              None: it takes none (see
       interpreters.hi_lowering)
  key_reuse(uses, eqn, operands) -> keys of results            None: it consumes no keys
       (see interpreters.key_reuse)
  split(splitter, eqn, needed) -> None      for `checkpoint`   None: kept, or run again
  stage(trace, args, params) -> results                        None: one equation
  offer(trace, args, params) -> results     for interpreters of a library's own, which
       define `process_primitive`                              None: that is called
  impl(*args, **params) -> results                             None: compile and run
  reference(*arrays, **params) -> arrays                       its meaning, in NumPy

`rewrite` is for operations that a backend runs slowly for some types: it returns a
function of the operands over other operations, which are lowered instead.

`transpose_into` is for operations linear in their first operand that read a part of it:
it adds to the cotangent that this operand has already, without an array of zeros. It
may return None, to have that done after all. `reads` are the `symbolic_values.Reads` of
the operand: how much of it is read in parts.

`stage` is for primitives whose parameters hold Python functions. Interpreters that
compute call such functions as they are, so that Python's own control flow works on
concrete values in them; a trace that records a program asks `stage`, which traces the
functions to programs and records the equation by `trace.record(p, args, params)`.

A rule may serve several records: one marked by `takes_primitive` gets the record that
it is of before its other arguments, as a method gets its object. Records are whole when
they are made. A rule that applies operations of files further up, which are made of
this one, is written there and named by a `LateRule`.

Rules of a primitive with several results take and return sequences; only `bind` of a
primitive with one result unwraps.

Other properties of an operation are fields like its rules:

  cost              what making its result again costs      None: it is never made again
  cost_by_spread    the same, of floats, if its last operand is one number for many
                    elements; None: as usual
  fuses_operands    the compiler makes its operands where it reads them, and its result
                    is an array
  n_operations      about how many operations the compiler sees in its place
  remade            whether a derivative makes it again     None: it is kept
  may_make_nan      whether numbers may give NaN            False: only NaN gives NaN
  ends_ref          what its first operand, a ref, is after it ('frozen'); None: a ref
                    is still one
  is_always_followed  `jvp` and `batch` apply even where no operand has a tangent or a
                    mapped axis
  is_call           it applies its parameter `olympuspr` once, in its place
  is_high           it is lowered away: programs that are compiled have only what its
                    rule `to_low` applies
  communicates      devices wait for each other along its `axes`, if it has any
  needs_full_build  XLA's quick build of it is slow (loops, calls, products, sorting,
                    prefixes, windows at positions) or imprecise
  overwrites        XLA writes the second operand into the memory of the first
  exact             of which values `reference` gives the bits of a compiled program
                                                            None: of none

Names are for readers: a user's primitive may have the name of another. Whoever must
know an operation asks its record, or compares records by identity.
"""

from __future__ import annotations

import enum
import importlib
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, cast

from olympus._src.core import explicit_shardings, high_values, trace
from olympus._src.core.rule_definitions import RuleDefinitions
from olympus._src.foundation import caching, errors, source_info

Rule = Callable[..., Any] | None
_R = TypeVar("_R", bound=Callable[..., Any])

RULES = (
    "abstract",
    "effects",
    "lower",
    "decompose",
    "rewrite",
    "jvp",
    "jvp_by_spread",
    "linearize",
    "taylor",
    "transpose",
    "transpose_into",
    "batch",
    "axes",
    "vary",
    "shard",
    "partial_eval",
    "dce",
    "print",
    "print_equation",
    "check",
    "checkify",
    "discharge",
    "to_low",
    "key_reuse",
    "split",
    "stage",
    "offer",
    "impl",
    "reference",
)
_FIELDS = frozenset(RULES)
# Rules that types and compiled programs of an operation are made by.
_COMPILED = frozenset(("abstract", "effects", "lower", "decompose", "rewrite"))


class Cost(enum.Enum):
    """The cost of a result that a compiler computes again where it is read.

    A compiler fuses an operation that has one with those that read its result.
    """

    CHEAP = "cheap"  # a few instructions for each element
    BITS = "bits"  # likewise, on the bits: narrow floats need no conversion
    MOVE = "move"  # another element of an operand, computed again by each reader
    SPREAD = "spread"  # a move from less than it makes
    EXPENSIVE = "expensive"  # fused, but kept where it is read more than once


class Remade(enum.Enum):
    """What a derivative recomputes a result from, instead of keeping it."""

    OF_OPERAND = "operand"  # of its one operand, which is smaller or there anyway
    OF_RESIDUALS = "residuals"  # of other values that are kept


class Exact(enum.Enum):
    """Of which values a `reference` gives the bits that compiled programs give.

    Floats only where they, and what comes out, are zero, infinite or normal numbers:
    the processor may flush others to zero, and NaN have many bits.
    """

    MOVES = "moves"  # all, since it moves bits of its operands
    INTEGERS = "integers"  # integers and booleans
    FLOATS = "floats"  # floats, each result being rounded once
    NUMBERS = "numbers"  # integers, booleans and floats, likewise
    ORDERED = "ordered"  # likewise, but zero may come with the other sign
    CONVERTED = "converted"  # likewise, where a result's type can hold the number


def takes_primitive(rule: _R) -> _R:
    """Marks a rule that takes the record before its other arguments."""
    rule.takes_primitive = True  # type: ignore[attr-defined]
    return rule


def takes_symbolic_sizes(rule: _R) -> _R:
    """Marks a rule `rewrite` that is asked where sizes are symbolic, too."""
    rule.takes_symbolic_sizes = True  # type: ignore[attr-defined]
    return rule


class LateRule:
    """A rule in a file that is loaded when the rule is first requested.

    Operations are made of each other in circles: the derivative of a gather is a
    scatter, and that of a scatter a gather. Files are not.

    Args:
      file: where the rule is, as in 'lax.scatter'.
      name: of a function in it.
    """

    __slots__ = ("_rule", "file", "name")

    def __init__(self, file: str, name: str) -> None:
        self.file = file
        self.name = name
        self._rule: Rule = None

    def load(self) -> Callable[..., Any]:
        """The function."""
        if self._rule is None:
            file = importlib.import_module(f"olympus._src.{self.file}")
            self._rule = getattr(file, self.name)
        return self._rule

    def __call__(self, *args: Any, **params: Any) -> Any:
        return self.load()(*args, **params)


# All records there are, in the order in which they were made.
_records: weakref.WeakKeyDictionary[Primitive, None] = weakref.WeakKeyDictionary()


_records_lock = threading.Lock()


def records() -> list[Primitive]:
    """All primitives: those of olympus, and those that users have made and hold."""
    with _records_lock:
        return list(_records)


class Primitive(RuleDefinitions):
    """An operation of the language; see the module's text for its fields.

    Args:
      name: the printed name.
      multiple_results: rules return sequences and `bind` a list.
      file: where the record is written, which errors about missing rules name; None:
        the file at whose top level it is made, or the first that is not of olympus.
      cost, cost_by_spread, fuses_operands, n_operations, remade, may_make_nan,
        ends_ref, is_always_followed, is_call, is_high, communicates, needs_full_build,
        overwrites, exact: see the module's text.
      rules: the rules, by field name.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "abstract_cache",
        "communicates",
        "cost",
        "cost_by_spread",
        "file",
        "fuses_operands",
        "ends_ref",
        "exact",
        "is_always_followed",
        "is_call",
        "is_high",
        "may_make_nan",
        "multiple_results",
        "n_operations",
        "name",
        "needs_full_build",
        "overwrites",
        "remade",
        *RULES,
    )
    # Whether rules have not changed, so that what a rule gave may be kept.
    rules_are_fixed = True
    # Of the rules of all primitives, for what is kept of whole programs.
    n_changes = 0
    # What libraries ask: calls and maps are no kinds of primitives of their own.
    call_primitive = False
    map_primitive = False
    # Declared for readers and checkers; values live in the slots.
    abstract: Rule
    effects: Rule
    lower: Rule
    decompose: Rule
    rewrite: Rule
    jvp: Rule
    jvp_by_spread: Rule
    linearize: Rule
    taylor: Rule
    transpose: Rule
    transpose_into: Rule
    batch: Rule
    axes: Rule
    vary: Rule
    shard: Rule
    partial_eval: Rule
    dce: Rule
    print: Rule
    print_equation: Rule
    check: Rule
    checkify: Rule
    discharge: Rule
    to_low: Rule
    key_reuse: Rule
    split: Rule
    stage: Rule
    offer: Rule
    impl: Rule
    reference: Rule

    def __init__(
        self,
        name: str,
        *,
        multiple_results: bool = False,
        file: str | None = None,
        cost: Cost | None = None,
        cost_by_spread: Cost | None = None,
        fuses_operands: bool = False,
        n_operations: int = 1,
        remade: Remade | None = None,
        may_make_nan: bool = True,
        ends_ref: str | None = None,
        is_always_followed: bool = False,
        is_call: bool = False,
        is_high: bool = False,
        communicates: bool = True,
        needs_full_build: bool = False,
        overwrites: bool = False,
        exact: Exact | None = None,
        **rules: Rule,
    ) -> None:
        self.name = name
        self.multiple_results = multiple_results
        self.file = file or source_info.defining_file()
        self.cost = cost
        self.cost_by_spread = cost_by_spread
        self.fuses_operands = fuses_operands
        self.n_operations = n_operations
        self.remade = remade
        self.may_make_nan = may_make_nan
        self.ends_ref = ends_ref
        self.is_always_followed = is_always_followed
        self.is_call = is_call
        self.is_high = is_high
        self.communicates = communicates
        self.needs_full_build = needs_full_build
        self.overwrites = overwrites
        self.exact = exact
        self.abstract_cache: dict[Any, Any] = {}
        for field in RULES:
            self._write_rule(field, rules.pop(field, None))
        if rules:
            raise TypeError(f"Primitive {name}: there is no rule field {min(rules)!r}")
        with _records_lock:
            _records[self] = None

    def set_rule(self, field: str, rule: Rule) -> None:
        """Writes a rule: for libraries that fill the records of their primitives.

        A rule that was read from a record stays the rule of that one.

        Raises:
          TypeError: there is no such field.
        """
        if field not in _FIELDS:
            raise TypeError(f"Primitive {self.name}: there is no rule field {field!r}")
        self._write_rule(field, rule)
        Primitive.n_changes += 1
        if field in ("jvp", "linearize"):  # the one that was given holds everywhere
            self.jvp_by_spread = None
        if field in _COMPILED:
            self.rules_are_fixed = False

    def _write_rule(self, field: str, rule: Rule) -> None:
        shared = getattr(rule, "takes_primitive", False)
        if shared and not isinstance(rule, types.MethodType):
            rule = types.MethodType(cast("Callable[..., Any]", rule), self)
        setattr(self, field, rule)

    def bind(self, *args: Any, **params: Any) -> Any:
        """Applies the operation in the current interpreter."""
        if _current.join is not None and self.vary is None:
            args = _current.join(args)
        return _current.trace.process(self, args, params)

    def bind_with_trace(self, trace_: Any, args: Any, *types_and_params: Any) -> Any:
        """`bind` in another interpreter than the current one.

        Args:
          trace_: the interpreter.
          args: operands.
          *types_and_params: the parameters; the types of the operands, which say
            nothing that these do not, may stand before.
        """
        with trace.set_current(trace_):
            return self.bind(*args, **types_and_params[-1])

    def get_bind_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """The keyword arguments by which `bind` repeats an equation of `params`."""
        return dict(params)

    def printed_name(self, eqn: Any) -> str:
        """What an equation is called in a printed program."""
        del eqn
        return self.name

    def __repr__(self) -> str:
        return self.name

    def results(self, avals: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The result aval (or avals) and effects, cached: `(avals, effects)`."""
        if not self.rules_are_fixed:
            return self._infer(avals, params)
        try:
            key = (avals, *params, *params.values()) if params else avals
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
        if self.discharge is None:
            _refuse_refs(self, avals)
        if self.to_low is None:
            _refuse_high_types(self, avals)
        effects: frozenset[Any] = frozenset()
        if self.effects is not None:
            effects = self.effects(*avals, **params)
        out = self.abstract(*avals, **params)
        outs = tuple(out) if self.multiple_results else (out,)
        joined = frozenset().union(*[_vma(a) for a in avals])
        if joined or self.vary is not None:
            vma = joined if self.vary is None else self.vary(joined, **params)
            if vma is not None:
                outs = tuple([_with_vma(a, vma) for a in outs])
        if _are_divided(avals, params):
            outs = self._divide(outs, avals, params)
        return (outs if self.multiple_results else outs[0]), effects

    def _divide(self, outs: Any, avals: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The types of results, where explicit axes of a mesh divide operands."""
        if self.shard is None and self.vary is as_abstract_says:
            return outs
        try:
            if self.shard is None:
                raise errors.ShardingTypeError(
                    "there is no rule for operands that explicit axes divide; use "
                    "olympus.sharding.auto_axes, or reshard the operands, as in "
                    "olympus.reshard(x, P()), or write the field `shard` of the record "
                    f"in {self.file}"
                )
            return explicit_shardings.divide_results(
                self.shard, outs, avals, params, self.multiple_results
            )
        except errors.ShardingTypeError as error:
            raise _with_context(self, error, avals) from None


def _refuse_refs(p: Primitive, avals: tuple[Any, ...]) -> None:
    for aval in avals:
        if hasattr(aval, "inner_aval") and not aval.is_high:
            raise TypeError(
                f"{p.name}: an array is required, got a ref of type {aval.short()}; "
                "read it with ref[...], or a part of it with ref[index]"
            )


def _refuse_high_types(p: Primitive, avals: tuple[Any, ...]) -> None:
    for aval in avals:
        if aval.is_high:
            raise high_values.not_an_array(p.name, avals)


def _are_divided(avals: tuple[Any, ...], params: dict[str, Any]) -> bool:
    """Whether explicit axes divide operands, or parameters ask for it."""
    for aval in avals:
        if getattr(aval, "explicit", None) is not None:  # tokens have none
            return True
    return bool(params) and (
        params.get("sharding") is not None or params.get("out_sharding") is not None
    )


def _with_context(
    p: Primitive, error: errors.ShardingTypeError, avals: tuple[Any, ...]
) -> errors.ShardingTypeError:
    listed = ", ".join([aval.short() for aval in avals])
    meshes = [a.explicit.mesh for a in avals if getattr(a, "explicit", None)]
    mesh = f" on {meshes[0]}" if meshes else ""
    position = _current.position or source_info.capture()
    place = "" if position is None else f"; at {position}"
    return errors.ShardingTypeError(
        f"{p.name}: {error} (operands: {listed}{mesh}{place})"
    )


_current = trace.current
_MAX_CACHED_RESULTS = 4096


def _vma(aval: Any) -> frozenset[Any]:
    return getattr(aval, "vma", frozenset())  # tokens have none


def _with_vma(aval: Any, vma: frozenset[Any]) -> Any:
    return aval.update(vma=vma) if hasattr(aval, "vma") else aval


def as_abstract_says(joined: Any, **params: Any) -> None:
    """The rule `vary` of operations that apply programs, whose results have types."""


# Programs that stay for good: the combinations of two numbers in scatters.
_kept_programs: set[Any] = set()


def keep_program(program: Any) -> Any:
    """Lets caches be keyed by a program, which is then never freed; the program."""
    _kept_programs.add(program)
    return program


def is_told_by_value(parameter: Any) -> bool:
    """Whether a cache may be keyed by a parameter: it is plain data.

    Programs and functions are what they are; a key would keep them, with the arrays
    that they hold, for programs that will never come again.
    """
    if type(parameter) is tuple:
        return all(map(is_told_by_value, parameter))
    if isinstance(parameter, type):
        return True
    if hasattr(parameter, "eqns"):
        return parameter in _kept_programs
    return not callable(parameter)


def _clear_caches() -> None:
    for primitive in records():
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
