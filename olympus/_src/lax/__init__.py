"""First-order primitives, each whole in one place, by family."""
