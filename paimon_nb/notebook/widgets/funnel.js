export default {
  render({ model, el: host }) {
    host.classList.add("pnb");
    troubles(host, model);
    const bar = html(host, "div", { class: "bar" });
    const where = field(bar, "WHERE", "", (v) => model.send({ where: v }), { class: "wide", placeholder: "a condition, then Enter" });
    const columns = html(host, "div", { class: "dim facts" });
    const wrong = html(host, "div"), drawing = html(host, "div");
    const line = html(host, "div", { class: "facts", "aria-live": "polite" }), sql = html(host, "div", { class: "more" });
    const draw = () => {
      const view = model.get("view");
      where.value = view.where;
      columns.textContent = view.columns.slice(0, 12).join(" · ") + (view.columns.length > 12 ? " …" : "");
      say(wrong, view.error);
      svgInto(drawing, view.svg);
      drawing.classList.toggle("stale", Boolean(view.error));
      for (const stage of drawing.querySelectorAll(".stage")) {
        for (const event of ["mouseenter", "focus"]) stage.addEventListener(event, () => { line.textContent = stage.getAttribute("aria-label"); });
      }
      line.textContent = "point at a stage, or Tab to it, for what it left out";
      sql.replaceChildren();
      html(sql, "code", {}, view.sql);
    };
    model.on("change:view", draw);
    draw();
  },
};
