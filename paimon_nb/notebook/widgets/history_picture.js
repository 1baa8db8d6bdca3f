// The commits of a table on a line, of which one is selected.
// Positions of tag, branch and consumer labels without overlaps. The same rule as flag_positions in svg.py.
function flagPlaces(commits, step, left) {
  const ends = [0, 0, 0], out = [];
  commits.forEach((c, i) => {
    const x = left + step * (i + 0.5);
    for (const flag of c.flags) {
      const text = clip(flag, 24), wide = 6.6 * text.length, middle = Math.min(Math.max(x, wide / 2), W - wide / 2);
      const row = ends.findIndex((end) => !end || end + 8 <= middle - wide / 2);
      if (row < 0) continue;
      ends[row] = middle + wide / 2;
      out.push([text, middle, x, row]);
    }
  });
  return out;
}

// Left edge and spacing of the commits in SVG units: the slider is aligned with them.
const historyPlaces = (n) => [20, Math.min(72, (W - 40) / Math.max(1, n))];

function drawHistory(host, history, selected, onPick) {
  host.replaceChildren();
  fitWidth(host);
  const commits = history.commits, n = Math.max(1, commits.length), [left, step] = historyPlaces(n);
  const flags = flagPlaces(commits, step, left);
  const kinds = Object.entries(KINDS).filter(([kind]) => commits.some((c) => c.kind === kind));
  const bars = "bar = rows added" + (commits.some((c) => c.delta_rows < 0) ? "; outline = rows removed" : "") + " (not to scale)";
  // The meaning of the bars is beside that of the dots, or below it.
  const legend = left + kinds.reduce((sum, [kind]) => sum + 38 + CHARACTER * kind.length, 0), below = legend + CHARACTER * bars.length > W;
  const base = 92 + 14 * (1 + Math.max(-1, ...flags.map((f) => f[3]))), height = base + (below ? 76 : 58);
  const svg = el(host, "svg", { viewBox: `0 0 ${W} ${height}`, width: W, height, role: "group", "font-size": 12,
    "aria-label": `history of ${history.table}: ${commits.length} snapshots` });
  el(svg, "text", { x: 0, y: 14, "font-weight": 600 }, history.table);
  el(svg, "text", { x: W, y: 14, "text-anchor": "end", class: "dim" }, count(commits.length, "snapshot"));
  el(svg, "line", { class: "axis", x1: left, y1: base, x2: left + step * n, y2: base });
  for (const [text, middle, x, row] of flags) {
    const y = base - 66 - 14 * row;
    el(svg, "line", { class: "pole", x1: x, y1: y + 4, x2: x, y2: base });
    el(svg, "text", { x: middle, y, "text-anchor": "middle", "font-size": 12 }, text);
  }
  const biggest = Math.max(1, ...commits.map((c) => Math.abs(c.delta_rows)));
  const every = Math.max(1, Math.ceil(n / 28));
  commits.forEach((c, i) => {
    const x = left + step * (i + 0.5), [colour, sign] = KINDS[c.kind] || ["#888", "?"];
    const w = Math.max(2, Math.min(18, step * 0.5)), r = Math.min(9, Math.max(3, step * 0.4));
    if (c.delta_rows) {
      const tall = 6 + 48 * Math.pow(Math.abs(c.delta_rows) / biggest, 0.4);
      el(svg, "rect", { x: x - w / 2, y: base - tall, width: w, height: tall, rx: 2,
        ...(c.delta_rows > 0 ? { fill: colour, opacity: 0.45 } : { fill: "none", stroke: colour }) });
    }
    const dot = el(svg, "circle", { cx: x, cy: base, r, fill: colour, class: "dot", "data-snapshot": c.id,
      ...(c.id === selected ? { stroke: "currentColor", "stroke-width": 2.5 } : {}) });
    const sign_of = c.delta_rows > 0 ? "+" : "";
    el(dot, "title", {}, [`snapshot ${c.id} · ${c.kind}`,
      `${sign_of}${c.delta_rows.toLocaleString("en")} physical rows, ${c.total_rows.toLocaleString("en")} in total`,
      `${utc(c.time_ms)} UTC`, `by ${c.user}`, ...c.flags].join("\n"));
    dot.addEventListener("click", () => onPick(i));
    if (r > 6) el(svg, "text", { x, y: base + 4, "text-anchor": "middle", class: "sign", "font-size": 12 }, sign);
    if (i % every === 0 || c.id === selected) el(svg, "text", { x, y: base + 26, "text-anchor": "middle", "font-size": 12,
      ...(c.id === selected ? { "font-weight": 700 } : { class: "dim" }) }, c.id);
  });
  let at = left;
  for (const [kind, [colour, sign]] of kinds) {
    el(svg, "circle", { cx: at + 8, cy: base + 48, r: 8, fill: colour });
    el(svg, "text", { x: at + 8, y: base + 52, "text-anchor": "middle", class: "sign", "font-size": 12 }, sign);
    el(svg, "text", { x: at + 21, y: base + 52, "font-size": 12, class: "dim" }, kind.toLowerCase());
    at += 38 + CHARACTER * kind.length;
  }
  el(svg, "text", { ...(below ? { x: left } : { x: W, "text-anchor": "end" }), y: height - 6, "font-size": 12, class: "dim" }, commits.length ? bars : "");
}
