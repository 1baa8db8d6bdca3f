// One tree item and, once it was opened, the group of its children. Keys as in the ARIA tree pattern.
function item(tree, parent, place, level) {
  const box = html(parent, "li", { role: "none" });
  const line = html(box, "div", { role: "treeitem", class: "place", tabindex: -1, "aria-level": level, "aria-selected": "false" });
  line.style.paddingLeft = `${(level - 1) * 15 + 2}px`;
  line.dataset.lmSuppressShortcuts = "true";
  line.dataset.place = place.id;
  const mark = html(line, "span", { class: "mark", "aria-hidden": "true" }, place.branch ? "▸" : "");
  html(line, "span", {}, place.label);
  if (place.note) html(line, "span", { class: "dim note" }, place.note);
  if (place.branch) line.setAttribute("aria-expanded", "false");
  const node = { place, level, line, box, group: null,
    isOpen: () => line.getAttribute("aria-expanded") === "true",
    open: () => {
      if (!place.branch || node.isOpen()) return;
      line.setAttribute("aria-expanded", "true");
      mark.textContent = "▾";
      if (node.group) node.group.hidden = false;
      else {
        node.group = html(box, "ul", { role: "group" });
        html(html(node.group, "li", { role: "none", class: "dim wait" }), "span", {}, "…");
        tree.ask(place.id);
      }
    },
    close: () => {
      line.setAttribute("aria-expanded", "false");
      mark.textContent = place.branch ? "▸" : "";
      if (node.group) node.group.hidden = true;
    },
    fill: (children) => {
      if (!node.group) return;
      node.group.replaceChildren();
      if (!children.length) html(node.group, "li", { role: "none", class: "dim wait" }, "nothing that can be read");
      children.forEach((child) => item(tree, node.group, child, level + 1));
    } };
  tree.nodes.set(place.id, node);
  line.addEventListener("click", () => { tree.choose(node); node.isOpen() && mark.matches(":hover") ? node.close() : node.open(); });
  return node;
}

function drawFacts(host, facts, go) {
  host.replaceChildren();
  html(host, "div", { class: "title" }, facts.title);
  if (facts.error) html(host, "div", { class: "error", role: "alert" }, "✗ " + facts.error);
  if (facts.pairs.length) {
    const list = html(host, "dl");
    facts.pairs.forEach(([k, v]) => { html(list, "dt", { class: "dim" }, k); html(list, "dd", {}, v); });
  }
  if (facts.rows.length) drawRows(html(host, "div"), { columns: facts.columns, rows: facts.rows, note: "" });
  if (facts.links.length) {
    const links = html(host, "div", { class: "links" });
    facts.links.forEach(([text, id]) => html(links, "button", { type: "button" }, text).addEventListener("click", () => go(id)));
  }
  if (facts.sql) html(html(host, "div", { class: "more" }), "code", {}, facts.sql);
}

export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "explorer");
    const above = html(host, "div", { class: "bar above" });
    lookAgain(above, model);
    troubles(above, model);
    const left = html(host, "ul", { role: "tree", class: "tree", "aria-label": `inside ${model.get("title")}` });
    const right = html(host, "div", { class: "about", "aria-live": "polite" });
    const tree = { nodes: new Map(),
      ask: (id) => model.send({ open: id }),
      choose: (node) => {
        for (const other of tree.nodes.values()) { other.line.setAttribute("aria-selected", String(other === node)); other.line.tabIndex = other === node ? 0 : -1; }
        model.set("chosen", node.place.id);
        model.save_changes();
      } };
    const root = item(tree, left, { id: "", label: model.get("title"), note: "", branch: true }, 1);
    root.line.setAttribute("aria-expanded", "true");
    root.line.querySelector(".mark").textContent = "▾";
    root.group = html(root.box, "ul", { role: "group" });
    const top = () => { tree.nodes.clear(); tree.nodes.set("", root); root.fill(model.get("top")); mark(); };
    // The place that is chosen stands out and is where Tab goes; where the tree does not show it, the table is.
    const mark = () => {
      const now = tree.nodes.get(model.get("chosen")) || root;
      for (const node of tree.nodes.values()) { node.line.setAttribute("aria-selected", String(node === now)); node.line.tabIndex = node === now ? 0 : -1; }
    };
    top();
    model.on("change:top", top);

    const visible = () => [...left.querySelectorAll('[role="treeitem"]')].filter((l) => l.offsetParent !== null);
    const of = (line) => tree.nodes.get(line.dataset.place);
    left.addEventListener("keydown", (event) => {
      const line = event.target.closest('[role="treeitem"]');
      if (!line || event.altKey || event.ctrlKey || event.metaKey) return;
      const all = visible(), at = all.indexOf(line), node = of(line);
      const to = (next) => { if (next) { next.focus(); tree.choose(of(next)); } };
      const keys = { ArrowDown: () => to(all[at + 1]), ArrowUp: () => to(all[at - 1]), Home: () => to(all[0]), End: () => to(all[all.length - 1]),
        ArrowRight: () => (node.isOpen() ? to(all[at + 1]) : node.open()),
        ArrowLeft: () => (node.isOpen() ? node.close() : to(line.closest("ul").parentElement.querySelector('[role="treeitem"]'))),
        Enter: () => (node.isOpen() ? node.close() : node.open()) };
      if (!keys[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    });
    // A related place may lie in branches that are still closed: the facts show it at once, the branches open one after the
    // other as the kernel tells what is in them.
    const ROOMS = { snapshot: "snapshots", schema: "schemas", tag: "tags" };
    const above_of = (id) => { const parts = id.split("/"); return parts.length > 2 ? parts.slice(0, -1).join("/") : (parts.length > 1 && ROOMS[parts[0]]) || ""; };
    let wanted = null;
    const reveal = () => {
      if (wanted === null) return;
      let up = above_of(wanted);
      while (!tree.nodes.has(up)) up = above_of(up);
      const there = tree.nodes.get(wanted), inside = tree.nodes.get(up);
      if (there) for (let id = up; id; id = above_of(id)) tree.nodes.get(id).open();
      else if (inside.isOpen()) wanted = null;
      else inside.open();
      if (!there) return;
      wanted = null;
      mark();
      there.line.focus();
      there.line.scrollIntoView({ block: "nearest" });
    };
    const go = (id) => { model.set("chosen", id); model.save_changes(); wanted = id; reveal(); };
    const about = () => drawFacts(right, model.get("facts"), go);
    model.on("change:facts", about);
    model.on("msg:custom", (message) => { const node = tree.nodes.get(message.open); if (node) node.fill(message.children); mark(); reveal(); });
    about();
  },
};
