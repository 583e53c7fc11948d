"""Public functions against NumPy and SciPy, over drawn arguments and options.

`tests/public_functions` says how calls of each function are drawn. Each case is drawn
by the seed, the entry and a number, so any can be had again. The cases of an entry are
compiled as one program, and some of them run outside of `jit` as well. What they give
is compared with the function of the same name in NumPy (or the entry's `oracle`),
computed in double precision and rounded to the dtype of the result; where NumPy raises,
the function must raise too.

    python -m tests.differential                      every entry, some cases of each
    python -m tests.differential numpy.sum -n 1000    one function, a thousand cases
    python -m tests.differential numpy.sum --case 17  one case
    python -m tests.differential --against-jax        compare with JAX, where installed

`comparing.py` says when results agree. Under pytest a run takes a part of the entries,
by the seed in the report's header; `OLYMPUS_SWEEP=all` takes all, with more cases of
each.
"""
