// Zooming into a part of the key axis: drag, click a bin, or use the buttons and keys + - ← → 0.
// The buttons appear from `least` files on; keys and mouse always work.
function zoomable(model, bar, drawing, least = 0) {
  const shares = () => model.get("window");
  const go = (a, b) => {
    const wide = Math.min(1, Math.max(b - a, 1e-7)), low = Math.min(Math.max(0, a), 1 - wide);
    model.set("window", wide >= 1 ? [0, 1] : [low, low + wide]);
    model.save_changes();
  };
  const into = (factor, at = 0.5) => { const [a, b] = shares(), wide = b - a, next = wide * factor, x = a + at * wide; go(x - at * next, x + (1 - at) * next); };
  const pan = (share) => { const [a, b] = shares(), by = share * (b - a); go(a + by, b + by); };
  // Position in the picture → position on the whole axis.
  const whole = (x) => { const [a, b] = shares(); return a + x * (b - a); };

  const group = html(bar, "span", { class: "zoom", role: "group", "aria-label": "zoom" });
  const press = (label, description, act) => { const b = html(group, "button", { type: "button", "aria-label": description, title: description }, label); b.addEventListener("click", act); return b; };
  press("+", "Zoom in", () => into(0.5));
  const out = press("−", "Zoom out", () => into(2));
  const left = press("←", "Smaller keys", () => pan(-0.5)), right = press("→", "Larger keys", () => pan(0.5));
  const all = press("all", "All keys", () => go(0, 1));
  const shareText = html(group, "span", { class: "dim" });

  const KEYS = { "+": () => into(0.5), "=": () => into(0.5), "-": () => into(2), 0: () => go(0, 1), ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25) };
  drawing.addEventListener("keydown", (event) => {
    const act = !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key];
    const mark = event.target.closest(".file");
    if (event.key === "Enter" && mark) look(mark); else if (act) act(); else return;
    event.preventDefault();
    event.stopPropagation();
  });

  const look = (mark) => {
    const svg = mark.ownerSVGElement, plot = plotOf(svg), x = (Number(mark.getAttribute("x")) - LEFT) / plot, w = Number(mark.getAttribute("width")) / plot;
    // A little more than the bin itself, so that its neighbours stay visible.
    if (svg) go(whole(x - 0.25 * w), whole(x + 1.25 * w));
  };
  const share = (svg, event) => {
    const box = svg.getBoundingClientRect();
    return Math.min(1, Math.max(0, ((event.clientX - box.left) * (svg.viewBox.baseVal.width / box.width) - LEFT) / plotOf(svg)));
  };
  let from = null, frame = null;
  drawing.addEventListener("pointerdown", (event) => {
    const svg = event.button === 0 && event.target.closest("svg");
    if (!svg) return;
    from = { svg, x: share(svg, event), mark: event.target.closest(".file") };
  });
  drawing.addEventListener("pointermove", (event) => {
    if (!from || !from.svg.isConnected) return;
    const [a, b] = [from.x, share(from.svg, event)].sort((p, q) => p - q);
    if (!frame && b - a < 0.01) return;
    frame = frame || el(from.svg, "rect", { class: "band", y: 26, height: Math.max(0, from.svg.viewBox.baseVal.height - 52) });
    frame.setAttribute("x", LEFT + a * plotOf(from.svg));
    frame.setAttribute("width", (b - a) * plotOf(from.svg));
  });
  const drop = (event) => {
    if (!from) return;
    const began = from, banded = frame;
    from = null;
    if (frame) { frame.remove(); frame = null; }
    if (event.type !== "pointerup") return;
    const [a, b] = [began.x, share(began.svg, event)].sort((p, q) => p - q);
    if (banded && b - a >= 0.01) go(whole(a), whole(b));
    else if (began.mark && began.mark.dataset.files > 1) look(began.mark);
  };
  for (const kind of ["pointerup", "pointerleave", "pointercancel"]) drawing.addEventListener(kind, drop);
  drawing.addEventListener("dblclick", () => into(2));

  return (by) => {
    const [a, b] = shares(), near = b - a < 1, picture = model.get("picture");
    group.style.display = by === "key" && picture.lanes.length && (near || picture.files >= least) ? "" : "none";
    out.disabled = all.disabled = !near;
    left.disabled = !near || a <= 0;
    right.disabled = !near || b >= 1;
    shareText.textContent = near ? `${((b - a) * 100).toPrecision(3)} % of the keys` : "";
    drawing.classList.toggle("zoomable", by === "key");
  };
}

// The width of the part of a picture in which files are drawn.
const plotOf = (svg) => svg.viewBox.baseVal.width - LEFT - RIGHT;

// A file that had the focus may be gone: the first one takes it.
function redrawn(drawing, draw) {
  keepingFocus(drawing, () => {
    const inside = drawing.contains(focused(drawing));
    draw();
    if (inside) drawing.querySelector(".file")?.focus({ preventScroll: true });
  });
}
