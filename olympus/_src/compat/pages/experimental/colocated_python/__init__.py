"""Python functions on the hosts of devices; what olympus has, with JAX's folders."""
