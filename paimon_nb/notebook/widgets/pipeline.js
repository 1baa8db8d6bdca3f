// The pipeline: a click on a part shows its facts, its columns with their origins, its query, and what opens it.
export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "pipeline");
    troubles(host, model);
    const bar = html(host, "div", { class: "bar" });
    reloadButton(bar, model);
    const graph = html(host, "div");
    const details = html(host, "section", { "aria-live": "polite" });
    const message = html(host, "div", { class: "facts", role: "status" });
    const draw = () => {
      const view = model.get("view"), shown = view.details || {};
      keepingFocus(graph, () => {
        svgInto(graph, model.get("view").svg);
        for (const part of graph.querySelectorAll("[data-node]")) {
          const open = () => model.send({ select: part.getAttribute("data-node") });
          part.dataset.keep = part.dataset.node;
          part.style.cursor = "pointer";
          part.addEventListener("click", open);
          part.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            event.stopPropagation();
            open();
          });
        }
      });
      message.textContent = view.message;
      keepingFocus(details, () => {
        details.replaceChildren();
        if (!shown.title) return;
        html(details, "h4", { class: "verdict" }, shown.title);
        const buttons = html(details, "div", { class: "bar" });
        if (shown.refreshes) button(buttons, "Refresh now", () => { message.textContent = "Refreshing …"; model.send({ refresh: true }); }, { "data-keep": "refresh" });
        for (const [label, source] of shown.commands) {
          button(buttons, label, async () => { message.textContent = await intoCell(source, true); }, { "data-keep": label });
        }
        drawRows(html(details, "div"), { columns: ["fact", "value"], rows: shown.facts, note: "" });
        if (shown.columns.length) drawRows(html(details, "div"), { columns: ["column", "expression", "made from"], rows: shown.columns, note: "" });
        if (shown.plan) html(details, "pre", { class: "facts" }, shown.plan);
        if (shown.query) html(html(details, "div", { class: "more" }), "code", {}, shown.query);
      });
    };
    model.on("change:view", draw);
    draw();
    return fitPictures(host, model);
  },
};
