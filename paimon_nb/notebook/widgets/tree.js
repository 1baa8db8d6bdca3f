// Draws the LSM tree of a bucket, and slides its files from one picture to the next.
const TOP = 34, FOLDED = 62, MOVE_MS = 650, MAX_MOVES = 400;
const TREE_HINT = "Hover over a file, or press Tab and ↑ ↓, for details";
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const laneHeight = (lane) => (lane.runs > 1 ? FOLDED : LANE);

// One box for each mark of a picture, with what is needed to find it in the next picture. `top`: of the first lane.
function placedLanes(picture, by, plot, top) {
  const largest = Math.max(1, ...picture.lanes.map((l) => l.bytes));
  return picture.lanes.map((lane) => {
    const tall = laneHeight(lane), pitch = tall / lane.stack, scale = by === "size" ? lane.bytes / largest : 1;
    const height = lane.runs > 1 ? Math.max(1, pitch * 0.85) : tall;
    // A file with a single key would be too narrow to see; give it a minimum width if there is room.
    const least = lane.marks.length <= ROOMY ? 9 : 2.5;
    const boxes = lane.marks.map((mark) => {
      const [a, b] = by === "size" ? [mark.s0 * scale, mark.s1 * scale] : [mark.x0, mark.x1];
      const width = Math.max((b - a) * plot, least);
      const id = mark.files === 1 ? mark.name : `${lane.level} ${mark.min_key} ${mark.max_key} ${mark.files}`;
      return { id, mark, x: Math.min(LEFT + a * plot, LEFT + plot - width), y: top + mark.lane * pitch, width, height, fill: levelColour(mark.level) };
    });
    const placed = { lane, id: lane.level ? `L${lane.level}` : lane.runs > 1 ? "L0" : lane.first, top, tall, boxes };
    top += tall + GAP;
    return placed;
  });
}

// Draws the tree. A second picture of the same bucket, drawn in the same place, slides in from the first one.
// onFile: shows the facts of a file. onFold: folds or unfolds level 0. speed: of the slides.
function drawTree(host, picture, by, { onFile, onFold, speed = 1 }) {
  host.replaceChildren();
  fitWidth(host);
  // While a bucket is played its picture never shrinks: deep levels keep their place, and what is below it does not jump.
  const scene = [picture.table, picture.partition, picture.bucket, by, W, picture.lanes.some((l) => l.runs > 1)].join("\n");
  const before = host.tree && host.tree.scene === scene ? host.tree : null;
  const least = TOP + (picture.lanes.reduce((sum, l) => sum + laneHeight(l) + GAP, 0) || LANE + GAP) + 34;
  const height = Math.max(least, before ? before.height : 0), bottom = height - 30, plot = W - LEFT - RIGHT;
  const lanes = placedLanes(picture, by, plot, TOP + height - least);
  const moment = picture.snapshot === null ? "no snapshot yet" : `snapshot ${picture.snapshot}`;
  const svg = el(host, "svg", { viewBox: `0 0 ${W} ${height}`, width: W, height, class: "tree-picture", role: "group", "font-size": 12,
    "aria-label": `LSM tree of ${picture.table}, ${moment}` });
  el(svg, "text", { x: 0, y: 14, "font-weight": 600 }, clip(picture.table, 40));
  const where = (picture.partition ? picture.partition + " · " : "") + `bucket ${picture.bucket}`;
  el(svg, "text", { x: W, y: 14, "text-anchor": "end", class: "dim" },
    clip(`${moment}${picture.kind ? " · " + picture.kind.toLowerCase() : ""} · ${where}`, Math.floor((W - 300) / CHARACTER)));
  if (by !== "size" && lanes.length) for (const [x0, x1, runs] of picture.overlaps) {
    const box = el(svg, "rect", { class: "overlap", x: LEFT + x0 * plot - 3, y: lanes[0].top - 7, rx: 4,
      width: Math.max((x1 - x0) * plot, 3) + 6, height: bottom - lanes[0].top + 4 });
    el(box, "title", {}, `${runs} overlapping runs: merged on read`);
  }
  for (const placed of lanes) drawLane(svg, placed, plot, onFile, onFold);
  if (!lanes.length) el(svg, "text", { x: LEFT, y: TOP + 15, class: "dim" }, "no files yet: insert rows, then refresh (↻)");
  else drawAxis(svg, picture, by, plot, bottom + 4);
  el(svg, "text", { x: W, y: bottom + 19, "text-anchor": "end", class: "dim" },
    `${count(picture.files, "file")} · ${count(picture.runs, "run")} · ${bytes(picture.bytes)}`);
  steppable(svg);
  host.tree = { lanes, scene, height };
  if (before && !calm()) slideFiles(svg, before, host.tree, MOVE_MS / speed);
}

function drawLane(svg, placed, plot, onFile, onFold) {
  const { lane, top, tall, boxes } = placed, folded = lane.runs > 1, middle = top + (tall - LANE) / 2 + 14;
  const group = el(svg, "g", { class: "lane" });
  placed.node = group;
  el(group, "rect", { class: "rail", x: LEFT, y: top, width: plot, height: tall, rx: 3 });
  if (folded && onFold) {
    const press = el(group, "g", { class: "fold", role: "button", tabindex: 0, "data-lm-suppress-shortcuts": "true",
      "aria-label": `Unfold level 0: ${count(lane.runs, "run")}, ${count(lane.rows, "row")}, ${bytes(lane.bytes)}` });
    el(press, "title", {}, "Unfold: a lane for each run");
    el(press, "rect", { x: 0, y: middle - 15, width: LEFT - 6, height: 21, rx: 4 });
    el(press, "text", { x: LEFT - 10, y: middle, "text-anchor": "end", "font-weight": 600 }, lane.label);
    press.addEventListener("click", onFold);
    press.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      onFold();
    });
  } else el(group, "text", { x: LEFT - 10, y: middle, "text-anchor": "end", "font-weight": 600 }, lane.label);
  for (const placedFile of boxes) {
    const { mark, x, y, width, height, fill } = placedFile, said = facts(mark);
    const box = el(svg, "rect", { class: "file", x, y, width, height, rx: Math.min(3, height / 2), fill, role: "img",
      tabindex: -1, "data-files": mark.files, "data-lm-suppress-shortcuts": "true", "aria-label": said.join(", ") });
    placedFile.node = box;
    if (folded || width < 5) box.classList.add("thin");
    el(box, "title", {}, said.join("\n"));
    for (const event of ["mouseenter", "focus"]) box.addEventListener(event, () => onFile(said));
    if (mark.deletes && !folded) {
      const share = Math.min(1, mark.deletes / Math.max(1, mark.rows));
      placedFile.deletes = el(svg, "rect", { class: "deletes", x, y: y + height - 3, width: width * share, height: 3 });
    }
  }
  const whole = [count(lane.rows, "row"), bytes(lane.bytes), ...(lane.files > lane.runs ? [count(lane.files, "file")] : [])];
  const text = el(group, "text", { x: LEFT + plot + 10, y: middle, class: "dim" }, sideText(lane, whole));
  el(text, "title", {}, whole.join(" · "));
}

// What fits beside a lane: all of it, short numbers, or without the rows.
function sideText(lane, whole) {
  const short = [`${shortNumber(lane.rows, 2)} rows`, ...whole.slice(1)];
  return [whole, short, whole.slice(1)].map((parts) => parts.join(" · ")).find((text) => text.length * CHARACTER <= RIGHT - 10) || whole[1];
}

// One file takes the focus; ↑ and ↓ move it, because a lane may hold hundreds.
function steppable(svg) {
  const files = [...svg.querySelectorAll(".file")];
  let stop = files[0];
  if (stop) stop.setAttribute("tabindex", 0);
  // Not on the SVG: an SVG that listens for the focus can take it.
  for (const file of files) file.addEventListener("focus", () => {
    stop.setAttribute("tabindex", -1);
    stop = file;
    stop.setAttribute("tabindex", 0);
  });
  svg.addEventListener("keydown", (event) => {
    const at = files.indexOf(event.target), next = files[at + ({ ArrowDown: 1, ArrowUp: -1 }[event.key] || 0)];
    if (at < 0 || !next || next === event.target) return;
    event.preventDefault();
    event.stopPropagation();
    next.focus();
  });
}

// The key axis by value or by rank, or bytes from the start of each run. Its name is at the left, as those of the lanes.
function drawAxis(svg, picture, by, plot, y) {
  const axis = el(svg, "g", { class: "key-axis" });
  el(axis, "line", { class: "axis", x1: LEFT, y1: y, x2: LEFT + plot, y2: y });
  const [name, low, high] = by === "size" ? ["bytes →", "0 B", bytes(Math.max(1, ...picture.lanes.map((l) => l.bytes)))]
    : [picture.by_value ? "key →" : "rank →", picture.key_low, picture.key_high];
  if (by !== "size" && !low && !high) return;
  el(axis, "text", { x: LEFT - 10, y: y + 15, "text-anchor": "end", "font-weight": 600 }, name);
  const notes = by === "size" || picture.by_value ? [""] : ["keys in order, not to scale", "not to scale"];
  // The width that both ends leave to the note: it is whole, or shorter, or left out.
  const besides = (text) => Math.floor((plot / CHARACTER - text.length - 3) / 2), wanted = Math.min(44, Math.max(low.length, high.length));
  const note = notes.find((text) => besides(text) >= wanted) || notes[notes.length - 1], longest = Math.max(8, Math.min(44, besides(note)));
  const taken = [];
  // A label that does not fit between the others is left out.
  const label = (text, x, anchor, attributes) => {
    const shown = text === note ? text : clip(text, longest), wide = shown.length * CHARACTER;
    const from = anchor === "start" ? x : anchor === "end" ? x - wide : x - wide / 2;
    if (!shown || taken.some(([a, b]) => from < b + 12 && from + wide > a - 12)) return;
    taken.push([from, from + wide]);
    const node = el(axis, "text", { x, y: y + 15, "text-anchor": anchor, class: "dim", ...attributes }, shown);
    if (shown !== text) el(node, "title", {}, text);
  };
  label(low, LEFT, "start", { "data-end": "low" });
  label(high, LEFT + plot, "end", { "data-end": "high" });
  label(note, LEFT + plot / 2, "middle");
  for (const [x, text] of axisTicks(picture, by, plot)) {
    el(axis, "line", { class: "axis", x1: x, y1: y, x2: x, y2: y + 4 });
    label(text, x, "middle");
  }
}

function axisTicks(picture, by, plot) {
  const wanted = Math.max(2, Math.floor(plot / 130));
  if (by === "size") {
    const largest = Math.max(1, ...picture.lanes.map((l) => l.bytes));
    return numberTicks(0, largest, wanted, true).filter((v) => v).map((v) => [LEFT + (v / largest) * plot, bytes(v)]);
  }
  if (!picture.values) return [];
  const [low, high] = picture.values, at = (v) => LEFT + (high > low ? (v - low) / (high - low) : 0) * plot;
  if (picture.dates) return timeTicks(low * DAY_MS, high * DAY_MS, wanted).map(([t, text]) => [at(t / DAY_MS), text]);
  return numberTicks(low, high, wanted, true).map((v) => [at(v), String(v)]);
}

// From the boxes of one picture to those of the next. New files of a compaction come out of the files that slide into them.
function slideFiles(svg, before, after, duration) {
  const old = new Map(before.lanes.flatMap((l) => l.boxes.map((b) => [b.id, b])));
  const now = new Map(after.lanes.flatMap((l) => l.boxes.map((b) => [b.id, b])));
  const come = [...now.values()].filter((b) => !old.has(b.id)), gone = [...old.values()].filter((b) => !now.has(b.id));
  if (!svg.animate || come.length + gone.length > MAX_MOVES) return;
  const timing = { duration, easing: "cubic-bezier(.45,0,.25,1)", fill: "backwards" }, made = new Set();
  const ghosts = el(svg, "g", { class: "ghosts", "aria-hidden": "true" });
  for (const box of gone) {
    const target = mergedInto(box, come);
    const ghost = el(ghosts, "rect", { x: box.x, y: box.y, width: box.width, height: box.height, rx: Math.min(3, box.height / 2), fill: box.fill });
    if (target) made.add(target);
    const end = target ? { transform: shift(box, shareOf(box, target)), fill: target.fill } : { transform: "none", fill: box.fill };
    const frames = [{ transform: "none", fill: box.fill, opacity: 1 }, { ...end, opacity: target ? 1 : 0, offset: 0.9 }, { ...end, opacity: 0 }];
    ghost.animate(frames, timing).onfinish = () => ghost.remove();
  }
  for (const box of come) {
    const frames = made.has(box) ? [{ opacity: 0 }, { opacity: 0, offset: 0.75 }, { opacity: 1 }]
      : [{ transform: "translate(0px, -26px)", opacity: 0 }, { transform: "none", opacity: 1 }];
    for (const node of [box.node, box.deletes]) if (node) node.animate(frames, timing);
  }
  for (const box of now.values()) {
    const from = old.get(box.id);
    if (!from || ["x", "y", "width", "height"].every((k) => Math.abs(from[k] - box[k]) < 0.5)) continue;
    box.node.animate([{ transform: shift(box, from), fill: from.fill }, { transform: "none", fill: box.fill }], timing);
    if (box.deletes) box.deletes.animate([{ opacity: 0 }, {}], timing);
  }
  const tops = new Map(before.lanes.map((l) => [l.id, l.top]));
  for (const { id, top, node } of after.lanes) {
    const from = tops.get(id);
    if (from === undefined) node.animate([{ opacity: 0 }, {}], timing);
    else if (from !== top) node.animate([{ transform: `translate(0px, ${from - top}px)` }, { transform: "none" }], timing);
  }
}

// The new file that holds most of a removed file's key range, if it is not on a lower level.
function mergedInto(box, come) {
  let found = null, most = -Infinity;
  for (const target of come) {
    const shared = Math.min(box.mark.x1, target.mark.x1) - Math.max(box.mark.x0, target.mark.x0);
    if (shared < 0 || target.mark.level < box.mark.level || (target.mark.level === 0 && box.mark.level === 0)) continue;
    if (shared > most) { most = shared; found = target; }
  }
  return found;
}

// The part of a new file that a removed file fills: the keys that both hold.
function shareOf(box, target) {
  const x = Math.min(Math.max(box.x, target.x), target.x + target.width - 1);
  return { x, y: target.y, width: Math.max(1, Math.min(box.x + box.width, target.x + target.width) - x), height: target.height };
}

// Moves a box, drawn at its own place, to another place.
const shift = (box, to) => `translate(${to.x - box.x}px, ${to.y - box.y}px) scale(${to.width / box.width}, ${to.height / box.height})`;
