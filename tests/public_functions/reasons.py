"""Why an entry lacks something: what stands in its place, in words."""

from __future__ import annotations

# In place of smooth points.
DISCRETE = "of whole numbers, truth values, shapes, dtypes or text"
CONSTANT = "no float goes in, or its derivative is zero"
NO_RULE = "its primitive has no derivative"

# In place of drawn calls.
INDEXING = "tested in tests/numpy with the other ways to index"
NOT_OF_ARRAYS = "of files, text, dtypes or users' functions, each with tests of its own"
SAMPLES = "tested by the samples of its primitive, in tests/lax"

# In place of recorded types.
NOT_IN_JAX = "JAX does not have it, so there is nothing to record"
NOT_TRACED = "it is not traced, since the shape of its result depends on values"

# In place of any.
OWN_TESTS = "has tests of its own"
