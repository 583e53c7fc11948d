"""Small libraries for example programs: optimizers and layers."""
