"""Meshes of devices, and how arrays are divided over them: plain, interned data."""
