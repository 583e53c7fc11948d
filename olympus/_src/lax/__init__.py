"""First-order primitives by family, each defined in one place."""
