"""The lowest layer: errors, settings, source positions, caching, printing."""

from olympus._src.foundation.late_files import load_late

load_late(__name__, "absl_flags error_codes logs pretty user_warnings")
