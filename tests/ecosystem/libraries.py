"""The libraries, and where the tests are that they ship."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Library:
    """A library for JAX.

    Attributes:
      distribution: the name of its package.
      module: what programs import.
      installed_tests: pattern of its test files below the installed module; None: none.
      source_tests: folder of its tests in its source distribution; None: none.
    """

    distribution: str
    module: str
    installed_tests: str | None = None
    source_tests: str | None = None


_BESIDE = "**/*_test.py"

# By the names of the workloads.
LIBRARIES = {
    "blackjax": Library("blackjax", "blackjax", source_tests="tests"),
    "chex": Library("chex", "chex", _BESIDE),
    "diffrax": Library("diffrax", "diffrax"),
    "distrax": Library("distrax", "distrax", _BESIDE),
    "einops": Library("einops", "einops", "tests/test_*.py"),
    "equinox": Library("equinox", "equinox"),
    "evosax": Library("evosax", "evosax"),
    "flax_linen": Library("flax", "flax.linen", source_tests="tests/linen"),
    "flax_nnx": Library("flax", "flax.nnx", source_tests="tests/nnx"),
    "haiku": Library("dm-haiku", "haiku", _BESIDE),
    "jaxopt": Library("jaxopt", "jaxopt"),
    "jaxtyping": Library("jaxtyping", "jaxtyping"),
    "jmp": Library("jmp", "jmp", source_tests="jmp"),
    "jraph": Library("jraph", "jraph", _BESIDE),
    "keras": Library("keras", "keras"),
    "lineax": Library("lineax", "lineax"),
    "mctx": Library("mctx", "mctx", _BESIDE),
    "numpyro": Library("numpyro", "numpyro", source_tests="test"),
    "optax": Library("optax", "optax", _BESIDE),
    "optimistix": Library("optimistix", "optimistix"),
    "orbax": Library("orbax-checkpoint", "orbax.checkpoint", _BESIDE),
    "penzai": Library("penzai", "penzai", source_tests="tests"),
    "quax": Library("quax", "quax", source_tests="tests"),
    "rlax": Library("rlax", "rlax", _BESIDE),
    "tfp": Library("tfp-nightly", "tensorflow_probability.substrates.jax"),
    "tinygp": Library("tinygp", "tinygp", source_tests="tests"),
    "treescope": Library("treescope", "treescope"),
}
