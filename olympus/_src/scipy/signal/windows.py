"""Windows by SciPy's names, computed on the host in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Each takes a number of points, and what stands beside its name, to a symmetric window.
Window = Callable[..., np.ndarray]


def _line(n: int) -> np.ndarray:
    """Places from -1 to 1."""
    return np.linspace(-1, 1, n)


def _cosines(n: int, coefficients: Any) -> np.ndarray:
    turns = np.pi * _line(n)
    return sum(a * np.cos(k * turns) for k, a in enumerate(coefficients))


def _sum_of_cosines(*coefficients: float) -> Window:
    return lambda n: _cosines(n, coefficients)


def _parzen(n: int) -> np.ndarray:
    x = np.abs(np.arange(n) - (n - 1) / 2) / (n / 2)
    return np.where(x <= 0.5, 1 - 6 * x**2 * (1 - x), 2 * (1 - x) ** 3)


def _bohman(n: int) -> np.ndarray:
    x = np.abs(_line(n))
    return np.maximum((1 - x) * np.cos(np.pi * x) + np.sin(np.pi * x) / np.pi, 0)


def _barthann(n: int) -> np.ndarray:
    x = np.abs(_line(n)) / 2
    return 0.62 - 0.48 * x + 0.38 * np.cos(2 * np.pi * x)


def _tukey(n: int, alpha: float = 0.5) -> np.ndarray:
    if alpha <= 0:
        return np.ones(n)
    past = np.maximum(np.abs(_line(n)) - (1 - min(alpha, 1)), 0)
    return (1 + np.cos(np.pi * past / min(alpha, 1))) / 2


def _exponential(n: int, center: float | None = None, tau: float = 1.0) -> np.ndarray:
    middle = (n - 1) / 2 if center is None else center
    return np.exp(-np.abs(np.arange(n) - middle) / tau)


def _general_gaussian(n: int, p: float, sigma: float) -> np.ndarray:
    return np.exp(-0.5 * np.abs((np.arange(n) - (n - 1) / 2) / sigma) ** (2 * p))


# The sums of cosines are those of Harris, On the use of windows for harmonic analysis,
# 1978; Nuttall, Some windows with very good sidelobe behavior, 1981; and, for the flat
# top, D'Antona and Ferrero, Digital signal processing for measurement systems, 2006.
_WINDOWS: dict[str, Window] = {
    "barthann": _barthann,
    "bartlett": lambda n: 1 - np.abs(_line(n)),
    "blackman": _sum_of_cosines(0.42, 0.5, 0.08),
    "blackmanharris": _sum_of_cosines(0.35875, 0.48829, 0.14128, 0.01168),
    "bohman": _bohman,
    "boxcar": np.ones,
    "cosine": lambda n: np.sin(np.pi * (np.arange(n) + 0.5) / n),
    "exponential": _exponential,
    "flattop": _sum_of_cosines(
        0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368
    ),
    "gaussian": lambda n, std: _general_gaussian(n, 1, std),
    "general_cosine": _cosines,
    "general_gaussian": _general_gaussian,
    "general_hamming": lambda n, alpha: _cosines(n, (alpha, 1 - alpha)),
    "hamming": _sum_of_cosines(0.54, 0.46),
    "hann": _sum_of_cosines(0.5, 0.5),
    "kaiser": np.kaiser,
    "lanczos": lambda n: np.sinc(_line(n)),
    "nuttall": _sum_of_cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "parzen": _parzen,
    "triang": lambda n: 1 - np.abs(np.arange(n) - (n - 1) / 2) / ((n + n % 2) / 2),
    "tukey": _tukey,
}


def periodic(window: Any, n: int) -> np.ndarray:
    """One period of a window of `n` points.

    Args:
      window: a name; a tuple of a name and parameters; or a number, Kaiser's beta.
      n: the number of points.

    Raises:
      ValueError: there is no such window, or it needs other parameters.
    """
    parameters: tuple[Any, ...]
    if isinstance(window, (int, float)):
        name, parameters = "kaiser", (float(window),)
    elif isinstance(window, tuple):
        name, parameters = window[0], window[1:]
    else:
        name, parameters = window, ()
    make = _WINDOWS.get(name) if isinstance(name, str) else None
    if make is None:
        raise ValueError(
            f"scipy.signal: Unknown window type {name!r}; take one of "
            f"{', '.join(_WINDOWS)}, or pass the window's values"
        )
    if n <= 1:
        return np.ones(n)
    try:
        return np.asarray(make(n + 1, *parameters), np.float64)[:-1]
    except TypeError:
        raise ValueError(
            f"scipy.signal: window {name!r} takes other parameters than {parameters}; "
            "write a tuple of its name and parameters"
        ) from None
