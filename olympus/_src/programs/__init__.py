"""What primitives that hold programs share: tracing, lowering, running them."""
