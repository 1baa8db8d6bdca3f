// The input rows of a row of a materialized table, with buttons that follow those of materialized inputs.
function showOrigin(host, origin, report) {
  host.replaceChildren();
  if (!origin) return;
  if (origin.reason) html(host, "div", { class: "facts" }, "input rows are not known: " + origin.reason);
  for (const input of origin.inputs) {
    html(host, "h4", { class: "verdict" }, input.title);
    drawRows(html(host, "div"), input);
    const bar = html(host, "div", { class: "bar" });
    for (const [label, source] of input.follow) button(bar, label, async () => { report(await intoCell(source, true)); });
  }
}

export default {
  render({ model, el: host }) {
    host.classList.add("pnb");
    troubles(host, model);
    const bar = html(host, "div", { class: "bar" }), inputs = {};
    for (const [name, value] of Object.entries(model.get("view").key)) {
      inputs[name] = field(bar, name, value, () => {
        const key = {};
        for (const [k, i] of Object.entries(inputs)) key[k] = i.value;
        model.send({ key });
      }, { size: Math.max(14, Math.min(32, String(value).length + 1)) });
    }
    const lead = html(host, "div", { class: "lead", "aria-live": "polite" }), next = html(host, "div", { class: "bar" });
    const wrong = html(host, "div"), rule = html(host, "div", { class: "verdict" });
    const steps = html(host, "div", { class: "bar" });
    const go = (n) => { model.set("step", Math.max(0, Math.min(model.get("view").steps, n))); model.save_changes(); };
    const back = button(steps, "◀", () => go(model.get("step") - 1), { "aria-label": "previous version" });
    const slider = html(steps, "input", { type: "range", min: 0, step: 1, "aria-label": "versions merged" });
    const on = button(steps, "▶", () => go(model.get("step") + 1), { "aria-label": "next version" });
    const summary = html(steps, "output", { "aria-live": "polite" });
    slider.addEventListener("input", () => go(Number(slider.value)));
    const drawing = html(host, "div"), line = html(host, "div", { class: "facts", "aria-live": "polite" });
    const origin = html(host, "div"), sql = html(host, "div", { class: "more" });
    const draw = () => {
      const view = model.get("view"), at = model.get("step");
      for (const [k, i] of Object.entries(inputs)) if (focused(i) !== i) i.value = view.key[k];
      showMessage(wrong, view.error);
      explained(lead, view.error ? "" : view.lead);
      keepingFocus(next, () => {
        next.replaceChildren();
        if (!view.before || view.error) return;
        const said = html(next, "span", { role: "status" });
        next.prepend(button(next, "See it before", () => intoCell(view.before).then((text) => { said.textContent = text; }), { title: "Insert a cell that reads this row in an older snapshot" }));
      });
      rule.textContent = view.rule;
      slider.max = view.steps;
      slider.value = at;
      slider.setAttribute("aria-valuetext", view.summary);
      back.disabled = at <= 0;
      on.disabled = at >= view.steps;
      summary.textContent = view.summary;
      steps.style.display = view.steps ? "" : "none";
      svgInto(drawing, view.svg, (facts) => { line.textContent = facts; });
      line.textContent = (view.written ? `Written ${view.written}. ` : "") + "Hover over a level, or press Tab, for file and snapshot";
      keepingFocus(origin, () => showOrigin(origin, view.origin, (text) => { line.textContent = text; }));
      sql.replaceChildren();
      if (view.sql) html(sql, "code", {}, view.sql);
    };
    model.on("change:view", draw);
    draw();
    return fitPictures(host, model);
  },
};
