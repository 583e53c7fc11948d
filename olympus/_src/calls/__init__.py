"""Programs applied as one equation: `pjit`, `composite`."""
