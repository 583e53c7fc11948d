"""Keys, bit generators and distributions."""

from olympus._src.foundation.late_files import load_late

load_late(__name__, "multivariate")
