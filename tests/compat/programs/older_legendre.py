"""Tables of associated Legendre functions, which JAX has and does not recommend."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np

warnings.simplefilter("ignore")
from jax.scipy.special import lpmn, lpmn_values  # noqa: E402 (after the filter)

z = jnp.array([1.0, -1.0, 0.0, 0.2, -0.73, 0.999])
for top in (0, 1, 2, 3, 6):
    values, slopes = lpmn(top, top, z)
    print(values.dtype, values.shape, slopes.shape)
    tables = values, slopes, lpmn_values(top, top, z, True), lpmn_values(top, top, z, False)
    for table in tables:
        print(np.isinf(table).sum(), (np.asarray(table) == -np.inf).sum())
        print(np.abs(np.asarray(table)[np.isfinite(table)]).sum())
print(jax.grad(lambda z: lpmn_values(2, 2, z, True).sum())(z[3:]))
print(jax.jit(lpmn, static_argnums=(0, 1))(1, 1, z)[0].shape)
for wrong in [(2, 3, z), (1, 1, jnp.array([1]))]:
    try:
        lpmn(*wrong)
    except (NotImplementedError, TypeError) as error:
        print(type(error).__name__)
