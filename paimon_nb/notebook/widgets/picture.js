// Draws an LSM picture and a timeline from plain data. Text is set as textContent only; nothing is fetched.
const NS = "http://www.w3.org/2000/svg";
const levelColour = (level) => LEVELS[Math.min(level, LEVELS.length - 1)];
let W = 860;  // the width of the picture that is drawn: text keeps its size at every width
const CHARACTER = 7;  // the mean width of a character at 12 px
const LEFT = 74, RIGHT = 190, LANE = 20, GAP = 7, ROOMY = 24;

// The width that a picture may fill, in pixels.
function fitWidth(host) {
  const free = host.clientWidth;
  W = free ? Math.max(420, Math.min(1600, free)) : 860;
}

// Draw again when the width changes.
function onWidth(host, draw) {
  let before = host.clientWidth;
  const watch = new ResizeObserver(() => {
    if (Math.abs(host.clientWidth - before) < 4) return;
    before = host.clientWidth;
    draw();
  });
  watch.observe(host);
  return () => watch.disconnect();
}

// marimo draws widgets in a shadow root: seen from the document, its host has the focus and is the target of events.
const focused = (node) => node.getRootNode().activeElement;
const isIn = (node, event) => event.composedPath().includes(node);

const CONTROLS = "form, .bar, .dg-bar, .dg-foot, .controls";
const HINT = "Hover over a file, or press Tab, for details";

function el(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attributes || {})) node.setAttribute(k, v);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function html(parent, name, attributes, text) {
  const node = document.createElement(name);
  // In command mode JupyterLab handles arrow keys unless the focused element opts out.
  if (["input", "select", "button", "textarea"].includes(name)) node.dataset.lmSuppressShortcuts = "true";
  for (const [k, v] of Object.entries(attributes || {})) node.setAttribute(k, v);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

// The error of the last request. A slip, such as a wrong name, is told below the controls that were used; of another error
// the picture is dimmed, and the reason is above it.
function troubles(host, model) {
  const box = html(host, "div", { class: "trouble" });
  let used = null;  // the row of the control that was used last: the control itself may be drawn again
  const use = (event) => {
    for (let row = event.target.closest?.(CONTROLS); row && host.contains(row) && row !== host; row = row.parentElement.closest(CONTROLS)) used = row;
  };
  for (const event of ["pointerdown", "keydown", "change"]) host.addEventListener(event, use, true);
  const draw = () => {
    const text = model.get("trouble"), slip = Boolean(text) && model.get("is_refused");
    host.classList.toggle("troubled", Boolean(text) && !slip);
    box.replaceChildren();
    if (slip && used && host.contains(used)) used.after(box);
    else if (box !== host.firstChild) host.prepend(box);
    if (!text) return;
    html(box, "div", { class: "error", role: "alert" }, "✗ " + text);
    if (slip) box.scrollIntoView?.({ block: "nearest" });
  };
  model.on("change:trouble", draw);
  draw();
  endedKernel(host, model);
}

// After a restart of the kernel a panel keeps its last picture and says that it answers no more.
function endedKernel(host, model) {
  let shown = false;
  const ended = () => {
    if (shown) return;
    shown = true;
    host.classList.add("ended");
    for (const control of host.querySelectorAll("button, input, select, textarea")) control.disabled = true;
    const box = html(host, "div", { class: "warning lost" });
    const said = html(box, "span", { role: "status" }, "The kernel has restarted: this panel keeps its last state. ");
    const again = html(box, "button", { type: "button", title: "Run the cells above that load paimon_nb and connect, then this cell" }, "Connect and show again");
    again.addEventListener("click", () => {
      const asked = new CustomEvent("paimon-nb:again", { bubbles: true, composed: true, cancelable: true });
      if (!host.dispatchEvent(asked)) { again.disabled = true; return; }
      // Not in JupyterLab: only the reader can run cells.
      said.textContent = "The kernel has restarted: this panel keeps its last state. To use it, run the cells that load paimon_nb and connect, then this cell.";
      again.remove();
    });
    host.prepend(box);
  };
  // The widget manager marks the views of a kernel that is gone, after it has told the models.
  const look = () => setTimeout(() => { if (host.closest(".jupyter-widgets-disconnected")) ended(); }, 0);
  model.on("comm_live_update", look);
  host.addEventListener("paimon-nb:kernel-ended", ended);  // the JupyterLab extension: also when a kernel dies by itself
  let offline = null;
  host.addEventListener("paimon-nb:connection", ({ detail }) => {
    offline?.remove();
    offline = null;
    if (shown || detail === "connected") return;
    offline = html(host, "div", { class: "warning lost", role: "status" }, detail === "connecting"
      ? "Reconnecting to the kernel: until then this panel shows its last state."
      : "No connection to the kernel: this panel shows its last state. Choose Reconnect to Kernel in the menu Kernel.");
    host.prepend(offline);
  });
}

// Other writers may have committed.
function reloadButton(bar, model) {
  const made = html(bar, "button", { type: "button", class: "again", "aria-label": "refresh", title: "Refresh: reload the table" }, "↻");
  made.addEventListener("click", () => model.send({ reload: true }));
  return made;
}

const clip = (text, n) => (text.length <= n ? text : text.slice(0, n - 1) + "…");
const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

function bytes(n) {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (n < 1000 || unit === "GB") return unit === "B" || n >= 100 ? `${Math.round(n)} ${unit}` : `${n.toFixed(1)} ${unit}`;
    n /= 1000;
  }
}

function facts(m) {
  const out = [m.name, `level ${m.level}`, count(m.rows, "row"), bytes(m.bytes)];
  if (m.min_key || m.max_key) out.push(`keys ${m.min_key} … ${m.max_key}`);
  out.push(`sequence ${m.min_sequence} … ${m.max_sequence}`);
  if (m.deletes) out.push(count(m.deletes, "delete"));
  if (m.source) out.push(`written by ${m.source}`);
  return out;
}

const utc = (ms) => { try { return new Date(ms).toISOString().replace("T", " ").slice(0, 19); } catch (error) { return "?"; } };

// The slider over the commits. The middle of its thumb, 8 px from the ends of the track, is aligned with the selected commit.
// left, step: the left edge of the first commit and the distance of two, in the picture above it.
function placeSlider(slider, commits, at, left, step) {
  const last = Math.max(0, commits.length - 1), chosen = commits[at], share = (v) => `${(v / W) * 100}%`;
  slider.max = last;
  slider.value = at;
  slider.style.marginLeft = `calc(${share(left + step / 2)} - 8px)`;
  slider.style.width = `calc(${share(step * last)} + 16px)`;
  slider.setAttribute("aria-valuetext", chosen ? `snapshot ${chosen.id}, ${chosen.kind.toLowerCase()}` : "no snapshot");
}

// A table cell; `side`: "n" is right-aligned.
function valueCell(line, value, side) {
  const cell = html(line, "td", { class: value === null ? `null ${side}` : side }, value === null ? "" : value);
  if (value === null) html(cell, "span", {}, "NULL");
}

function drawRows(host, preview) {
  host.replaceChildren();
  if (!preview || !preview.columns) return;
  if (preview.columns.length) {
    // The table may scroll, so it must be focusable.
    const table = html(html(host, "div", { class: "grid", tabindex: 0, role: "region", "aria-label": preview.columns.filter(Boolean).slice(0, 4).join(", ") }), "table");
    const side = (i) => ((preview.numbers || [])[i] ? "n" : "");
    const head = html(html(table, "thead"), "tr");
    preview.columns.forEach((c, i) => html(head, "th", { scope: "col", class: side(i) }, c));
    const body = html(table, "tbody");
    for (const row of preview.rows) {
      const line = html(body, "tr");
      row.forEach((v, i) => valueCell(line, v, side(i)));
    }
  }
  const more = html(host, "div", { class: "more" }, preview.note);
  if (preview.sql) html(more, "code", {}, preview.sql);
}

function choice(host, label, options, value, onChange) {
  const box = html(host, "label", { class: "control" }, label + " ");
  const select = html(box, "select", { "aria-label": label });
  options.forEach(([v, text]) => { const o = html(select, "option", { value: v }, text); o.selected = v === value; });
  select.addEventListener("change", () => onChange(select.value));
  return select;
}
