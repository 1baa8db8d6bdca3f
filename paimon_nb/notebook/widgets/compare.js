export default {
  render({ model, el: host }) {
    host.classList.add("pnb");
    troubles(host, model);
    const lead = leading(host);
    const whole = lead.act("All changed rows", () => [`%%paimon\n${model.get("view").sql}`], false, { title: "Insert the query as a cell" });
    const bar = html(host, "div", { class: "bar" }), wrong = html(host, "div");
    const changes = html(host, "ul", { class: "changes" }), rows = html(host, "div");
    const inside = html(host, "details", { class: "why", open: "" });
    const summary = html(inside, "summary", { class: "verdict" });
    const first = html(inside, "div"), second = html(inside, "div");
    const line = html(inside, "div", { class: "facts", "aria-live": "polite" });
    const key = html(inside, "div", { class: "dim facts" }, "+ added   → moved to another level, not rewritten   − removed");
    const files = html(inside, "div"), sql = html(host, "div", { class: "more" });
    const draw = () => {
      const view = model.get("view");
      keepingFocus(bar, () => {
        bar.replaceChildren();
        const pick = (label, name) => {
          const known = view.snapshots.some(([v]) => v === view[name]) ? view.snapshots : [[view[name], view[name]], ...view.snapshots];
          const select = choice(bar, label, known, view[name], () => model.send({ before: before.value, after: after.value }));
          select.dataset.keep = name;
          return select;
        };
        const before = pick("before", "before"), after = pick("after", "after");
        if (view.buckets.length > 1) {
          choice(bar, "bucket", view.buckets.map((b, i) => [String(i), b]), String(view.bucket), (v) => model.send({ bucket: Number(v) })).dataset.keep = "bucket";
        }
        reloadButton(bar, model).dataset.keep = "again";
      });
      showMessage(wrong, view.error);
      lead.say(view.lead);
      whole.style.display = view.rows.columns?.length || view.rows.ask ? "" : "none";
      summary.textContent = view.summary;
      svgInto(first, view.svgs[0], (facts) => { line.textContent = facts; });
      svgInto(second, view.svgs[1], (facts) => { line.textContent = facts; });
      line.textContent = HINT;
      changes.replaceChildren();
      view.changes.forEach((c) => html(changes, "li", {}, c));
      keepingFocus(rows, () => {
        drawRows(rows, { columns: [], rows: [], note: "", ...view.rows });
        if (view.rows.ask) button(rows, "Show changed rows", () => model.send({ rows: true }));
      });
      drawRows(files, view.files);
      sql.replaceChildren();
      html(sql, "code", {}, view.sql);
    };
    model.on("change:view", draw);
    draw();
    return fitPictures(host, model);
  },
};
