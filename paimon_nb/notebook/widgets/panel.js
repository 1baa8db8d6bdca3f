// Shared by the panels: pictures drawn by the kernel, labelled controls, a line of details.

// SVG text from svg.py, where every name is escaped; parsed as an image document, so scripts do not run.
function svgInto(host, text, onFile) {
  host.replaceChildren();
  if (!text) return;
  const made = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (made.tagName !== "svg") return;
  const svg = document.importNode(made, true);
  // A group, so that a screen reader finds the files in it.
  svg.setAttribute("role", "group");
  host.classList.add("drawn");  // wider than a very narrow page: it scrolls
  host.appendChild(svg);
  // What scrolls takes the focus. A cell that is out of sight has no width when it is drawn.
  if (!host.sizes) host.sizes = new ResizeObserver(() => { if (host.scrollWidth > host.clientWidth + 1) host.tabIndex = 0; else host.removeAttribute("tabindex"); });
  host.sizes.disconnect();
  for (const sized of [host, svg]) host.sizes.observe(sized);
  for (const file of svg.querySelectorAll(".file")) {
    for (const event of ["mouseenter", "focus"]) file.addEventListener(event, () => onFile && onFile(file.getAttribute("aria-label")));
  }
}

// Tells the kernel how wide its pictures may be: their text keeps its size. The bounds are those of svg.py.
function fitPictures(host, model) {
  const tell = () => {
    const width = Math.max(680, Math.min(1600, host.clientWidth));
    if (!host.clientWidth || width === model.get("width")) return;
    model.set("width", width);
    model.save_changes();
  };
  tell();
  return onWidth(host, tell);
}

function button(host, label, onClick, attributes) {
  const made = html(host, "button", { type: "button", ...(attributes || {}) }, label);
  made.addEventListener("click", onClick);
  return made;
}

// A labelled input; Enter or leaving it after a change reports.
function field(host, label, value, onChange, attributes) {
  const box = html(host, "label", { class: "control" });
  html(box, "span", {}, label + " ");
  const input = html(box, "input", { type: "text", spellcheck: "false", ...(attributes || {}) });
  input.value = value;
  let reported = value;
  const report = () => { if (input.value !== reported) { reported = input.value; onChange(reported); } };
  input.addEventListener("change", report);
  // The notebook may swallow Enter before the field makes a change of it.
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.stopPropagation(); reported = input.value; onChange(reported); }
  });
  return input;
}

// Every part of a panel that is rebuilt and that can be pressed or focused is drawn by this. Rebuilding a focused control
// loses the focus: give it back to the same control. Rebuilding a pressed one would lose the click: while a pointer is down
// in the host, the drawing waits for its click. So the host must not be one in which something is dragged to be redrawn.
function keepingFocus(host, draw) {
  const press = presses.get(host) || watchPresses(host);
  if (press.down) { press.waiting = draw; return; }
  press.waiting = null;  // a drawing that waited would be older than this one
  const held = host.contains(focused(host)) ? focused(host) : null;
  draw();
  if (held && !host.contains(held)) sameControl(host, held)?.focus({ preventScroll: true });
}

// The control of a new drawing that stands for one of the old drawing: it has the same key, or the same name.
function sameControl(host, old) {
  if (old.dataset.keep) return host.querySelector(`[data-keep="${CSS.escape(old.dataset.keep)}"]`);
  const name = (node) => node.getAttribute("aria-label") || node.textContent;
  return [...host.querySelectorAll(old.localName)].find((node) => name(node) === name(old));
}

const presses = new WeakMap();

function watchPresses(host) {
  const press = { down: false, waiting: null };
  press.release = () => {
    const draw = press.waiting;
    press.down = false;
    press.waiting = null;
    if (draw) keepingFocus(host, draw);
  };
  host.addEventListener("pointerdown", () => {
    press.down = true;
    // A button that was let go where no event tells it (in a dialog of the system) is up at the next move.
    const ends = ["pointerup", "pointercancel", "pointermove"];
    // The click comes before the timer. It may be of another element, or not come at all.
    const ended = (event) => {
      if (event.type === "pointermove" && event.buttons) return;
      for (const end of ends) removeEventListener(end, ended, true);
      setTimeout(press.release);
    };
    for (const end of ends) addEventListener(end, ended, true);
  }, true);
  // What a click draws is drawn at once.
  host.addEventListener("click", () => { press.down = false; }, true);
  presses.set(host, press);
  return press;
}

function showMessage(host, text, kind) {
  host.replaceChildren();
  if (text) html(host, "div", { class: kind || "error", role: kind === "note" ? "status" : "alert" }, (kind === "note" ? "" : "✗ ") + text);
}

// Inserts text as a new cell below and, if `run` is set, runs inspection commands. Returns a status text.
// The JupyterLab extension handles the event and cancels it; without it, the text is copied to the clipboard.
async function intoCell(source, run = false) {
  const insert = new CustomEvent("paimon-nb:insert", { detail: { source, run }, cancelable: true });
  if (!document.dispatchEvent(insert)) return "Inserted below";
  try { await navigator.clipboard.writeText(source); return "Copied: paste it into a cell"; }
  catch (error) { return `Paste this into a cell: ${source}`; }
}
