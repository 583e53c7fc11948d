"""Experimental modules of JAX that are not of olympus."""
