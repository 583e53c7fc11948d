"""Neural-network functions: activations, initializers."""
