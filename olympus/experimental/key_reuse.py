"""The check for random keys that are used twice: the setting `debug_key_reuse`.

While it is on, as in `with olympus.debug_key_reuse(True):`, a typed key that is
consumed a second time raises `KeyReuseError`, in eager code and in programs.
`olympus.random.clone` makes a copy of a key that may be consumed once more.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.errors import KeyReuseError
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["KeyReuseError"]

_claim(__name__)
