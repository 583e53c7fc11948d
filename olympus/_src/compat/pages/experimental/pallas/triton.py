"""Of a language that olympus does not have: a name alone."""
