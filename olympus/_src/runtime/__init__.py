"""The machine: the only room that imports jaxlib."""
