// The result grid: draws the rows and columns that are visible; the kernel sorts, filters and counts.
const ROW = 24, HEAD = 74, MOST_PIXELS = 8_000_000;

// One line, without characters that change the direction of other texts.
const shownText = (text) => text.replace(/[\r\n\t]/g, " ").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

export default {
  render({ model, el: host }) {
    // Each grid loads a copy of this module, so a counter would give all of them the same number.
    const id = `dg-${Math.random().toString(36).slice(2)}`;
    host.classList.add("pnb", "datagrid");
    troubles(host, model);
    const state = () => model.get("state"), send = (message) => { try { model.send(message); } catch (error) { silent(); } };
    let columns = new Columns(model.get("columns"));
    const bar = html(host, "div", { class: "dg-bar" });
    const tabs = html(bar, "div", { class: "dg-tabs", role: "tablist", "aria-label": "show the result as" });
    const search = html(bar, "input", { type: "search", placeholder: "search", "aria-label": "search all columns" });
    const chips = html(bar, "span", { class: "dg-bar" });
    html(bar, "span", { class: "space" });
    const pick = button(bar, "Columns ▾", () => columnChoice(host, pick.getBoundingClientRect(), columns, relaid, back), { "aria-haspopup": "dialog" });
    const save = button(bar, "Download ▾", () => menu(host, save.getBoundingClientRect(), "download", [
      ["CSV", () => fetchFile("csv")], ["Parquet", () => fetchFile("parquet")]], back), { "aria-haspopup": "menu" });
    const asSql = button(bar, "As SQL", () => send({ query: true }), { title: "Insert a cell that reads these rows: with the filters and the order" });
    const box = html(host, "div", { class: "dg", role: "grid", tabindex: 0, "aria-label": "rows of the result", id: `${id}-rows`, "aria-multiselectable": "true", "data-lm-suppress-shortcuts": "true" });
    const space = html(box, "div", { role: "presentation" }), layer = html(space, "div", { class: "dg-layer", role: "presentation" });
    const head = html(layer, "div", { class: "dg-head", role: "row", "aria-rowindex": 1 });
    const body = html(layer, "div", { role: "rowgroup" });
    const graph = html(host, "div", { class: "dg-chart", id: `${id}-chart`, role: "tabpanel", "aria-label": "chart of the result" });
    const groups = html(host, "div", { class: "dg-chart", id: `${id}-pivot`, role: "tabpanel", "aria-label": "pivot table of the result" });
    const foot = html(host, "div", { class: "dg-foot" });
    const about = html(foot, "output", { role: "status" }), load = button(foot, "Load all rows", () => send({ load: true }));
    const cancel = button(foot, "Cancel", () => send({ cancel: true })), sums = html(foot, "span", { class: "dg-sums", role: "status", "aria-label": "selected cells" }), said = html(foot, "span", { role: "status" });

    let here = { row: 0, at: 0 }, anchor = null, rows = [], heads = new Map(), profiles = new Map(), wanted = new Set(), frame = 0, opening = null, files = [], saidTimer = null;
    const silent = () => say("The kernel does not answer: it is busy, or it has ended. The rows that are here stay.");
    const pages = new Pages(model, () => { if (!model.get("trouble")) say(""); later(); }, silent);
    const back = (focus) => { if (focus) box.focus({ preventScroll: true }); };
    const say = (text, ms) => { clearTimeout(saidTimer); said.textContent = text; if (ms) saidTimer = setTimeout(() => { said.textContent = ""; }, ms); };

    // -- positions. Browsers limit the height of an element: beyond it the scroll bar is a share of the rows.
    const total = () => state().shown, full = () => total() * ROW, inner = () => Math.max(ROW, box.clientHeight - HEAD);
    const tall = () => Math.min(full(), MOST_PIXELS);
    const scale = () => (full() <= MOST_PIXELS ? 1 : (full() - inner()) / (MOST_PIXELS - inner()));
    let top = 0, setTop = 0;
    const scrollTo = (pixels) => {
      top = Math.max(0, Math.min(pixels, full() - inner()));
      setTop = Math.round(top / scale());
      box.scrollTop = setTop;
      later();
    };
    box.addEventListener("scroll", () => {
      if (Math.abs(box.scrollTop - setTop) > 1 || scale() === 1) { setTop = box.scrollTop; top = Math.min(setTop * scale(), Math.max(0, full() - inner())); }
      later();
    });
    box.addEventListener("wheel", (event) => {
      if (scale() === 1 || !event.deltaY || event.shiftKey) return;
      const before = top;
      scrollTo(top + event.deltaY * (event.deltaMode === 1 ? ROW : 1));
      if (top !== before) event.preventDefault();
    }, { passive: false });

    // -- drawing
    function later() { if (!frame) frame = requestAnimationFrame(() => { frame = 0; draw(); }); }
    const xOf = (at) => (at < columns.pinned.length ? columns.x[at] : columns.x[at] - box.scrollLeft);

    function draw() {
      const width = box.clientWidth, height = box.clientHeight, now = state();
      if (!width) return;
      layer.style.width = `${width}px`;
      layer.style.height = `${height}px`;
      box.setAttribute("aria-rowcount", now.shown + 1);
      box.setAttribute("aria-colcount", columns.order.length);
      const shown = columns.between(box.scrollLeft, box.scrollLeft + width);
      drawHeads(shown);
      const first = Math.floor(top / ROW), last = Math.min(now.shown, first + Math.ceil((height - HEAD) / ROW) + 1);
      pages.want(Math.max(0, first - BLOCK_ROWS / 2), last + BLOCK_ROWS / 2, shown.map((at) => columns.order[at]));
      const range = chosen();
      sumUp();
      while (rows.length < last - first) rows.push(newRow());
      while (rows.length > Math.max(0, last - first)) rows.pop().line.remove();
      rows.forEach((drawn, i) => drawRow(drawn, first + i, HEAD + (first + i) * ROW - top, shown, range));
      const active = box.querySelector(".here");
      active ? box.setAttribute("aria-activedescendant", active.id) : box.removeAttribute("aria-activedescendant");
      body.querySelector(".dg-none")?.remove();
      if (!now.shown) html(html(html(body, "div", { class: "dg-none", role: "row" }), "span", { role: "gridcell" }, now.total ? "no row matches" : "no rows"));
    }

    function newRow() { return { line: html(body, "div", { class: "dg-r", role: "row" }), cells: [] }; }

    // Count, sum, average and extremes of several selected cells, in the footer.
    let summed = "", summing = null;
    function sumUp() {
      const range = chosen(), several = range && (range.stop - range.first) * (range.right - range.left) > 1;
      const asked = several ? `${state().generation}/${range.first}/${range.stop}/${columns.order.slice(range.left, range.right)}` : "";
      if (asked === summed) return;
      summed = asked;
      clearTimeout(summing);
      if (!asked) sums.textContent = "";
      else summing = setTimeout(() => send({ summary: [range.first, range.stop], columns: columns.order.slice(range.left, range.right) }), 80);
    }

    function drawRow(drawn, row, y, shown, range) {
      const now = state();
      drawn.line.style.transform = `translateY(${y}px)`;
      drawn.line.setAttribute("aria-rowindex", row + 2);
      while (drawn.cells.length < shown.length) drawn.cells.push(html(drawn.line, "div", { role: "gridcell" }));
      while (drawn.cells.length > shown.length) drawn.cells.pop().remove();
      shown.forEach((at, i) => {
        const column = columns.order[at], text = pages.text(row, column), cell = drawn.cells[i];
        const active = here.row === row && here.at === at;
        const inside = range && row >= range.first && row < range.stop && at >= range.left && at < range.right;
        const kind = text === undefined ? "wait" : text === null ? "null" : "";
        const pinned = at < columns.pinned.length ? ` pinned${at === columns.pinned.length - 1 ? " last" : ""}` : "";
        cell.className = `dg-c ${kind}${columns.all[column].number ? " n" : ""}${pinned}${inside ? " chosen" : ""}${active ? " here" : ""}`;
        if (now.edits?.count && now.edits.cells.some(([r, c]) => r === row && c === column)) cell.classList.add("edited");
        cell.style.left = `${xOf(at)}px`;
        cell.style.width = `${columns.widths[column]}px`;
        cell.setAttribute("aria-colindex", at + 1);
        cell.setAttribute("aria-selected", Boolean(inside));
        if (active) cell.id = `${id}-here`; else if (cell.id) cell.removeAttribute("id");
        const value = text === undefined ? "…" : text === null ? "NULL" : shownText(text);
        if (cell.textContent !== value) cell.textContent = value;
        cell.dataset.row = row;
        cell.dataset.at = at;
      });
    }

    function drawHeads(shown) {
      const keep = new Set(shown.map((at) => columns.order[at]));
      for (const [column, node] of heads) if (!keep.has(column)) { node.remove(); heads.delete(column); }
      const missing = [];
      for (const at of shown) {
        const column = columns.order[at];
        if (!heads.has(column)) heads.set(column, newHead(column));
        const node = heads.get(column), sort = state().sort, active = here.row === -1 && here.at === at;
        node.style.left = `${xOf(at)}px`;
        node.style.width = `${columns.widths[column]}px`;
        node.className = `dg-h${at < columns.pinned.length ? " pinned" : ""}${at === columns.pinned.length - 1 ? " last" : ""}${active ? " here" : ""}`;
        node.setAttribute("aria-colindex", at + 1);
        const all = sort ? [sort, ...(state().then || [])] : [], place = all.findIndex(([c]) => c === column), sorted = all[place];
        node.setAttribute("aria-sort", sorted ? (sorted[1] ? "descending" : "ascending") : "none");
        node.querySelector(".arrow").textContent = sorted ? (sorted[1] ? "▼" : "▲") + (all.length > 1 ? place + 1 : "") : "";
        if (active) node.id = `${id}-here`; else node.removeAttribute("id");
        if (!profiles.has(column) && !wanted.has(column)) missing.push(column);
      }
      if (missing.length && state().shown + state().total) { missing.forEach((c) => wanted.add(c)); send({ profile: missing }); }
    }

    function newHead(column) {
      const about = columns.all[column], node = html(head, "div", { class: "dg-h", role: "columnheader" });
      const name = html(node, "div", { class: "name", title: about.name });
      html(name, "span", {}, shownText(about.name));
      html(name, "span", { class: "arrow", "aria-hidden": "true" });
      name.addEventListener("click", (event) => { here = { row: -1, at: columns.order.indexOf(column) }; toggleSort(column, event.shiftKey); });
      html(node, "div", { class: "type", title: about.type }, about.type);
      html(node, "div", { class: "plot" });
      const open = html(node, "button", { type: "button", class: "menu", tabindex: -1, "aria-label": `menu of ${about.name}`, "aria-haspopup": "menu" }, "⋯");
      open.addEventListener("click", () => columnMenu(column, open.getBoundingClientRect()));
      const grip = html(node, "div", { class: "grip", "aria-hidden": "true" });
      grip.addEventListener("pointerdown", (event) => {
        const from = event.clientX, before = columns.widths[column];
        grip.setPointerCapture(event.pointerId);
        grip.onpointermove = (move) => resize(column, before + move.clientX - from);
        grip.onpointerup = () => { grip.onpointermove = grip.onpointerup = null; };
      });
      setTimeout(() => drawPlot(column));
      return node;
    }

    // The histogram, or the most frequent values: grey all rows, coloured the visible ones.
    function drawPlot(column) {
      const node = heads.get(column), found = profiles.get(column);
      if (!node || !found) return;
      const plot = node.querySelector(".plot"), wide = columns.widths[column] - 17, high = 20;
      plot.replaceChildren();
      plot.title = found.text;
      if (found.kind !== "none") {
        const svg = el(plot, "svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, "aria-hidden": "true" });
        const most = Math.max(1, ...found.bins.map((b) => b[1])), step = wide / found.bins.length;
        found.bins.forEach(([label, count_], i) => {
          const bin = el(svg, "g", { class: "bin" }), visible = found.shown ? found.shown[i] : count_;
          el(bin, "rect", { class: "area", x: i * step, y: 0, width: step, height: high });
          for (const [kind, n] of [["all", count_], ["now", visible]]) {
            const tall_ = n ? Math.max(1.5, (n / most) * (high - 1)) : 0;
            el(bin, "rect", { class: kind, x: i * step + 0.5, y: high - tall_, width: Math.max(1, step - 1), height: tall_ });
          }
          el(bin, "title", {}, `${label}: ${count(count_, "row")}`);
        });
        if (found.bins.length) binDrag(svg, column, step, wide, found.kind === "range");
      }
      html(plot, "div", { class: "note" }, shownText(found.note));
    }

    function binDrag(svg, column, step, wide, range) {
      let from = null, band = null;
      const at = (event) => Math.max(0, Math.min(Math.floor(wide / step) - 1, Math.floor((event.clientX - svg.getBoundingClientRect().left) / step)));
      svg.addEventListener("pointerdown", (event) => { event.stopPropagation(); event.preventDefault(); from = at(event); svg.setPointerCapture(event.pointerId); });
      svg.addEventListener("pointermove", (event) => {
        if (from === null) return;
        const [a, b] = range ? [from, at(event)].sort((p, q) => p - q) : [from, from];
        band = band || el(svg, "rect", { class: "band", y: 0, height: 20 });
        band.setAttribute("x", a * step);
        band.setAttribute("width", (b - a + 1) * step);
      });
      svg.addEventListener("pointerup", (event) => {
        if (from === null) return;
        const bins = range ? [from, at(event)].sort((p, q) => p - q) : [from, from];
        from = null;
        if (band) band.remove();
        send({ filter: { column, bins } });
      });
    }

    function resize(column, width) {
      columns.widths[column] = Math.max(48, Math.min(900, width));
      columns.layout();
      drawPlot(column);
      relaid();
    }
    const relaid = () => { here.at = Math.min(here.at, columns.order.length - 1); space.style.width = `${columns.width}px`; later(); };

    // -- choosing cells
    const chosen = () => {
      const from = anchor || here;
      if (here.row < 0 || from.row < 0) return null;
      return { first: Math.min(from.row, here.row), stop: Math.max(from.row, here.row) + 1, left: Math.min(from.at, here.at), right: Math.max(from.at, here.at) + 1 };
    };
    function go(row, at, extend) {
      if (!extend) anchor = null; else anchor = anchor || { ...here };
      here = { row: Math.max(-1, Math.min(total() - 1, row)), at: Math.max(0, Math.min(columns.order.length - 1, at)) };
      if (here.row >= 0) {
        if (here.row * ROW < top) scrollTo(here.row * ROW);
        else if ((here.row + 1) * ROW > top + inner()) scrollTo((here.row + 1) * ROW - inner());
      }
      const x = columns.x[here.at], wide = columns.widths[columns.order[here.at]];
      if (here.at >= columns.pinned.length) {
        if (x - columns.fixed < box.scrollLeft) box.scrollLeft = x - columns.fixed;
        else if (x + wide > box.scrollLeft + box.clientWidth) box.scrollLeft = x + wide - box.clientWidth;
      }
      later();
    }
    const cellAt = (event) => { const cell = event.target.closest(".dg-c"); return cell && { row: Number(cell.dataset.row), at: Number(cell.dataset.at) }; };
    let dragging = false;
    body.addEventListener("pointerdown", (event) => {
      const at = event.button === 0 && cellAt(event);
      if (!at) return;
      dragging = true;
      go(at.row, at.at, event.shiftKey);
    });
    body.addEventListener("pointermove", (event) => { const at = dragging && cellAt(event); if (at && (at.row !== here.row || at.at !== here.at)) go(at.row, at.at, true); });
    const release = () => { dragging = false; };
    document.addEventListener("pointerup", release);
    body.addEventListener("dblclick", () => openHere());
    body.addEventListener("contextmenu", (event) => {
      const at = cellAt(event);
      if (!at) return;
      event.preventDefault();
      event.stopPropagation();
      // A click inside the selection keeps it: the menu copies it.
      const range = chosen(), inside = range && at.row >= range.first && at.row < range.stop && at.at >= range.left && at.at < range.right;
      if (!inside) go(at.row, at.at, false);
      columnMenu(columns.order[at.at], { left: event.clientX, top: event.clientY, bottom: event.clientY }, at);
    });

    box.addEventListener("keydown", (event) => {
      if (event.target !== box) return;
      const page = Math.max(1, Math.floor(inner() / ROW) - 1), ctrl = event.ctrlKey || event.metaKey, { row, at } = here, end = columns.order.length - 1;
      const moves = {
        ArrowDown: [ctrl ? total() - 1 : row + 1, at], ArrowUp: [ctrl ? 0 : row - 1, at], ArrowLeft: [row, ctrl ? 0 : at - 1], ArrowRight: [row, ctrl ? end : at + 1],
        PageDown: [row + page, at], PageUp: [Math.max(0, row - page), at], Home: [ctrl ? 0 : row, 0], End: [ctrl ? total() - 1 : row, end],
      };
      if (event.altKey && ["ArrowLeft", "ArrowRight"].includes(event.key)) resize(columns.order[at], columns.widths[columns.order[at]] + (event.key === "ArrowRight" ? 24 : -24));
      else if (moves[event.key] && !event.altKey) go(...moves[event.key], event.shiftKey);
      else if (event.key === "F2" && here.row >= 0 && state().edits) edit(here, placeOfHere());
      else if (event.key === "Enter" || event.key === " ") here.row < 0 ? toggleSort(columns.order[at], event.shiftKey) : openHere();
      else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) columnMenu(columns.order[at], placeOfHere());
      else if (ctrl && event.key.toLowerCase() === "c") copy(event.shiftKey);
      else if (ctrl && event.key.toLowerCase() === "a") { here = { row: Math.max(0, total() - 1), at: end }; anchor = { row: 0, at: 0 }; later(); }
      else if (event.key === "Escape" && anchor) { anchor = null; later(); } else return;
      event.preventDefault();
      event.stopPropagation();
    });
    box.addEventListener("focus", later);

    // -- what can be done
    const placeOfHere = () => (box.querySelector(".here") || box).getBoundingClientRect();
    const placeOf = (cell) => (body.querySelector(`[data-row="${cell.row}"][data-at="${cell.at}"]`) || box.querySelector(".here") || box).getBoundingClientRect();
    let edited = null;  // where the form of a cell opens
    let asked = null;  // where the statistics of a column open
    let pending = null;  // the order of a click that the kernel has not answered: a second click builds on it
    function toggleSort(column, further) {
      const all = state().sort ? [state().sort, ...(state().then || [])] : [], known = all.find(([c]) => c === column);
      if (further && all.length) { send({ sort: [column, Boolean(known && !known[1])], then: true }); return; }
      const sort = pending ? pending.sort : state().sort;
      pending = { sort: !sort || sort[0] !== column ? [column, false] : sort[1] ? null : [column, true] };
      send(pending);
      later();
    }
    const openHere = () => openCell(here);
    function openCell(cell) {
      if (cell.row < 0 || cell.row >= total()) return;
      opening = { ...cell };
      send({ value: [cell.row, columns.order[cell.at]] });
    }
    function copy(header, form = "") {
      const range = chosen();
      if (range) send({ copy: [range.first, range.stop], columns: columns.order.slice(range.left, range.right), header: Boolean(header), form });
    }
    const copyAs = (place) => menu(host, place, "copy as", [["Markdown", "markdown"], ["JSON", "json"], ["INSERT statement", "insert"]].map(([text, form]) => [text, () => copy(true, form)]), back);
    function fetchFile(kind) { files = []; say("Preparing the file …"); send({ export: kind, columns: columns.order }); }
    function columnMenu(column, place, cell = here) {
      const about = columns.all[column], pinned = columns.pinned.includes(column), row = cell.row;
      const text = row >= 0 && columns.order[cell.at] === column ? pages.text(row, column) : undefined;
      const brief = text === null ? "NULL" : clip(String(text), 30), filter = (more) => send({ filter: { column, ...more } });
      menu(host, place, `column ${about.name}`, [
        ...(text !== undefined && (about.comparable || text === null) ? [[`Only ${brief}`, () => filter({ operator: "=", row })], [`Without ${brief}`, () => filter({ operator: "<>", row })], null] : []),
        ...(text !== undefined && state().edits ? [["Edit …", () => edit(cell, place)]] : []),
        ...(text !== undefined ? [["Open value", () => openCell(cell)], ["Copy", () => copy(false)], ["Copy with header", () => copy(true)], ["Copy as …", () => copyAs(place)], null] : []),
        ["Sort ascending", () => send({ sort: [column, false] })],
        ["Sort descending", () => send({ sort: [column, true] })],
        ...(state().sort && state().sort[0] !== column ? [["Then by this, ascending", () => send({ sort: [column, false], then: true })], ["Then by this, descending", () => send({ sort: [column, true], then: true })]] : []),
        ...(state().sort ? [["Unsorted", () => send({ sort: null })]] : []),
        ["Filter …", () => filterForm(host, model, place, about, { list: (text) => send({ values: column, containing: text }), apply: filter, among: (chosen_) => filter({ among: chosen_ }) }, back)],
        ["Statistics", () => { asked = place; send({ statistics: column }); }],
        null,
        [pinned ? "Unpin" : "Pin to the left", () => keepingColumns(() => columns.pin(column, !pinned))],
        ["Hide", () => keepingColumns(() => columns.hide(column))],
        ["Copy column name", () => copyText(about.name)],
      ], back);
    }
    function edit(cell, place) {
      edited = place;
      send({ edit_value: [cell.row, columns.order[cell.at]] });
    }
    // The selected cells stay in their columns when these change their places.
    function keepingColumns(change) {
      const before = [here, anchor].map((cell) => cell && columns.order[cell.at]);
      change();
      [here, anchor].forEach((cell, i) => { if (cell && columns.order.includes(before[i])) cell.at = columns.order.indexOf(before[i]); });
      if (anchor && !columns.order.includes(before[1])) anchor = null;
      relaid();
    }

    model.on("msg:custom", (message, buffers) => {
      if (message.pages) pages.heard(message, buffers);
      else if (message.profiles) {
        for (const [column, found] of Object.entries(message.profiles)) { profiles.set(Number(column), found); drawPlot(Number(column)); }
      } else if (message.value && opening) {
        const at = opening;
        opening = null;
        openedValue(host, placeOf(at), columns.all[columns.order[at.at]].name, message.value, buffers[0], back);
      } else if (message.statistics) {
        statisticsBox(host, asked || placeOfHere(), columns.all[message.statistics.column].name, message.statistics, back);
      } else if (message.listed) {
        host.listed?.show?.(message.listed);
      } else if ("summary" in message) {
        if (summed) sums.textContent = message.summary;
      } else if ("copied" in message) {
        copyText(message.copied).then((done) => say(done ? `Copied ${count(message.rows, "row")} × ${count(message.columns, "column")}` : "The browser does not allow copying", 4000));
      } else if (message.edit_value) {
        const { row, column, text } = message.edit_value;
        editForm(host, model, edited || placeOfHere(), columns.all[column], text, (typed) => send({ edit: [row, column], text: typed }), back);
      } else if ("edits_sql" in message || message.edits_said) {
        edits.heard(message);
      } else if (message.code) {
        intoCell(message.code).then((done) => say(done, 6000));
      } else if (message.file) {
        files[message.file.part] = buffers[0];
        if (files.filter(Boolean).length < message.file.parts) return;
        const link = html(host, "a", { download: message.file.name }), url = URL.createObjectURL(new Blob(files, { type: message.file.mime }));
        link.href = url;
        link.click();
        link.remove();
        files = [];
        setTimeout(() => URL.revokeObjectURL(url), 10_000);
        say(`Downloaded ${message.file.name}`, 4000);
      }
    });

    // -- rows, chart or pivot table
    const drawn = chartPanel(graph, model, columns.all, { send, code: () => send({ chart_code: true }) });
    const pivoted = pivotPanel(groups, model, columns.all, { send, code: () => send({ pivot_code: true }) });
    const TABS = [["Rows", "rows"], ["Chart", "chart"], ["Pivot", "pivot"]];
    let open = 0;
    // The JupyterLab extension asks when the notebook is saved.
    host.addEventListener("paimon-nb:still", ({ detail }) => { detail.svg = open === 1 ? drawn.picture() : ""; detail.text = model.get("chart").alternative || ""; });
    const showTab = (to) => {
      if (to !== open) send({ [TABS[to || open][1]]: to ? {} : null });
      open = to;
      for (const [node, on] of [[box, !to], [pick, !to], [save, !to], [sums, !to], [graph, to === 1], [groups, to === 2]]) node.style.display = on ? "" : "none";
      [...tabs.children].forEach((tab, i) => { tab.setAttribute("aria-selected", i === to); tab.tabIndex = i === to ? 0 : -1; });
      asSql.style.visibility = to ? "hidden" : "";
      [later, drawn.changed, pivoted.changed][to]();
    };
    TABS.forEach(([text, of], i) => button(tabs, text, () => showTab(i), { role: "tab", "aria-controls": `${id}-${of}` }));
    tabs.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: 2, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      showTab((open + step) % 3);
      tabs.children[open].focus();
    });

    // -- controls
    let typed = null;
    search.addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(() => send({ search: search.value }), 250); });
    search.addEventListener("keydown", (event) => { event.stopPropagation(); if (event.key === "Enter") { clearTimeout(typed); send({ search: search.value }); } });
    const notes = html(host, "div", { class: "dg-notes" }), edits = editBar(host, model, send, say, back);
    const controls = () => {
      const now = state();
      notes.replaceChildren();
      for (const note of now.notes) html(notes, "div", {}, note);
      edits.draw();
      about.textContent = now.busy || now.footer;
      asSql.style.display = now.sql ? "" : "none";
      load.style.display = now.complete || now.busy ? "none" : "";
      cancel.style.display = now.busy.startsWith("Reading") ? "" : "none";
      for (const node of [graph, groups]) node.classList.toggle("stale", Boolean(now.busy));
      if (focused(search) !== search) search.value = now.search;
      keepingFocus(chips, () => {
        const now = state();
        chips.replaceChildren();
        now.filters.forEach((text, i) => button(chips, `${text} ✕`, () => send({ unfilter: i }), { class: "chip", "aria-label": `remove filter ${text}`, title: text }));
        if (now.filters.length + Boolean(now.search) > 1) button(chips, "Clear all", () => send({ unfilter: null }));
      });
    };
    let generation = state().generation, profiled = JSON.stringify([state().filters, state().search, state().total]);
    const changed = () => {
      controls();
      const now = state();
      if (!now.busy) pending = null;
      if (now.generation !== generation) {
        generation = now.generation;
        pages.keep({ ...model.get("first_page"), generation }, model.get("first_buffers"));
        // A new order leaves the profiles as they are.
        const about_ = JSON.stringify([now.filters, now.search, now.total]);
        if (about_ !== profiled) {
          profiled = about_;
          wanted.clear();
          for (const column of [...profiles.keys()]) if (heads.has(column)) wanted.add(column); else profiles.delete(column);
          if (wanted.size) send({ profile: [...wanted] });
        }
        here.row = Math.min(here.row, now.shown - 1);
        anchor = null;
        space.style.height = `${HEAD + tall()}px`;
        scrollTo(0);
      }
      later();
    };
    model.on("change:state", changed);
    const sizes = new ResizeObserver(later), watch = setInterval(() => pages.check(), 1000);
    sizes.observe(box);
    box.style.height = `${HEAD + Math.min(Math.max(total(), 1), 14) * ROW + 18}px`;
    space.style.height = `${HEAD + tall()}px`;
    const unwatch = onWidth(graph, drawn.draw);
    relaid();
    controls();
    draw();
    showTab(0);
    return () => { sizes.disconnect(); unwatch(); clearInterval(watch); clearTimeout(typed); clearTimeout(saidTimer); document.removeEventListener("pointerup", release); };
  },
};
