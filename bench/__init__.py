"""The speed budgets: olympus against jax, in one run."""
