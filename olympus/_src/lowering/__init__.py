"""From an olympuspr to StableHLO text."""
