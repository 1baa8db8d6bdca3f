// The history as a table below the timeline: the selected snapshot is read, compared, tagged or made the latest again.
function historyTable(host, model, select) {
  const box = html(host, "section", { class: "history", "aria-label": "history" });
  const head = html(box, "h4", {}, "History"), bar = html(box, "div", { class: "bar" }), ask = html(box, "div");
  const said = html(box, "div", { role: "status", class: "history-said" });
  const scroll = html(box, "div", { class: "grid", role: "region", "aria-label": "commits, newest first" }), more = html(box, "div");
  let tagging = false, sent = false, confirming = null;

  const actions = () => keepingFocus(bar, () => {
    const view = model.get("table"), all = model.get("history").commits, at = model.get("position"), commit = all[at];
    bar.replaceChildren();
    head.style.display = commit ? "" : "none";
    if (!commit) return;
    html(bar, "b", {}, `snapshot ${commit.id}`);
    const insert = async (source, run) => { said.textContent = await intoCell(source, run); };
    const add = (text, keep, does, title, off) => { const made = button(bar, text, does, { title, "data-keep": keep }); made.disabled = Boolean(off); };
    add("Read", "read", () => insert(view.select + commit.id, false), `Insert a cell that reads snapshot ${commit.id}`);
    add("Compare with previous", "compare", () => insert(`${view.compare}${all[at - 1].id} ${commit.id}`, true), "Open the comparison in a new cell", at === 0);
    if (tagging) {
      const form = html(bar, "form", { class: "control" });
      const name = html(form, "input", { type: "text", "aria-label": `name of the tag for snapshot ${commit.id}`, placeholder: "name of the tag", spellcheck: "false", "data-keep": "tag-name" });
      name.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Escape") { tagging = false; actions(); bar.querySelector("[data-keep=tag]").focus(); }
      });
      html(form, "button", { type: "submit", "data-keep": "tag-create" }, "Create tag");
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        if (!name.value.trim()) return name.focus();
        sent = true;  // the form stays until the tag is there: a name that is refused can be mended
        model.send({ tag: name.value, snapshot: commit.id });
      });
    } else add("Tag …", "tag", () => { tagging = true; actions(); bar.querySelector("input").focus(); }, "Tag this snapshot: it does not expire");
    add("Roll back …", "rollback", () => model.send({ preview_rollback: commit.id }), at === all.length - 1 ? "This is the latest snapshot" : "Preview what a rollback to this snapshot removes", at === all.length - 1);
  });

  const confirm = () => {
    const preview = model.get("table").rollback, key = preview && `${preview.target}/${preview.latest}`;
    if (key === confirming) return;
    const held = ask.contains(focused(ask));
    confirming = key;
    ask.replaceChildren();
    if (!preview) { if (held) bar.querySelector("[data-keep=read]")?.focus(); return; }
    const form = html(ask, "div", { class: "warning confirm", role: "alertdialog", "aria-label": `roll back ${model.get("table").name} to snapshot ${preview.target}` });
    html(form, "b", {}, `Roll back ${model.get("table").name} to snapshot ${preview.target}?`);
    const list = html(form, "ul", { class: "changes" });
    for (const text of preview.lines) html(list, "li", {}, text);
    const row = html(form, "div", { class: "bar" });
    const cancel = () => model.send({ cancel_rollback: true });
    button(row, "Cancel", cancel).focus();
    button(row, `Roll back to snapshot ${preview.target}`, (event) => { event.target.disabled = true; model.send({ rollback: preview.target }); }, { class: "danger" });
    form.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); cancel(); } });
  };

  const rows = () => keepingFocus(box, () => {
    const view = model.get("table"), all = model.get("history").commits, chosen = all[model.get("position")], top = scroll.scrollTop;
    scroll.replaceChildren();
    more.replaceChildren();
    if (!view.rows || !view.rows.length) return;
    scroll.tabIndex = 0;
    const known = view.rows.some((r) => r.statement);
    const table = html(scroll, "table"), line = html(html(table, "thead"), "tr"), body = html(table, "tbody");
    for (const [name, side] of [["snapshot", "n"], ["time (UTC)"], ["operation"], ["physical rows", "n"], ["files", "n"], ["bytes", "n"], ["user"], ["tags"], ...(known ? [["statement"]] : [])]) html(line, "th", { scope: "col", class: side || "" }, name);
    for (const commit of view.rows) {
      const at = all.findIndex((c) => c.id === commit.id), on = chosen && chosen.id === commit.id, tr = html(body, "tr", { class: on ? "chosen" : "" });
      tr.addEventListener("click", () => select(at));
      const pick = button(html(tr, "th", { scope: "row", class: "n" }), String(commit.id), () => {}, { class: "pick", "data-keep": `pick-${commit.id}`, "aria-label": `select snapshot ${commit.id}`, "aria-pressed": on });
      pick.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], next = step && [...body.querySelectorAll(".pick")][[...body.children].indexOf(tr) + step];
        if (!step) return;
        event.preventDefault();
        event.stopPropagation();
        if (next) { next.focus(); next.click(); }
      });
      html(tr, "td", {}, commit.time);
      const [colour, sign] = KINDS[commit.operation.toUpperCase()] || ["#888", "?"], kind = html(tr, "td");
      html(kind, "span", { class: "kind-sign", style: `background:${colour}`, "aria-hidden": "true" }, sign);
      kind.append(` ${commit.operation}`);
      for (const text of [commit.rows, commit.files || "–", commit.size || "–"]) html(tr, "td", { class: "n" }, text);
      html(tr, "td", { title: commit.user }, clip(commit.user, 8));
      html(tr, "td", {}, commit.tags.join(", "));
      if (known) html(tr, "td", { class: "statement", title: commit.statement }, clip(commit.statement.replace(/\s+/g, " "), 120));
    }
    scroll.scrollTop = top;
    const row = body.querySelector(".chosen"), room = scroll.clientHeight - 30;
    if (row && (row.offsetTop < scroll.scrollTop + 26 || row.offsetTop > scroll.scrollTop + room)) scroll.scrollTop = row.offsetTop - room / 2;
    if (view.more) button(more, `Show ${Math.min(20, view.more)} more of ${count(view.more, "earlier snapshot")}`, () => model.send({ more: true }), { "data-keep": "more" });
  });

  const draw = () => {
    if (sent) { sent = tagging = false; rows(); actions(); bar.querySelector("[data-keep=tag]")?.focus(); }
    rows(); actions(); confirm(); said.textContent = model.get("table").message || "";
  };
  const moved = () => { tagging = sent = false; rows(); actions(); };
  model.on("change:table", draw);
  model.on("change:history", moved);
  model.on("change:position", moved);
  draw();
}
