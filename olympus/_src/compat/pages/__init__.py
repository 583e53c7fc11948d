"""What modules of JAX have that olympus has not: a file for each of them.

The folders are those of JAX's modules; this file is the module `jax` itself.
"""

from olympus._src.compat import release
from olympus._src.compat.settings import config as config

__version__ = release.version()
__version_info__ = release.version_info()

__all__ = ["__version__", "__version_info__", "config"]
