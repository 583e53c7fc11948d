"""Parts of programs."""

from olympus._src.compat.pages._src.core import JaxprEqn as JaxprEqn

__all__ = ["JaxprEqn"]
