"""The libraries, and where the tests are that they ship."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Library:
    """A library for JAX.

    Attributes:
      distribution: the name of its package.
      module: what programs import.
      installed_tests: pattern of its test files below the installed module; None: none.
      source_tests: pattern of its test files in its source distribution; None: none.
      every: one of how many of the files runs, in the order of their names; libraries
        whose tests take hours have a sample.
    """

    distribution: str
    module: str
    installed_tests: str | None = None
    source_tests: str | None = None
    every: int = 1

    @property
    def ships_tests(self):
        """Whether there are test files in its wheel or in its source distribution."""
        return self.installed_tests is not None or self.source_tests is not None


_BESIDE = "**/*_test.py"

# By the names of the workloads.
LIBRARIES = {
    "blackjax": Library("blackjax", "blackjax"),
    "chex": Library("chex", "chex", _BESIDE),
    "diffrax": Library("diffrax", "diffrax"),
    "distrax": Library("distrax", "distrax", _BESIDE, every=4),
    "einops": Library("einops", "einops", "tests/test_*.py"),
    "equinox": Library("equinox", "equinox"),
    "evosax": Library("evosax", "evosax"),
    "flax_linen": Library(
        "flax", "flax.linen", source_tests="tests/linen/**/*_test.py"
    ),
    "flax_nnx": Library(
        "flax", "flax.nnx", source_tests="tests/nnx/**/*_test.py", every=2
    ),
    "haiku": Library("dm-haiku", "haiku", _BESIDE, every=2),
    "jaxopt": Library("jaxopt", "jaxopt"),
    "jaxtyping": Library("jaxtyping", "jaxtyping"),
    "jmp": Library("jmp", "jmp", source_tests="jmp/**/*_test.py"),
    "jraph": Library("jraph", "jraph", _BESIDE),
    "keras": Library("keras", "keras", _BESIDE, every=8),
    "lineax": Library("lineax", "lineax"),
    "mctx": Library("mctx", "mctx", _BESIDE),
    "numpyro": Library("numpyro", "numpyro", source_tests="test/test_*.py", every=2),
    "optax": Library("optax", "optax", _BESIDE),
    "optimistix": Library("optimistix", "optimistix"),
    "orbax": Library("orbax-checkpoint", "orbax.checkpoint"),
    "penzai": Library("penzai", "penzai", source_tests="tests/**/*_test.py"),
    "quax": Library("quax", "quax", source_tests="tests/**/test_*.py"),
    "rlax": Library("rlax", "rlax", _BESIDE),
    "tfp": Library("tfp-nightly", "tensorflow_probability.substrates.jax"),
    "tinygp": Library("tinygp", "tinygp", source_tests="tests/**/test_*.py"),
    "treescope": Library("treescope", "treescope"),
}
