export default {
  render({ model, el: host }) {
    host.classList.add("pnb");
    troubles(host, model);
    const lead = leading(host);
    lead.act("Read the rows", () => [`%%paimon\n${model.get("view").sql}`], false, { title: "Insert the query as a cell" });
    const bar = html(host, "div", { class: "bar" });
    const where = field(bar, "WHERE", "", (v) => model.send({ where: v }), { class: "wide", placeholder: "condition, then Enter" });
    const columns = html(host, "div", { class: "dim facts" });
    const wrong = html(host, "div"), drawing = html(host, "div");
    const line = html(host, "div", { class: "facts", "aria-live": "polite" }), sql = html(host, "div", { class: "more" });
    const draw = () => {
      const view = model.get("view");
      where.value = view.where;
      lead.say(view.error ? "" : view.lead);
      columns.textContent = view.columns.slice(0, 12).join(" · ") + (view.columns.length > 12 ? " …" : "");
      showMessage(wrong, view.error);
      svgInto(drawing, view.svg);
      drawing.classList.toggle("stale", Boolean(view.error));
      for (const stage of drawing.querySelectorAll(".stage")) {
        for (const event of ["mouseenter", "focus"]) stage.addEventListener(event, () => { line.textContent = stage.getAttribute("aria-label"); });
      }
      line.textContent = "Hover over a stage, or press Tab, for what it skips";
      sql.replaceChildren();
      html(sql, "code", {}, view.sql);
    };
    model.on("change:view", draw);
    draw();
    return fitPictures(host, model);
  },
};
