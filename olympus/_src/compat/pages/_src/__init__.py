"""`jax._src`: private modules, of which libraries read what they find nowhere else."""
