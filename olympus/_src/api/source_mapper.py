"""Source maps of the forms that a function takes on its way to the machine."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from olympus._src.api import jit, stages, staging
from olympus._src.core import printer
from olympus._src.foundation import config, vocabulary
from olympus._src.interpreters import compilation
from olympus._src.lowering import operation_paths, source_maps
from olympus._src.lowering.source_maps import Place, SourceMap
from olympus._src.runtime import executable


class SourceMapDump(NamedTuple):
    """A form of a function as text, and where its lines come from.

    Attributes:
      source_map: for each line, a place in the user's program.
      generated_code: the text.
      pass_name: the name of the pass.
    """

    source_map: SourceMap
    generated_code: str
    pass_name: str


class CompileFn(Protocol):
    """Makes what a pass shows of a function.

    It is called with a folder for files, a function, its arguments and keyword
    arguments, and the keyword arguments of `generate_sourcemaps`.
    """

    def __call__(
        self, work_dir: Any, f: Any, f_args: Any, f_kwargs: Any, **kwargs: Any
    ) -> Any: ...


class GenerateDumpFn(Protocol):
    """Makes a dump of what the pass's `compile_fn` returned."""

    def __call__(self, compile_result: Any, /, **kwargs: Any) -> SourceMapDump: ...


class Pass(NamedTuple):
    """A form of functions that can be shown.

    Attributes:
      name: its name, which begins with a kind: 'olympuspr', 'hlo:optimized'.
      compile_fn: makes what is shown.
      generate_dump: makes the text and the map of that.
    """

    name: str
    compile_fn: CompileFn
    generate_dump: Callable[..., SourceMapDump]


_passes: dict[str, Pass] = {}


def register_pass(pass_: Pass) -> None:
    """Adds a pass to those that `all_passes` returns.

    Raises:
      ValueError: there is one of that name.
    """
    if pass_.name in _passes:
        raise ValueError(
            f"register_pass: Pass {pass_.name} already registered; choose another name"
        )
    _passes[pass_.name] = pass_


def all_passes() -> Sequence[Pass]:
    """The passes: programs as traced, as lowered, and before and after optimisation.

    Example:
      >>> from olympus.experimental.source_mapper import all_passes
      >>> [p.name for p in all_passes()]
      ['olympuspr', 'hlo:stable-hlo', 'hlo:original', 'hlo:optimized']
    """
    return list(_passes.values())


def filter_passes(regex: str) -> Sequence[Pass]:
    """The passes whose name begins with a match of a regular expression.

    The program as traced is also found by the name that JAX has for it, 'jaxpr'.

    Example:
      >>> from olympus.experimental.source_mapper import filter_passes
      >>> [p.name for p in filter_passes("hlo:o")]
      ['hlo:original', 'hlo:optimized']
    """
    return [
        p
        for p in _passes.values()
        if re.match(regex, p.name)
        or re.match(regex, p.name.replace(vocabulary.OLYMPUS, vocabulary.JAX))
    ]


def generate_sourcemaps(
    f: Callable[..., Any], passes: Sequence[Pass], **pass_kwargs: Any
) -> Callable[..., Sequence[SourceMapDump]]:
    """Shows a function in several forms, and which of its lines each line comes from.

    Args:
      f: a function of arrays and pytrees of them; it is not run.
      passes: the forms, of `all_passes` or `filter_passes`.
      **pass_kwargs: arguments of the passes; `xla_compiler_flags` are XLA's options by
        name, for the optimised program.

    Returns:
      A function of `f`'s arguments, which returns a `SourceMapDump` for each pass.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.experimental.source_mapper import *
      >>> def f(x):
      ...     return onp.sin(x)
      >>> (dump,) = generate_sourcemaps(f, filter_passes("olympuspr"))(1.0)
      >>> print(dump.generated_code)
      { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
    """

    def generate(*args: Any, **kwargs: Any) -> Sequence[SourceMapDump]:
        with tempfile.TemporaryDirectory() as folder:
            return [
                p.generate_dump(
                    p.compile_fn(folder, f, args, kwargs, **pass_kwargs), **pass_kwargs
                )
                for p in passes
            ]

    return generate


def compile_with_env(
    f: Callable[..., Any],
    f_args: Sequence[Any],
    f_kwargs: Mapping[str, Any],
    env_flags: Mapping[str, Any],
    compiler_flags: Mapping[str, Any],
) -> None:
    """Compiles a function under other settings, for what that leaves behind.

    Args:
      f: the function.
      f_args, f_kwargs: its arguments.
      env_flags: settings of olympus by name, for as long as this takes.
      compiler_flags: XLA's options by name.

    Raises:
      AttributeError: a setting does not exist.
    """
    settings = config.config
    before = {name: getattr(settings, name) for name in env_flags}
    try:
        for name, value in env_flags.items():
            settings.update(name, value)
        _lowered(f, f_args, f_kwargs).compile(dict(compiler_flags))
    finally:
        for name, value in before.items():
            settings.update(name, value)


def canonicalize_filename(file_name: str) -> str:
    """A file's name as `olympus_hlo_source_file_canonicalization_regex` leaves it."""
    return operation_paths.canonical_file(file_name)


# -- the passes ------------------------------------------------------------------------


def compile_olympuspr(
    work_dir: Any, f: Any, f_args: Any, f_kwargs: Any, **_: Any
) -> Any:
    """The traced program of a function."""
    return staging.make_olympuspr(f)(*f_args, **f_kwargs)


def make_olympuspr_dump(olympuspr: Any, /, **_: Any) -> SourceMapDump:
    """The text and the map of a traced program."""
    rows = [
        (line, None if place is None else _place_of(place))
        for line, place in printer.placed_lines(olympuspr.olympuspr)
    ]
    text = "\n".join([line for line, _ in rows])
    return SourceMapDump(source_maps.of_lines(rows), text, vocabulary.OLYMPUS)


def _place_of(position: Any) -> Place | None:
    if not position.line:
        return None
    file = canonicalize_filename(position.file)
    return Place(file, position.line - 1, max(position.column, 1) - 1)


def trace_and_lower(work_dir: Any, f: Any, f_args: Any, f_kwargs: Any, **_: Any) -> Any:
    """The lowered program of a function."""
    return _lowered(f, f_args, f_kwargs)


def _lowered(f: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> stages.Lowered:
    jitted = f if hasattr(f, "lower") else jit.jit(f)
    lowered: stages.Lowered = jitted.lower(*args, **kwargs)
    return lowered


def stable_hlo_generate_dump(lowered: stages.Lowered, /, **_: Any) -> SourceMapDump:
    """The text and the map of a lowered program in StableHLO."""
    text = lowered.as_text(debug_info=True)
    return SourceMapDump(
        source_maps.create_mlir_sourcemap(text), text, "hlo:stable-hlo"
    )


def original_hlo_generate_dump(lowered: stages.Lowered, /, **_: Any) -> SourceMapDump:
    """The text and the map of a lowered program in XLA's language."""
    text = lowered.as_text("hlo", debug_info=True)
    return SourceMapDump(source_maps.parse_hlo_dump(text), text, "hlo:original")


def optimized_generate_dump(
    lowered: stages.Lowered,
    /,
    xla_compiler_flags: Mapping[str, Any] | None = None,
    **_: Any,
) -> SourceMapDump:
    """The text and the map of the program that XLA runs.

    Args:
      lowered: the program before.
      xla_compiler_flags: XLA's options by name.
    """
    # Compiled with places in the text: elsewhere they are no part of it.
    located, options = stages.located(lowered)
    chosen = {**dict(options), **(xla_compiler_flags or {})}
    built = compilation.build_options_of(located, tuple(sorted(chosen.items())))
    text = executable.optimized_text(compilation.load(located, built))
    return SourceMapDump(source_maps.parse_hlo_dump(text), text, "hlo:optimized")


register_pass(Pass(vocabulary.OLYMPUS, compile_olympuspr, make_olympuspr_dump))
register_pass(Pass("hlo:stable-hlo", trace_and_lower, stable_hlo_generate_dump))
register_pass(Pass("hlo:original", trace_and_lower, original_hlo_generate_dump))
register_pass(Pass("hlo:optimized", trace_and_lower, optimized_generate_dump))
