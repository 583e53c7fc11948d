"""What type checkers see of olympus.random, nn, scipy, image and tree."""

from typing import reveal_type

import olympus
import olympus.numpy as jnp
from olympus import image, nn, random, tree
from olympus.scipy import fft, linalg, optimize, signal, special
from olympus.scipy.stats import norm, poisson


def draws() -> None:
    key = random.key(0)
    reveal_type(key)  # Array
    reveal_type(random.split(key))  # Array
    reveal_type(random.normal(key, (2, 3)))  # Array
    reveal_type(random.uniform(key, 3, minval=-1.0))  # Array
    reveal_type(random.exponential(key, dtype="float32"))  # Array
    reveal_type(random.categorical(key, jnp.zeros(3)))  # Array
    reveal_type(random.permutation(key, 10))  # Array
    reveal_type(random.key_impl(key))  # str | PRNGSpec
    random.normal(0)  # error
    random.normal(key, "3")  # error
    random.exponential(key, scale=2.0)  # error
    random.split(key, 2.0)  # error


def layers(x: olympus.Array) -> None:
    reveal_type(nn.relu(x))  # Array
    reveal_type(nn.softmax(x, axis=-1, where=x > 0))  # Array
    reveal_type(nn.logsumexp(x))  # Array
    reveal_type(nn.logsumexp(x, return_sign=True))  # tuple[Array, Array]
    reveal_type(nn.one_hot(x, 3))  # Array
    reveal_type(nn.dot_product_attention(x, x, x, is_causal=True))  # Array
    reveal_type(nn.initializers.he_normal())  # Initializer
    reveal_type(nn.initializers.zeros(random.key(0), (2,)))  # Array
    reveal_type(nn.initializers.normal(1.0)(random.key(0), (2, 3)))  # Array
    nn.relu("a")  # error
    nn.one_hot(x)  # error
    nn.initializers.normal("wide")  # error
    nn.initializers.he_normal()(0, (2, 3))  # error


def science(x: olympus.Array) -> None:
    reveal_type(special.gammaln(x))  # Array
    reveal_type(special.fresnel(x))  # tuple[Array, Array]
    reveal_type(norm.logpdf(x, loc=1.0))  # Array
    reveal_type(poisson.pmf(2, 3.0))  # Array
    reveal_type(linalg.cho_factor(x))  # tuple[Array, bool]
    reveal_type(linalg.eigh(x))  # tuple[Array, Array]
    reveal_type(linalg.eigh(x, eigvals_only=True))  # Array
    reveal_type(linalg.block_diag(x, 1.0))  # Array
    reveal_type(fft.dct(x))  # Array
    reveal_type(signal.fftconvolve(x, x))  # Array
    reveal_type(optimize.minimize(jnp.sum, x, method="BFGS").x)  # Array
    special.gammaln("a")  # error
    norm.logpdf(x, mean=1.0)  # error
    norm.cdf()  # error
    linalg.inv([[1.0]])  # error
    fft.dct(x, norm=1)  # error


def pictures(x: olympus.Array) -> None:
    reveal_type(image.resize(x, (4, 4), "linear"))  # Array
    reveal_type(image.scale_and_translate(x, (4,), (0,), x, x, "cubic"))  # Array
    image.resize(x, 4, "linear")  # error
    image.resize(x, (4, 4))  # error


def trees(x: olympus.Array) -> None:
    reveal_type(tree.structure({"a": x}))  # PyTreeDef
    reveal_type(tree.structure([x]).num_leaves)  # int
    tree.map(jnp.sin)  # error


def pages_without_an_import(x: olympus.Array) -> None:
    reveal_type(olympus.nn.relu(x))  # Array
    reveal_type(olympus.lax.linalg.cholesky(x))  # Array
    reveal_type(olympus.scipy.special.erf(x))  # Array
    reveal_type(olympus.random.key(0))  # Array
    olympus.image.no_such_name  # error
