// Above the LSM tree: a heat map of all buckets, the commits with their slider, and the buttons that play them.
const CELL_GAP = 3, CELL = 20, COMMITS = 66, DWELL_MS = 550;
const HEAT = "#E69F00";

// A cell for each bucket, darker with more sorted runs; partitions are set apart.
function drawHeat(host, heat, selected, onOpen) {
  const held = host.contains(focused(host));
  host.replaceChildren();
  host.style.display = heat.buckets > 1 ? "" : "none";
  if (heat.buckets <= 1) return;
  fitWidth(host);
  const plot = W - LEFT - RIGHT, cells = heat.cells, named = cells.some((c) => c.partition);
  const groups = new Set(cells.map((c) => c.partition)).size, most = Math.max(1, ...cells.map((c) => c.runs));
  const wide = Math.max(14, Math.min(54, (plot - groups * 6) / cells.length - CELL_GAP)), tall = CELL + (named ? 20 : 4);
  const places = heatPlaces(cells, plot, wide), height = tall * (places.length ? places[places.length - 1].row + 1 : 1) + 6;
  const svg = el(host, "svg", { viewBox: `0 0 ${W} ${height}`, width: W, height, role: "group", "font-size": 12, "aria-label": `${count(heat.buckets, "bucket")} by sorted runs` });
  const top = named ? 18 : 2;
  el(svg, "text", { x: LEFT - 10, y: top + 14, "text-anchor": "end", "font-weight": 600 }, "buckets");
  places.forEach(({ x, row, label }, i) => {
    const cell = cells[i], y = row * tall + top, chosen = selected >= cell.first && selected <= cell.last;
    if (label) el(svg, "text", { x, y: y - 5, class: "dim" }, label);
    const what = heat.keys ? count(cell.runs, "sorted run") : count(cell.files, "file");
    const said = `${cell.first < cell.last ? `${cell.last - cell.first + 1} buckets, most runs in ` : ""}${cell.label}: ${what}, ${count(cell.files, "file")}, ${bytes(cell.bytes)}`;
    const press = el(svg, "g", { class: `heat-cell${chosen ? " chosen" : ""}`, role: "button", tabindex: chosen ? 0 : -1, "aria-pressed": chosen,
      "aria-label": said, "data-lm-suppress-shortcuts": "true" });
    el(press, "title", {}, said);
    el(press, "rect", { x, y, width: wide, height: CELL, rx: 3, ...(cell.files ? { fill: HEAT, "fill-opacity": 0.1 + 0.5 * (cell.runs / most) } : { fill: "none", "stroke-dasharray": "2 3" }) });
    const text = cell.files ? String(cell.runs) : "";
    if (text.length * CHARACTER + 4 <= wide) el(press, "text", { x: x + wide / 2, y: y + 14, "text-anchor": "middle", "aria-hidden": "true" }, text);
    press.addEventListener("click", () => onOpen(cell));
  });
  const right = { x: LEFT + plot + 10, class: "dim" };
  el(svg, "text", { ...right, y: top + 14 }, `${count(heat.buckets, "bucket")} · ${heat.keys ? "sorted runs" : "files"}`);
  const all = [...svg.querySelectorAll(".heat-cell")];
  if (!all.some((c) => c.tabIndex === 0) && all.length) all[0].setAttribute("tabindex", 0);
  svg.addEventListener("keydown", (event) => {
    const at = all.indexOf(event.target), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !(step || event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    event.stopPropagation();
    if (!step) return onOpen(cells[at]);
    const next = all[at + step];
    if (!next) return;
    for (const c of all) c.setAttribute("tabindex", c === next ? 0 : -1);
    next.focus();
  });
  if (held) (all.find((c) => c.tabIndex === 0) || all[0])?.focus();
}

// The place of each cell: rows that fill the width, a gap between partitions, and the partition's name above its first cell.
function heatPlaces(cells, plot, wide) {
  let x = 0, row = 0;
  const places = cells.map((cell, i) => {
    const begins = i > 0 && cell.partition !== cells[i - 1].partition;
    if (begins) x += 6;
    if (x + wide > plot + 0.5) { x = 0; row++; }
    const at = x;
    x += wide + CELL_GAP;
    return { x: LEFT + at, row, label: "" };
  });
  places.forEach((place, i) => {
    const named = cells[i].partition, before = places[i - 1];
    if (!named || (before && before.row === place.row && cells[i - 1].partition === named)) return;
    let last = i;
    while (last + 1 < cells.length && cells[last + 1].partition === named && places[last + 1].row === place.row) last++;
    const fits = Math.floor((places[last].x + wide - place.x) / CHARACTER);
    place.label = named.length <= fits ? named : fits >= 8 ? clip(named, fits) : "";
  });
  return places;
}

// Where the commits are drawn, in SVG units: the slider is aligned with them.
const commitPlaces = (n) => [LEFT, Math.min(46, (W - LEFT - RIGHT) / Math.max(1, n))];

// One mark for each commit: a bar for its rows, colour and sign for its kind.
function drawCommits(host, commits, at, onPick) {
  host.replaceChildren();
  fitWidth(host);
  const n = Math.max(1, commits.length), [left, step] = commitPlaces(n), base = COMMITS - 24, chosen = commits[at];
  const svg = el(host, "svg", { viewBox: `0 0 ${W} ${COMMITS}`, width: W, height: COMMITS, role: "img", "font-size": 12, "aria-label": `${count(commits.length, "commit")}` });
  el(svg, "text", { x: LEFT - 10, y: base + 4, "text-anchor": "end", "font-weight": 600 }, "commits");
  el(svg, "line", { class: "axis", x1: left, y1: base, x2: left + step * n, y2: base });
  const biggest = Math.max(1, ...commits.map((c) => Math.abs(c.delta_rows))), radius = Math.min(8, Math.max(1.5, step * 0.4));
  const every = Math.max(1, Math.ceil(38 / step));
  commits.forEach((c, i) => {
    const x = left + step * (i + 0.5), [colour, sign] = KINDS[c.kind] || ["#888", "?"], wide = Math.max(1, Math.min(16, step * 0.6));
    const column = el(svg, "g", { class: "commit", "data-snapshot": c.id });
    el(column, "title", {}, [`snapshot ${c.id} · ${c.kind.toLowerCase()}`, `${c.delta_rows > 0 ? "+" : ""}${c.delta_rows.toLocaleString("en")} physical rows, ${c.total_rows.toLocaleString("en")} in total`,
      `${utc(c.time_ms)} UTC`, ...c.flags].join("\n"));
    el(column, "rect", { class: i === at ? "now" : "column", x: x - step / 2, y: 0, width: step, height: COMMITS, fill: "transparent" });
    if (c.delta_rows) {
      const tall = 4 + 26 * Math.pow(Math.abs(c.delta_rows) / biggest, 0.4);
      el(column, "rect", { x: x - wide / 2, y: base - tall, width: wide, height: tall, rx: Math.min(2, wide / 3), ...(c.delta_rows > 0 ? { fill: colour, opacity: 0.45 } : { fill: "none", stroke: colour }) });
    }
    el(column, "circle", { cx: x, cy: base, r: radius, fill: colour, ...(i === at ? { stroke: "currentColor", "stroke-width": 2 } : {}) });
    if (radius >= 6.5) el(column, "text", { x, y: base + 4, "text-anchor": "middle", class: "sign", "font-size": 12 }, sign);
    if (c.flags.length) el(column, "text", { x, y: 11, "text-anchor": "middle" }, c.flags[0].slice(0, 1));
    column.addEventListener("click", () => onPick(i));
  });
  const number = (i, attributes) => el(svg, "text", { x: left + step * (i + 0.5), y: COMMITS - 4, "text-anchor": "middle", ...attributes }, commits[i].id);
  if (chosen) number(at, { "font-weight": 700 });
  // The numbers beside the chosen one give way to it.
  for (let i = 0; i < commits.length; i += every) if (i !== at && Math.abs(i - at) * step > 34) number(i, { class: "dim" });
  if (chosen) el(svg, "text", { x: LEFT + (W - LEFT - RIGHT) + 10, y: base + 4, class: "dim" }, `${utc(chosen.time_ms)} UTC`);
}

// The buttons of a film and the slider: play, pause, a step back or on. `shown` is told when a step is on the page.
// A step is asked of the kernel when the one before has been drawn, so that a slow kernel is never flooded.
function transport(host, model, bar, slider) {
  const play = button(bar, "▶ Play", () => (playing ? stop() : begin()), { class: "play", "aria-keyshortcuts": "Space" });
  const back = button(bar, "‹", () => step(-1), { "aria-label": "Previous commit", title: "Previous commit ( , )" });
  const on = button(bar, "›", () => step(1), { "aria-label": "Next commit", title: "Next commit ( . )" });
  const pace = html(html(bar, "label", { class: "control" }, "speed "), "select", { "aria-label": "speed" });
  for (const factor of [0.5, 1, 2, 4]) html(pace, "option", { value: factor, ...(factor === 1 ? { selected: "" } : {}) }, `${factor} ×`);
  const last = () => model.get("history").commits.length - 1;
  let playing = false, timer = null;
  const look = () => {
    const at = model.get("position");
    play.textContent = playing ? "❚❚ Pause" : "▶ Play";
    play.setAttribute("aria-pressed", playing);
    back.disabled = at <= 0;
    on.disabled = at >= last();
    play.disabled = last() < 1;
  };
  const go = (i) => { if (i < 0 || i > last() || i === model.get("position")) return; model.set("position", i); model.save_changes(); };
  const stop = () => { playing = false; clearTimeout(timer); look(); };
  const step = (by) => { stop(); go(model.get("position") + by); };
  const begin = () => { playing = true; look(); go(model.get("position") >= last() ? 0 : model.get("position") + 1); };
  const shown = () => {
    look();
    if (!playing) return;
    clearTimeout(timer);
    if (model.get("position") >= last()) return stop();
    timer = setTimeout(() => go(model.get("position") + 1), (MOVE_MS + DWELL_MS) / speed());
  };
  const speed = () => Number(pace.value);
  slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
  host.addEventListener("keydown", (event) => {
    const on = event.target.localName, typing = ["input", "select", "textarea"].includes(on) && event.target !== slider;
    const act = { " ": () => (playing ? stop() : begin()), ",": () => step(-1), ".": () => step(1) }[event.key];
    if (!act || typing || event.ctrlKey || event.metaKey || event.altKey || (event.key === " " && on === "button")) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  model.on("change:trouble", () => { if (model.get("trouble")) stop(); });
  return { go: (i) => { stop(); go(i); }, shown, look, speed, stop };
}
