"""The version of jaxlib, as it is in JAX."""

from olympus._src.compat.pages._src.lib import version_str as __version__

__all__ = ["__version__"]
