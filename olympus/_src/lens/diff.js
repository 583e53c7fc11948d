const SIGNS = [" ", "~", "+", "−"];
const NAMES = ["same", "changed", "added", "removed"];
const CONTEXT = 3;  // unchanged lines that are shown around a change
const METRICS = ["time", "bytes", "flops"];
const UNITS = [micros, bytes, count];

// -- rows ------------------------------------------------------------------------------
// Unchanged lines far from changes fold. `kinds` has the kind of each row.
const addFolded = (body, kinds, add) => {
  const near = kinds.map(() => false);
  kinds.forEach((kind, i) => {
    if (kind) for (let j = Math.max(0, i - CONTEXT); j <= i + CONTEXT && j < near.length; j++) near[j] = true;
  });
  for (let i = 0; i < kinds.length; ) {
    let end = i;
    while (end < kinds.length && !near[end]) end++;
    if (end - i > 2) {
      addGap(body, i, end, add);
      i = end;
    } else {
      for (end = Math.max(end, i + 1); i < end; i++) add(body, i);
    }
  }
};
const addGap = (body, start, end, add) => {
  const row = make("div", "row again");
  const text = make("span", "text", `${end - start} lines are the same`);
  row.append(make("span", "sign fold", "▸"), text);
  body.append(row);
  const fillInner = (rest) => { for (let i = start; i < end; i++) add(rest, i); };
  addFold(body, row, fillInner, () => true, false);
};
const rowsOf = new Map();
const addRow = (parent, kind, text, place, number) => {
  const words = number === undefined ? PROGRAM_WORDS : PYTHON_WORDS;
  const row = make("div", "row " + NAMES[kind]);
  row.append(make("span", "sign", SIGNS[kind]));
  if (number !== undefined) row.append(make("span", "number", number));
  const cell = make("span", "text");
  fill(cell, text, words);
  hang(cell, text);
  row.append(cell);
  if (place >= 0) {
    row.dataset.k = place;
    if (!rowsOf.has(place)) rowsOf.set(place, new Set());
    rowsOf.get(place).add(row);
  }
  parent.append(row);
  return row;
};
// Of two lines the words that are not in the other are lit.
const addChanged = (parent, before, after, place, numbers) => {
  const rows = [addRow(parent, 3, before, place, numbers && numbers[0]), addRow(parent, 2, after, place, numbers && numbers[1])];
  const words = (text) => text.split(/([\s,()[\]{}:=]+)/);
  const sides = [words(before), words(after)];
  rows.forEach((row, i) => {
    const others = new Set(sides[1 - i]);
    const cell = row.querySelector(".text");
    const isOther = (word) => word.trim() && !others.has(word);
    cell.replaceChildren(...sides[i].map((word) => make("span", isOther(word) ? "other" : "", word)));
    hang(cell, i ? after : before);
  });
  return rows;
};

// -- Python ----------------------------------------------------------------------------
const costText = (i, a, b) => {
  const [before, after] = [UNITS[i](a), UNITS[i](b)];
  return before === after ? after : `${before} → ${after}`;
};
const addPython = () => {
  const body = addPane("Python", "", "source");
  const gone = (line) => line ? line[3] : [0, 0, 0];
  const lastFile = { name: null };
  const isTold = ([kind, a, b]) => kind || gone(a)[1] !== gone(b)[1] || gone(a)[2] !== gone(b)[2];
  addFolded(body, data.source.map((row) => isTold(row) ? 1 : 0), (parent, i) => {
    const [kind, a, b] = data.source[i];
    const file = (b || a)[0];
    if (file !== lastFile.name && parent === body) parent.append(make("div", "file", file));
    if (parent === body) lastFile.name = file;
    const rows = kind === 1 ? addChanged(parent, a[2], b[2], i, [a[1], b[1]]) : [addRow(parent, kind, (b || a)[2], i, (b || a)[1])];
    const costs = METRICS.map((name, m) => {
      const [x, y] = [gone(a)[m], gone(b)[m]];
      if (!x && !y) return null;
      const element = make("span", y > x * 1.01 ? "worse" : y < x * 0.99 ? "better" : "", `${name} ${costText(m, x, y)}`);
      element.title = name;
      return element;
    }).filter(Boolean);
    if (costs.length) {
      const line = make("div", "costs");
      line.append(...costs);
      parent.append(line);
      rows[rows.length - 1].costs = line;
    }
  });
};

// -- light -----------------------------------------------------------------------------
let pinned = -1;
let lit = [];
const light = (k, name) => {
  for (const row of rowsOf.get(k) || []) { row.classList.add(name); lit.push([row, name]); }
};
const hover = (k) => {
  lit.forEach(([row, name]) => row.classList.remove(name));
  lit = [];
  light(pinned, "pinned");
  if (k !== pinned) light(k, "hit");
};
const keyAt = (target) => {
  const element = target.closest("[data-k]");
  return element ? Number(element.dataset.k) : -1;
};
const pin = (k, from) => {
  pinned = k;
  hover(-1);
  if (k < 0) return;
  for (const body of bodies) {
    const first = [...(rowsOf.get(k) || [])].find((row) => body !== from && body.contains(row) && row.offsetParent);
    if (first) bring(first);
  }
};
$("panes").addEventListener("mouseover", (event) => hover(keyAt(event.target)));
$("panes").addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  const body = event.target.closest(".body");
  if (body) activate(bodies.indexOf(body));
  if (!row) return;
  select(row);
  if (row.inner) unfold(row, row.inner.hidden);
  else pin(keyAt(row) === pinned ? -1 : keyAt(row), body);
});
onCursor = (row) => hover(keyAt(row));
letGo = () => pin(-1);
afterUnfold = () => light(pinned, "pinned");

// -- changes ---------------------------------------------------------------------------
const go = (by) => {
  const rows = shown(bodies[active]);
  const isChange = (row) => row && !row.classList.contains("same") && !row.classList.contains("again");
  let i = rows.indexOf(cursor) + by;
  while (i >= 0 && i < rows.length && (!isChange(rows[i]) || isChange(rows[i - 1]))) i += by;
  if (i < 0 || i >= rows.length) return;
  select(rows[i]);
  bring(rows[i]);
};
KEYS.n = () => go(1);
KEYS.p = () => go(-1);
KEYS.Enter = () => cursor && pin(keyAt(cursor), bodies[active]);

// -- begin -----------------------------------------------------------------------------
begin([["var(--removed)", "before"], ["var(--added)", "after"]], [
  ["n p", "next and last change of the pane"],
  ["Enter", "keep the line lit, and bring what belongs to it into view"],
  ...HELP,
]);
for (const [name, before, after, change, style] of data.totals) {
  const fact = make("span", "", name + " ");
  fact.append(before + " → ", make("b", "", after), " ");
  if (change) fact.append(make("span", style === "added" ? "better" : "worse", change));
  $("facts").append(fact);
}
addPython();
for (const pane of data.panes) {
  const body = addPane(pane.title, pane.detail);
  const rest = make("div");
  addFolded(rest, pane.rows.map((row) => row[0]), (parent, i) => {
    const [kind, text, place, before] = pane.rows[i];
    if (kind === 1) addChanged(parent, before, text, place);
    else addRow(parent, kind, text, place);
  });
  body.append(...rest.childNodes);
  if (!body.childNodes.length) body.append(make("p", "empty", "nothing"));
}
activate(0);
