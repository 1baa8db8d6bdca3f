export default {
  render({ model, el: host }) {
    host.classList.add("pnb");
    troubles(host, model);
    const bar = html(host, "div", { class: "bar" }), choices = html(bar, "span", { class: "bar" });
    const drawing = html(host, "div");
    const line = html(host, "div", { class: "facts", "aria-live": "polite" });
    const zoomed = zoomable(model, bar, drawing);
    reloadButton(bar, model);
    const draw = () => {
      const held = choices.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
      choices.replaceChildren();
      const picture = model.get("picture");
      choice(choices, "position", [["key", "by key"], ["size", "by size"]], model.get("by"), (v) => { model.set("by", v); model.set("window", [0, 1]); model.save_changes(); });
      if (picture.others.length > 1) {
        const names = picture.others.map(([p, b], i) => [String(i), (p ? p + " · " : "") + `bucket ${b}`]);
        const now = picture.others.findIndex(([p, b]) => p === picture.partition && b === picture.bucket);
        choice(choices, "bucket", names, String(now), (v) => { model.set("selected", Number(v)); model.save_changes(); });
      }
      if (held) choices.querySelector(`[aria-label="${held}"]`)?.focus();
      line.textContent = HINT;
      redrawn(drawing, () => drawLsm(drawing, picture, model.get("by"), (f) => { line.textContent = f.join(" · "); }));
      zoomed(model.get("by"));
    };
    model.on("change:picture", draw);
    model.on("change:by", draw);
    draw();
    return onWidth(host, draw);
  },
};
