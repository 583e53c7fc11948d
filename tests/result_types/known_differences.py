"""Where result types are meant to differ from the recorded ones, and why."""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER = r"(Pb|Pi|Pf|Pc|L|None)"
_HALF = r"(e4|bf|f2)"


class KnownDifference(NamedTuple):
    """Calls whose recorded result `want` may come out as `got`; regular expressions.

    `kinds` are those of the arguments, with spaces between them.
    """

    why: str
    call: str
    kinds: str
    want: str
    got: str
    only_weakness: bool = False  # both results have the same dtypes


KNOWN_DIFFERENCES = (
    KnownDifference(
        "a number, a list or None where an array with axes belongs is refused either "
        "way; which error comes first is no promise",
        call=".*",
        kinds=rf"(.* )?{_NUMBER}( .*)?",
        want="!.*",
        got="!.*",
    ),
    KnownDifference(
        "JAX lacks the operation for float8, or no error of its own says so",
        call=".*",
        kinds="(.* )?e4( .*)?",
        want="!.*",
        got="[^!].*",
    ),
    KnownDifference(
        "float8 does not promote with wider floats; either way it is refused or kept",
        call=".*",
        kinds="(.* )?e4( .*)?",
        want=".*",
        got="!V",
    ),
    KnownDifference(
        "LAPACK has no kernels for these: JAX refuses them too, when it compiles",
        call=r".*linalg.*|jnp\.(roots|polyfit).*|nn\.initializers\.(delta_)?orthogonal.*",
        kinds=rf"(.* )?{_HALF}( .*)?",
        want="[^!].*",
        got="!T",
    ),
    KnownDifference(
        "points and values of two dtypes promote; JAX refuses them",
        call=r"jnp\.polyfit\(.*",
        kinds=".*",
        want="!V",
        got="[fc].*|!T",
    ),
    KnownDifference(
        "a weak dtype of the points does not widen that of the values",
        call=r"jnp\.polyfit\(.*",
        kinds=r"f8\* (f4|c8)",
        want="f8|c16",
        got="f4|c8",
    ),
    KnownDifference(
        "complex numbers have no order, so none is in a bin",
        call=r"jnp\.histogram(2d|dd)\(.*",
        kinds=r"(.* )?(c8|c16|c8\*|c16\*|Pc)( .*)?",
        want="[^!].*",
        got="!T",
    ),
    KnownDifference(
        "convolutions are of numbers",
        call=r"lax\.conv_with_general_padding\(.*",
        kinds="b b",
        want="b",
        got="!T",
    ),
    KnownDifference(
        "complex numbers have no greatest position: JAX refuses when it compiles",
        call=r".*arg(max|min)\(.*",
        kinds="(.* )?(c8|c16|c8\\*|c16\\*|Pc)( .*)?",
        want="[^!].*",
        got="!T",
    ),
    KnownDifference(
        "narrow integers with a weak one: JAX fails inside its product",
        call=".*(dot|inner|mat|vec|einsum|tensordot| @ ).*",
        kinds=".*i4\\*.*|.*Pi.*|.*i8\\*.*",
        want="!T",
        got="[iu].*",
    ),
    KnownDifference(
        "JAX asks NumPy about bfloat16 or booleans there and fails by accident",
        call=r"jnp\.(interp|around|round|quantile|nanquantile|vander|ediff1d)\(.*"
        r"|v\.round\(.*",
        kinds="(.* )?(bf|b|Pb)( .*)?",
        want="!.*",
        got="[^!].*",
    ),
    KnownDifference(
        "a number in the place of a vector is one of length one, as in NumPy",
        call=r"jnp\.(poly\w+|delete|extract|compress|cumsum|cumprod|nancum\w+|put|mean"
        r"|var|std|histogram|\w+\.accumulate|sum|any|arange)\(.*",
        kinds=rf"(.* )?{_NUMBER}( .*)?",
        want="!.*",
        got="[^!].*",
    ),
    KnownDifference(
        "positions stay integers, whatever the value is that fills them up",
        call=r"jnp\.nonzero\(.*fill_value.*",
        kinds=".*",
        want=".*",
        got="i[48]",
    ),
    KnownDifference(
        "a NumPy array goes in and an array of the library comes out, not NumPy's own",
        call=r"jnp\.reshape\(.*",
        kinds="N[if]8",
        want="[if]8",
        got="[if]4",
    ),
    KnownDifference(
        "a weak array is treated as the number that it came from",
        call=r"jnp\.(deg2rad|degrees|rad2deg|radians|sinc|angle|hypot|gcd|lcm|heaviside"
        r"|logaddexp2|poly|unravel_index|unique\w*|union1d|setdiff1d|interp|polydiv)\(.*",
        kinds=r"(.* )?(\w+\*|P\w)( .*)?",
        want="[^!].*",
        got="[^!].*",
        only_weakness=True,
    ),
    KnownDifference(
        "SciPy takes integers and short floats, as the other functions of the page do",
        call=r"special\.(ndtr|ndtri|log_ndtr|spence)\(.*",
        kinds=rf"(b|i\d\*?|u\d|{_HALF}|Pb|Pi|Ni8)",
        want="!T",
        got="(f[248]|bf)",
    ),
    KnownDifference(
        "booleans are the numbers 0 and 1, as in the other functions of the page",
        call=r"(nn|special)\.(log_softmax|softmax|log1mexp)\(.*",
        kinds="(b|Pb)",
        want="!T",
        got="f[48]",
    ),
    KnownDifference(
        "booleans are added and multiplied as NumPy does, by `or` and `and`",
        call=r"v\.at\[.*\]\.(add|mul|multiply)\(b\)",
        kinds="b b",
        want="!T",
        got="b",
    ),
    KnownDifference(
        "booleans are divided and raised to powers as the numbers 0 and 1",
        call=r"v\.at\[.*\]\.(divide|power)\(b\)",
        kinds="b b",
        want="!T",
        got="[fi][48]",
    ),
    KnownDifference(
        "complex numbers have a mean and a variance; only JAX's `var` of them fails",
        call=r"nn\.standardize\(.*",
        kinds=r"(c8|c16)\*?",
        want="!V",
        got="c.*",
    ),
    KnownDifference(
        "attention to integers of 64 bits is as that to integers of 32",
        call=r"nn\.dot_product_attention\(.*",
        kinds=r"(i8|u8) .*",
        want="!T",
        got="[iu]8",
    ),
    KnownDifference(
        "Owen's function is of real numbers; JAX integrates what has no meaning",
        call=r"special\.owens_t\(.*",
        kinds=".*(c8|c16|Pc).*",
        want="c.*",
        got="!V",
    ),
    KnownDifference(
        "any two floats promote here; JAX's product of them does not",
        call=r"special\.sph_harm_y\(.*",
        kinds=r"\S+ \S+",
        want="!T",
        got="c.*",
    ),
    KnownDifference(
        "a number is treated as an array of no axes, whose result is not weak",
        call=r"special\.(rel_entr|kl_div|logit)\(.*",
        kinds=r"P\w( .*)?",
        want=r"[fc]\d+\*",
        got="[^!*]*",
    ),
    KnownDifference(
        "NumPy's integer is asked for: a fraction of a place has no meaning",
        call=r"jnp\.(roll\(v, (1\.5|a)|unravel_index\(\w, \(3, 4\)|bartlett\(a)\)",
        kinds=".*",
        want="[^!].*",
        got="!T",
    ),
    KnownDifference(
        "positions are integers of the usual width, whatever they are found in",
        call=r"(lax\.(approx_max_k|approx_min_k|top_k)|jnp\.argpartition)\(.*",
        kinds=r"\w+\*",
        want=r"(\w+\*,)?i[48]\*",
        got=r"(\w+\*,)?i[48]",
    ),
    KnownDifference(
        "booleans are ordered and are positions 0 and 1, as in NumPy",
        call=r"(jnp\.(partition|argpartition|ravel_multi_index)|lax\.cum(max|min))\(.*",
        kinds=r"(.* )?(b|Pb)( .*)?",
        want="!T",
        got=r"b|[iu]\d",
    ),
    KnownDifference(
        "an imaginary part is not dropped unasked",
        call=r"(jnp|lax)\.full_like\(v, a\)",
        kinds=".* Pc",
        want=r"\w+\*",
        got="!T",
    ),
    KnownDifference(
        "the norm of order 0 counts what is not zero, of integers too, as in NumPy",
        call=r"jnp\.linalg\.vector_norm\(v, ord=0\)",
        kinds=".*",
        want="!V",
        got="f[48]",
    ),
    KnownDifference(
        "an unsigned number is its own magnitude",
        call=r"lax\.abs\(.*",
        kinds=r"u\d",
        want="!T",
        got=r"u\d",
    ),
    KnownDifference(
        "one number stands for cases of its value, as one predicate does for many",
        call=r"lax\.(select|select_n)\(np.*",
        kinds=r"(.* )?P\w( .*)?",
        want="!T",
        got="[^!].*",
    ),
    KnownDifference(
        "an index counts in any integer dtype, so a bound may be of any",
        call=r"lax\.fori_loop\(.*",
        kinds=r"u\d .*",
        want="!T",
        got="[^!].*",
    ),
    KnownDifference(
        "a carry comes out as an array, whatever went in",
        call=r"lax\.scan\(.*",
        kinds=".*",
        want="Pi,.*",
        got=r"i[48]\*,.*",
    ),
    KnownDifference(
        "JAX asks NumPy whether bfloat16 is a number",
        call=r"lax\.cond\(a, .*",
        kinds="(e4|bf) .*",
        want="!T",
        got="[^!].*",
    ),
    KnownDifference(
        "the dtype that is asked for is not weak",
        call=r"jnp\.var\(.*dtype.*",
        kinds=".*",
        want=r"[fc]\d+\*",
        got=r"[fc]\d+",
    ),
    KnownDifference(
        "there is only one class of error for an order of complex numbers",
        call=r"(jnp\.(interp|unwrap|percentile|quantile|nanquantile)|lax\.top_k)\(.*",
        kinds=r".*(c8|c16|Pc).*",
        want="!V",
        got="!T",
    ),
    KnownDifference(
        "whole numbers are floats too where a fraction is meant",
        call=r"jnp\.(quantile|nanquantile)\(.*",
        kinds=".*",
        want="!T",
        got=r"f\d",
    ),
)

_TESTS = [
    [re.compile(part) for part in (d.call, d.kinds, d.want, d.got)]
    for d in KNOWN_DIFFERENCES
]


def is_known_difference(call: str, kinds: tuple[str, ...], want: str, got: str) -> bool:
    """Whether one of the known differences covers a result."""
    parts = (call, " ".join(kinds), want, got)
    same = want.replace("*", "") == got.replace("*", "")
    return any(
        all(test.fullmatch(part) for test, part in zip(tests, parts, strict=True))
        and (same or not departure.only_weakness)
        for departure, tests in zip(KNOWN_DIFFERENCES, _TESTS, strict=True)
    )
