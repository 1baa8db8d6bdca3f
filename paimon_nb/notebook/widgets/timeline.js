export default {
  render({ model, el: host }) {
    host.classList.add("pnb");
    troubles(host, model);
    const lead = leading(host), place = () => model.get("history").commits.slice(Math.max(0, model.get("position") - 1), model.get("position") + 1);
    const read = lead.act("Query it", () => [model.get("table").select + place().at(-1).id], false, { title: "Insert a query of this snapshot as a cell" });
    const older = lead.act("See what changed", () => [model.get("table").compare + place().map((c) => c.id).join(" ")], true, { title: "Compare it with the snapshot before, in a new cell" });
    // In a narrow page the picture and its slider scroll together.
    const canvas = html(host, "div", { class: "sideways" }), history = html(canvas, "div");
    const slider = html(html(canvas, "div", { class: "track" }), "input", { type: "range", min: 0, step: 1, "aria-label": "snapshot" });
    const bar = html(host, "div", { class: "bar" });
    const film = transport(host, model, bar, slider);
    reloadButton(bar, model);
    const label = html(bar, "output");
    html(bar, "span", { class: "dim" }, "Drag the slider, click a commit, or use ← →");
    const closer = html(host, "div", { class: "bar" }), drawing = html(html(host, "div", { class: "sideways" }), "div");
    const zoomed = zoomable(model, closer, drawing, 40);
    const line = html(host, "div", { class: "facts", "aria-live": "polite" });
    const rows = html(host, "div"), table = html(host, "div");
    const folds = () => { model.set("fold", !model.get("fold")); model.save_changes(); };
    const draw = () => {
      const all = model.get("history"), at = model.get("position"), n = all.commits.length;
      fitWidth(history);
      placeSlider(slider, all.commits, at, ...historyPlaces(n));
      slider.style.visibility = n > 1 ? "visible" : "hidden";
      const c = all.commits[at];
      label.textContent = c ? `snapshot ${c.id} · ${c.kind.toLowerCase()}` : "no snapshot yet";
      keepingFocus(history, () => drawHistory(history, all, c ? c.id : null, film.go));
      film.look();
    };
    const picture = () => {
      line.textContent = model.get("picture").lanes.length ? TREE_HINT : "";
      redrawn(drawing, () => drawTree(drawing, model.get("picture"), "key", { onFile: (f) => { line.textContent = f.join(" · "); }, onFold: folds, speed: film.speed() }));
      zoomed("key");
      film.shown();
    };
    model.on("change:history", draw);
    model.on("change:position", draw);
    model.on("change:picture", picture);
    const preview = () => {
      drawRows(rows, model.get("preview"));
      lead.say(model.get("preview").lead);
      read.style.display = place().length ? "" : "none";
      older.style.display = place().length > 1 ? "" : "none";
    };
    model.on("change:preview", preview);
    draw(); picture(); preview();
    historyTable(table, model, film.go);
    const unwatch = onWidth(host, () => { draw(); picture(); });
    return () => { film.stop(); unwatch(); };
  },
};
