export default {
  render({ model, el: host }) {
    host.classList.add("pnb");
    const bar = html(host, "div", { class: "bar" });
    const drawing = html(host, "div");
    const line = html(host, "div", { class: "facts", "aria-live": "polite" });
    const draw = () => {
      bar.replaceChildren();
      const picture = model.get("picture");
      choice(bar, "position", [["key", "by key"], ["size", "by size"]], model.get("by"), (v) => { model.set("by", v); model.save_changes(); });
      if (picture.others.length > 1) {
        const names = picture.others.map(([p, b], i) => [String(i), (p ? p + " · " : "") + `bucket ${b}`]);
        const now = picture.others.findIndex(([p, b]) => p === picture.partition && b === picture.bucket);
        choice(bar, "bucket", names, String(now), (v) => { model.set("chosen", Number(v)); model.save_changes(); });
      }
      line.textContent = HINT;
      drawLsm(drawing, picture, model.get("by"), (f) => { line.textContent = f.join(" · "); });
    };
    model.on("change:picture", draw);
    model.on("change:by", draw);
    draw();
  },
};
