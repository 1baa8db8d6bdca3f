// One tree item and, once opened, the group of its children. Keys follow the ARIA tree pattern.
function item(tree, parent, place, level) {
  const box = html(parent, "li", { role: "none" });
  const line = html(box, "div", { role: "treeitem", class: "place", tabindex: -1, "aria-level": level, "aria-selected": "false" });
  line.style.paddingLeft = `${(level - 1) * 11 + 2}px`;
  line.dataset.lmSuppressShortcuts = "true";
  line.dataset.place = place.id;
  const mark = html(line, "span", { class: "mark", "aria-hidden": "true" }, place.branch ? "▸" : "");
  if (place.badge) badge(line, place.badge);
  html(line, "span", {}, place.label);
  if (place.note) html(line, "span", { class: "dim note" }, place.note);
  if (place.branch) line.setAttribute("aria-expanded", "false");
  const node = { place, level, line, box, group: null, waits: false,
    isOpen: () => line.getAttribute("aria-expanded") === "true",
    open: () => {
      if (!place.branch) return;
      if (node.isOpen()) { if (node.waits) tree.load(place.id); return; }  // its answer is missing: ask again
      line.setAttribute("aria-expanded", "true");
      mark.textContent = "▾";
      if (node.group) node.group.hidden = false;
      else {
        node.group = html(box, "ul", { role: "group" });
        html(html(node.group, "li", { role: "none", class: "dim wait" }), "span", {}, "…");
        node.waits = true;
        tree.load(place.id);
      }
    },
    close: () => {
      line.setAttribute("aria-expanded", "false");
      mark.textContent = place.branch ? "▸" : "";
      if (node.group) node.group.hidden = true;
    },
    fill: (children) => {
      if (!node.group) return;
      node.waits = false;
      node.group.replaceChildren();
      if (!children.length) html(node.group, "li", { role: "none", class: "dim wait" }, "nothing readable here");
      children.forEach((child) => item(tree, node.group, child, level + 1));
    } };
  tree.nodes.set(place.id, node);
  line.addEventListener("click", () => { tree.choose(node); node.isOpen() && mark.matches(":hover") ? node.close() : node.open(); });
  return node;
}

// A commit kind or a file level, in the colours of the timeline and of the LSM picture.
function badge(host, text) {
  const svg = el(host, "svg", { width: 15, height: 15, viewBox: "0 0 15 15", "aria-hidden": "true", class: "badge" });
  const [colour, sign] = KINDS[text] || [levelColour(Number(text.slice(1)) || 0), ""];
  if (!sign) return el(svg, "rect", { x: 1, y: 4, width: 13, height: 7, rx: 2, fill: colour });
  el(svg, "circle", { cx: 7.5, cy: 7.5, r: 7.5, fill: colour });
  el(svg, "text", { x: 7.5, y: 11.7, "text-anchor": "middle", class: "sign", "font-size": 12 }, sign);
}

function drawFacts(host, facts, go, open, query, preview) {
  host.replaceChildren();
  html(host, "div", { class: "title" }, facts.title);
  if (facts.kind.length) {
    const kind = html(host, "div", { class: "kind" });
    facts.kind.forEach((word) => html(kind, "span", {}, word));
  }
  if (facts.lead) explained(html(host, "div", { class: "lead" }), facts.lead);
  if (facts.error) html(host, "div", { class: "error", role: "alert" }, "✗ " + facts.error);
  if (facts.tiles.length) {
    const tiles = html(host, "dl", { class: "tiles" });
    for (const t of facts.tiles) {
      const tile = html(tiles, "div");
      html(tile, "dt", { class: "dim" }, t.label);
      html(html(tile, "dd"), "b", {}, t.value);
      if (t.note) html(tile, "dd", { class: "dim" }, t.note);
    }
  }
  if (facts.svg) {
    svgInto(html(host, "div", { class: "strip", role: "region", "aria-label": "commits" }), facts.svg);
    for (const dot of host.querySelectorAll(".dot")) dot.addEventListener("click", () => go(`snapshot/${dot.dataset.snapshot}`));
  }
  if (facts.panels.length || facts.has_rows) {
    const panels = html(host, "div", { class: "links" });
    if (facts.has_rows) button(panels, "query", () => open(query), { class: "panel-link", title: "Insert a query of the table as a cell" });
    facts.panels.forEach(([text, command]) => button(panels, text, () => open(command), { class: "panel-link", title: `${command}, in a new cell` }));
  }
  if (facts.has_rows) drawRows(html(host, "div", { class: "first-rows" }), preview);
  if (facts.pairs.length) {
    const list = html(host, "dl", { class: "pairs" });
    facts.pairs.forEach(([k, v]) => { html(list, "dt", { class: "dim" }, k); html(list, "dd", {}, v); });
  }
  if (facts.rows.length) drawRows(html(host, "div"), { columns: facts.columns, rows: facts.rows, note: "" });
  if (facts.links.length) {
    const links = html(host, "div", { class: "links" });
    facts.links.forEach(([text, id]) => html(links, "button", { type: "button" }, text).addEventListener("click", () => go(id)));
  }
  if (facts.sql) html(html(host, "div", { class: "more" }), "code", {}, facts.sql);
  html(host, "div", { class: "status", role: "status" });
}

export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "explorer");
    reloadButton(host, model);
    troubles(host, model);
    const left = html(host, "ul", { role: "tree", class: "tree", "aria-label": `inside ${model.get("title")}` });
    const right = html(host, "div", { class: "about", "aria-live": "polite" });
    const tree = { nodes: new Map(),
      load: (id) => model.send({ open: id }),
      choose: (node) => {
        for (const other of tree.nodes.values()) { other.line.setAttribute("aria-selected", String(other === node)); other.line.tabIndex = other === node ? 0 : -1; }
        model.set("selected", node.place.id);
        model.save_changes();
      } };
    const root = item(tree, left, { id: "", label: model.get("title"), note: "", branch: true }, 1);
    root.line.setAttribute("aria-expanded", "true");
    root.line.querySelector(".mark").textContent = "▾";
    root.group = html(root.box, "ul", { role: "group" });
    const top = () => { tree.nodes.clear(); tree.nodes.set("", root); root.fill(model.get("top")); mark(); };
    // Mark the selected node and make it the Tab target; fall back to the root when the tree does not show it.
    const mark = () => {
      const now = tree.nodes.get(model.get("selected")) || root;
      for (const node of tree.nodes.values()) { node.line.setAttribute("aria-selected", String(node === now)); node.line.tabIndex = node === now ? 0 : -1; }
    };
    top();
    model.on("change:top", top);
    // A branch that could not be read closes: it can be opened again.
    model.on("change:trouble", () => {
      if (!model.get("trouble")) return;
      for (const node of tree.nodes.values()) if (node.waits) { node.close(); node.group.remove(); node.group = null; node.waits = false; }
    });

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
    // A linked node may be inside closed branches: its details appear at once, the branches open one by one as the
    // kernel sends their children.
    const PARENTS = { snapshot: "snapshots", schema: "schemas", tag: "tags" };
    const parentOf = (id) => { const parts = id.split("/"); return parts.length > 2 ? parts.slice(0, -1).join("/") : (parts.length > 1 && PARENTS[parts[0]]) || ""; };
    let target = null, focuses = false;
    const reveal = () => {
      if (target === null) return;
      let up = parentOf(target);
      while (!tree.nodes.has(up)) up = parentOf(up);
      const there = tree.nodes.get(target), inside = tree.nodes.get(up);
      if (there) for (let id = up; id; id = parentOf(id)) tree.nodes.get(id).open();
      else if (inside.isOpen()) target = null;
      else inside.open();
      if (!there) return;
      target = null;
      mark();
      if (focuses) there.line.focus();
      there.line.scrollIntoView({ block: "nearest" });
    };
    const go = (id) => { focuses = true; target = id; model.set("selected", id); model.save_changes(); reveal(); };
    // Another panel chose a snapshot: the focus stays where it is.
    model.on("change:selected", () => {
      const id = model.get("selected");
      if (id === target || of(left.querySelector('[aria-selected="true"]'))?.place.id === id) return;
      focuses = false;
      target = id;
      reveal();
    });
    const open = async (source) => {
      const status = await intoCell(source, true);
      right.querySelector(".status").textContent = status;
    };
    let preview = null;
    const about = () => {
      keepingFocus(right, () => drawFacts(right, model.get("facts"), go, open, model.get("query"), preview));
      right.scrollTop = 0;
      if (model.get("facts").has_rows) model.send({ rows: true });
    };
    model.on("change:facts", about);
    model.on("msg:custom", (message) => {
      if (!message.rows) return;
      preview = message.rows;
      const place = right.querySelector(".first-rows");
      if (place) drawRows(place, preview);
    });
    model.on("msg:custom", (message) => { const node = tree.nodes.get(message.open); if (node) node.fill(message.children); mark(); reveal(); });
    about();
    const fit = () => host.classList.toggle("narrow", host.clientWidth > 0 && host.clientWidth < 560);  // the tree above its details
    fit();
    return onWidth(host, fit);
  },
};
