"""Train a classifier of digits and show what olympus makes of it.

usage: python -m demo [--epochs N] [--out DIR]

Prints the programs and timings, and writes two pages into DIR (default demo/out):
stages.html, and lens.html, which shows the training step line by line from Python to
XLA's instructions.
"""

import argparse
import inspect
import re
import time
from pathlib import Path

import numpy as np

import olympus
from demo import data, model, page

BATCH = 96


def heading(text):
    print(f"\n\033[1m{text}\033[0m\n{'─' * len(text)}")


def clipped(text, lines=24):
    """The first lines of a long text, and how many are left."""
    rows = text.rstrip().split("\n")
    if len(rows) <= lines:
        return "\n".join(rows)
    return "\n".join([*rows[:lines], f"... and {len(rows) - lines} more lines"])


def seconds(f, times):
    """The median time of a call of `f`, which returns arrays."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        olympus.block_until_ready(f())
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def show_stages(params, x, y):
    """Prints the loss as a program; returns its text at each stage."""
    traced = olympus.jit(model.loss).trace(params, x, y)
    lowered = traced.lower()
    compiled = lowered.compile()
    source = inspect.getsource(model.scores) + "\n\n" + inspect.getsource(model.loss)

    heading("The loss, as olympus sees it (olympuspr)")
    print(traced.olympuspr)
    step = olympus.jit(model.step).lower((params, params), x, y)
    heading("One training step, gradient and all, for the compiler (StableHLO)")
    print(clipped(step.as_text()))
    return {
        "Python": source,
        "olympuspr": str(traced.olympuspr),
        "StableHLO": lowered.as_text(),
        "optimised HLO": re.sub(r", metadata=\{[^}]*\}", "", compiled.as_text()),
    }


def show_timings(params, x, y):
    """Prints and returns seconds a step takes, each measured in this run."""
    fast = olympus.jit(model.step)
    state = (params, olympus.tree.map(lambda p: 0.0 * p, params))
    start = time.perf_counter()
    olympus.block_until_ready(fast(state, x, y))
    first = time.perf_counter() - start
    olympus.block_until_ready(model.step(state, x, y))  # its operations compile here
    times = {
        "step, operation by operation": seconds(lambda: model.step(state, x, y), 20),
        "step under jit": seconds(lambda: fast(state, x, y), 200),
        "first call under jit (trace, lower, compile)": first,
    }
    heading(f"Timings (this run, {olympus.devices()[0]}, batches of {len(x)})")
    for what, taken in times.items():
        print(f"{what:<46}{taken * 1e3:10.3f} ms")
    return times


def train(params, training, held_out, epochs):
    """Gradient descent; returns the weights, the history and the jitted step."""
    step = olympus.jit(model.step, donate_argnums=0)
    measure = olympus.jit(
        lambda p, x, y: (model.loss(p, x, y), model.accuracy(p, x, y))
    )
    rng = np.random.default_rng(1)
    state = (params, olympus.tree.map(lambda p: 0.0 * p, params))
    history = []
    heading("Training")
    for epoch in range(1, epochs + 1):
        losses = []
        for x, y in data.batches(*training, BATCH, rng):
            state, value = step(state, x, y)
            losses.append(value)
        held_loss, accuracy = map(float, measure(state[0], *held_out))
        history.append((float(np.mean(losses)), held_loss, accuracy))
        if epoch in (1, 2, 5) or epoch % 10 == 0 or epoch == epochs:
            print(
                f"epoch {epoch:3d}   loss {history[-1][0]:.4f}   held-out loss "
                f"{held_loss:.4f}   held-out accuracy {accuracy:.1%}"
            )
    return state, history, step


def show_retraces(step, state, held_out):
    """Calls the step with another size of batch, and prints why it was compiled."""
    x, y = held_out
    step(state, x[:7], y[:7])
    info = step.cache_info()
    heading("Why the step was compiled")
    print(info)
    return info


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    options = parser.parse_args()

    began = time.perf_counter()
    training, held_out = data.digits()
    params = model.initial(olympus.random.key(0))
    x, y = training[0][:BATCH], training[1][:BATCH]

    stages = show_stages(params, x, y)
    times = show_timings(params, x, y)
    state, history, step = train(params, training, held_out, options.epochs)
    guesses = np.asarray(olympus.jit(model.scores)(state[0], held_out[0])).argmax(1)
    view = olympus.lens(step)(state, x, y)
    info = show_retraces(step, state, held_out)

    options.out.mkdir(parents=True, exist_ok=True)
    written = options.out / "stages.html"
    text = page.render(stages, times, history, held_out, guesses, info)
    written.write_text(text, encoding="utf-8")
    seen = options.out / "lens.html"
    view.save(seen)
    heading("Where the time of a training step goes")
    print(clipped(str(view.costs), 10))
    heading("Result")
    print(f"held-out accuracy {history[-1][2]:.1%} on {len(held_out[0])} digits")
    print(f"all of it took {time.perf_counter() - began:.1f} s")
    print(f"see {written} and {seen}")


if __name__ == "__main__":
    main()
