"""The table of public functions, which several runners read.

A module for each family (`numpy_reductions.py` is one) lists entries: names of a page's
functions, and what the runners need to test them.

    def reduction(d):
        x = d.array("bool int float complex")
        return d.call(x, **d.options(axis=d.axes(x), keepdims=[True]))

    ENTRIES = [
        *entry(
            "mean",
            reduction,
            ulps=16,
            smooth=[(M,), (SharedCall(lambda f, x: f(x, axis=1)), M)],
            types="v; v, axis=0",
            standard="x, /, *, axis=None, keepdims=False: float -> same",
        ),
        ...
    ]

| runner               | reads                    | and checks                         |
|----------------------|--------------------------|------------------------------------|
| `tests/differential` | `draw`, `oracle`, `ulps` | results against NumPy and SciPy    |
| `tests/sweep`        | `smooth`                 | all derivatives, `vmap` and `jit`  |
| `tests/result_types` | `types`                  | types of results as recorded       |
| `tests/array_api`    | `standard`               | signatures, dtypes, special values |
| `tests/replay`       | `draw`                   | programs as another commit's       |

`entries.py` describes the fields, `drawing.py` what can be drawn, `points.py` has
points where functions are smooth, and `reasons.py` what stands in a field's place.
`table.py` lists the modules and the pages that they cover. A new function of such a
page fails `test_table.py` until it has an entry.
"""
