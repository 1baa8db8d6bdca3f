// The Pivot tab of the result grid: the kernel groups the visible rows, the page shows a table of at most some thousand cells.
function pivotPanel(host, model, columns, { send, code }) {
  const bar = html(host, "div", { class: "dg-chart-bar" });
  const box = html(host, "div", { class: "dg-pivot", role: "region", "aria-label": "pivot table", tabindex: 0, "data-lm-suppress-shortcuts": "true" });
  const notes = html(host, "div", { class: "dg-chart-notes" });
  const named = (fits) => columns.map((c, i) => [i, shownText(clip(c.name, 60))]).filter(([i]) => fits(columns[i]));
  const controls = ({ spec }) => keepingFocus(bar, () => {
    bar.replaceChildren();
    if (!spec) return;
    const ask = (change) => send({ pivot: { order: null, ...change } });
    const pick = (label, keep, options, value, onChange) => { const made = choice(bar, label, options, value ?? "", (v) => onChange(v === "" ? null : Number(v))); made.dataset.keep = keep; return made; };
    const free = (own) => named((c) => c.comparable).filter(([i]) => i === own || (!spec.by.includes(i) && i !== spec.across));
    [...spec.by, ...(spec.by.length < 3 ? [null] : [])].forEach((column, at) => {
      const options = at || spec.by.length > 1 ? [["", "none"], ...free(column)] : free(column);
      pick(at ? "then" : "Rows", `by${at}`, options, column, (to) => ask({ by: [...spec.by.slice(0, at), to, ...spec.by.slice(at + 1)].filter((i) => i !== null) }));
    });
    pick("Columns", "across", [["", "none"], ...free(spec.across)], spec.across, (across) => ask({ across }));
    pick("Values", "measure", [["", "number of rows"], ...named(() => true)], spec.measure, (measure) => ask({ measure, aggregate: measure === null ? "count" : spec.measure === null && columns[measure].number ? "sum" : spec.aggregate }));
    const able = (a) => a === "count" || (["sum", "average", "median"].includes(a) ? columns[spec.measure].number : columns[spec.measure].comparable);
    if (spec.measure !== null) choice(bar, "Aggregate", CHART_AGGREGATES.filter(([a]) => able(a)), spec.aggregate, (aggregate) => ask({ aggregate })).dataset.keep = "aggregate";
    if (model.get("state").sql) button(bar, "As SQL", code, { title: "Insert a cell that computes this table", "data-keep": "code" });
  });
  const rows = (found) => keepingFocus(box, () => {
    box.replaceChildren();
    if (!found.spec) return;
    const table = html(box, "table"), head = html(html(table, "thead"), "tr"), body = html(table, "tbody"), by = found.spec.by.length, [at, down] = found.spec.order || [];
    found.heads.forEach((name, i) => {
      const cell = html(head, "th", { scope: "col", class: found.numbers[i] ? "n" : "", "aria-sort": i === at ? (down ? "descending" : "ascending") : "none" });
      button(cell, `${shownText(name)}${i === at ? (down ? " ▼" : " ▲") : ""}`, () => send({ pivot: { order: i !== at ? [i, i >= by] : down === i >= by ? [i, !down] : null } }), { "data-keep": `head${i}` });
    });
    const line = (host_, values) => values.forEach((text, i) => html(host_, i < by ? "th" : "td", { class: `${found.numbers[i] ? "n" : ""}${text === null && i < by ? " null" : ""}`, ...(i < by ? { scope: "row" } : {}) }, text === null ? (i < by ? "NULL" : "") : shownText(text)));
    for (const values of found.rows) line(html(body, "tr"), values);
    const last = html(html(table, "tfoot"), "tr");
    line(last, ["total", ...found.total.slice(1)].map((text, i) => (i && i < by ? "" : text)));
  });
  const changed = () => {
    const found = model.get("pivot");
    controls(found);
    rows(found);
    notes.textContent = (found.notes || []).join(" ");
  };
  model.on("change:pivot", changed);
  return { changed };
}
