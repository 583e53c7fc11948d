"""Python functions that compiled programs call: pure, io and debug callbacks."""

from olympus._src.foundation.late_files import load_late

load_late(__name__, "callback")
