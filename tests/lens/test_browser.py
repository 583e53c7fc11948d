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


CUT = """
  return [...document.querySelectorAll(".row .text")].filter((e) =>
    e.scrollWidth > e.clientWidth + 1 && e.offsetParent).map((e) => e.textContent);
"""


def test_no_line_is_cut(page, tmp_path):
    assert run(page, tmp_path, CUT) == []


def test_lines_do_not_break_behind_their_indent(page, tmp_path):
    script = """
      const text = rows(0).map((r) => r.querySelector(".text"))
        .find((e) => e.textContent.startsWith("return jnp.sort"));
      return [text.style.paddingLeft, text.style.textIndent];
    """
    assert run(page, tmp_path, script) == ["6ch", "-2ch"]


# -- differences -----------------------------------------------------------------------


def other_model(ws, x):
    x = x - x.mean(0)
    for w in ws:
        x = jnp.tanh(x @ w) + jnp.sin(x) * jnp.cos(x) - jnp.exp(x)
    return jnp.sort(x.sum(0))


@pytest.fixture(scope="module")
def diff_page():
    old = olympus.lens(model)([X] * 8, X)
    return old.diff(olympus.lens(other_model)([X] * 8, X)).to_html()


def test_a_difference_shows_what_came_and_went(diff_page, tmp_path):
    script = """
      const texts = (i, name) => [...bodies[i].querySelectorAll(".row." + name)]
        .map((r) => r.querySelector(".text").textContent);
      return [bodies.length, texts(0, "added"), texts(1, "added"), texts(1, "removed"),
        $("facts").textContent];
    """
    n, python, added, removed, totals = run(diff_page, tmp_path, script)
    assert n == 4
    assert "x = x - x.mean(0)" in python
    assert any("reduce_sum" in text for text in added)
    assert any("neg" in text for text in removed)
    assert "peak memory" in totals


def test_lines_that_are_the_same_fold(diff_page, tmp_path):
    script = """
      const row = rows(1).find((r) => r.textContent.includes("lines are the same"));
      const before = rows(1).length; click(row);
      const open = rows(1).length; click(row);
      return [before, open, rows(1).length];
    """
    before, opened, after = run(diff_page, tmp_path, script)
    assert opened > before == after


def test_a_line_of_python_lights_up_its_lines(diff_page, tmp_path):
    script = """
      const row = rows(0).find((r) => r.textContent.includes("x.mean(0)"));
      over(row); const hit = count("hit"); click(row);
      const kept = count("pinned"); press("Escape");
      return [hit, kept, count("pinned")];
    """
    hit, kept, after = run(diff_page, tmp_path, script)
    assert all(n >= 1 for n in hit)
    assert all(n >= 1 for n in kept)
    assert not any(after)


def test_keys_go_from_change_to_change(diff_page, tmp_path):
    script = """
      press("l"); const seen = [];
      for (let i = 0; i < 3; i++) { press("n"); seen.push(rows(1).indexOf(cursor)); }
      press("p"); seen.push(rows(1).indexOf(cursor));
      return [seen, cursor.className];
    """
    (one, two, three, back), name = run(diff_page, tmp_path, script)
    assert one < two < three
    assert back == two
    assert re.search("added|removed|changed", name)


def test_a_search_finds_what_is_the_same(diff_page, tmp_path):
    script = '$("search").value = "sort"; search(); goTo(1); return count("found")'
    assert all(n >= 1 for n in run(diff_page, tmp_path, script))


# -- timelines -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def timeline_page():
    inner = olympus.jit(jnp.sinh)

    @olympus.jit
    def step(x):
        return inner(x) * 2

    with olympus.timeline() as session:
        step(X)
        step(X[:4])
    return session.to_html()


def test_a_timeline_shows_what_was_made_and_why(timeline_page, tmp_path):
    script = """
      const texts = rows(0).map((r) => r.querySelector(".text").textContent);
      const bars = [...document.querySelectorAll(".bars i")].map((e) =>
        [e.getBoundingClientRect().left, e.getBoundingClientRect().width]);
      const box = document.querySelector(".bars").getBoundingClientRect();
      return [texts, bars, box.left, box.right];
    """
    texts, bars, left, right = run(timeline_page, tmp_path, script)
    assert [text.split()[0] for text in texts] == ["step", "sinh", "step", "sinh"]
    assert "changed from [8, 8] to [4, 8]" in texts[2]
    assert len(bars) == 8
    assert all(left - 1 <= x and x + width <= right + 3 for x, width in bars)


def test_details_unfold_and_functions_light_up(timeline_page, tmp_path):
    script = """
      const row = rows(0)[2]; click(row);
      const details = row.inner.textContent;
      over(rows(1)[0]); const hit = count("hit");
      press("n"); return [details, hit, rows(0).indexOf(cursor)];
    """
    details, hit, at = run(timeline_page, tmp_path, script)
    assert "step(X[:4])" in details
    assert "cure" in details
    assert hit == [2, 1]
    assert at == 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_line_of_the_other_pages_is_cut(diff_page, timeline_page, tmp_path, theme):
    for page in (diff_page, timeline_page):
        assert run(page, tmp_path, f'setTheme("{theme}"); {CUT}') == []
