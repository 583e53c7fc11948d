"""Public functions against NumPy and SciPy, over drawn arguments and options.

A table (`numpy_reductions.py` is one) lists entries: names of a page's functions and a
function that draws a call of them:

    def reduction(d):
        x = d.array("bool int float complex")
        return d.call(x, **d.options(axis=d.axes(x), keepdims=[True]))

    ENTRIES = [entry("sum prod", reduction, ulps=64), ...]

Each case is drawn by the seed, the entry and a number, so any can be had again. The
cases of an entry are compiled as one program, and some of them run outside of `jit` as
well. What they give is compared with the function of the same name in NumPy (or the
entry's `oracle`), computed in double precision and rounded to the dtype of the result;
where NumPy raises, the function must raise too.

    python -m tests.differential                      every entry, some cases of each
    python -m tests.differential numpy.sum -n 1000    one function, a thousand cases
    python -m tests.differential numpy.sum --case 17  one case
    python -m tests.differential --against-jax        compare with JAX, where installed

`public_functions.py` lists the tables and how many of their entries a run takes,
`complete.py` the modules that they are to cover, `drawing.py` what can be drawn,
`comparing.py` when results agree. Under pytest a run takes a part of the entries, by
the seed in the report's header; `OLYMPUS_SWEEP=all` takes all, with more cases of each.
"""
