// A data file goes to the kernel, which stores it in the notebook's folder; of a too large one only its name, for the error.
async function sendFile(model, file) {
  const fits = file.size <= model.get("view").maxFileBytes;
  model.send({ file: file.name, size: file.size }, undefined, fits ? [await file.arrayBuffer()] : []);
}

function acceptFiles(host, model) {
  const bar = html(host, "div", { class: "bar" });
  const picker = field(bar, "data file", "", () => {}, { type: "file", accept: ".csv,.tsv,.psv,.txt,.json,.jsonl,.ndjson,.parquet,.orc,.avro,.arrow,.feather,.xlsx" });
  picker.addEventListener("change", () => { if (picker.files.length) sendFile(model, picker.files[0]).then(() => { picker.value = ""; }); });
  html(bar, "span", { class: "dim" }, "or drop a CSV, JSON or Parquet file here: columns and types are taken from it");
  const hasFile = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  host.addEventListener("dragover", (event) => { if (hasFile(event)) event.preventDefault(); });
  host.addEventListener("drop", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.dataTransfer.files.length) sendFile(model, event.dataTransfer.files[0]);
  });
}

export default {
  render({ model, el }) {
    el.classList.add("pnb", "form");
    troubles(el, model);
    acceptFiles(el, model);
    const form = html(el, "div");
    let loaded = model.get("view").loaded, stop = drawForm(model, form);
    const again = () => {
      if (model.get("view").loaded === loaded) return;
      loaded = model.get("view").loaded;
      keepingFocus(form, () => {
        stop();
        form.replaceChildren();
        stop = drawForm(model, form);
      });
    };
    model.on("change:view", again);
    const unwatch = fitPictures(el, model);
    return () => { model.off("change:view", again); stop(); unwatch(); };
  },
};

// How a file is read: each option with the reader's guess and the user's choice; a choice reads the file again.
function drawReading(model, host, options) {
  if (!options.length) return;
  const box = html(host, "details", {}), chosen = {};
  box.open = options.some((o) => o.choice) || model.readingOpen;
  box.addEventListener("toggle", () => { model.readingOpen = box.open; });
  html(box, "summary", {}, "How the file is read");
  const table = html(html(box, "div", { class: "grid" }), "table");
  const head = html(html(table, "thead"), "tr"), body = html(table, "tbody");
  ["option", "guess", "choice", ""].forEach((h) => html(head, "th", { scope: "col" }, h));
  const read = () => model.send({ read: chosen });
  for (const option of options) {
    chosen[option.name] = option.choice;
    const line = html(body, "tr");
    html(line, "td", {}, option.name);
    html(line, "td", { class: "dim" }, option.guess);
    const set = (value) => { chosen[option.name] = value; read(); };
    const cell = html(line, "td"), name = { "aria-label": `choice of ${option.name}`, "data-keep": `read ${option.name}` };
    if (option.values.length) {
      const list = html(cell, "select", name);
      for (const value of ["", ...option.values]) html(list, "option", { value }, value || "(guess)");
      list.value = option.choice;
      list.addEventListener("change", () => set(list.value));
    } else {
      const input = html(cell, "input", { type: "text", size: 16, spellcheck: "false", ...name });
      input.value = option.choice;
      let told = option.choice;
      const tell = () => { if (input.value !== told) { told = input.value; set(told); } };
      input.addEventListener("change", tell);
      // The notebook may swallow Enter before the field makes a change of it.
      input.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.stopPropagation(); tell(); } });
    }
    html(line, "td", { class: "dim" }, option.doc);
  }
}

// The form holds the draft; the kernel returns the statement, errors, warnings and layout.
function drawForm(model, host) {
  const first = model.get("view"), id = "pnb" + Math.random().toString(36).slice(2);
  const draft = { name: first.name, comment: first.comment, rows: first.rows, partitions: first.partitions,
    columns: first.columns.map((c) => ({ ...c })), options: { ...first.options } };
  const send = () => model.send({ draft, loaded: first.loaded });
  // While the user types, wait for a pause before asking the kernel.
  let waiting = null;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(send, 250); };
  const types = html(host, "datalist", { id: id + "types" }), known = html(host, "datalist", { id: id + "known" });
  first.types.forEach((t) => html(types, "option", { value: t }));
  first.known.forEach((k) => html(known, "option", { value: k }));

  const top = html(host, "div", { class: "bar" });
  const text = (parent, label, get, set, attributes) => {
    const input = field(parent, label, get(), () => {}, attributes);
    input.addEventListener("input", () => { set(input.value); soon(); });
    return input;
  };
  text(top, "table", () => draft.name, (v) => { draft.name = v; }, { size: 18 });
  text(top, "comment", () => draft.comment, (v) => { draft.comment = v; }, { size: 24 });
  text(top, "expected rows", () => draft.rows, (v) => { draft.rows = v; }, { size: 9, inputmode: "numeric" });
  text(top, "expected partitions", () => draft.partitions, (v) => { draft.partitions = v; }, { size: 6, inputmode: "numeric" });

  if (first.source) {
    html(host, "div", { class: "facts" }, `${count(first.source.count, "row")} · ${first.source.how}`);
    const seen = html(html(host, "div", { class: "grid", tabindex: 0, role: "region", "aria-label": "first rows" }), "table");
    const head = html(html(seen, "thead"), "tr"), lines = html(seen, "tbody");
    first.source.names.forEach((name) => html(head, "th", { scope: "col" }, name));
    for (const row of first.source.rows) {
      const line = html(lines, "tr");
      for (const value of row) {
        if (value === null) html(html(line, "td", { class: "null" }), "span", {}, "NULL");
        else html(line, "td", {}, clip(value, 60));
      }
    }
    drawReading(model, host, first.source.options);
    if (first.source.columns > first.source.names.length) html(host, "div", { class: "more" }, `${first.source.columns - first.source.names.length} more columns`);
  }
  const columns = html(html(host, "div", { class: "grid" }), "table");
  const drawColumns = () => {
    columns.replaceChildren();
    const head = html(html(columns, "thead"), "tr");
    ["column", "type", "key", "partition", "nullable", "comment", ""].forEach((h) => html(head, "th", { scope: "col" }, h));
    const body = html(columns, "tbody");
    draft.columns.forEach((c, i) => {
      const row = html(body, "tr"), who = (what) => `${what} of column ${i + 1}`;
      const cell = (make) => make(html(row, "td"));
      // A key column cannot hold NULL.
      const after = () => { nullable.disabled = c.key; nullable.checked = c.nullable && !c.key; };
      const input = (name, size, more) => cell((td) => {
        const made = html(td, "input", { type: "text", size, spellcheck: "false", "aria-label": who(name), ...(more || {}) });
        made.value = c[name];
        made.addEventListener("input", () => { c[name] = made.value; soon(); });
      });
      const tick = (name, label) => cell((td) => {
        const made = html(td, "input", { type: "checkbox", "aria-label": who(label) });
        made.checked = c[name];
        made.addEventListener("change", () => { c[name] = made.checked; after(); send(); });
        return made;
      });
      input("name", 12);
      input("type", 18, { list: id + "types" });
      tick("key", "key");
      tick("partition", "partition");
      const nullable = tick("nullable", "nullable");
      after();
      input("comment", 14);
      cell((td) => button(td, "✕", () => { draft.columns.splice(i, 1); drawColumns(); send(); }, { "aria-label": `remove column ${i + 1}` }));
    });
  };
  drawColumns();
  const more = html(host, "div", { class: "bar" });
  button(more, "+ column", () => {
    draft.columns.push({ name: "", type: "STRING", key: false, partition: false, nullable: true, comment: "", source: "" });
    drawColumns();
    send();
    columns.querySelector("tbody tr:last-child input").focus();
  });

  const options = html(host, "div", { class: "bar" }), others = html(host, "div");
  text(options, "bucket", () => draft.options.bucket || "", (v) => { draft.options.bucket = v; }, { size: 4, placeholder: "-1", inputmode: "numeric" });
  for (const [key, values] of Object.entries(first.choices)) {
    choice(options, key, [["", "(default)"], ...values.map((v) => [v, v])], draft.options[key] || "", (v) => { draft.options[key] = v; send(); });
  }
  const addOption = (key, value) => {
    const line = html(others, "div", { class: "bar" });
    let old = key;
    const name = field(line, "option", key, (k) => {
      delete draft.options[old];
      old = k;
      if (k) draft.options[k] = valueField.value;
      send();
    }, { size: 34, list: id + "known", "data-option": "" });
    const valueField = field(line, "value", value, (v) => { if (old) { draft.options[old] = v; send(); } }, { size: 16 });
    button(line, "✕", () => { delete draft.options[old]; line.remove(); send(); }, { "aria-label": "remove this option" });
    return name;
  };
  button(options, "+ option", () => addOption("", "").focus());
  const help = html(host, "div", { class: "facts dim", "aria-live": "polite" });
  const explain = (event) => {
    const label = event.target.closest(".control"), name = event.target.dataset.option !== undefined ? event.target.value : label && label.textContent.trim().split(" ")[0];
    help.textContent = (name && model.get("view").help[name]) || "";
  };
  host.addEventListener("focusin", explain);

  const refused = html(host, "div", { "aria-live": "polite" }), layout = html(host, "div");
  const bar = html(host, "div", { class: "bar" });
  choice(bar, "dialect", [["flink", "Flink SQL"], ["spark", "Spark SQL"]], model.get("dialect"), (v) => { model.set("dialect", v); model.save_changes(); });
  const done = html(html(host, "div"), "output", { role: "status" });
  const ddl = html(host, "pre", { class: "ddl", tabindex: 0, role: "group", "aria-label": "CREATE TABLE statement" });
  const put = button(bar, "Insert as cell", async () => {
    done.textContent = await intoCell("%%paimon\n" + model.get("view").ddl);
  });
  const draw = () => {
    const view = model.get("view");
    refused.replaceChildren();
    view.problems.forEach((p) => html(refused, "div", { class: "error" }, "✗ " + p));
    view.warnings.forEach((w) => html(refused, "div", { class: "warning" }, "! " + w));
    put.disabled = view.problems.length > 0;
    svgInto(layout, view.svg);
    ddl.textContent = view.ddl;
  };
  model.on("change:view", draw);
  draw();
  return () => { clearTimeout(waiting); model.off("change:view", draw); host.removeEventListener("focusin", explain); };
}
