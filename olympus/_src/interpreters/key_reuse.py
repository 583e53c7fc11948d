"""Random keys that are used twice: `debug_key_reuse`.

Each element of an array of keys is an object `Key`, which knows where it was used. A
value of keys is a NumPy array of such objects, so that operations which move elements
move them likewise. What a program does to the keys that it gets is its `Signature`,
which is computed once and kept with the program. The field `key_reuse` of a record says
what an operation does:

  key_reuse(uses, eqn, operands) -> keys of the results

`uses` is a `Uses`; operands and results are arrays of `Key`, or None for values that
are no keys. A result that is None gets new keys. An operation without the field
consumes nothing: results that are keys are elements of its operands, moved by its
`reference`.

Concrete arrays of keys hold theirs in the field `_keys`. Nothing here runs, or is
loaded, while the setting is off.
"""

from __future__ import annotations

import linecache
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes, ir
from olympus._src.foundation import errors, source_info
from olympus._src.interpreters.concrete_arrays import ArrayImpl
from olympus._src.sharding.specs import PartitionSpec

Keys = Any  # an array of `Key`, dtype object

# Larger arrays are followed as a whole: their parts count as new keys.
_MAX_FOLLOWED = 1 << 16


class Use:
    """Where a key is consumed.

    Attributes:
      origin: the same for the same equation, whoever applies the program around it.
      position: in the user's program, or None.
      call: where the compiled function around it was called, or None.
    """

    __slots__ = ("call", "origin", "position")

    def __init__(self, position: Any, call: Any = None, origin: Any = None) -> None:
        self.position = position
        self.call = call
        self.origin = self if origin is None else origin


class Key:
    """One random key.

    Attributes:
      use: where it was consumed, or None.
      is_certain: whether that was surely this one, not one of several.
      members: the keys of which it is one, where it may be one of several.
      is_indexed: which one, an index says that may differ each time.
    """

    __slots__ = ("is_certain", "is_indexed", "members", "use")

    def __init__(self, members: Sequence[Key] = (), is_indexed: bool = False) -> None:
        self.use: Use | None = None
        self.is_certain = False
        self.members = tuple(members)
        self.is_indexed = is_indexed


class Signature:
    """What a program does to keys.

    Attributes:
      inputs: for each constant and each input its keys, or None.
      uses: the keys among them that it consumes, in order: (key, use, is it certain).
      outputs: for each result its keys, or None.
    """

    __slots__ = ("inputs", "outputs", "uses")

    def __init__(self, inputs: Any, uses: Any, outputs: Any) -> None:
        self.inputs = inputs
        self.uses = uses
        self.outputs = outputs

    def handles_keys(self) -> bool:
        """Whether an input or a result is a key."""
        return any(x is not None for x in (*self.inputs, *self.outputs))


def is_key(aval: Any) -> bool:
    """Whether values of a type are random keys."""
    is_ref = hasattr(aval, "inner_aval")
    return not is_ref and dtypes.is_extended(getattr(aval, "dtype", None))


def new_keys(aval: Any) -> Keys:
    """Keys that nobody has used; one for all where they are not followed singly."""
    shape = aval.shape
    if not all(isinstance(d, int) for d in shape) or math.prod(shape) > _MAX_FOLLOWED:
        shape = ()
    keys = np.empty(shape, object)
    for index in np.ndindex(shape):
        keys[index] = Key()
    return keys


def distinct(keys: Iterable[Any]) -> list[Any]:
    """The objects, each once."""
    return list({id(key): key for key in keys}.values())


def one_of(keys: Sequence[Key], is_indexed: bool = False) -> Key:
    """The key that is one of these."""
    members = distinct(keys)
    return members[0] if len(members) == 1 else Key(members, is_indexed)


def _count(keys: Keys) -> int:
    return len(set(map(id, keys.flat)))


class Uses:
    """The keys consumed so far, where a program is followed.

    Args:
      position: where in the user's program it is.
    """

    def __init__(self, position: Any = None) -> None:
        self.position = position
        self.in_loop = False
        self._journal: list[tuple[Key, Use, bool, Any]] = []

    # -- what rules do -----------------------------------------------------------------

    def consume(self, keys: Keys) -> None:
        """Consumes all elements; one that occurs twice, by a broadcast, once."""
        use = Use(self.position)
        for key in distinct(keys.flat):
            self._consume(key, use, True)

    def apply(self, program: Any, operands: Sequence[Any]) -> list[Any]:
        """Applies a program, open or closed, to the keys of its inputs."""
        if type(program) is ir.ClosedOlympuspr:
            program = program.olympuspr
        unknown = [None] * len(program.constvars)
        return self.apply_signature(signature_of(program), [*unknown, *operands])

    def iterate(self, n: int) -> Iterator[int]:
        """Numbers of the iterations of a loop that is followed."""
        outer = self.in_loop
        try:
            for i in range(n):
                self.in_loop = outer or i > 0
                yield i
        finally:
            self.in_loop = outer

    def apply_one_of(
        self, programs: Sequence[Any], operands: Sequence[Any]
    ) -> list[Any]:
        """Applies one of several programs, nobody knows which."""
        outs, marks = [], []
        for program in programs:
            start = len(self._journal)
            outs.append(self.apply(program, operands))
            marks.append(self.undo(start))
        for own, results in zip(marks, outs, strict=True):
            self._forget_other_uses(results, marks, own)
        for own in marks:
            for key, use, is_certain in own:
                if key.use is None or (is_certain and not key.is_certain):
                    self._mark(key, use, is_certain)
        return [self.join(results) for results in zip(*outs, strict=True)]

    def _forget_other_uses(self, results: list[Any], marks: Any, own: Any) -> None:
        """Puts new keys for those that a program returns and only others consume."""
        used = {id(key) for branch in marks for key, _, _ in branch}
        used -= {id(key) for key, _, _ in own}
        for i, keys in enumerate(results):
            if keys is not None and any(id(key) in used for key in keys.flat):
                results[i] = keys = keys.copy()
                for index in np.ndindex(keys.shape):
                    if id(keys[index]) in used:
                        keys[index] = Key()

    def join(self, values: Sequence[Any]) -> Any:
        """The keys that are those of one of the values, elementwise."""
        if any(keys is None for keys in values):
            return None
        keys = np.empty(values[0].shape, object)
        if any(other.shape != keys.shape for other in values):
            return None
        for index in np.ndindex(keys.shape):
            keys[index] = one_of([other[index] for other in values])
        return keys

    def concatenate(self, eqn: ir.Eqn, operands: Sequence[Any]) -> Any:
        """Arrays side by side, in which no key may come twice."""
        seen: set[int] = set()
        for keys in operands:
            ids = set() if keys is None else set(map(id, keys.flat))
            if not seen.isdisjoint(ids):
                raise _repeated_error(eqn.source, eqn.primitive)
            seen |= ids
        return move(eqn, operands)

    def repeat(self, eqn: ir.Eqn, operands: Sequence[Any]) -> Any:
        """Elements of an array in other places, in which no key may come twice."""
        results = move(eqn, operands)
        if results and results[0] is not None:
            before, after = [
                keys.size - len(distinct(keys.flat)) for keys in (operands[0], *results)
            ]
            if after > before:
                raise _repeated_error(eqn.source, eqn.primitive)
        return results

    def apply_signature(
        self, signature: Signature, operands: Sequence[Any]
    ) -> list[Any]:
        """Applies a program to keys.

        Args:
          signature: the program's.
          operands: keys for its constants and inputs, or None for unknown ones. Where
            the shape is not the program's, each of its keys may be any of them.
        """
        actual: dict[int, tuple[tuple[Key, ...], bool]] = {}
        for inner, outer in zip(signature.inputs, operands, strict=True):
            if inner is None or outer is None:
                continue
            if inner.shape == outer.shape:
                pairs = zip(inner.flat, outer.flat, strict=True)
                actual.update((id(i), ((o,), True)) for i, o in pairs)
            else:
                every = (tuple(distinct(outer.flat)), inner.size == 1)
                actual.update((id(i), every) for i in inner.flat)
        uses: dict[int, Use] = {}
        for inner_key, use, is_certain in signature.uses:
            outer_keys, is_exact = actual.get(id(inner_key), ((), True))
            here = uses.get(id(use))
            if here is None:
                here = uses[id(use)] = self._use_here(use)
            for key in outer_keys:
                self._consume(key, here, is_certain and is_exact)
        replaced = {i: one_of(keys) for i, (keys, _) in actual.items() if keys}
        outs = [
            None if keys is None else self._instantiate(keys, replaced)
            for keys in signature.outputs
        ]
        if all(is_exact for _, is_exact in actual.values()):
            for inner, outer in zip(signature.outputs, outs, strict=True):
                if inner is not None and _count(outer) < _count(inner):
                    raise _repeated_error(self.position, "its result")
        return outs

    # -- marks -------------------------------------------------------------------------

    def undo(self, start: int = 0) -> list[tuple[Key, Use, bool]]:
        """Takes marks back, and returns them."""
        marks = self._journal[start:]
        del self._journal[start:]
        for key, _, _, before in reversed(marks):
            key.use, key.is_certain = before
        return [(key, use, is_certain) for key, use, is_certain, _ in marks]

    def marks_of(self, keys: Iterable[Any]) -> list[tuple[Key, Use, bool]]:
        """The marks on these keys, in order."""
        ids = set(map(id, keys))
        return [
            (k, use, certain) for k, use, certain, _ in self._journal if id(k) in ids
        ]

    def _use_here(self, use: Use) -> Use:
        if use.position is None:
            return Use(self.position, None, use.origin)
        return Use(use.position, self.position or use.call, use.origin)

    def _consume(self, key: Key, use: Use, is_certain: bool) -> None:
        if key.use is use:  # by the same operation, at another place of its operand
            return
        if key.use is not None and (is_certain or key.is_certain):
            raise _reuse_error(key.use, use, self.in_loop)
        self._mark(key, use, is_certain)
        for member in key.members:
            self._consume(member, use, is_certain and not key.is_indexed)

    def _mark(self, key: Key, use: Use, is_certain: bool) -> None:
        self._journal.append((key, use, is_certain, (key.use, key.is_certain)))
        key.use = key.use or use
        key.is_certain = key.is_certain or is_certain

    def _instantiate(self, keys: Keys, replaced: dict[int, Key]) -> Keys:
        out = np.empty(keys.shape, object)
        for index in np.ndindex(keys.shape):
            out[index] = self._replace(keys[index], replaced)
        return out

    def _replace(self, key: Key, replaced: dict[int, Key]) -> Key:
        """A program's key as a key of this application of it."""
        new = replaced.get(id(key))
        if new is None:
            members = [self._replace(member, replaced) for member in key.members]
            new = replaced[id(key)] = Key(members, key.is_indexed)
            if key.use is not None:
                new.use, new.is_certain = self._use_here(key.use), key.is_certain
        return new


# -- programs --------------------------------------------------------------------------


def signature_of(program: ir.Olympuspr) -> Signature:
    """The signature of a program, kept with it.

    Raises:
      KeyReuseError: it consumes a key twice.
    """
    return program.derived("key reuse", _follow_program)


def check_program(program: ir.Olympuspr) -> None:
    """Raises KeyReuseError where a program consumes a key twice."""
    signature_of(program)


def _follow_program(program: ir.Olympuspr) -> Signature:
    inputs = [*program.constvars, *program.invars]
    env: dict[Any, Any] = {v: new_keys(v.aval) for v in inputs if is_key(v.aval)}
    own = [key for keys in env.values() for key in keys.flat]
    arguments = [env.get(v) for v in inputs]
    uses = Uses()
    equal = _EqualEquations()
    for eqn in program.eqns if _handles_keys(program) else ():
        uses.position = eqn.source
        operands = [env.get(v) for v in eqn.invars]
        rule = eqn.primitive.key_reuse
        first = equal.first(eqn)
        if rule is not None:
            results = rule(uses, eqn, operands)
        elif first is eqn:
            results = move(eqn, operands)
        else:  # the same elements, whichever they are
            results = [env.get(v) for v in first.outvars]
        for i, v in enumerate(eqn.outvars):
            if is_key(v.aval):
                keys = None if results is None else results[i]
                env[v] = new_keys(v.aval) if keys is None else keys
    return Signature(
        arguments, uses.marks_of(own), [env.get(v) for v in program.outvars]
    )


class _EqualEquations:
    """Which equations of a program compute what an earlier one has computed."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}
        self._equations: dict[Any, ir.Eqn] = {}

    def first(self, eqn: ir.Eqn) -> ir.Eqn:
        """The first equation that computes the same: itself, or an earlier one."""
        if eqn.effects:
            return eqn
        values = tuple(map(self._value, eqn.invars))
        form = (eqn.primitive, tuple(sorted(eqn.params.items())), values)
        try:
            first = self._equations.setdefault(form, eqn)
        except TypeError:  # a parameter that a library made without a hash
            return eqn
        self._values.update(zip(eqn.outvars, first.outvars, strict=True))
        return first

    def _value(self, atom: Any) -> Any:
        """What stands for an operand: equal for equal values."""
        if type(atom) is ir.Literal:
            return atom.aval, np.asarray(atom.val).tobytes()
        return self._values.get(atom, atom)


def _handles_keys(program: ir.Olympuspr) -> bool:
    """Whether values of a program, or of programs in it, are keys."""
    atoms: list[Any] = [*program.constvars, *program.invars]
    for eqn in program.eqns:
        atoms += eqn.outvars
    return any(is_key(v.aval) for v in atoms) or any(
        _handles_keys(inner) for e in program.eqns for inner in ir.subprograms(e.params)
    )


# -- operations without a rule ---------------------------------------------------------


def move(eqn: ir.Eqn, operands: Sequence[Any]) -> Any:
    """The rule of operations whose results have elements of their operands."""
    if not any(is_key(v.aval) for v in eqn.outvars):
        return None
    known = [_known_value(v, x) for v, x in zip(eqn.invars, operands, strict=True)]
    if all(x is not None for x in known):
        return _move_by_reference(eqn, known)
    pairs = zip(eqn.invars, operands, strict=True)
    sources = [(v, keys) for v, keys in pairs if keys is not None]
    if len(sources) != 1:
        return None  # an update at an unknown position: what is there now, is not known
    [(v, every)] = sources
    if not every.size or every.shape != v.aval.shape:
        return None
    key = one_of(list(every.flat), is_indexed=True)
    results = [new_keys(v.aval) for v in eqn.outvars]
    for keys in results:
        keys.fill(key)
    return results


def _known_value(v: Any, keys: Any) -> Any:
    """The keys of an operand, or the value of a literal; None for anything else."""
    if keys is not None:
        return keys
    return np.asarray(v.val) if type(v) is ir.Literal else None


def _move_by_reference(eqn: ir.Eqn, values: Sequence[Any]) -> Any:
    if eqn.primitive.reference is None:
        return None
    params = {
        k: None if isinstance(v, PartitionSpec) else v for k, v in eqn.params.items()
    }
    try:
        out = eqn.primitive.reference(*values, **params)
    except (TypeError, ValueError, IndexError, AttributeError):
        return None  # of sizes that are not known, or of keys followed as a whole
    outs = out if eqn.primitive.multiple_results else [out]
    results = []
    for v, keys in zip(eqn.outvars, outs, strict=True):
        array = np.asarray(keys, object)
        keeps = array.shape == v.aval.shape and all(type(k) is Key for k in array.flat)
        results.append(array if keeps else None)
    return results


# -- concrete arrays -------------------------------------------------------------------

_lock = threading.Lock()


def keys_of(x: Any) -> Keys:
    """The keys of a concrete array; None where it has none."""
    aval = getattr(x, "aval", None)
    if not is_key(aval):
        return None
    keys = getattr(x, "_keys", None)
    if keys is None:
        keys = x._keys = new_keys(aval)
    return keys


def run_program(
    program: ir.Olympuspr, arrays: Sequence[Any], run: Callable[[], list[Any]]
) -> list[Any]:
    """Runs a program, and marks the keys of its operands and results.

    Args:
      program: what `run` does.
      arrays: its constants and operands.
      run: returns its results.

    Raises:
      KeyReuseError: a key was consumed before, or is consumed twice.
    """
    signature = signature_of(program)
    if not signature.handles_keys():
        return run()
    uses = Uses(source_info.capture())
    with _lock:
        try:
            outs = uses.apply_signature(signature, [keys_of(x) for x in arrays])
        except errors.KeyReuseError:
            uses.undo()
            raise
    results = run()
    for x, keys in zip(results, outs, strict=False):
        if keys is not None:
            x._keys = keys
    return results


def run_compiled(compiled: Any, arrays: Sequence[Any], buffers: list[Any]) -> list[Any]:
    """`run_program` of a compiled program on the buffers of the arrays."""
    program = compiled.lowered.source
    if program is None or len(arrays) != len(program.constvars) + len(program.invars):
        return compiled.run(buffers)
    return run_program(program, arrays, lambda: compiled.run(buffers))


def share_keys(source: Any, array: Any, index: Any = ()) -> Any:
    """Gives a copy of an array of keys, or of a part of it, the keys of the array.

    Args:
      source: the array.
      array: the copy.
      index: the part, as NumPy has it; any other leaves the keys as they are.

    Returns:
      The copy.
    """
    if type(source) is not ArrayImpl or type(array) is not ArrayImpl:
        return array
    with _lock:
        keys = keys_of(source)
    if keys is not None:
        items = index if type(index) is tuple else (index,)
        items = tuple([np.asarray(i) if type(i) is ArrayImpl else i for i in items])
        try:
            part = np.asarray(keys[items], object)
        except (IndexError, TypeError, ValueError):
            return array
        if part.shape == array.shape:
            array._keys = part
    return array


# -- messages --------------------------------------------------------------------------

_REMEDY = (
    "make a key for each use, as in `key, subkey = random.split(key)`, and use `subkey`"
)


_USE_THE_NEW = (
    "use the keys that the split gave, and no more the one that it took: "
    "`key, subkey = random.split(key)`"
)


def _reuse_error(first: Use, again: Use, in_loop: bool) -> errors.KeyReuseError:
    name = _function_name(again)
    if in_loop and first.origin is again.origin:
        return errors.KeyReuseError(
            f"{name}: each random key may be consumed once, got one that is consumed "
            f"in every iteration of a loop\n  {_place(again)}\nsplit it in the loop: "
            "carry the key, and begin with `key, subkey = random.split(key)`; or scan "
            "over `random.split(key, length)`"
        )
    places = _place(first), _place(again)
    if places[0] == places[1]:
        places = _exact_place(first), _exact_place(again)
    is_split = first.position is not None and "split(" in places[0].splitlines()[0]
    remedy = _USE_THE_NEW if is_split else f"{_REMEDY}, before {_short_place(first)}"
    return errors.KeyReuseError(
        f"{name}: each random key may be consumed once, got one that is consumed twice"
        f"\n  first: {places[0]}\n  again: {places[1]}\n{remedy}"
    )


def _repeated_error(position: Any, what: Any) -> errors.KeyReuseError:
    use = Use(position or source_info.capture())
    return errors.KeyReuseError(
        f"{_function_name(use)}: each random key may be consumed once, got an array "
        f"with the same key at two places ({what})\n  {_place(use)}\nmake several "
        "keys by `random.split(key, n)`"
    )


def _function_name(use: Use) -> str:
    return "program" if use.position is None else use.position.function


def _place(use: Use) -> str:
    if use.position is None:
        return "at an unknown line"
    text = _line_text(use.position)
    if use.call is not None and use.call.key != use.position.key:
        text += f"\n         called at {_line_text(use.call)}"
    return text


def _exact_place(use: Use) -> str:
    """The place with its column, and where that was called."""
    position = use.position
    if position is None:
        return _place(use)
    text = _line_text(position, f":{position.column}")
    for call in position.callers[:1] if use.call is None else [use.call]:
        text += f"\n         called at {_line_text(call, f':{call.column}')}"
    return text


def _line_text(position: Any, column: str = "") -> str:
    line = linecache.getline(position.file, position.line).strip()
    place = f"{position.file}:{position.line}{column} ({position.function})"
    return f"{place}: {line}" if line else place


def _short_place(use: Use) -> str:
    position = use.call or use.position
    if position is None:
        return "its first use"
    return f"line {position.line} of {source_info.short_file(position.file)}"
