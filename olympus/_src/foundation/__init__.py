"""The ground floor: errors, settings, source positions, caching, printing."""
