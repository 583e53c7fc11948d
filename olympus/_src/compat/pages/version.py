"""The version, as its own module."""

from olympus._src.compat import release

__version__ = release.version()
__version_info__ = release.version_info()

__all__ = ["__version__", "__version_info__"]
