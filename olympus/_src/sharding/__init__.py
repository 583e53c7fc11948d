"""Meshes of devices, and how arrays are divided over them: plain, interned data."""

from olympus._src.foundation.late_files import load_late

load_late(__name__, "single_devices tiling")
