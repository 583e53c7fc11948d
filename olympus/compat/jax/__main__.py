"""`python -m olympus.compat.jax SCRIPT`: runs a program written for JAX."""

from olympus._src.compat.command import main

if __name__ == "__main__":
    main()
