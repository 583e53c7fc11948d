"""The page of a lens in a browser, where one is installed: its keys and its mouse."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((path for path in map(shutil.which, BROWSERS) if path), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no browser is installed"),
]

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)


def model(ws, x):
    for w in ws:
        x = jnp.tanh(x @ w) + jnp.sin(x) * jnp.cos(x) - jnp.exp(-x)
    return jnp.sort(x.sum(0))


@pytest.fixture(scope="module")
def page():
    return olympus.lens(model)([X] * 8, X).to_html()


# What the scripts of the tests use.
TOOLS = """
const rows = (i) => shown(bodies[i]);
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", {key}));
const over = (e) => e.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
const click = (e) => e.dispatchEvent(new MouseEvent("click", {bubbles: true}));
const python = (text) => [...document.querySelectorAll(".python .text span[data-k]")]
  .find((e) => e.textContent.includes(text));
const count = (name) => bodies.map((b) => b.querySelectorAll(".row." + name).length);
"""


def run(page, tmp_path, script):
    """What a script returns that runs in the page."""
    ending = f"""<script>{{{TOOLS}
      let answer; try {{ answer = (() => {{ {script} }})(); }}
      catch (error) {{ answer = {{error: String(error)}}; }}
      const box = document.createElement("pre");
      box.id = "answer"; box.textContent = JSON.stringify(answer);
      document.body.append(box);}}</script></body>"""
    file = tmp_path / "page.html"
    file.write_text(page.replace("</body>", ending))
    words = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"]
    words += [f"--user-data-dir={tmp_path}/profile", "--window-size=1400,900"]
    words += ["--virtual-time-budget=3000", "--dump-dom", f"file://{file}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=90, check=True)
    text = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.DOTALL)
    assert text, done.stderr[-2000:]
    return json.loads(html.unescape(text[1]))


def test_four_panes_are_filled(page, tmp_path):
    counts = run(
        page, tmp_path, "return bodies.map((b) => rows(bodies.indexOf(b)).length)"
    )
    assert len(counts) == 4
    assert all(n >= 4 for n in counts)


def test_an_expression_lights_up_what_it_became(page, tmp_path):
    script = 'over(python("x @ w")); return [count("hit"), count("near")]'
    hit, near = run(page, tmp_path, script)
    assert all(n >= 1 for n in hit[1:])
    assert sum(near) >= 1


def test_an_instruction_lights_up_its_expression(page, tmp_path):
    script = """
      const row = rows(3).find((r) => r.textContent.includes(" sort("));
      over(row);
      const lit = document.querySelectorAll(".python .text span.hit");
      return [...lit].map((e) => e.textContent);
    """
    assert "jnp.sort(x.sum(0))" in "".join(run(page, tmp_path, script))


def test_a_click_keeps_the_light_and_escape_lets_go(page, tmp_path):
    script = """
      click(python("x @ w")); over(document.querySelector("h2"));
      const kept = count("pinned"); press("Escape");
      return [kept, count("pinned")];
    """
    kept, after = run(page, tmp_path, script)
    assert all(n >= 1 for n in kept[1:])
    assert not any(after)


def test_layers_fold_and_unfold(page, tmp_path):
    script = """
      const row = rows(1).find((r) => r.classList.contains("again"));
      const before = rows(1).length; click(row);
      const open = rows(1).length; click(row);
      return [row.textContent, before, open, rows(1).length];
    """
    text, before, opened, after = run(page, tmp_path, script)
    assert "more times" in text
    assert opened > before == after


def test_a_search_finds_lines_that_are_folded_away(page, tmp_path):
    script = """
      $("search").value = "tanh"; search();
      const visible = rows(1).filter((r) => r.textContent.includes("tanh")).length;
      const lines = count("found"); goTo(-1);
      return [visible, lines, $("count").textContent, cursor.offsetParent !== null];
    """
    visible, lines, text, is_shown = run(page, tmp_path, script)
    assert lines[1] == 8 > visible
    assert lines[0] >= 1
    assert re.fullmatch(r"\d+ of \d+", text)
    assert is_shown


def test_keys_move_close_panes_and_switch(page, tmp_path):
    script = """
      const theme = () => document.documentElement.dataset.theme;
      const first = [theme(), metric]; press("t"); press("m");
      press("l"); press("j"); press("j"); press("k");
      const line = rows(1).indexOf(cursor);
      press("2");
      const has = (e, name) => e.classList.contains(name);
      const closed = has(bodies[1].pane, "closed"); press("?");
      return [first, [theme(), metric], line, closed, has($("help"), "open")];
    """
    first, second, line, closed, has_help = run(page, tmp_path, script)
    assert first[0] != second[0]
    assert first[1] != second[1]
    assert (line, closed, has_help) == (0, True, True)


def test_drawers_show_lines_memory_and_stages(page, tmp_path):
    script = """
      return [...document.querySelectorAll("#tabs button")].map((b) => {
        b.click(); return document.querySelector(".drawer.open").textContent; });
    """
    lines, memory, stages = run(page, tmp_path, script)
    assert "jnp.tanh(x @ w)" in lines
    assert "held while" in memory
    assert "compile" in stages


def test_no_line_is_cut(page, tmp_path):
    script = """
      return [...document.querySelectorAll(".row .text")].filter((e) =>
        e.scrollWidth > e.clientWidth + 1 && e.offsetParent).map((e) => e.textContent);
    """
    assert run(page, tmp_path, script) == []
