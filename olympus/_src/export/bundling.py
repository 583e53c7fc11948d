"""Making bundles of functions."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import parameters, signatures, stages
from olympus._src.core import avals as avals_
from olympus._src.export import arrays, bundle_files, exporting, trees
from olympus._src.export import executables as executables_
from olympus._src.export.bundle_files import Contents, Sample
from olympus._src.export.bundles import Bundle, result_paths
from olympus._src.export.exported import Exported
from olympus._src.foundation import tracebacks
from olympus._src.interpreters import concrete_arrays
from olympus._src.runtime import versions

# Samples of this size are stored by default.
_SMALL_SAMPLE = 1 << 20


def make(
    fun: Callable[..., Any] | Exported,
    *,
    name: str | None = None,
    doc: str | None = None,
    argument_names: Sequence[str] | None = None,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[Any] = (),
    vjp_order: int = 0,
    portable: bool = True,
    executables: bool = True,
    self_test: bool | None = None,
    tolerance: float | None = None,
) -> Callable[..., Bundle]:
    """Bundles a function for the types of given arguments.

    Args:
      fun: what `olympus.jit` returned, or an `Exported`.
      name, doc: the name and description of the bundle; those of the function if
        None.
      argument_names: names of the positional arguments; those of the function if None.
      platforms: the platforms of the portable program, as in `export.export`.
      disabled_checks: as in `export.export`.
      vjp_order: how many reverse derivatives the portable program has.
      portable: keep the portable program; without it the bundle runs on this kind of
        machine alone.
      executables: keep machine code for this machine.
      self_test: keep the arguments and the results, to check by on other machines; if
        None, they are kept where they are concrete and small.
      tolerance: how much results may differ in the self-test, as a share of their
        largest element; if None, the square root of the dtype's precision.

    Returns:
      A function that takes the function's arguments, arrays or `ShapeDtypeStruct`s, and
      returns a `Bundle`.

    Raises:
      ValueError: nothing would be in the bundle, or the function cannot be exported.
      TypeError: `fun` is neither jitted nor exported.

    Example:
      >>> import olympus
      >>> import olympus.numpy as jnp
      >>> from olympus import bundle
      >>> made = bundle.make(olympus.jit(lambda x: 2 * x))(jnp.ones(3))
      >>> bundle.load(made.to_bytes())(jnp.arange(3.0))
      Array([0., 2., 4.], dtype=float32)
    """
    if not isinstance(fun, Exported) and not hasattr(fun, "trace"):
        raise TypeError(
            f"bundle.make: must be given a jitted function or an Exported, got {fun!r};"
            " write bundle.make(olympus.jit(f))(...)"
        )
    if not portable and (not executables or isinstance(fun, Exported)):
        raise ValueError(
            "bundle.make: portable=False needs executables=True and a jitted "
            "function, got nothing to store"
        )
    if not portable and vjp_order:
        raise ValueError(
            "bundle.make: vjp_order must be 0 where portable=False, got "
            f"{vjp_order}; derivatives are part of the portable program"
        )

    @tracebacks.api_boundary
    def of_arguments(*args: Any, **kwargs: Any) -> Bundle:
        maker = _Maker(fun, args, kwargs, argument_names)
        contents = maker.contents(name, doc)
        if portable:
            exported = maker.export(platforms, disabled_checks)
            contents.exported = bytes(exported.serialize(vjp_order))
            contents.platforms = list(exported.platforms)
            contents.vjp_order = vjp_order
        else:
            exported = None
            contents.executables = [maker.machine_code()]
        options = getattr(fun, "compiler_options", ())
        bundle = Bundle(contents, exported=exported, compiler_options=options)
        if (
            portable
            and executables
            and not any(s.is_symbolic() for s in bundle.arguments)
        ):
            bundle.add_executable()
        contents.sample = maker.sample(bundle, self_test, tolerance)
        return bundle

    return of_arguments


class _Maker:
    """What is bundled: a function, or an exported program, with its arguments."""

    def __init__(self, fun: Any, args: Any, kwargs: Any, names: Any) -> None:
        self.args, self.kwargs = args, kwargs
        self.traced = None
        if isinstance(fun, Exported):
            self.exported: Exported | None = fun
            self.name, self.doc = fun.fun_name, ""
            default_names, count = (
                [],
                len(tree.treedef_children(fun.in_tree)[0].children()),
            )
            self.in_tree, self.in_avals = fun.in_tree, list(fun.in_avals)
            self.out_tree, self.out_avals = fun.out_tree, list(fun.out_avals)
            self.donated = [False] * len(self.in_avals)
        else:
            self.exported = None
            self.fun = fun
            self.traced = traced = fun.trace(*args, **kwargs)
            self.name = traced.fun_name
            self.doc = getattr(fun, "__wrapped__", fun).__doc__ or ""
            default_names = stages.call_of(traced).argument_names()
            count = len(default_names)
            self.in_tree, self.out_tree = traced.in_tree, traced.out_tree
            self.in_avals = tree.tree_leaves(traced.in_avals)
            self.out_avals = traced.olympuspr.out_avals
            chosen = set(traced.donate_argnums)
            self.donated = [i in chosen for i in range(len(self.in_avals))]
        self.argument_names = list(default_names if names is None else names)
        if names is not None and len(self.argument_names) != count:
            raise ValueError(
                f"bundle.make: argument_names must be {count} names, got "
                f"{self.argument_names}"
            )

    def contents(self, name: str | None, doc: str | None) -> Contents:
        """The contents, without programs."""
        name = name or self.name
        names = parameters.Names.from_names(name, self.argument_names)
        paths = signatures.Call(names, (), (), (), self.in_tree).paths()
        out_paths = result_paths(self.out_tree)
        return Contents(
            name=name,
            doc=self.doc if doc is None else doc,
            argument_names=self.argument_names,
            arguments=bundle_files.slots_of(paths, self.in_avals),
            results=bundle_files.slots_of(out_paths, self.out_avals),
            in_tree=trees.to_json(self.in_tree),
            out_tree=trees.to_json(self.out_tree),
            donated=self.donated,
            platforms=[],
            vjp_order=0,
            made_by=_made_by(),
            exported=None,
            executables=[],
            sample=None,
        )

    def export(self, platforms: Any, disabled_checks: Any) -> Exported:
        """The portable program."""
        if self.exported is not None:
            return self.exported
        of_arguments = exporting.export(
            self.fun, platforms=platforms, disabled_checks=disabled_checks
        )
        return of_arguments(*self.args, **self.kwargs)

    def machine_code(self) -> bytes:
        """The function compiled for this machine."""
        assert self.traced is not None
        return executables_.pack(self.traced.lower().compile())

    def _dynamic(self) -> tuple[Any, Any]:
        """The arguments without static ones, which are part of the program."""
        if self.traced is None:
            return self.args, self.kwargs
        call = stages.call_of(self.traced)
        places = {i for i, _ in call.static_args}
        names = {name for name, _ in call.static_kwargs}
        args = tuple([x for i, x in enumerate(self.args) if i not in places])
        return args, {k: x for k, x in self.kwargs.items() if k not in names}

    def sample(
        self, bundle: Bundle, self_test: bool | None, tolerance: float | None
    ) -> Sample | None:
        """Arguments and results, if they are wanted and there."""
        if self_test is False:
            return None
        leaves = tree.tree_leaves(self._dynamic())
        concrete = all(map(avals_.is_array_like, leaves))
        if not concrete or len(leaves) != len(self.in_avals):
            if self_test:
                raise ValueError(
                    "bundle.make: self_test=True needs arrays as arguments, got types "
                    "alone"
                )
            return None
        arguments = [arrays.encode_array(concrete_arrays.as_array(x)) for x in leaves]
        args, kwargs = self.in_tree.unflatten([x.array() for x in arguments])
        leaves = tree.tree_leaves(bundle(*args, **kwargs))
        results = [arrays.encode_array(concrete_arrays.as_array(x)) for x in leaves]
        size = sum(len(x.data) for x in (*arguments, *results))
        if self_test is None and size > _SMALL_SAMPLE:
            return None
        tolerance = None if tolerance is None else float(tolerance)
        return Sample(arguments, results, tolerance)


def _made_by() -> dict[str, str]:
    return {
        "olympus": importlib.import_module("olympus.version").__version__,
        "jaxlib": versions.version.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
