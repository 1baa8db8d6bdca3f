// The connection form: what kind of catalog, its options, what was opened last. The kernel connects; secrets stay out of cells.
export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "form", "connect");
    troubles(host, model);
    const lead = html(host, "div", { class: "lead" });
    const form = html(host, "form"), bar = html(host, "div", { class: "bar" }), said = html(html(host, "div"), "output", { role: "status" });
    const typed = { kind: model.get("view").kinds[0].kind, name: "", values: {} };
    let looking = null, asked = "";
    const kindOf = () => model.get("view").kinds.find((k) => k.kind === typed.kind);
    const values = () => Object.fromEntries(kindOf().fields.map((f) => [f.option, typed.values[f.option] || ""]));
    const connect = () => { said.textContent = "Connecting …"; model.send({ connect: typed.kind, name: typed.name, values: values() }); };
    const look = () => {
      clearTimeout(looking);
      note.textContent = "";
      looking = setTimeout(() => { if (typed.kind === "filesystem") model.send({ look: typed.values.warehouse || "" }); }, 250);
    };
    let note = html(form, "div");
    const draw = () => keepingFocus(form, () => {
      const view = model.get("view"), kind = kindOf();
      lead.textContent = view.done || (view.now ? `This notebook reads and writes ${view.now}. Here it opens another warehouse, or makes one.` : "Open a warehouse, or make one: the place where your tables are.");
      form.replaceChildren();
      if (view.recent.length) {
        const line = html(form, "div", { class: "bar", role: "group", "aria-label": "opened before" });
        html(line, "span", { class: "dim" }, "opened before");
        for (const found of view.recent) {
          const place = found.values.warehouse || found.values.uri || "", label = found.name ? `${found.name} · ${place}` : place;
          button(line, label.length > 48 ? `…${label.slice(-47)}` : label, () => { Object.assign(typed, { kind: found.kind, name: found.name, values: { ...found.values } }); draw(); form.querySelector(found.kind === "filesystem" ? "button[type=submit]" : "input")?.focus(); }, { title: label });
        }
      }
      const table = html(html(form, "table"), "tbody");
      const row = (label, hint) => {
        const line = html(table, "tr"), cell = html(line, "td"), id = `connect-${Math.random().toString(36).slice(2)}`;
        html(cell, "label", { for: id }, label);
        const place = html(line, "td");
        html(html(line, "td"), "span", { class: "dim" }, hint);
        return [place, id];
      };
      const [where, id] = row("kind", kind.about), list = html(where, "select", { id, "data-keep": "kind" });
      for (const found of view.kinds) html(list, "option", { value: found.kind }, found.label);
      list.value = typed.kind;
      list.addEventListener("change", () => { typed.kind = list.value; typed.values = {}; draw(); look(); });
      const input = (label, hint, attributes, get, set) => {
        const [place, own] = row(label, hint), made = html(place, "input", { type: "text", size: 44, spellcheck: "false", autocomplete: "off", id: own, "data-keep": label, ...attributes });
        made.value = get() || "";
        made.addEventListener("input", () => set(made.value));
        // The notebook may swallow Enter before the form hears of it.
        made.addEventListener("keydown", (event) => { event.stopPropagation(); if (event.key === "Enter") { event.preventDefault(); connect(); } });
      };
      for (const field_ of kind.fields) {
        const hint = field_.secret ? "goes to the kernel only: into no cell and no file" : field_.hint;
        input(field_.label, hint, field_.secret ? { type: "password" } : {}, () => typed.values[field_.option], (text) => { typed.values[field_.option] = text; if (field_.option === "warehouse") look(); });
      }
      if (kind.kind !== "filesystem") input("name in SQL", "empty: lake", {}, () => typed.name, (text) => { typed.name = text; });
      note = html(form, "div", { class: "dim", role: "status" });
      html(form, "button", { type: "submit" }, "Connect");
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); connect(); });
    button(bar, "Insert as cell", () => model.send({ cell: typed.kind, name: typed.name, values: values() }), { title: "A cell that opens the same: whoever runs this notebook is connected, too" });
    const tables = button(bar, "Show the tables", async () => { said.textContent = await intoCell("%paimon", true); });
    const changed = () => {
      const { done } = model.get("view");
      tables.style.display = done ? "" : "none";
      if (done && done !== asked) said.textContent = done;
      asked = done;
      draw();
    };
    model.on("change:view", changed);
    model.on("change:trouble", () => { if (model.get("trouble")) said.textContent = ""; });
    model.on("msg:custom", async (message) => {
      if ("note" in message) note.textContent = message.note;
      else if (message.code) said.textContent = await intoCell(message.code);
    });
    changed();
  },
};
