"""Small programs of the kinds that papers and tutorials show, each with its losses.

They use nothing but functions that JAX has too: with `jax` in place of `olympus` they
run there, and print the same numbers.

    python -m demo.examples.classifier
"""
