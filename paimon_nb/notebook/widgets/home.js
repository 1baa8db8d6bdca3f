// The connection, the tables of the current database, recent commits, and buttons that insert cells.
const START = [["Open a warehouse", "%paimon connect", true], ["New table", "%paimon create", true], ["Load a file", "%paimon load FILE.csv", false], ["All commands", "%paimon help", true], ["Check the environment", "%paimon doctor", true]];

function homeTable(host, label, heads, rows) {
  const table = html(html(host, "div", { class: "grid" }), "table", { "aria-label": label });
  const head = html(html(table, "thead"), "tr"), body = html(table, "tbody");
  heads.forEach(([text, number]) => html(head, "th", { scope: "col", ...(number ? { class: "n" } : {}) }, text));
  for (const make of rows) make(html(body, "tr"));
}

export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "home");
    troubles(host, model);
    const page = html(host, "div"), said = html(html(host, "div"), "output", { role: "status" });
    const insert = async (source, run) => { said.textContent = await intoCell(source, run); };
    const draw = () => keepingFocus(page, () => {
      const view = model.get("view");
      page.replaceChildren();
      const facts = html(page, "dl", { class: "about" });
      for (const [name, value] of view.facts) { html(facts, "dt", { class: "dim" }, name); html(facts, "dd", {}, value); }
      const bar = html(page, "div", { class: "bar" });
      for (const [text, source, run] of START) button(bar, text, () => insert(source, run), { title: source });
      reloadButton(bar, model);
      if (view.jobs) button(bar, view.jobs, () => insert("%paimon jobs", true), { title: "%paimon jobs" });
      html(page, "h4", {}, "Tables");
      if (!view.tables.length) html(page, "div", { class: "dim" }, "No tables yet. New table opens a form; Load a file fills it from your data.");
      else homeTable(page, "tables", [["table"], ["kind"], ["physical rows", true], ["last commit"], [""]], view.tables.map((t) => (row) => {
        html(row, "th", { scope: "row" }, t.name);
        html(row, "td", { class: "wide" }, t.error ? `✗ ${clip(t.error, 90)}` : t.kind);
        html(row, "td", { class: "n" }, t.rows);
        html(row, "td", {}, t.commit);
        const links = html(row, "td", { class: "actions" });
        button(links, "Query", () => insert(t.select, false), { "aria-label": `query ${t.name}` });
        if (t.explore) button(links, "Explore", () => insert(t.explore, true), { "aria-label": `explore ${t.name}` });
      }));
      if (view.more) html(page, "div", { class: "more" }, view.more);
      if (view.commits.length) {
        html(page, "h4", {}, "Recent commits");
        homeTable(page, "recent commits", [["when"], ["table"], ["snapshot", true], ["operation"], ["rows", true]], view.commits.map((c) => (row) => {
          html(row, "td", {}, c.when);
          html(row, "td", {}, c.table);
          html(row, "td", { class: "n" }, String(c.snapshot));
          html(row, "td", {}, c.kind);
          html(row, "td", { class: "n" }, c.rows);
        }));
      }
    });
    model.on("change:view", draw);
    draw();
  },
};
