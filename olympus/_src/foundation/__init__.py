"""The lowest layer: errors, settings, source positions, caching, printing."""
