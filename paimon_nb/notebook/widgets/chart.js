// The Chart tab of the result grid: the kernel counts and aggregates, the page draws at most some thousand points.
const CHART_KINDS = [["bar", "Bar"], ["line", "Line"], ["area", "Area"], ["scatter", "Scatter"], ["histogram", "Histogram"]];
const CHART_AGGREGATES = [["sum", "sum"], ["average", "average"], ["median", "median"], ["min", "smallest"], ["max", "largest"], ["count", "count"], ["distinct", "distinct values"]];
const CHART_STACKS = [["", "automatic"], ["beside", "beside each other"], ["share", "parts of 100 %"]], CHART_SCALES = [["", "linear"], ["log", "logarithmic"]];
const CHART_UNITS = [["", "automatic"], ...["second", "minute", "hour", "day", "week", "month", "quarter", "year"].map((u) => [u, u])];
const READ_HINT = "Point at the chart, or Tab to it and use the arrow keys, for values";

// The controls and the picture. `send` asks the kernel; `code` asks for Python code.
function chartPanel(host, model, columns, { send, code }) {
  const bar = html(host, "div", { class: "dg-chart-bar" });
  const title = html(host, "div", { class: "dg-chart-title" });
  const legend = html(host, "div", { class: "dg-legend" });
  const plot = html(host, "div", { class: "dg-plot", "data-lm-suppress-shortcuts": "true" });
  const read = html(host, "output", { class: "dg-read", role: "status" });
  const notes = html(host, "div", { class: "dg-chart-notes" });

  const pick = (label, keep, options, value, onChange) => { const made = choice(bar, label, options, value, onChange); made.dataset.keep = keep; return made; };
  const named = (fits) => columns.map((c, i) => [i, shownText(clip(c.name, 60))]).filter(([i]) => fits(columns[i].role));
  const controls = () => {
    const spec = model.get("chart").spec;
    keepingFocus(bar, () => {
      bar.replaceChildren();
      if (!spec) return;
      const ask = (change) => send({ chart: change });  // the kernel adds it to what was asked before
      const measured = spec.kind === "scatter" || spec.kind === "histogram", of = (i) => (i === null ? "" : columns[i].role);
      pick("Type", "kind", CHART_KINDS, spec.kind, (kind) => ask({ kind }));
      pick("X", "x", named((r) => r && !(measured && r === "text")), spec.x, (x) => ask({ x: Number(x), unit: "" }));
      if (of(spec.x) === "time" && spec.kind !== "scatter") pick("per", "unit", CHART_UNITS, spec.unit, (unit) => ask({ unit }));
      if (spec.kind === "scatter") pick("Y", "y", named((r) => r === "number"), spec.y, (y) => ask({ y: Number(y) }));
      else if (spec.kind !== "histogram") {
        pick("Y", "y", [["", "number of rows"], ...named((r) => r)], spec.y === null ? "" : spec.y, (y) => {
          const to = y === "" ? null : Number(y), number = of(to) === "number";
          ask({ y: to, aggregate: to === null ? "count" : number && spec.y === null ? "sum" : spec.aggregate });
        });
        if (spec.y !== null) pick("Aggregate", "aggregate", CHART_AGGREGATES.filter(([a]) => of(spec.y) === "number" || a === "count" || a === "distinct"), spec.aggregate, (aggregate) => ask({ aggregate }));
      }
      pick("Colour", "colour", [["", "none"], ...named((r) => r)], spec.colour === null ? "" : spec.colour, (colour) => ask({ colour: colour === "" ? null : Number(colour) }));
      if (spec.colour !== null && ["bar", "area", "histogram"].includes(spec.kind)) pick("Stack", "stack", CHART_STACKS, spec.stack, (stack) => ask({ stack }));
      if (spec.kind !== "scatter") {
        pick("One chart per", "facet", [["", "none"], ...named((r) => r)], spec.facet === null ? "" : spec.facet, (facet) => ask({ facet: facet === "" ? null : Number(facet) }));
        if (spec.facet === null && spec.kind !== "histogram") pick("Right axis", "second", [["", "none"], ...named((r) => r === "number")], spec.second === null ? "" : spec.second, (second) => ask({ second: second === "" ? null : Number(second) }));
        pick("Scale", "scale", CHART_SCALES, spec.scale, (scale) => ask({ scale }));
      }
      button(bar, "As code", code, { title: "Insert a cell that draws this chart in Python", "data-keep": "code" });
      button(bar, "Save picture", () => savePicture(picture(), title.textContent), { title: "Download the chart as SVG", "data-keep": "save" });
    });
  };

  let marks = [], at = null;
  const show = (mark) => {
    at = mark;
    plot.querySelector(".dg-at")?.remove();
    read.textContent = mark ? mark.text : READ_HINT;
    const svg = plot.querySelector("svg");
    if (!mark || !svg) return;
    if (mark.w !== undefined) el(svg, "rect", { class: "dg-at", x: mark.left - 1, y: mark.top - 1, width: mark.w + 2, height: mark.h + 2 });
    else el(svg, "circle", { class: "dg-at", cx: mark.x, cy: mark.y, r: 6 });
  };
  const draw = () => {
    const chart = model.get("chart");
    title.textContent = chart.title ? shownText(chart.title) : "";
    legend.replaceChildren();
    notes.replaceChildren();
    plot.replaceChildren();
    marks = [];
    at = null;
    for (const note of chart.notes || []) html(notes, "div", {}, shownText(note));
    const empty = chart.empty || (chart.series && !chart.series.some((s) => s.values.some((v) => v !== null)) && "No values to draw.");
    read.textContent = empty || !chart.series ? "" : READ_HINT;
    plot.classList.toggle("none", Boolean(empty));
    if (empty || !chart.series) { plot.removeAttribute("tabindex"); if (empty) html(plot, "div", { class: "dim" }, empty); return; }
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `values of the chart ${chart.title}; arrow keys move`);
    drawLegend(legend, chart);
    marks = drawChart(plot, chart);
  };
  plot.addEventListener("pointermove", (event) => {
    const svg = plot.querySelector("svg");
    if (!svg) return;
    const frame = svg.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    let best = null, near = Infinity;
    for (const mark of marks) {
      const inside = mark.w !== undefined && x >= mark.left && x <= mark.left + mark.w && y >= mark.top && y <= mark.top + mark.h;
      const far = inside ? -1 : mark.flip ? Math.abs(y - mark.y) * 3 + Math.abs(x - mark.x) / 4 : (x - mark.x) ** 2 * (mark.line ? 9 : 1) + (y - mark.y) ** 2;
      if (far < near) { near = far; best = mark; }
    }
    if (best !== at) show(best);
  });
  plot.addEventListener("pointerleave", () => { if (focused(plot) !== plot) show(null); });
  plot.addEventListener("keydown", (event) => {
    if (!marks.length) return;
    const series = marks.filter((m) => !at || m.series === at.series), i = series.indexOf(at);
    const along = { ArrowRight: i + 1, ArrowLeft: i < 0 ? series.length - 1 : i - 1, Home: 0, End: series.length - 1 }[event.key];
    const names = [...new Set(marks.map((m) => m.series))], across = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (along !== undefined) show(series[Math.max(0, Math.min(series.length - 1, along))]);
    else if (across && names.length > 1) {
      const name = names[(names.indexOf(at ? at.series : names[0]) + across + names.length) % names.length];
      const others = marks.filter((m) => m.series === name);
      show(others.reduce((a, b) => (Math.abs(b.place - (at ? at.place : 0)) < Math.abs(a.place - (at ? at.place : 0)) ? b : a)));
    } else if (event.key === "Escape" && at) show(null);
    else if (!across) return;
    event.preventDefault();
    event.stopPropagation();
  });
  const picture = () => chartPicture(plot, model.get("chart"));
  const changed = () => { controls(); draw(); };
  model.on("change:chart", changed);
  return { changed, draw, picture };
}

const seriesColour = (chart, i) => (chart.ordered ? RAMP[chart.series.length > 7 ? 6 : Math.min(i, 6)] : chart.series[i].name === "NULL" ? "#888888" : SERIES[i % SERIES.length]);

function drawLegend(host, chart) {
  if (chart.series.length < 2) return;
  chart.series.forEach((series, i) => {
    const item = html(host, "span", { class: "item", title: series.name }), svg = el(item, "svg", { width: 26, height: 12, viewBox: "0 0 26 12", "aria-hidden": "true" });
    const colour = seriesColour(chart, i), line = chart.spec.kind === "line";
    if (line) el(svg, "line", { x1: 1, x2: 25, y1: 6, y2: 6, stroke: colour, "stroke-width": 2, "stroke-dasharray": chart.ordered ? "" : DASHES[i % 8] });
    el(svg, "path", { d: line || chart.spec.kind === "scatter" ? SHAPES[chart.ordered ? 0 : i % 8] : SHAPES[1], transform: "translate(13 6) scale(8.5)", fill: colour });
    html(item, "span", {}, shownText(clip(series.name || "''", 40)));
  });
}

const valueScale = (chart, low, high, from, to) => (chart.spec.scale === "log" ? logScale : linearScale)(low, high, from, to);

// The ends of the axis of values: of all panels, if there are some.
function valueEnds(chart) {
  if (chart.ends_) return chart.ends_;
  if (chart.panels?.length) {
    const all = chart.panels.flatMap((panel) => valueEnds({ ...chart, panels: [], series: panel.series }));
    return [Math.min(...all), Math.max(...all)];
  }
  const { kind, scale } = chart.spec, bars = kind === "bar" || kind === "histogram";
  const drawn = chart.series.flatMap((s) => (kind === "scatter" ? s.values.map((d) => d[1]) : s.values.filter((v) => v !== null)));
  if (scale === "log" && kind !== "scatter") return logEnds(drawn);
  return bars || (kind === "area" && chart.stacked) ? barEnds(chart) : niceEnds(drawn, kind === "area");
}

// A chart for each value of a column, on the same axes.
function drawPanels(host, chart, wide, category) {
  const n = chart.panels.length, across = Math.max(1, Math.min(3, n, Math.floor(wide / 300))), w = Math.floor(wide / across), h = 240, head = 20, marks = [];
  const high = Math.ceil(n / across) * (h + head), svg = el(host, "svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "font-size": 12, "aria-label": chart.alternative });
  const ends_ = valueEnds(chart);
  chart.panels.forEach((panel, i) => {
    const x0 = (i % across) * w, y0 = Math.floor(i / across) * (h + head), name = shownText(clip(panel.name || "''", 40)), one = { ...chart, series: panel.series, panels: [], ends_ };
    el(svg, "text", { x: x0 + 2, y: y0 + 14, "font-weight": 600 }, name);
    const box = el(svg, "g", { transform: `translate(${x0} ${y0 + head})` });
    for (const mark of drawUpright(box, one, w - 10, h, category, barGroups(one))) {
      marks.push({ ...mark, x: mark.x + x0, y: mark.y + y0 + head, ...(mark.w === undefined ? {} : { left: mark.left + x0, top: mark.top + y0 + head }), series: `${name} · ${mark.series}`, text: `${name} · ${mark.text}` });
    }
  });
  return marks;
}

// Draws the chart; returns its marks for pointer and keyboard.
function drawChart(host, chart) {
  const spec = chart.spec, wide = Math.max(320, Math.min(2400, host.clientWidth || 860));
  const category = chart.x_kind === "category" && spec.kind !== "scatter";
  if (chart.panels?.length) return drawPanels(host, chart, wide, category);
  const longest = Math.max(0, ...chart.labels.map((l) => l.length));
  // Labels that do not fit below upright bars are written beside lying ones.
  const flip = spec.kind === "bar" && category && !chart.second && 7.2 * Math.min(longest, 30) + 10 > (wide - 80) / Math.max(1, chart.labels.length);
  const side = 17, rows = chart.labels.length, groups = barGroups(chart);
  const slot = flip ? Math.max(side, Math.min(30, groups * 9 + 6), Math.min(32, 290 / rows)) : 0;
  const high = flip ? rows * slot + 46 : 340;
  const svg = el(host, "svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "font-size": 12, "aria-label": chart.alternative });
  return flip ? drawLying(svg, chart, wide, high, slot, groups) : drawUpright(svg, chart, wide, high, category, groups);
}

const markText = (chart, series, label, value) => `${shownText(label)} · ${series.name && chart.series.length > 1 && series.name !== label ? `${shownText(series.name)} · ` : ""}${chart.y_title} ${exactNumber(value)}`;

// Bars beside each other at one place: one if they are stacked, or if no place has two.
const barGroups = (chart) => (chart.stacked || chart.labels.every((_, at) => chart.series.filter((s) => s.values[at] !== null).length < 2) ? 1 : chart.series.length);

// The parts of a group of bars: [series, from, to] on the value axis, beside each other or stacked.
function barParts(chart, at) {
  let sum = 0;
  return chart.series.map((s, i) => [i, s.values[at]]).filter(([, v]) => v !== null).map(([i, v]) => {
    const from = chart.stacked ? sum : 0;
    if (chart.stacked) sum += v;
    return [i, from, from + v, v];
  });
}

function barEnds(chart) {
  const ends = [];
  chart.labels.forEach((_, at) => { for (const [, from, to] of barParts(chart, at)) ends.push(from, to); });
  return niceEnds(ends, true);
}

function drawLying(svg, chart, wide, high, slot, groups) {
  const longest = Math.min(30, Math.max(4, ...chart.labels.map((l) => l.length))), left = Math.min(wide * 0.35, 7 * longest + 14), right = wide - 62, marks = [];
  const [low, top] = valueEnds(chart), x = valueScale(chart, low, top, left, right), bottom = high - 40;
  for (const tick of chart.spec.scale === "log" ? logTicks(low, top) : numberTicks(low, top, Math.max(2, Math.floor((right - left) / 90)))) {
    el(svg, "line", { class: "dg-gridline", x1: x(tick), x2: x(tick), y1: 4, y2: bottom });
    el(svg, "text", { x: x(tick), y: bottom + 14, "text-anchor": "middle", class: "dim" }, shortNumber(tick));
  }
  el(svg, "text", { x: (left + right) / 2, y: high - 5, "text-anchor": "middle", class: "dg-axis" }, shownText(clip(chart.y_title, 80)));
  chart.labels.forEach((label, at) => {
    const y = 4 + at * slot, thick = slot - 4, text = el(svg, "text", { x: left - 8, y: y + slot / 2 + 3.5, "text-anchor": "end" }, shownText(clip(label || "''", Math.floor((left - 12) / 6.8))));
    el(text, "title", {}, label);
    const parts = barParts(chart, at);
    for (const [i, from, to, value] of parts) {
      const h = thick / groups, x0 = Math.min(x(from), x(to)), w = Math.max(0.5, Math.abs(x(to) - x(from))), y0 = y + 2 + (groups > 1 ? i * h : 0);
      el(svg, "rect", { class: "dg-bar-mark", x: x0, y: y0, width: w, height: Math.max(1, h - (groups > 1 ? 1 : 0)), rx: chart.stacked ? 0 : 1.5, fill: seriesColour(chart, i) });
      marks.push({ left: x0, top: y0, w, h, x: x0 + w, y: y0 + h / 2, flip: true, place: at, series: chart.series[i].name, text: markText(chart, chart.series[i], label, value) });
    }
    if (chart.series.length === 1 && parts.length) {
      const [, , to, value] = parts[0];
      el(svg, "text", { x: Math.max(x(to), x(0)) + 5, y: y + slot / 2 + 3.5, class: "dim" }, shortNumber(value, 4));
    }
  });
  el(svg, "line", { class: "dg-zero", x1: x(0), x2: x(0), y1: 4, y2: bottom });
  return marks;
}

function drawUpright(svg, chart, wide, high, category, groups) {
  const kind = chart.spec.kind, bars = kind === "bar" || kind === "histogram", dots = kind === "scatter", marks = [], n = chart.labels.length;
  const stackedArea = kind === "area" && chart.stacked;
  const yEnds = valueEnds(chart), log = chart.spec.scale === "log" && !dots;
  const bottom = high - 42, top = 24;
  const ticks = log ? logTicks(yEnds[0], yEnds[1]) : numberTicks(yEnds[0], yEnds[1], 5, chart.spec.aggregate === "count" && !dots), left = Math.min(wide * 0.3, 7 * Math.max(2, ...ticks.map((t) => shortNumber(t).length)) + 14), right = wide - (chart.second ? 70 : 14);
  const y = (log ? logScale : linearScale)(yEnds[0], yEnds[1], bottom, top);
  for (const tick of ticks) {
    el(svg, "line", { class: "dg-gridline", x1: left, x2: right, y1: y(tick), y2: y(tick) });
    el(svg, "text", { x: left - 7, y: y(tick) + 3.5, "text-anchor": "end", class: "dim" }, shortNumber(tick));
  }
  el(svg, "text", { x: 2, y: 12, class: "dg-axis" }, shownText(clip(chart.y_title, 80)));
  el(svg, "text", { x: (left + right) / 2, y: high - 5, "text-anchor": "middle", class: "dg-axis" }, shownText(clip(chart.x_title, 80)));

  // The x axis: slots of categories, or a scale with round ticks.
  let x, width = () => 1;
  if (category) {
    const slot = (right - left) / Math.max(1, n), every = Math.max(1, Math.ceil((7.2 * Math.max(3, ...chart.labels.map((l) => Math.min(l.length, 24))) + 12) / slot));
    x = (at) => left + (at + 0.5) * slot;
    width = () => Math.min(70, slot * 0.8);
    chart.labels.forEach((label, at) => {
      if (at % every) return;
      const text = el(svg, "text", { x: x(at), y: bottom + 16, "text-anchor": "middle" }, shownText(clip(label || "''", 24)));
      el(text, "title", {}, label);
    });
  } else {
    let low = Infinity, most = -Infinity;
    const see = (v) => { if (v < low) low = v; if (v > most) most = v; };
    if (dots) for (const s of chart.series) for (const d of s.values) see(d[0]); else { chart.starts.forEach(see); chart.ends.forEach(see); }
    let gap = Infinity;
    chart.starts.forEach((p, i) => { if (i) gap = Math.min(gap, p - chart.starts[i - 1]); });
    if (bars && !chart.ends.length && Number.isFinite(gap)) { low -= gap / 2; most += gap / 2; }
    if (dots && most > low) { const pad = (most / 2 - low / 2) * 0.04; low -= pad; most += pad; }
    if (low === most) { const pad = Math.abs(low) * 0.05 || 1; low -= pad; most += pad; }
    const scale = linearScale(low, most, left + 2, right - 2);
    const middle = (at) => (chart.ends.length && (bars || chart.x_kind === "number") ? chart.starts[at] / 2 + chart.ends[at] / 2 : chart.starts[at]);
    x = dots ? scale : (at) => scale(middle(at));
    width = (at) => Math.max(1, chart.ends.length ? scale(chart.ends[at]) - scale(chart.starts[at]) - 1 : Math.min(70, 0.8 * (Number.isFinite(gap) ? scale(low + gap) - scale(low) : 60)));
    const room = Math.max(2, Math.floor((right - left) / 95));
    const marks_ = chart.x_kind === "time" ? timeTicks(low, most, room) : numberTicks(low, most, room).map((t) => [t, shortNumber(t)]);
    let end = -Infinity;
    // Few units of time are named below their bars.
    const named = bars && chart.unit && chart.ends.length && Math.max(...chart.labels.map((l) => l.length)) * 7.2 + 10 < (right - left) / n;
    if (named) chart.labels.forEach((label, at) => el(svg, "text", { x: x(at), y: bottom + 17, "text-anchor": "middle", class: "dim" }, label));
    else for (const [v, text] of marks_) {
      const at = scale(v), half = text.length * 3.3;
      el(svg, "line", { class: "dg-tick", x1: at, x2: at, y1: bottom, y2: bottom + 4 });
      if (at - half < end + 8 || at + half > wide) continue;
      end = at + half;
      el(svg, "text", { x: at, y: bottom + 17, "text-anchor": "middle", class: "dim" }, text);
    }
  }
  const zero = Math.min(Math.max(0, yEnds[0]), yEnds[1]);
  el(svg, "line", { class: "dg-zero", x1: left, x2: right, y1: y(zero), y2: y(zero) });

  if (dots) {
    const total = chart.series.reduce((all, s) => all + s.values.length, 0), size = total > 1500 ? 5 : total > 300 ? 6.5 : 8.5;
    chart.series.forEach((s, i) => s.values.forEach(([a, b]) => {
      const at = x(a), to = y(b);
      el(svg, "path", { d: SHAPES[chart.ordered ? 0 : i % 8], transform: `translate(${at.toFixed(1)} ${to.toFixed(1)}) scale(${size})`, fill: seriesColour(chart, i), "fill-opacity": total > 1500 ? 0.45 : 0.75 });
      const label = chart.x_kind === "time" ? new Date(a).toISOString().replace("T", " ").replace(/(:00)?\.000Z$|Z$/, "") : exactNumber(a);
      marks.push({ x: at, y: to, place: a, series: s.name, text: `${chart.x_title} ${label} · ${s.name ? `${shownText(s.name)} · ` : ""}${chart.y_title} ${exactNumber(b)}` });
    }));
    marks.sort((a, b) => a.place - b.place);
  } else if (bars) {
    chart.labels.forEach((label, at) => {
      const all = width(at), each = all / groups;
      for (const [i, from, to, value] of barParts(chart, at)) {
        const x0 = x(at) - all / 2 + (groups > 1 ? i * each : 0), y0 = Math.min(y(from), y(to)), h = Math.max(0.5, Math.abs(y(to) - y(from))), w = Math.max(0.8, each - (groups > 1 ? 1 : 0));
        el(svg, "rect", { class: "dg-bar-mark", x: x0, y: y0, width: w, height: h, rx: w > 6 && !chart.stacked ? 1.5 : 0, fill: seriesColour(chart, i) });
        marks.push({ left: x0, top: y0, w, h, x: x0 + w / 2, y: y0, line: true, place: at, series: chart.series[i].name, text: markText(chart, chart.series[i], label, value) });
      }
    });
  } else {
    const below = chart.labels.map(() => 0);
    chart.series.forEach((s, i) => {
      const points = [], colour = seriesColour(chart, i);
      chart.labels.forEach((label, at) => {
        const value = s.values[at];
        if (value === null && !stackedArea) return;
        const from = stackedArea ? below[at] : 0, to = from + (value || 0);
        below[at] = to;
        points.push([x(at), y(to), y(from)]);
        if (value !== null) marks.push({ x: x(at), y: y(to), line: true, place: at, series: s.name, text: markText(chart, s, label, value) });
      });
      const path = (side, from) => from.map((p, k) => `${k ? "L" : "M"}${p[0].toFixed(1)} ${p[side].toFixed(1)}`).join("");
      if (kind === "area" && points.length) {
        const back = stackedArea ? path(2, [...points].reverse()).replace("M", "L") : `L${points[points.length - 1][0]} ${y(zero)}L${points[0][0]} ${y(zero)}`;
        el(svg, "path", { d: `${path(1, points)}${back}z`, fill: colour, "fill-opacity": stackedArea ? 0.75 : 0.25 });
      }
      el(svg, "path", { d: path(1, points), fill: "none", stroke: colour, "stroke-width": 2, "stroke-linejoin": "round", "stroke-dasharray": kind === "line" && chart.series.length > 1 && !chart.ordered ? DASHES[i % 8] : "" });
      if (kind === "line" && points.length <= 40) for (const p of points) el(svg, "path", { d: SHAPES[chart.ordered ? 0 : i % 8], transform: `translate(${p[0].toFixed(1)} ${p[1].toFixed(1)}) scale(7)`, fill: colour });
    });
  }
  if (chart.second) drawSecond(svg, chart, x, right, bottom, top, marks);
  return marks;
}

// A dashed line of another column, with its own axis at the right.
function drawSecond(svg, chart, x, right, bottom, top, marks) {
  const { title, values } = chart.second, ends = niceEnds(values.filter((v) => v !== null), false), y = linearScale(ends[0], ends[1], bottom, top);
  const name = shownText(clip(title, 40)), label = el(svg, "text", { x: right + 66, y: 12, "text-anchor": "end", class: "dg-axis" }, `${name} ┄`);
  el(label, "title", {}, title);
  for (const tick of numberTicks(ends[0], ends[1], 5)) el(svg, "text", { x: right + 6, y: y(tick) + 3.5, class: "dim" }, shortNumber(tick));
  const points = values.map((v, at) => [at, v]).filter(([, v]) => v !== null);
  el(svg, "path", { class: "dg-second", d: points.map(([at, v], i) => `${i ? "L" : "M"}${x(at).toFixed(1)} ${y(v).toFixed(1)}`).join(""), fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": "6 4" });
  for (const [at, v] of points) marks.push({ x: x(at), y: y(v), place: at, series: title, text: `${shownText(chart.labels[at])} · ${name} ${exactNumber(v)}` });
}

// The chart with its title and legend, as SVG with the colours of the page; "" if nothing is drawn.
function chartPicture(plot, chart) {
  const drawn = plot.querySelector("svg");
  if (!drawn) return "";
  const { width, height } = drawn.viewBox.baseVal, style = getComputedStyle(plot), copy = drawn.cloneNode(true);
  const whole = document.createElementNS(NS, "svg");
  const attributes = { xmlns: NS, "font-family": "system-ui, sans-serif", "font-size": 12, role: "img", "aria-label": chart.alternative, style: `color:${style.color};background:${style.backgroundColor}` };
  for (const [name, value] of Object.entries(attributes)) whole.setAttribute(name, value);
  el(whole, "style", {}, "text{fill:currentColor}.dim{opacity:.72}.dg-axis{font-weight:600}.dg-gridline{stroke:currentColor;stroke-opacity:.14}.dg-zero,.dg-tick{stroke:currentColor;stroke-opacity:.5}");
  el(whole, "text", { x: 4, y: 17, "font-size": 14, "font-weight": 600 }, shownText(chart.title));
  let x = 4, y = 24;
  if (chart.series.length > 1) chart.series.forEach((series, i) => {
    const name = shownText(clip(series.name || "''", 40)), wide = 22 + CHARACTER * name.length;
    if (x > 4 && x + wide > width) { x = 4; y += 18; }
    el(whole, "rect", { x, y: y + 3, width: 11, height: 11, rx: 2, fill: seriesColour(chart, i) });
    el(whole, "text", { x: x + 15, y: y + 13 }, name);
    x += wide;
  });
  const top = chart.series.length > 1 ? y + 22 : y;
  copy.querySelector(".dg-at")?.remove();
  for (const [name, value] of Object.entries({ x: 0, y: top, width, height })) copy.setAttribute(name, value);
  copy.removeAttribute("role");
  whole.appendChild(copy);
  for (const [name, value] of Object.entries({ width, height: height + top, viewBox: `0 0 ${width} ${height + top}` })) whole.setAttribute(name, value);
  return new XMLSerializer().serializeToString(whole);
}

function savePicture(text, name) {
  if (!text) return;
  const link = document.createElement("a"), url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.href = url;
  link.download = `${name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "chart"}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
