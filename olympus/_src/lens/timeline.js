const COLORS = ["var(--trace)", "var(--lower)", "var(--compile)", "var(--load)"];
const short = (place) => place.split(/[\\/]/).pop();

// -- time ------------------------------------------------------------------------------
// Where nothing is made for long, the axis is cut: such a gap takes a small part of it.
const busy = data.makings.flatMap((m) => m.spans.map(([, start, length]) => [start, start + length]))
  .sort((a, b) => a[0] - b[0]);
const blocks = [];
for (const [start, end] of busy) {
  const last = blocks[blocks.length - 1];
  if (last && start <= last[1]) last[1] = Math.max(last[1], end);
  else blocks.push([start, end]);
}
const work = blocks.reduce((n, [a, b]) => n + b - a, 0);
const shortest = Math.max(work * 0.02, 1);
let axis = 0;
const pieces = [];  // start and end in time, and on the axis
blocks.forEach(([start, end], i) => {
  const gap = i ? start - blocks[i - 1][1] : 0;
  axis += Math.min(gap, shortest);
  pieces.push([start, end, axis, axis + end - start, gap]);
  axis += end - start;
});
const onAxis = (time) => {
  let low = 0, high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pieces[middle][0] <= time) low = middle; else high = middle - 1;
  }
  const [start, , from] = pieces[low] || [0, 0, 0];
  return axis ? (from + time - start) / axis : 0;
};

// -- rows ------------------------------------------------------------------------------
const rowsOf = new Map();
const note = (k, row) => {
  row.dataset.k = k;
  if (!rowsOf.has(k)) rowsOf.set(k, []);
  rowsOf.get(k).push(row);
};
const threads = [...new Set(data.makings.map((m) => m.thread))];
const total = (m) => m.spans.reduce((n, span) => n + span[2], 0);
const stagesText = (m) => m.spans.map(([stage, , length]) => `${data.stages[stage]} ${micros(length)}`).join(", ");

const addMaking = (body, m) => {
  const [name] = data.functions[m.function];
  const row = make("div", "row made" + (m.again ? " changed" : ""));
  const fold = make("span", "fold", "▸");
  const text = make("span", "text");
  text.style.paddingLeft = m.depth * 14 + "px";
  text.append(make("b", "", name), " ");
  const thread = threads.length > 1 && m.thread !== "MainThread" ? ` in ${m.thread}` : "";
  text.append(make("span", "soft", short(m.site) + thread));
  if (m.cause) text.append(make("div", "why", m.cause));
  const bars = make("span", "bars");
  for (const [stage, start, length] of m.spans) {
    const bar = make("i");
    bar.style.cssText = `left:${onAxis(start) * 100}%;width:max(2px,${axis ? length / axis * 100 : 0}%);background:${COLORS[stage]}`;
    bars.append(bar);
  }
  row.title = stagesText(m);
  row.append(fold, make("span", "number", micros(total(m))), text, bars);
  note(m.function, row);
  body.append(row);
  addFold(body, row, (rest) => addDetails(rest, m), () => false, false);
};
const addDetails = (rest, m) => {
  const box = make("div", "details");
  const line = (name, value) => {
    if (!value) return;
    const row = make("div");
    row.append(make("span", "soft", name + " "), value);
    box.append(row);
  };
  line("stages", stagesText(m));
  line("asked for at", m.site);
  line("", m.code && make("code", "", m.code));
  line("function at", data.functions[m.function][1]);
  line("why", m.cause || (m.again ? "" : "the first time"));
  line("cure", m.cure);
  line("disk", m.disk);
  line("", m.reused && "an equal program was in memory: nothing was compiled");
  rest.append(box);
};
const addFunctions = () => {
  const body = addPane("Functions", data.functions.length + " by their time", "functions");
  const most = data.functions.length ? data.functions[0][2] : 1;
  data.functions.forEach(([name, place, seconds, times], k) => {
    const row = make("div", "row");
    const heat = make("span", "heat");
    heat.style.background = `rgba(var(--heat), ${Math.max(0.08, Math.sqrt(seconds / most))})`;
    const text = make("span", "text");
    text.append(make("b", "", name), times > 1 ? ` ${times} times ` : " ", make("span", "soft", short(place)));
    row.append(heat, make("span", "number", micros(seconds * 1e6)), text);
    note(k, row);
    body.append(row);
  });
};

// -- light -----------------------------------------------------------------------------
let pinned = -1;
const hover = (k) => rowsOf.forEach((rows, n) => rows.forEach((row) => {
  row.classList.toggle("hit", n === k && n !== pinned);
  row.classList.toggle("pinned", n === pinned);
}));
const keyAt = (target) => {
  const element = target.closest("[data-k]");
  return element ? Number(element.dataset.k) : -1;
};
const pin = (k) => { pinned = k; hover(-1); };
let hovered = -1;
$("panes").addEventListener("mouseover", (event) => {
  const k = keyAt(event.target);
  if (k !== hovered) { hovered = k; hover(k); }
});
$("panes").addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  const body = event.target.closest(".body");
  if (body) activate(bodies.indexOf(body));
  if (!row) return;
  select(row);
  if (row.inner) { unfold(row, row.inner.hidden); return; }
  pin(keyAt(row) === pinned ? -1 : keyAt(row));
  const first = (rowsOf.get(pinned) || [])[0];
  if (first) bring(first);
});
onCursor = (row) => hover(keyAt(row));
letGo = () => pin(-1);
KEYS.Enter = () => cursor && pin(keyAt(cursor));
const go = (by) => {
  const rows = shown(bodies[0]).filter((row) => row.classList.contains("changed"));
  if (!rows.length) return;
  const next = rows[(rows.indexOf(cursor) + by + rows.length) % rows.length];
  select(next);
  bring(next);
};
KEYS.n = () => go(1);
KEYS.p = () => go(-1);

// -- begin -----------------------------------------------------------------------------
begin([...data.stages.map((name, i) => [COLORS[i], name]), ["var(--again)", "made again"]], [
  ["n p", "next and last program that was made again"],
  ["Enter", "keep the function lit"],
  ...HELP,
]);
const cuts = pieces.filter((piece) => piece[4] > shortest).length;
const cutText = cuts ? `; ${cuts} idle ${cuts === 1 ? "gap is" : "gaps are"} cut short` : "";
const body = addPane("In order", `time runs to the right${cutText}`, "order");
data.makings.forEach((m) => addMaking(body, m));
if (!data.makings.length) body.append(make("p", "empty", "nothing was traced or compiled"));
addFunctions();
activate(0);
