// Menus and opened values of the result grid.

// A box that closes on Escape, on a click elsewhere, and when the focus leaves it.
function popup(host, at, role, label, onClose) {
  host.querySelector(".dg-pop")?.dispatchEvent(new CustomEvent("dg-close"));
  const box = html(host, "div", { class: "dg-pop", role, "aria-label": label, tabindex: -1, "data-lm-suppress-shortcuts": "true" });
  const frame = host.getBoundingClientRect();
  const place = () => {
    box.style.left = `${Math.max(0, Math.min(at.left - frame.left, frame.width - box.offsetWidth - 4))}px`;
    box.style.top = `${at.bottom - frame.top + 2}px`;
  };
  let open = true;
  const close = (back = true) => {
    if (!open) return;
    open = false;
    document.removeEventListener("pointerdown", outside, true);
    box.remove();
    onClose(back);
  };
  const outside = (event) => { if (!box.contains(event.target)) close(false); };
  document.addEventListener("pointerdown", outside, true);
  box.addEventListener("dg-close", () => close(false));
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") { event.preventDefault(); close(); }
    if (role !== "menu" || !["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
    event.preventDefault();
    const items = [...box.querySelectorAll("[role=menuitem]")], now = items.indexOf(document.activeElement);
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

const TESTS = [["=", "equals"], ["<>", "is not"], [">=", "at least"], ["<=", "at most"], ["contains", "contains"], ["is null", "is NULL"], ["is not null", "is not NULL"]];

function filterForm(host, at, column, onApply, onClose) {
  const made = popup(host, at, "dialog", `filter ${column.name}`, onClose);
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
    made.close();
    onApply({ operator: test.value, text: value.value });
  });
  follow();
  made.place();
  value.focus();
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
