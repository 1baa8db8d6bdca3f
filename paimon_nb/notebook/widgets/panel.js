// What the panels share: drawings that the kernel made, labelled controls, a line of facts.

// SVG text made by our own svg.py, where every name is escaped; parsed as a picture, so nothing in it runs.
function svgInto(host, text, onFile) {
  host.replaceChildren();
  if (!text) return;
  const made = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (made.tagName !== "svg") return;
  const svg = document.importNode(made, true);
  // A group, so that a screen reader finds the files in it.
  svg.setAttribute("role", "group");
  host.appendChild(svg);
  for (const file of svg.querySelectorAll(".file")) {
    for (const event of ["mouseenter", "focus"]) file.addEventListener(event, () => onFile && onFile(file.getAttribute("aria-label")));
  }
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
  let told = value;
  const tell = () => { if (input.value !== told) { told = input.value; onChange(told); } };
  input.addEventListener("change", tell);
  // The notebook may swallow Enter before the field makes a change of it.
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.stopPropagation(); told = input.value; onChange(told); }
  });
  return input;
}

// Rebuilding what has the focus would throw the reader out of it: the same control gets it back.
function keepingFocus(host, draw) {
  const held = host.contains(document.activeElement) ? document.activeElement.dataset.keep : null;
  draw();
  if (held) { const again = host.querySelector(`[data-keep="${CSS.escape(held)}"]`); again && again.focus(); }
}

function say(host, text, kind) {
  host.replaceChildren();
  if (text) html(host, "div", { class: kind || "error", role: kind === "note" ? "status" : "alert" }, (kind === "note" ? "" : "✗ ") + text);
}

// Puts text into a new cell below, and runs it when asked to and it is a look at a table. Gives what happened, in words.
// Our JupyterLab extension hears the event and says so by cancelling it; elsewhere the text goes to the clipboard.
async function intoCell(source, run = false) {
  const asked = new CustomEvent("paimon-nb:insert", { detail: { source, run }, cancelable: true });
  if (!document.dispatchEvent(asked)) return "it stands in the cell below";
  try { await navigator.clipboard.writeText(source); return "copied: paste it into a cell"; }
  catch (error) { return `put this into a cell: ${source}`; }
}
