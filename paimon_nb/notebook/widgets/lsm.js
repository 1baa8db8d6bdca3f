export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "lsm");
    troubles(host, model);
    const lead = html(host, "div", { class: "lead", "aria-live": "polite" }), next = html(host, "div", { class: "bar" });
    const compact = button(next, "Compact …", () => intoCell(model.get("picture").compact, true).then((text) => { said.textContent = text; }), { title: "Open the compaction panel in a new cell" });
    const said = html(next, "span", { role: "status" });
    const bar = html(host, "div", { class: "bar" });
    const canvas = html(host, "div", { class: "canvas sideways" }), heat = html(canvas, "div"), commits = html(canvas, "div");
    const track = html(canvas, "div", { class: "track" });
    const slider = html(track, "input", { type: "range", min: 0, step: 1, "aria-label": "snapshot" });
    const drawing = html(canvas, "div");
    const film = transport(host, model, bar, slider), moment = html(bar, "output"), settings = html(host, "div", { class: "bar" });
    canvas.before(settings);
    const choices = html(settings, "span", { class: "bar" });
    const zoomed = zoomable(model, settings, drawing);
    const fold = button(settings, "", () => folds());
    const whole = button(settings, "All buckets", () => model.send({ cells: "all" }));
    reloadButton(settings, model);
    const line = html(host, "div", { class: "facts", "aria-live": "polite" });
    const folds = () => { model.set("fold", !model.get("fold")); model.save_changes(); };

    const axes = () => keepingFocus(choices, () => {
      choices.replaceChildren();
      const ways = model.get("picture").value_axis ? [["key", "key value"], ["rank", "key rank"]] : [["key", "key rank"]];
      if (!model.get("heat").keys) return;
      const select = choice(choices, "axis", [...ways, ["size", "bytes"]], model.get("by") === "rank" && ways.length === 1 ? "key" : model.get("by"),
        (v) => { model.set("by", v); model.set("window", [0, 1]); model.save_changes(); });
      select.dataset.keep = "axis";
    });
    const open = (cell) => {
      if (cell.first < cell.last) model.send({ cells: [cell.first, cell.last] });
      model.set("selected", cell.worst);
      model.save_changes();
    };
    const buckets = () => {
      keepingFocus(heat, () => drawHeat(heat, model.get("heat"), model.get("selected"), open));
      whole.style.display = model.get("heat").part ? "" : "none";
    };
    const history = () => {
      const all = model.get("history").commits, at = model.get("position"), n = all.length;
      keepingFocus(commits, () => drawCommits(commits, all, at, film.go));
      placeSlider(slider, all, at, ...commitPlaces(n));
      track.style.display = n > 1 ? "" : "none";
      film.look();
    };
    const tree = () => {
      const picture = model.get("picture"), folded = picture.lanes.some((l) => l.runs > 1), level0 = picture.lanes.filter((l) => !l.level).reduce((sum, l) => sum + l.runs, 0);
      explained(lead, picture.lead || "");
      next.style.display = picture.compact ? "" : "none";
      moment.textContent = picture.snapshot === null ? "no snapshot yet" : [`snapshot ${picture.snapshot}`, picture.kind.toLowerCase(), picture.change].filter(Boolean).join(" · ");
      line.textContent = picture.lanes.length ? TREE_HINT : "";
      fold.style.display = folded || !model.get("fold") ? "" : "none";
      fold.textContent = model.get("fold") ? `Unfold L0 (${count(level0, "run")})` : "Fold L0";
      axes();
      redrawn(drawing, () => drawTree(drawing, picture, model.get("by"), { onFile: (f) => { line.textContent = f.join(" · "); }, onFold: folds, speed: film.speed() }));
      zoomed(model.get("by") === "size" ? "size" : "key");
      film.shown();
    };
    model.on("change:heat", buckets);
    model.on("change:selected", buckets);
    model.on("change:history", history);
    model.on("change:position", history);
    model.on("change:picture", tree);
    model.on("change:by", tree);
    const draw = () => { buckets(); history(); tree(); };
    draw();
    const unwatch = onWidth(host, draw);
    return () => { film.stop(); unwatch(); };
  },
};
