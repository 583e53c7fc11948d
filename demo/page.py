"""The page on the demo: one file of HTML that needs nothing else."""

import html
import re

import numpy as np

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #fbfaf7; --panel: #ffffff; --ink: #1d2430; --soft: #6a7280;
  --line: #e3e0d8; --first: #1f6f8b; --second: #c2571a; --wrong: #b3261e;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171c; --panel: #1b2027; --ink: #e6e8eb; --soft: #98a1ae;
    --line: #2d343e; --first: #67b7d1; --second: #f0975a; --wrong: #ff8a80;
  }
}
* { box-sizing: border-box }
body {
  margin: 0 auto; padding: 2.5rem clamp(1rem, 3vw, 3rem); max-width: 1760px;
  background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif;
}
h1 { font-size: 1.9rem; font-weight: 650; letter-spacing: -.02em; margin: 0 }
h2 { font-size: 1.1rem; font-weight: 650; margin: 2.8rem 0 .3rem }
p { max-width: 46rem; color: var(--soft); margin: .3rem 0 1rem }
section.row { display: grid; gap: 1rem }
.facts {
  grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); margin-top: 1.6rem;
}
.stages { grid-template-columns: repeat(4, minmax(0, 1fr)) }
.charts { grid-template-columns: repeat(2, minmax(0, 1fr)) }
@media (max-width: 1300px) {
  .stages { grid-template-columns: repeat(2, minmax(0, 1fr)) }
}
@media (max-width: 760px) {
  .stages, .charts { grid-template-columns: minmax(0, 1fr) }
}
.panel {
  background: var(--panel); border: 1px solid var(--line); border-radius: 10px;
  padding: .9rem 1.1rem; min-width: 0;
}
.panel h3 { margin: 0; font-size: .95rem; font-weight: 650 }
.panel small { color: var(--soft); font-size: .8rem }
.fact b {
  display: block; font-size: 1.65rem; font-weight: 620; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums;
}
.fact span { color: var(--soft); font-size: .85rem }
pre {
  margin: .7rem 0 0; padding: 0; max-height: 34rem; overflow: auto;
  font: 12px/1.6 var(--mono); tab-size: 2;
}
pre i { font-style: normal; color: var(--first); font-weight: 600 }
pre u { text-decoration: none; color: var(--second) }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif }
svg .name { font-weight: 600 }
.grid line { stroke: var(--line) }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round }
.digits { display: flex; flex-wrap: wrap; gap: .7rem }
.digit { text-align: center; font-size: .8rem; color: var(--soft) }
.digit rect { fill: var(--ink) }
.digit svg { display: block; border-radius: 6px; border: 1px solid var(--line) }
.digit.wrong { color: var(--wrong); font-weight: 600 }
.digit.wrong svg { border-color: var(--wrong) }
"""

# What stands out in each stage: operations, and types or constants.
MARKS = {
    "Python": (r"\b(def|for|in|return|zip)\b", r"\"\"\".*?\"\"\""),
    "olympuspr": (r"(?<== )([a-z_0-9]+)", r":[a-z]+[0-9]+\[[0-9,]*\]"),
    "StableHLO": (
        r"\b(?:stablehlo|func|chlo)\.[a-z_.]+",
        r"tensor&lt;[0-9a-zx]*&gt;",
    ),
    "optimised HLO": (
        r"\b(?:fusion|dot|custom-call|call|parameter|reduce|broadcast|add|multiply|"
        r"maximum|subtract|exponential|log|constant|compare|select|tuple)(?=\()",
        r"\b(?:f32|s32|pred|u32)\[[0-9,]*\](?:\{[0-9,]*\})?",
    ),
}

NOTES = {
    "Python": "what you write",
    "olympuspr": "the operations, typed; what grad, vmap and jit work on",
    "StableHLO": "the same, for XLA",
    "optimised HLO": "what XLA made of it for this machine",
}


def marked(stage, text):
    """The text of a stage in HTML, with its operations and types marked."""
    text = html.escape(text.rstrip(), quote=False)
    operations, types = MARKS[stage]
    either = re.compile(f"(?P<op>{operations})|(?P<kind>{types})", re.DOTALL)

    def mark(match):
        tag = "i" if match["op"] else "u"
        return f"<{tag}>{match[0]}</{tag}>"

    return either.sub(mark, text)


def panel(stage, text):
    lines = text.rstrip().count("\n") + 1
    return (
        f'<div class="panel"><h3>{stage}</h3><small>{NOTES[stage]}; {lines} lines'
        f'</small><pre tabindex="0">{marked(stage, text)}</pre></div>'
    )


def fact(value, words):
    return f'<div class="panel fact"><b>{value}</b><span>{words}</span></div>'


class Chart:
    """Curves over epochs, in an SVG that fills its panel."""

    width, height = 640, 250
    left, right, top, bottom = 44, 84, 12, 28

    def __init__(self, count, low, high, form):
        self.count = max(count - 1, 1)
        self.low, self.high = low, high
        self.form = form
        self.parts = []
        self._grid()

    def x(self, i):
        return self.left + (self.width - self.left - self.right) * i / self.count

    def y(self, value):
        share = (value - self.low) / (self.high - self.low)
        return (
            self.height - self.bottom - share * (self.height - self.top - self.bottom)
        )

    def _grid(self):
        for value in np.linspace(self.low, self.high, 5):
            y = self.y(value)
            end = self.width - self.right
            self.parts.append(
                f'<g class="grid"><line x1="{self.left}" x2="{end}" y1="{y:.1f}" '
                f'y2="{y:.1f}"/></g><text x="{self.left - 8}" y="{y + 4:.1f}" '
                f'text-anchor="end">{self.form(value)}</text>'
            )
        y = self.height - 8
        last = self.x(self.count)
        self.parts.append(f'<text x="{self.left}" y="{y}">epoch 1</text>')
        self.parts.append(
            f'<text x="{last:.1f}" y="{y}" text-anchor="end">{self.count + 1}</text>'
        )

    def curve(self, values, name, colour, shift=4):
        """Draws a line, named at its end."""
        shown = np.clip(values, self.low, self.high)
        points = " ".join(
            f"{self.x(i):.1f},{self.y(v):.1f}" for i, v in enumerate(shown)
        )
        end_x, end_y = self.x(len(shown) - 1) + 8, self.y(shown[-1]) + shift
        self.parts.append(
            f'<polyline class="curve" style="stroke: var({colour})" points="{points}"/>'
            f'<text class="name" x="{end_x:.1f}" y="{end_y:.1f}" '
            f'style="fill: var({colour})">{name}</text>'
        )

    def render(self, title):
        return (
            f'<div class="panel"><h3>{title}</h3><svg viewBox="0 0 {self.width} '
            f'{self.height}" width="100%" role="img" aria-label="{title}">'
            f"{''.join(self.parts)}</svg></div>"
        )


def charts(history):
    training, held, accuracy = (
        np.array(column) for column in zip(*history, strict=True)
    )
    high = float(np.ceil(max(training.max(), held.max()) * 10) / 10)
    losses = Chart(len(history), 0.0, high, lambda v: f"{v:.2f}")
    losses.curve(held, "held out", "--second", shift=-4)
    losses.curve(training, "training", "--first", shift=10)
    low = float(np.floor(accuracy.min() * 10) / 10)
    share = Chart(len(history), low, 1.0, lambda v: f"{v:.0%}")
    share.curve(accuracy, f"{accuracy[-1]:.1%}", "--second")
    return losses.render("Loss") + share.render("Accuracy on held-out digits")


def digit(image, right, guess):
    """One image of 8 by 8 pixels, with what it was taken for."""
    dots = "".join(
        f'<rect x="{i % 8}" y="{i // 8}" width="1.02" height="1.02" '
        f'fill-opacity="{v:.2f}"/>'
        for i, v in enumerate(image)
        if v > 0
    )
    wrong = " wrong" if right != guess else ""
    words = f"{guess}, is {right}" if wrong else f"{guess}"
    return (
        f'<div class="digit{wrong}"><svg viewBox="0 0 8 8" width="56" height="56" '
        f'aria-label="a {right}">{dots}</svg>{words}</div>'
    )


def digits(held_out, guesses):
    """All that were taken for another digit, then others, eighteen together."""
    images, right = held_out[0], held_out[1].argmax(1)
    order = np.argsort(right == guesses, kind="stable")[:18]
    return "".join(digit(images[i], right[i], guesses[i]) for i in order)


def render(stages, times, history, held_out, guesses, info):
    """The whole page."""
    plain, fast, first = times.values()
    facts = [
        fact(f"{history[-1][2]:.1%}", f"of {len(guesses)} held-out digits recognised"),
        fact(f"{fast * 1e3:.2f} ms", "a training step under jit"),
        fact(f"{plain * 1e3:.1f} ms", "the same step, operation by operation"),
        fact(f"{first:.2f} s", "the step's first call: trace, lower, compile"),
        fact(str(info.size), "signatures of the step compiled"),
    ]
    reasons = html.escape("\n".join(str(record) for record in info.retraces))
    panels = "".join(panel(stage, text) for stage, text in stages.items())
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>olympus: a function at every stage</title>
<style>{STYLE}</style>
<body>
<h1>A function at every stage</h1>
<p>A classifier of handwritten digits, written as plain functions, differentiated and
compiled by olympus. All figures were measured in the run that wrote this page.</p>
<section class="row facts">{"".join(facts)}</section>
<h2>The loss, from Python to the machine</h2>
<p>Each stage is a value in Python: <code>jit(loss).trace(...)</code>,
<code>.lower()</code>, <code>.compile()</code>.</p>
<section class="row stages">{panels}</section>
<h2>Training</h2>
<section class="row charts">{charts(history)}</section>
<h2>Held-out digits</h2>
<p>Those that were mistaken come first.</p>
<div class="digits">{digits(held_out, guesses)}</div>
<h2>Why the step was compiled</h2>
<p>olympus keeps a record of each time a function is traced.</p>
<div class="panel"><pre>{reasons}</pre></div>
</body>
</html>
"""
