"""Installs and removes what has `import jax` give olympus."""

from __future__ import annotations

import sys

from olympus._src.compat import environment, modules, names, renaming
from olympus._src.foundation import vocabulary

_finder = modules.Finder()


def install() -> None:
    """Makes `import jax` give olympus, here and in all modules imported from now on.

    Programs and libraries written for JAX run then as they are. Call it before the
    first import of `jax`; a second call does nothing.

    Raises:
      RuntimeError: another `jax` is imported already.

    Example:
      >>> import olympus.compat.jax
      >>> olympus.compat.jax.install()
      >>> import jax.numpy as jnp
      >>> float(jnp.sum(jnp.arange(4.0)))
      6.0
      >>> olympus.compat.jax.uninstall()
    """
    if is_installed():
        return
    foreign = sys.modules.get(names.ROOT)
    if foreign is not None:
        raise RuntimeError(
            "olympus.compat.jax.install: nothing of jax may be imported before, got "
            f"the one of {getattr(foreign, '__file__', 'an unknown file')}; install "
            "before the first import, or run `python -m olympus.compat.jax SCRIPT`"
        )
    sys.meta_path.insert(0, _finder)
    environment.apply_variables()
    renaming.rename_shown()
    vocabulary.speak(vocabulary.JAX)


def uninstall() -> None:
    """Gives `import jax` its old meaning; for tests.

    Modules that were imported while olympus was installed keep what they have.
    """
    if not is_installed():
        return
    sys.meta_path.remove(_finder)
    for name in modules.loaded():
        del sys.modules[name]
    renaming.restore()
    vocabulary.speak(vocabulary.OLYMPUS)


def is_installed() -> bool:
    """Whether `import jax` gives olympus."""
    return _finder in sys.meta_path


def load_ipython_extension(ipython: object) -> None:
    """For `%load_ext olympus.compat.jax`: from then on, `import jax` gives olympus."""
    install()


def unload_ipython_extension(ipython: object) -> None:
    """For `%unload_ext olympus.compat.jax`."""
    uninstall()


def pytest_addoption() -> None:
    """Installs for tests: pytest calls it before it imports any of them.

    It is the one hook that runs when the plug-in is registered, before `conftest.py`.
    """
    install()
