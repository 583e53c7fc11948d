"""Special functions, with SciPy's names.

Differs from SciPy: integers and Python numbers give float32 unless 64-bit dtypes are
switched on; arguments are arrays or numbers, not lists; half precision stays half
precision; there are no `out`, `where` and `dtype`.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.scipy.special.bessel import (
        bessel_jn,
        i0,
        i0e,
        i1,
        i1e,
    )
    from olympus._src.scipy.special.beta_binomial import (
        bernoulli,
        beta,
        betainc,
        betaln,
        comb,
        factorial,
        gammainc,
        gammaincc,
        multigammaln,
        poch,
    )
    from olympus._src.scipy.special.entropy_logit import (
        boxcox,
        boxcox1p,
        entr,
        expit,
        kl_div,
        logit,
        rel_entr,
        xlog1py,
        xlogy,
    )
    from olympus._src.scipy.special.erf_ndtr import (
        erf,
        erfc,
        erfcinv,
        erfinv,
        log_ndtr,
        ndtr,
        ndtri,
    )
    from olympus._src.scipy.special.faddeeva import (
        dawsn,
        erfcx,
        fresnel,
        wofz,
    )
    from olympus._src.scipy.special.gamma import (
        digamma,
        gamma,
        gammaln,
        gammasgn,
        loggamma,
        polygamma,
        zeta,
    )
    from olympus._src.scipy.special.hypergeometric import (
        hyp1f1,
        hyp2f1,
    )
    from olympus._src.scipy.special.integrals import (
        exp1,
        expi,
        expn,
        owens_t,
        sici,
        spence,
    )
    from olympus._src.scipy.special.softmax_functions import (
        log_softmax,
        logsumexp,
        softmax,
    )
    from olympus._src.scipy.special.spherical_harmonics import sph_harm_y

__all__ = [
    "bernoulli",
    "bessel_jn",
    "beta",
    "betainc",
    "betaln",
    "boxcox",
    "boxcox1p",
    "comb",
    "dawsn",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "expn",
    "factorial",
    "fresnel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
    "hyp1f1",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "owens_t",
    "poch",
    "polygamma",
    "rel_entr",
    "sici",
    "softmax",
    "spence",
    "sph_harm_y",
    "wofz",
    "xlog1py",
    "xlogy",
    "zeta",
]

# Loaded at their first use, by the file they come from.
_LATE = {
    "scipy.special.bessel": "bessel_jn i0 i0e i1 i1e",
    "scipy.special.beta_binomial": (
        "bernoulli beta betainc betaln comb factorial gammainc gammaincc "
        "multigammaln poch"
    ),
    "scipy.special.entropy_logit": (
        "boxcox boxcox1p entr expit kl_div logit rel_entr xlog1py xlogy"
    ),
    "scipy.special.erf_ndtr": "erf erfc erfcinv erfinv log_ndtr ndtr ndtri",
    "scipy.special.faddeeva": "dawsn erfcx fresnel wofz",
    "scipy.special.gamma": "digamma gamma gammaln gammasgn loggamma polygamma zeta",
    "scipy.special.hypergeometric": "hyp1f1 hyp2f1",
    "scipy.special.integrals": "exp1 expi expn owens_t sici spence",
    "scipy.special.softmax_functions": "log_softmax logsumexp softmax",
    "scipy.special.spherical_harmonics": "sph_harm_y",
}

_late = _Late(__name__, (), _LATE)

_claim(__name__)
