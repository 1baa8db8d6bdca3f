// Changing cells of a key table: a form for a value, and a bar that shows the UPDATE before it is written.
function editForm(host, model, at, column, text, apply, onClose) {
  const heard = () => { if (sent && !model.get("trouble")) made.close(); };
  const refused = () => whenRefused(model, sent, () => { sent = false; value.focus(); made.place(); });
  const made = popup(host, at, "dialog", `edit ${column.name}`, (back) => { model.off("change:state", heard); model.off("change:trouble", refused); onClose(back); });
  let sent = false;
  const form = html(made.box, "form");
  html(form, "b", {}, column.name);
  html(form, "span", { class: "dim" }, ` ${column.type}`);
  const value = html(form, "textarea", { rows: Math.min(8, (text || "").split("\n").length), "aria-label": `new value of ${column.name}`, spellcheck: "false" });
  value.value = text ?? "";
  value.addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); form.requestSubmit(); } });
  const line = html(form, "label", { class: "control" }), empty = html(line, "input", { type: "checkbox" });
  line.append(" NULL");
  empty.checked = text === null;
  const follow = () => { value.disabled = empty.checked; };
  empty.addEventListener("change", follow);
  html(form, "button", { type: "submit" }, "Change");
  html(form, "div", { class: "dim" }, "Nothing is written yet.");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sent = true;
    if (!empty.checked && value.value === (text ?? "") && text !== null) { made.close(); return; }
    apply(empty.checked ? null : value.value);
  });
  model.on("change:state", heard);
  model.on("change:trouble", refused);
  follow();
  made.place();
  if (empty.checked) empty.focus(); else { value.focus(); value.select(); }
}

function editBar(host, model, send, say, back) {
  const box = html(host, "div", { class: "dg-edits", role: "group", "aria-label": "changed cells" });
  const line = html(box, "div", { class: "bar" }), text = html(line, "b", { role: "status" });
  const show = button(line, "Show the UPDATE", () => send({ edits: "show" }));
  const write = button(line, "Write in one commit", () => send({ edits: "write" }));
  const cell = button(line, "Insert as cell", () => intoCell(`%%paimon\n${sql.textContent}`).then((done) => say(done, 6000)));
  const discard = button(line, "Discard", () => { send({ edits: "discard" }); back(true); });
  const undo = button(line, "Undo", () => send({ edits: "undo" }));
  const sql = html(box, "pre", { class: "ddl", tabindex: 0, role: "region", "aria-label": "the UPDATE" });
  let done = "";
  const draw = () => {
    const now = model.get("state").edits, n = now ? now.count : 0, shown = n && sql.textContent;
    if (n) done = ""; else sql.textContent = "";
    box.style.display = n || (now?.undo && done) || done ? "" : "none";
    text.textContent = n ? `${count(n, "cell")} changed, not written yet` : done;
    for (const [node, on] of [[show, n && !shown], [write, shown], [cell, shown], [discard, n], [undo, !n && now?.undo], [sql, shown]]) node.style.display = on ? "" : "none";
  };
  const heard = (message) => {
    if ("edits_sql" in message) { sql.textContent = message.edits_sql; draw(); write.focus(); return; }
    done = message.edits_said;
    draw();
    if (undo.style.display !== "none") undo.focus();
  };
  // Statements that were shown are those that are written: a further change hides them.
  let before = "";
  const follow = () => {
    const now = JSON.stringify(model.get("state").edits?.cells || []);
    if (now !== before) sql.textContent = "";
    before = now;
    draw();
  };
  return { draw: follow, heard };
}
