export default {
  render({ model, el: host }) {
    host.classList.add("pnb");
    troubles(host, model);
    const lead = html(host, "div", { class: "lead", "aria-live": "polite" });
    const actions = html(host, "div", { class: "bar" });
    const wrong = html(host, "div"), work = html(host, "div", { class: "bar", "aria-live": "polite" });
    const result = html(host, "div", { class: "done", "aria-live": "polite" });
    const drawing = html(host, "div"), line = html(host, "div", { class: "facts", "aria-live": "polite" });
    const facts_ = html(host, "details", { class: "why", open: "" });
    html(facts_, "summary", {}, "Which files, by which rule");
    const verdict = html(facts_, "div", { class: "verdict", "aria-live": "polite" });
    const rules = html(facts_, "div"), bar = html(facts_, "div", { class: "bar" });
    const earlier = html(host, "div"), history = html(host, "div"), sql = html(host, "div", { class: "more" });
    const send = (message) => model.send(message);

    const controls = () => keepingFocus(bar, () => {
      const view = model.get("view");
      bar.replaceChildren();
      if (view.buckets.length > 1) {
        choice(bar, "bucket", view.buckets.map((b, i) => [String(i), b]), String(view.bucket), (v) => send({ bucket: Number(v) })).dataset.keep = "bucket";
      }
      html(bar, "span", { class: "dim" }, "try other settings:");
      for (const [key, value] of Object.entries(view.options)) {
        const input = field(bar, key, value, (v) => send({ option: key, value: v }), { size: 5, inputmode: "numeric" });
        input.dataset.keep = key;
        if (view.changed.includes(key)) input.classList.add("changed");
      }
      if (view.changed.length) button(bar, "Reset to table settings", () => send({ reset: true }), { "data-keep": "reset" });
    });
    const picture = () => {
      const view = model.get("view");
      controls();
      line.textContent = HINT;
      svgInto(drawing, view.svg, (facts) => { line.textContent = facts; });
      explained(lead, view.lead);
      verdict.textContent = view.sentence;
      verdict.classList.toggle("due", view.due);
      rules.replaceChildren();
      if (view.rules.length) {
        const table = html(rules, "table", { class: "rules" }), body = html(table, "tbody");
        for (const r of view.rules) {
          const row = html(body, "tr", r.decides ? { class: "decides" } : {});
          html(row, "td", { class: "mark" }, r.decides ? "▸" : "");
          html(row, "th", { scope: "row" }, r.name);
          html(row, "td", { class: "dim wide" }, r.numbers);
          html(row, "td", {}, r.applies ? "applies" : "");
        }
      }
      svgInto(history, view.history);
      showMessage(wrong, view.error);
      sql.replaceChildren();
      for (const text of view.sql) html(html(sql, "div"), "code", {}, text);
      doing();
    };
    const doing = () => keepingFocus(actions, () => {
      const now = model.get("work"), view = model.get("view");
      actions.replaceChildren();
      button(actions, `Compact (${view.prices.minor})`, () => send({ run: "due" }), { "data-keep": "due", ...(view.anyDue && !now.running ? {} : { disabled: "" }) });
      button(actions, `Compact everything (${view.prices.full})`, () => send({ run: "full" }), { "data-keep": "full", ...(view.anyFiles && !now.running ? {} : { disabled: "" }) });
      const watch = html(html(actions, "label", { class: "control" }), "input", { type: "checkbox", "data-keep": "watch" });
      watch.parentNode.append(" Refresh automatically");
      watch.checked = model.get("watching");
      watch.addEventListener("change", () => { model.set("watching", watch.checked); model.save_changes(); });
      work.replaceChildren();
      if (now.running) {
        html(work, "progress", { max: Math.max(1, now.total), value: now.done, "aria-label": "compaction" });
        html(work, "span", {}, now.text);
        button(work, "Cancel", () => send({ cancel: true }));
      }
      result.textContent = now.result ? now.result.text : "";
      earlier.replaceChildren();
      if (now.result) {
        if (now.result.before) {
          html(earlier, "div", { class: "dim" }, "Before:");
          svgInto(html(earlier, "div"), now.result.before, (facts) => { line.textContent = facts; });
        }
      }
    });
    let timer = null;
    const follow = () => {
      clearInterval(timer);
      timer = model.get("watching") ? setInterval(() => document.hidden || send({ reload: true }), 1500) : null;
    };
    model.on("change:view", picture);
    model.on("change:work", doing);
    model.on("change:watching", follow);
    picture(); follow();
    const unwatch = fitPictures(host, model);
    return () => { clearInterval(timer); unwatch(); };
  },
};
