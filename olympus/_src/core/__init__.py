"""The language: dtypes, avals, primitives, traces, the olympuspr."""
