"""Trees of arrays in folders: saved by all processes, loaded onto any devices."""
