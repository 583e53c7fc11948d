"""Mathematical functions whose computation needs loops or composites."""

from olympus._src.foundation.late_files import load_late

load_late(__name__, "polar")
