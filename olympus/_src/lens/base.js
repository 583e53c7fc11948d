"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const make = (tag, name, text) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
};

// -- text ------------------------------------------------------------------------------
const PYTHON_WORDS = /\b(lambda|in|def|return|for|if|else|elif|while|with|import|from|class|not|and|or|is|try|except|raise|yield|None|True|False)\b/g;
const PROGRAM_WORDS = /\b(lambda|let|in|func\.func|func\.return|module|ROOT|None|True|False|public|private)\b/g;
const fill = (element, text, words = PROGRAM_WORDS) => {
  let at = 0;
  for (const match of text.matchAll(words)) {
    element.append(text.slice(at, match.index), make("span", "word", match[0]));
    at = match.index + match[0].length;
  }
  element.append(text.slice(at));
};
// What does not fit goes on under the text, two letters further in. The space that a
// line begins with is no text, or lines would break behind it.
const hang = (element, text) => {
  let indent = text.length - text.trimStart().length;
  element.style.paddingLeft = indent + 2 + "ch";
  element.style.textIndent = "-2ch";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (indent > 0 && walker.nextNode()) {
    const node = walker.currentNode, n = Math.min(indent, node.data.length);
    node.data = node.data.slice(n);
    indent -= n;
  }
};
const unit = (n, step, names) => {
  let i = 0;
  while (n >= step && i < names.length - 1) { n /= step; i++; }
  return (n >= 100 || n % 1 === 0 ? n.toFixed(0) : n.toPrecision(3)) + " " + names[i];
};
const bytes = (n) => unit(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
const micros = (n) => n >= 1000 ? unit(n / 1000, 1000, ["ms", "s"]) : unit(n, 1000, ["µs"]);
const count = (n) => unit(n, 1000, ["", "k", "M", "G", "T"]).trim();
const share = (part, whole) => whole ? Math.round(100 * part / whole) + " %" : "";

// -- panes -----------------------------------------------------------------------------
const bodies = [];
const addPane = (title, detail, name) => {
  const pane = make("section", "pane " + (name || ""));
  const head = make("h2", "", title);
  head.append(make("span", "", detail));
  head.title = "close or open (" + (bodies.length + 1) + ")";
  const body = make("div", "body");
  body.tabIndex = -1;
  pane.append(head, body);
  $("panes").append(pane);
  head.onclick = () => pane.classList.toggle("closed");
  body.pane = pane;
  bodies.push(body);
  return body;
};
// Rows out of sight have sizes that are guesses until they come near.
const bring = (row) => {
  row.scrollIntoView({ block: "center" });
  requestAnimationFrame(() => {
    row.scrollIntoView({ block: "center" });
    requestAnimationFrame(() => row.scrollIntoView({ block: "center" }));
  });
};

// -- folds -----------------------------------------------------------------------------
// Rows that are folded away are made when they are first shown.
const addFold = (parent, row, fillInner, has, open) => {
  row.inner = make("div", "inner");
  row.inner.hidden = true;
  row.fillInner = fillInner;
  row.has = has;
  parent.append(row.inner);
  if (open) unfold(row, true);
};
const unfold = (row, open) => {
  if (!row.inner) return;
  if (open && !row.inner.childNodes.length) {
    const rest = make("div");
    row.fillInner(rest);
    row.inner.append(...rest.childNodes);
    afterUnfold();
  }
  row.inner.hidden = !open;
  row.querySelector(".fold").textContent = open ? "▾" : "▸";
};
// What a search looks for below a fold is made, and stays folded.
const unfoldFor = (row, words) => {
  if (!row.inner || row.inner.childNodes.length || !row.has(words)) return;
  unfold(row, true);
  unfold(row, false);
  for (const inner of row.inner.querySelectorAll(".row")) unfoldFor(inner, words);
};
let afterUnfold = () => {};

// -- keys ------------------------------------------------------------------------------
let active = 0;
let onCursor = () => {};
let letGo = () => {};
let cursor = null;
const activate = (i) => {
  active = Math.max(0, Math.min(bodies.length - 1, i));
  bodies.forEach((body, j) => body.pane.classList.toggle("active", j === active));
};
const select = (row) => {
  if (cursor) cursor.classList.remove("cursor");
  cursor = row;
  if (row) row.classList.add("cursor");
};
const shown = (body) => [...body.querySelectorAll(".row")].filter((row) => row.offsetParent !== null);
const step = (by) => {
  const rows = shown(bodies[active]);
  const at = rows.indexOf(cursor);
  const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))];
  if (!next) return;
  select(next);
  next.scrollIntoView({ block: "nearest" });
  onCursor(next);
};
const KEYS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  h: () => activate(active - 1), ArrowLeft: () => activate(active - 1),
  l: () => activate(active + 1), ArrowRight: () => activate(active + 1),
  " ": () => cursor && cursor.inner && unfold(cursor, cursor.inner.hidden),
  x: () => {
    const rows = [...bodies[active].querySelectorAll(".row")].filter((row) => row.inner);
    const open = rows.some((row) => row.inner.hidden);
    rows.forEach((row) => unfold(row, open));
  },
  t: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
  "/": () => $("search").focus(),
  "?": () => $("help").classList.toggle("open"),
  Escape: () => { letGo(); select(null); clearSearch(); $("help").classList.remove("open"); },
};
document.addEventListener("keydown", (event) => {
  if (event.target === $("search")) {
    if (event.key === "Enter") goTo(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") { $("search").blur(); clearSearch(); }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[1-9]$/.test(event.key) && bodies[event.key - 1]) {
    bodies[event.key - 1].pane.classList.toggle("closed");
  } else if (KEYS[event.key]) {
    KEYS[event.key]();
  } else return;
  event.preventDefault();
});

// -- search ----------------------------------------------------------------------------
let matches = [];
let at = -1;
const clearSearch = () => {
  for (const row of matches) row.classList.remove("found");
  matches = [];
  at = -1;
  $("count").textContent = "";
};
const openAbove = (row) => {
  for (let box = row.parentElement; box; box = box.parentElement)
    if (box.classList.contains("inner") && box.hidden) unfold(box.previousSibling, true);
};
const search = () => {
  const words = $("search").value.trim().toLowerCase();
  clearSearch();
  if (words.length < 2) return;
  for (const body of bodies)
    for (const row of [...body.querySelectorAll(".row")]) unfoldFor(row, words);
  for (const body of bodies)
    for (const row of body.querySelectorAll(".row"))
      if (row.querySelector(".text").textContent.toLowerCase().includes(words)) {
        row.classList.add("found");
        matches.push(row);
      }
  $("count").textContent = matches.length + (matches.length === 1 ? " line" : " lines");
};
const goTo = (by) => {
  if (!matches.length) return;
  at = (at + by + matches.length) % matches.length;
  openAbove(matches[at]);
  select(matches[at]);
  bring(matches[at]);
  $("count").textContent = `${at + 1} of ${matches.length}`;
};
let waiting = 0;
$("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });

// -- theme -----------------------------------------------------------------------------
const setTheme = (name) => {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("olympus-lens-theme", name); } catch { /* a file may keep nothing */ }
};
let kept = null;
try { kept = localStorage.getItem("olympus-lens-theme"); } catch { /* as above */ }
setTheme(kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
$("theme").onclick = KEYS.t;
$("ask").onclick = KEYS["?"];
$("help").onclick = () => $("help").classList.remove("open");

// -- drawers ---------------------------------------------------------------------------
let onTableRow = () => {};
const table = (heads, rows) => {
  const element = make("table");
  const head = make("tr");
  heads.forEach(([title, isNumber]) => head.append(make("th", isNumber ? "n" : "", title)));
  element.append(head);
  for (const [k, cells] of rows) {
    const row = make("tr");
    if (k >= 0) { row.dataset.k = k; row.onclick = () => onTableRow(k); }
    cells.forEach((cell, i) => {
      const td = make("td", heads[i][1] ? "n" : "");
      if (heads[i][2]) td.append(make("code", "", cell)); else td.textContent = cell;
      row.append(td);
    });
    element.append(row);
  }
  return element;
};
const addDrawers = (drawers) => drawers.slice().reverse().forEach(([title, draw]) => {
  const drawer = make("div", "drawer");
  const button = make("button", "", title);
  button.onclick = () => {
    const open = !drawer.classList.contains("open");
    document.querySelectorAll(".drawer").forEach((other) => other.classList.remove("open"));
    document.querySelectorAll("#tabs button").forEach((b) => b.setAttribute("aria-pressed", "false"));
    if (!open) return;
    drawer.replaceChildren(draw());
    drawer.classList.add("open");
    button.setAttribute("aria-pressed", "true");
  };
  document.querySelector("footer").append(drawer);
  $("tabs").prepend(button);
});

// -- begin -----------------------------------------------------------------------------
const begin = (legend, help) => {
  $("name").textContent = data.name;
  for (const [name, value] of data.facts) {
    const fact = make("span", "", name + " ");
    fact.append(make("b", "", value));
    $("facts").append(fact);
  }
  const key = make("span", "key");
  for (const [color, text] of legend) {
    const sign = make("i");
    sign.style.background = color;
    key.append(sign, text);
  }
  $("tabs").append(key);
  const rows = make("table");
  for (const [keys, text] of help) {
    const row = make("tr"), names = make("td");
    keys.split(" ").forEach((name) => names.append(make("kbd", "", name.replace("_", " ")), " "));
    row.append(names, make("td", "", text));
    rows.append(row);
  }
  $("help").firstElementChild.append(rows);
};
const HELP = [
  ["/", "search; Enter and Shift Enter go on and back"],
  ["j k", "next and last line of the pane"],
  ["h l", "pane to the left and right"],
  ["Space", "fold and unfold"],
  ["x", "fold and unfold all of the pane"],
  ["1 2 3 4", "close and open a pane"],
  ["t", "light and dark"],
  ["Esc", "let go"],
];
