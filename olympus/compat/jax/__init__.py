"""Programs and libraries written for JAX run on olympus, unmodified.

Three ways lead in: `python -m olympus.compat.jax SCRIPT`, `install()` before the first
`import jax`, and pytest's option `-p olympus.compat.jax_pytest`. Without one of them,
`import jax` means what it always meant.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.compat.installation import install as install
from olympus._src.compat.installation import is_installed as is_installed
from olympus._src.compat.installation import (
    load_ipython_extension as load_ipython_extension,
)
from olympus._src.compat.installation import uninstall as uninstall
from olympus._src.compat.installation import (
    unload_ipython_extension as unload_ipython_extension,
)
from olympus._src.compat.release import version as version
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "install",
    "is_installed",
    "load_ipython_extension",
    "uninstall",
    "unload_ipython_extension",
    "version",
]

_claim(__name__)
