"""How much of jax's time, or memory, each case may take."""

from __future__ import annotations

# The most that olympus may take of jax's time, by case.
BUDGETS = {
    "import": 0.35,
    "first twenty operations": 0.5,
    "process, first twenty operations, warm": 0.25,
    "jit call, one array": 1.0,
    "jit call, 100-leaf tree": 1.0,
    "jit call, 100 leaves in and out": 1.0,
    "re-made jit(lambda x: 2*x)": 0.02,
    "eager x + x": 0.8,
    "eager log(x)": 0.8,
    "eager x[0]": 0.25,
    "eager x[1:3]": 0.25,
    "eager asarray(numpy)": 0.25,
    "eager where": 0.25,
    "eager .at[].set": 0.25,
    **dict.fromkeys(["eager m[i]", "eager m[:, 1]", "eager m.at[i].add"], 0.25),
    "eager grad of an MLP of 3 layers": 0.25,
    "trace grad MLP-50": 1 / 6,
    "trace grad transformer-12": 1 / 6,
    "trace grad 50 convolutions": 1 / 6,
    "trace grad RK4 x 200": 1 / 6,
    "trace vmap(grad) MLP-10": 1 / 6,
    "trace hessian MLP-3": 1 / 6,
    "lower MLP-50": 0.25,
    "lower transformer-12": 0.25,
    "lower grad MLP-50": 0.25,
    "lower grad transformer-12": 0.25,
    "cold jit call, x + 1": 0.8,
    "cold jit call, MLP-10": 0.8,
    "cold jit call, transformer-2": 0.8,
    "run add 1e7": 0.5,
    "run exp 1e7": 0.5,
    "run sort 1e6": 0.5,
    "run cumsum 1e6": 0.5,
    "run sum 1e6": 1.0,
    "run matmul 512": 1.0,
    "run MLP-10": 1.0,
    **{
        f"{what} {case}": 1.0
        for what in ("run", "memory")
        for case in (
            "grad MLP-10",
            "vmap(grad) MLP-10",
            "hessian MLP-3",
            "grad transformer-4",
            "grad 10 convolutions",
            "grad RNN of 200 steps",
            "grad RK4 x 1000 by scan",
        )
    },
}
BUDGETS |= {
    "mesh call, one array": 1.0,
    "mesh call, 20 arrays": 1.0,
    "mesh put": 0.7,
    "mesh shards": 0.2,
    "mesh call and shards": 0.2,
    "mesh cold call, grad transformer-2": 0.8,
    "mesh trace grad shard_map MLP-50": 0.2,
    "ref loop over rows": 1.0,
    "ref loop over numbers": 1.0,
    "ref gradient of a loop": 1.0,
}
BUDGETS |= dict.fromkeys(
    [
        "call two in, three out",
        "call dict of 10 leaves",
        "call dict of 1000 leaves",
        "call 3 data classes",
        "call static argument",
        "call static by name",
        "call by keywords",
        "call donated",
        "call NumPy argument",
        "call Python number",
        "call Compiled",
        "call method",
        "call value_and_grad",
        "call alternating shapes",
        "call in a loop of 1000 steps",
        "call read as NumPy",
        "small linspace",
        "small iteration over 100",
        "small unpacking of 4",
    ],
    1.0,
)
BUDGETS |= {"call x + 1": 0.9}
BUDGETS |= dict.fromkeys(
    [
        "small -x",
        "small x + x",
        "small x + 1",
        "small sin",
        "small argmax",
        "small mean of an axis",
        "small sum",
        "small x.sum()",
        "small where",
        "small norm",
    ],
    0.8,
)


def budget_of(case: str) -> float | None:
    """The most of jax's time that a case may take."""
    if " as_text " in f" {case}":
        return 0.25
    usual = {"eager": 0.8, "kernel": 1.0, "ode": 1.0, "run": 1.0}
    return BUDGETS.get(case, usual.get(case.split()[0]))
