"""Programs applied as one equation: `pjit`, `composite`."""

from olympus._src.foundation.late_files import load_late

load_late(__name__, "call pjit")
