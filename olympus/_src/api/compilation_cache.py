"""The folder of the cache of compiled programs on disk."""

from __future__ import annotations

import os

from olympus._src.foundation.config import config
from olympus._src.runtime import compile_cache


def set_cache_dir(path: str | os.PathLike[str]) -> None:
    """Sets the folder in which compiled programs are stored.

    The same as `olympus.config.update("olympus_compilation_cache_dir", path)`.

    Args:
      path: the folder; created at the first compilation if it is missing. It must
        belong to you, and others must not be able to write to it.

    Raises:
      ValueError: it is not a path.

    Example:
      >>> import olympus
      >>> from olympus.experimental.compilation_cache import compilation_cache
      >>> before = olympus.config.olympus_compilation_cache_dir
      >>> compilation_cache.set_cache_dir("~/programs")
      >>> olympus.config.olympus_compilation_cache_dir
      '~/programs'
      >>> olympus.config.update("olympus_compilation_cache_dir", before)
    """
    config.update("olympus_compilation_cache_dir", path)


def reset_cache() -> None:
    """Forgets what this process knows about its cache folders.

    Folders are checked again, those that could not be written are tried again, and
    problems are reported again. Programs on disk and in memory stay.

    Example:
      >>> from olympus.experimental.compilation_cache import compilation_cache
      >>> compilation_cache.reset_cache()
    """
    compile_cache.reset()
