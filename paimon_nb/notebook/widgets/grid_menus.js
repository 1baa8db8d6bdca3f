// Menus and opened values of the result grid.

// A box that closes on Escape, on a click elsewhere, and when the focus leaves it.
function popup(host, at, role, label, onClose) {
  host.querySelector(".dg-pop")?.dispatchEvent(new CustomEvent("dg-close"));
  const box = html(host, "div", { class: "dg-pop", role, "aria-label": label, tabindex: -1, "data-lm-suppress-shortcuts": "true" });
  // In the top layer of the page, where the output of a cell does not cut it; it moves with the grid when the page scrolls.
  const from = host.getBoundingClientRect(), anchor = { left: at.left - from.left, top: (at.top ?? at.bottom) - from.top, bottom: at.bottom - from.top };
  if (box.showPopover) { box.popover = "manual"; box.showPopover(); }
  const place = () => {
    const frame = host.getBoundingClientRect(), { innerWidth: wide, innerHeight: high } = window;
    if (!box.showPopover) {
      box.style.left = `${Math.max(0, Math.min(anchor.left, frame.width - box.offsetWidth - 4))}px`;
      box.style.top = `${anchor.bottom + 2}px`;
      return;
    }
    const below = high - frame.top - anchor.bottom - 8, above = frame.top + anchor.top - 8, up = below < Math.min(box.scrollHeight, 200) && above > below;
    box.style.maxHeight = `${Math.max(120, Math.min(480, up ? above : below))}px`;
    box.style.left = `${Math.max(4, Math.min(frame.left + anchor.left, wide - box.offsetWidth - 4))}px`;
    box.style.top = `${up ? frame.top + anchor.top - box.offsetHeight - 2 : frame.top + anchor.bottom + 2}px`;
  };
  const moved = (event) => {
    if (isIn(box, event)) return;
    const frame = host.getBoundingClientRect();
    if (frame.bottom < 0 || frame.top > window.innerHeight) close(false); else place();
  };
  let open = true;
  const close = (back = true) => {
    if (!open) return;
    open = false;
    document.removeEventListener("pointerdown", outside, true);
    document.removeEventListener("scroll", moved, true);
    box.remove();
    onClose(back);
  };
  const outside = (event) => { if (!isIn(box, event)) close(false); };
  document.addEventListener("pointerdown", outside, true);
  document.addEventListener("scroll", moved, true);
  box.addEventListener("dg-close", () => close(false));
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") { event.preventDefault(); close(); }
    if (role !== "menu" || !["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
    event.preventDefault();
    const items = [...box.querySelectorAll("[role=menuitem]")], now = items.indexOf(focused(box));
    const next = { ArrowDown: now + 1, ArrowUp: now - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
    items[next % items.length].focus();
  });
  return { box, place, close };
}

// Entries are [text, action]; null draws a line.
function menu(host, at, label, entries, onClose) {
  const made = popup(host, at, "menu", label, onClose);
  for (const entry of entries) {
    if (!entry) { html(made.box, "hr", { role: "separator" }); continue; }
    const item = html(made.box, "button", { type: "button", role: "menuitem", tabindex: -1 }, entry[0]);
    item.addEventListener("click", () => { made.close(); entry[1](); });
  }
  made.place();
  made.box.querySelector("[role=menuitem]").focus();
  return made;
}

// `troubles` shows the reason below the form; the form stays open, so that its value can be mended.
function whenRefused(model, sent, mend) {
  if (sent && model.get("is_refused") && model.get("trouble")) mend();
}

const TESTS = [["=", "equals"], ["<>", "is not"], [">=", "at least"], ["<=", "at most"], ["contains", "contains"], ["is null", "is NULL"], ["is not null", "is not NULL"]];

// The form stays open until its rows are shown: a value that is refused can be mended. `list` asks for the column's values.
function filterForm(host, model, at, column, { list, apply, among }, onClose) {
  const heard = () => { if (sent && !model.get("trouble") && !model.get("state").busy) made.close(); };
  const refused = () => whenRefused(model, sent, () => { sent = false; value.focus(); made.place(); });
  const made = popup(host, at, "dialog", `filter ${column.name}`, (back) => { model.off("change:state", heard); model.off("change:trouble", refused); listener.show = null; onClose(back); });
  const listener = host.listed || (host.listed = {});
  let sent = false;
  const form = html(made.box, "form");
  html(form, "b", {}, column.name);
  const test = html(form, "select", { "aria-label": "condition" });
  for (const [value, text] of TESTS) if (column.comparable || ["contains", "is null", "is not null"].includes(value)) html(test, "option", { value }, text);
  test.value = column.number || !column.comparable ? test.options[0].value : "contains";
  const value = html(form, "input", { type: "text", "aria-label": "value", spellcheck: "false" });
  const follow = () => { value.disabled = test.value.endsWith("null"); };
  test.addEventListener("change", follow);
  html(form, "button", { type: "submit" }, "Filter");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sent = true;
    apply({ operator: test.value, text: value.value });
  });
  model.on("change:state", heard);
  model.on("change:trouble", refused);
  follow();
  if (column.comparable) tickList(made, column, { list, among: (chosen) => { sent = true; among(chosen); } }, listener);
  made.place();
  value.focus();
}

// The column's values with their counts, to be ticked; a text above the list finds others.
function tickList(made, column, { list, among }, listener) {
  const box = html(made.box, "div", { class: "choices" });
  const search = html(box, "input", { type: "search", placeholder: "find a value", "aria-label": `find a value of ${column.name}` });
  const values = html(box, "div", { class: "ticks", role: "group", "aria-label": `values of ${column.name}` });
  const only = button(box, "Only the ticked values", () => among([...values.querySelectorAll("input:checked")].map((tick) => Number(tick.value))));
  only.disabled = true;
  let typed = null;
  const ask = () => { clearTimeout(typed); typed = setTimeout(() => list(search.value), 150); };
  search.addEventListener("input", ask);
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); list(search.value); } });
  values.addEventListener("change", () => { only.disabled = !values.querySelector("input:checked"); });
  listener.show = (found) => {
    if (found.containing !== search.value) return;
    values.replaceChildren();
    only.disabled = true;
    if (!found.values) { box.remove(); return; }
    found.values.forEach(([text, rows], i) => {
      const line = html(values, "label"), tick = html(line, "input", { type: "checkbox", value: String(i) });
      tick.dataset.lmSuppressShortcuts = "true";
      html(line, "span", { class: "tick-text" }, shownText(text));
      html(line, "span", { class: "dim" }, rows.toLocaleString("en"));
    });
    if (!found.values.length) html(values, "div", { class: "dim" }, "no value contains this text");
    if (found.left_out) html(values, "div", { class: "dim" }, `${found.left_out.toLocaleString("en")} more: find them by their text`);
    made.place();
  };
  list("");
}

// The statistics of a column, below its head.
function statisticsBox(host, at, name, found, onClose) {
  const made = popup(host, at, "dialog", `statistics of ${name}`, onClose);
  const box = html(made.box, "div", { class: "dg-value" });
  html(box, "b", {}, name);
  const facts = html(html(box, "table"), "tbody");
  for (const [label, text] of found.facts) {
    const line = html(facts, "tr");
    html(line, "th", { scope: "row" }, label);
    html(line, "td", { class: "n" }, shownText(text));
  }
  if (found.top.length) {
    const most = html(box, "table"), line = html(html(most, "thead"), "tr"), body = html(most, "tbody");
    for (const [text, side] of [["most frequent", ""], ["rows", "n"], ["share", "n"]]) html(line, "th", { scope: "col", class: side }, text);
    for (const [text, rows, share] of found.top) {
      const value = html(body, "tr");
      html(value, "td", {}, shownText(text));
      html(value, "td", { class: "n" }, rows);
      html(value, "td", { class: "n" }, share);
    }
  }
  made.place();
  made.box.focus();
}

function columnChoice(host, at, columns, changed, onClose) {
  const made = popup(host, at, "dialog", "columns", onClose), box = html(made.box, "div", { class: "choices" });
  const search = html(box, "input", { type: "search", placeholder: "find a column", "aria-label": "find a column" });
  const list = html(box, "div");
  const draw = () => {
    list.replaceChildren();
    const found = columns.all.map((c, i) => [c.name, i]).filter(([name]) => name.toLowerCase().includes(search.value.toLowerCase()));
    for (const [name, i] of found.slice(0, 200)) {
      const line = html(list, "label"), check = html(line, "input", { type: "checkbox" });
      check.checked = !columns.hidden.has(i);
      line.append(name);
      check.addEventListener("change", () => { check.checked ? columns.show(i) : columns.hide(i); check.checked = !columns.hidden.has(i); changed(); });
    }
    if (found.length > 200) html(list, "div", { class: "dim" }, `${(found.length - 200).toLocaleString("en")} more: find them by name`);
  };
  search.addEventListener("input", draw);
  button(box, "Show all", () => { columns.hidden.clear(); columns.layout(); changed(); draw(); });
  draw();
  made.place();
  search.focus();
}

function drawTree(host, [label, text, parts]) {
  const item = html(host, "li");
  if (!parts.length) {
    html(item, "span", { class: "key" }, `${label}: `);
    html(item, "span", {}, text);
    return;
  }
  const box = html(item, "details", { open: "" }), line = html(box, "summary");
  html(line, "span", { class: "key" }, `${label} `);
  html(line, "span", { class: "dim" }, text);
  const list = html(box, "ul");
  for (const part of parts) drawTree(list, part);
}

// A value, opened below its cell. A picture is drawn from its bytes: an image runs no scripts.
function openedValue(host, at, name, value, bytes, onClose) {
  const made = popup(host, at, "dialog", `value of ${name}`, (back) => { if (url) URL.revokeObjectURL(url); onClose(back); });
  const box = html(made.box, "div", { class: "dg-value" });
  let url = null;
  if (value.image) {
    url = URL.createObjectURL(new Blob([bytes], { type: value.image }));
    const image = html(box, "img", { alt: `picture in ${name}` });
    image.className = "pnb-still";
    image.src = url;
  } else if (value.tree) {
    drawTree(html(box, "ul"), value.tree);
  } else {
    html(box, "pre", {}, value.text);
  }
  made.place();
  made.box.focus();
}

async function copyText(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch (error) { /* an older browser, or a page without https */ }
  const area = html(document.body, "textarea", { style: "position:fixed;opacity:0" });
  area.value = text;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
