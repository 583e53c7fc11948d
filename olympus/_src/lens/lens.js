const METRICS = ["time", "bytes", "flops"];
const hasTime = data.lines.some((row) => row[2] > 0);
let metric = hasTime ? 0 : 1;

// -- places: by the number of an expression, the rows that are shown of it -------------
const rowsOf = new Map();
const note = (k, element) => {
  if (k < 0) return;
  if (!rowsOf.has(k)) rowsOf.set(k, new Set());
  rowsOf.get(k).add(element);
};
const lineKey = (k) => data.spans[k][0] + ":" + data.spans[k][1];
const byLine = new Map();
data.spans.forEach((span, k) => {
  const key = span[0] + ":" + span[1];
  if (!byLine.has(key)) byLine.set(key, []);
  byLine.get(key).push(k);
});
const costs = new Map(data.lines.map((row) => [row[0] + ":" + row[1], row.slice(2)]));

// -- rows ------------------------------------------------------------------------------
const total = (node) => {
  if (node.sum) return node.sum;
  const own = node[3] || [0, 0, 0];
  node.sum = own.slice();
  for (const child of node[4] || [])
    total(child).forEach((n, i) => { node.sum[i] += n; });
  return node.sum;
};
const most = [0, 0, 0];
const survey = (node) => {
  (node[3] || []).forEach((n, i) => { if (n > most[i]) most[i] = n; });
  (node[4] || []).forEach(survey);
};
data.panes.forEach((pane) => pane.nodes.forEach(survey));
const mostOfLine = [0, 1, 2].map((i) => Math.max(0, ...[...costs.values()].map((row) => row[i])));

const heated = [];  // elements and what they show
const heat = (numbers, limits) => {
  const element = make("span", "heat");
  heated.push([element, numbers, limits]);
  paintHeat(element, numbers, limits);
  return element;
};
const paintHeat = (element, numbers, limits) => {
  const share = limits[metric] ? numbers[metric] / limits[metric] : 0;
  element.style.background = share > 0 ? `rgba(var(--heat), ${Math.max(0.08, Math.sqrt(share))})` : "";
  element.title = describe(numbers);
};
const FORMATS = [micros, bytes, count];
const describe = (numbers) =>
  METRICS.map((name, i) => numbers[i] ? `${name} ${FORMATS[i](numbers[i])}` : "").filter(Boolean).join(", ");

const DIRECTIONS = ["", "forward", "backward"];
let serial = 0;
const addNode = (parent, node, hasHeat) => {
  const row = make("div", "row " + (DIRECTIONS[node[2]] || ""));
  row.id = "r" + serial++;
  row.node = node;
  const children = node[4] || [];
  if (hasHeat) row.append(heat(node[3] || (children.length && !node[5] ? total(node) : [0, 0, 0]), most));
  const sign = make("span", "fold", children.length ? (node[5] ? "▾" : "▸") : "");
  const text = make("span", "text");
  fill(text, node[0]);
  hang(text, node[0]);
  row.append(sign, text);
  if (node[1] >= 0) row.dataset.k = node[1];
  else if (children.length) row.classList.add("again");
  note(node[1], row);
  parent.append(row);
  if (children.length) {
    const fillInner = (rest) => children.forEach((child) => addNode(rest, child, hasHeat));
    addFold(parent, row, fillInner, (words) => children.some((c) => nodeHas(c, words)), node[5]);
  }
  return row;
};
const nodeHas = (node, words) =>
  node[0].toLowerCase().includes(words) || (node[4] || []).some((c) => nodeHas(c, words));
afterUnfold = () => { if (pinned >= 0) light(pinned, "pinned"); };

// -- panes -----------------------------------------------------------------------------
const countRows = (nodes) => nodes.reduce((n, node) => n + 1 + countRows(node[4] || []), 0);

const addPython = () => {
  const body = addPane("Python", data.files.length === 1 ? "1 file" : data.files.length + " files", "python");
  if (!data.python.length) body.append(make("p", "empty", "No operation is of a line that is known."));
  let last = -1;
  for (const [file, start, lines] of data.python) {
    if (file !== last) body.append(make("div", "file", data.files[file]));
    else body.append(make("div", "gap", "⋯"));
    last = file;
    lines.forEach((text, i) => body.append(pythonRow(file, start + i, text)));
  }
};
const pythonRow = (file, line, text) => {
  const row = make("div", "row");
  row.id = "r" + serial++;
  const key = file + ":" + line;
  row.append(heat(costs.get(key) || [0, 0, 0], mostOfLine), make("span", "number", line));
  const cell = make("span", "text");
  const spans = spansOn(file, line, text.length);
  const cuts = [...new Set([0, text.length, ...spans.flatMap((s) => [s[0], s[1]])])].sort((a, b) => a - b);
  for (let i = 0; i + 1 < cuts.length; i++) {
    const around = spans.filter((s) => s[0] <= cuts[i] && s[1] >= cuts[i + 1]);
    const part = make("span");
    fill(part, text.slice(cuts[i], cuts[i + 1]), PYTHON_WORDS);
    if (around.length) {
      around.sort((a, b) => a[3] - b[3]);
      part.dataset.k = around[0][2];
      for (const s of around) note(s[2], part);
    }
    cell.append(part);
  }
  hang(cell, text);
  row.append(cell);
  if (byLine.has(key)) {
    row.dataset.k = byLine.get(key)[0];
    byLine.get(key).forEach((k) => note(k, row));
  }
  return row;
};
// First and last letter on the line, the expression, and its length.
const multiLine = data.spans.map((s, k) => [s, k]).filter(([s]) => s[2] > s[1]);
const spansOn = (file, line, length) => {
  const found = [];
  const add = (span, k) => {
    const start = span[1] === line ? Math.max(span[3] - 1, 0) : 0;
    const end = span[2] === line && span[4] ? span[4] - 1 : length;
    if (end > start) found.push([start, Math.min(end, length), k, (span[2] - span[1]) * 1000 + end - start]);
  };
  for (const k of byLine.get(file + ":" + line) || []) add(data.spans[k], k);
  for (const [span, k] of multiLine)
    if (span[0] === file && span[1] < line && line <= span[2]) add(span, k);
  return found;
};

// -- light -----------------------------------------------------------------------------
let pinned = -1;
let lit = [];
const light = (k, name) => {
  for (const element of rowsOf.get(k) || []) {
    element.classList.add(name);
    lit.push([element, name]);
  }
  if (k < 0) return;
  for (const other of byLine.get(lineKey(k)) || [])
    if (other !== k)
      for (const element of rowsOf.get(other) || []) {
        element.classList.add("near");
        lit.push([element, "near"]);
      }
};
const dark = () => {
  for (const [element, name] of lit) element.classList.remove(name);
  lit = [];
};
const hover = (k) => {
  dark();
  if (pinned >= 0) light(pinned, "pinned");
  if (k >= 0 && k !== pinned) light(k, "hit");
};
const pin = (k, from) => {
  pinned = k;
  dark();
  if (k < 0) return;
  light(k, "pinned");
  for (const body of bodies) {
    if (body === from) continue;
    const first = [...(rowsOf.get(k) || [])].find((e) => body.contains(e) && e.offsetParent !== null);
    if (first) bring(first);
  }
};
const keyAt = (target) => {
  const element = target.closest("[data-k]");
  return element ? Number(element.dataset.k) : -1;
};
let hovered = -1;
$("panes").addEventListener("mouseover", (event) => {
  const k = keyAt(event.target);
  if (k !== hovered) { hovered = k; hover(k); }
});
$("panes").addEventListener("click", (event) => {
  const fold = event.target.closest(".fold");
  const row = event.target.closest(".row");
  const body = event.target.closest(".body");
  if (body) activate(bodies.indexOf(body));
  if (row) select(row);
  if (row && row.inner && (fold || row.classList.contains("again"))) unfold(row, row.inner.hidden);
  else if (row) pin(keyAt(event.target) === pinned ? -1 : keyAt(event.target), body);
});

// -- heat --------------------------------------------------------------------------
const setMetric = (i) => {
  metric = i === 0 && !hasTime ? 1 : i;
  heated.forEach((row) => paintHeat(...row));
  [...$("metrics").children].forEach((b) => b.setAttribute("aria-pressed", b.value == metric));
  heatName.textContent = METRICS[metric];
};
METRICS.forEach((name, i) => {
  if (i === 0 && !hasTime) return;
  const button = make("button", "", name);
  button.value = i;
  button.title = "heat by " + name + " (m)";
  button.onclick = () => setMetric(i);
  $("metrics").append(button, " ");
});
// -- drawers ---------------------------------------------------------------------------
const sourceOf = new Map();
for (const [file, start, lines] of data.python)
  lines.forEach((text, i) => sourceOf.set(file + ":" + (start + i), text.trim()));
const short = (file) => data.files[file].split(/[\\/]/).pop();
const drawLines = () => {
  const sums = [2, 3, 4].map((i) => data.lines.reduce((n, row) => n + row[i], 0));
  const rows = data.lines.slice().sort((a, b) => b[metric + 2] - a[metric + 2]).map((row) => {
    const key = row[0] + ":" + row[1];
    return [byLine.has(key) ? byLine.get(key)[0] : -1, [
      micros(row[2]), share(row[2], sums[0]), bytes(row[3]), share(row[3], sums[1]),
      count(row[4]), share(row[4], sums[2]), short(row[0]) + ":" + row[1], sourceOf.get(key) || ""]];
  });
  const heads = [["time", 1], ["", 1], ["bytes", 1], ["", 1], ["flops", 1], ["", 1], ["line"], ["", 0, 1]];
  return table(heads, rows);
};
const placeText = (k) => k < 0 ? "" : short(data.spans[k][0]) + ":" + data.spans[k][1] + "  " + (sourceOf.get(lineKey(k)) || "");
const drawMemory = () => {
  const memory = data.memory;
  const box = make("div");
  const n = memory.bytes.length, top = Math.max(1, ...memory.bytes);
  const W = 1000, H = 130;
  const x = (i) => n > 1 ? (i / n) * W : 0, y = (b) => H - 4 - (b / top) * (H - 18);
  let path = `M0 ${H}`;
  memory.bytes.forEach((b, i) => { path += `L${x(i).toFixed(1)} ${y(b).toFixed(1)}L${x(i + 1).toFixed(1)} ${y(b).toFixed(1)}`; });
  path += `L${W} ${H}Z`;
  const NS = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
  svg.setAttribute("preserveAspectRatio", "none");
  const area = document.createElementNS(NS, "path");
  area.setAttribute("d", path);
  area.setAttribute("fill", "rgba(var(--heat), .3)");
  area.setAttribute("stroke", "rgb(var(--heat))");
  area.setAttribute("vector-effect", "non-scaling-stroke");
  const peak = document.createElementNS(NS, "line");
  for (const [name, value] of [["x1", x(memory.peak + .5)], ["x2", x(memory.peak + .5)], ["y1", 0], ["y2", H]]) peak.setAttribute(name, value);
  peak.setAttribute("stroke", "var(--accent)");
  peak.setAttribute("vector-effect", "non-scaling-stroke");
  svg.append(area, peak);
  const said = make("p", "", "");
  const say = (i) => { said.textContent = `${bytes(memory.bytes[i])} held while ${memory.names[i]} runs${i === memory.peak ? ", the peak" : ""}. ${placeText(memory.places[i])}`; };
  const indexAt = (event) => {
    const r = svg.getBoundingClientRect();
    return Math.max(0, Math.min(n - 1, Math.floor((event.clientX - r.left) / r.width * n)));
  };
  if (n) {
    say(memory.peak);
    svg.onmousemove = (event) => { const i = indexAt(event); say(i); hover(memory.places[i]); };
    svg.onmouseleave = () => { say(memory.peak); hover(-1); };
    svg.onclick = (event) => pin(memory.places[indexAt(event)]);
  }
  const rows = memory.held.map(([kind, type, size, k, times, names]) => [k, [bytes(size), share(size, memory.bytes[memory.peak]), kind, times > 1 ? `${times} × ${type}` : type, names || placeText(k)]]);
  box.append(svg, said, table([["held at the peak", 1], ["", 1], ["kind"], ["type", 0, 1], ["line", 0, 1]], rows));
  return box;
};
const drawStages = () => {
  const whole = data.stages.reduce((n, row) => n + row[1], 0);
  const box = make("div");
  box.style.cssText = "display:flex;gap:2px;margin:8px 0";
  data.stages.forEach(([name, ms], i) => {
    const bar = make("div", "", `${name} ${micros(ms * 1000)}`);
    bar.style.cssText = `flex:${Math.max(ms / whole, .08)};background:rgba(var(--heat),${.2 + .2 * i});padding:6px 8px;border-radius:4px;overflow-wrap:anywhere`;
    box.append(bar);
  });
  return box;
};
addDrawers([["Lines", drawLines], ["Memory", drawMemory], ["First call", drawStages]]);
// -- begin -----------------------------------------------------------------------------
const heatName = make("span", "", "");
begin([["var(--forward)", "forward pass"], ["var(--backward)", "backward pass"], ["rgb(var(--heat))", "heat: "]], [
  ...HELP.slice(0, 3),
  ["Enter", "keep the line lit, and bring what belongs to it into view"],
  ...HELP.slice(3, 6),
  ["m", "heat by time, bytes, flops"],
  ...HELP.slice(6),
]);
document.querySelector(".key").append(heatName);
KEYS.m = () => setMetric((metric + 1) % 3);
KEYS.Enter = () => cursor && pin(keyAt(cursor), bodies[active]);
onCursor = (row) => hover(keyAt(row));
onTableRow = (k) => pin(k);
letGo = () => pin(-1);
addPython();
data.panes.forEach((pane, i) => {
  const body = addPane(pane.title, countRows(pane.nodes) + " lines");
  const rest = make("div");
  for (const node of pane.nodes) addNode(rest, node, i === 2);
  body.append(...rest.childNodes);
});
activate(0);
setMetric(metric);
