"""Special functions, by SciPy's names."""

from olympus._src.numpy.softmaxes import (
    logsumexp,
)
from olympus._src.scipy.special.bessel import (
    i0,
    i0e,
    i1,
    i1e,
)
from olympus._src.scipy.special.entropies import (
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
from olympus._src.scipy.special.gammas import (
    digamma,
    gamma,
    gammaln,
    gammasgn,
    loggamma,
    polygamma,
    zeta,
)
from olympus._src.scipy.special.normal import (
    erf,
    erfc,
    erfcinv,
    erfinv,
    log_ndtr,
    ndtr,
    ndtri,
)
from olympus._src.scipy.special.products import (
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
from olympus._src.scipy.special.softmaxes import (
    log_softmax,
    softmax,
)

__all__ = [
    "bernoulli",
    "beta",
    "betainc",
    "betaln",
    "boxcox",
    "boxcox1p",
    "comb",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfinv",
    "expit",
    "factorial",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
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
    "poch",
    "polygamma",
    "rel_entr",
    "softmax",
    "xlog1py",
    "xlogy",
    "zeta",
]
