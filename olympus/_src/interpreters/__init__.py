"""Interpreters of the olympuspr: staging, batching, evaluation."""
