// Generated from labextension/ by `make labextension`. Do not edit.
// sources: fdbcaaeb4a22e0a5a4442902541c9078116ad7c3289624e9bf48b179e5c3172b
(() => {
const SHARED = ["@jupyterlab/application","@jupyterlab/apputils","@jupyterlab/codemirror","@jupyterlab/console","@jupyterlab/notebook","@jupyterlab/rendermime","@jupyterlab/ui-components","@lumino/coreutils","@lumino/signaling","@lumino/widgets"];
let scope;
const load = async (name) => (await Object.values(scope[name])[0].get())();
(window._JUPYTERLAB = window._JUPYTERLAB || {})["paimon-nb"] = {
  init: (given) => { scope = given; },
  get: async (wanted) => {
    if (wanted !== "./extension") throw new Error(wanted);
    const packages = {};
    await Promise.all(SHARED.map(async (name) => { packages[name] = await load(name); }));
    const module = { exports: {} };
    bundle(module, module.exports, (name) => packages[name]);
    return () => module.exports;
  },
};
function bundle(module, exports, require) {
"use strict";
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// src/index.ts
var index_exports = {};
__export(index_exports, {
  default: () => index_default
});
module.exports = __toCommonJS(index_exports);

// src/catalog/plugin.ts
var import_application = require("@jupyterlab/application");
var import_apputils3 = require("@jupyterlab/apputils");
var import_console = require("@jupyterlab/console");
var import_notebook3 = require("@jupyterlab/notebook");

// src/catalog/actions.ts
var import_apputils = require("@jupyterlab/apputils");
var import_ui_components = require("@jupyterlab/ui-components");
var PANELS = [
  ["explore", "Explore"],
  ["timeline", "Timeline"],
  ["lsm", "LSM tree"],
  ["compact", "Compaction"],
  ["skip", "Pruning"],
  ["compare", "Compare snapshots"],
  ["doctor", "Doctor"],
  ["live", "Live changes"]
];
var PREVIEWED = /* @__PURE__ */ new Set(["table", "branch", "tag", "system_table"]);
var panelSource = (command, node) => node.command ? `%paimon ${command} ${node.command}` : `from paimon_nb.notebook.table_panels import table_panel

table_panel("${command}", ${JSON.stringify(node.insert)})`;
function querySource(line) {
  const { node, parent } = line;
  if (node.kind === "tag") return `%%paimon
SELECT * FROM ${parent?.parent?.node.insert} VERSION AS OF ${node.insert}
LIMIT 50`;
  return `%%paimon
SELECT * FROM ${node.insert}
LIMIT 50`;
}
var TreeActions = class {
  constructor(app, bar, tabs) {
    this.app = app;
    this.bar = bar;
    this.tabs = tabs;
    this.menu = null;
    // Arguments of commands are JSON, so the menu holds its functions by number.
    this.acts = [];
  }
  /** A click on a name, or Enter. */
  activate(line) {
    if (PREVIEWED.has(line.node.kind)) this.preview(line);
    else if (line.node.kind === "job") this.side("jobs", "Jobs", line.node, "%paimon jobs");
  }
  newTable(database = "") {
    this.cell(`%paimon create${database && ` ${database}.my_table`}`, true);
  }
  /** Open the menu of a line. */
  open(line, x, y) {
    this.menu?.dispose();
    this.acts = [];
    const menu = new import_ui_components.MenuSvg({ commands: this.app.commands });
    this.menu = menu;
    menu.addClass("pnb-cat-menu");
    const { kind } = line.node;
    if (PREVIEWED.has(kind)) this.add(menu, "Preview rows", () => this.preview(line));
    if (PREVIEWED.has(kind) || kind === "view") this.add(menu, "Query in a new cell", () => this.cell(querySource(line), false));
    if (kind === "table" || kind === "branch") this.addPanels(menu, line);
    if (kind === "database") this.add(menu, "New table", () => this.newTable(line.node.command));
    if (kind === "job" || kind === "jobs") this.addJobs(menu, line);
    if (line.node.insert) {
      menu.addItem({ type: "separator" });
      this.add(menu, "Insert name at the cursor", () => this.bar.shownTarget?.insert(line.node.insert));
      this.add(menu, "Copy name", () => import_apputils.Clipboard.copyToSystem(line.node.insert));
    }
    if (line.node.expands) {
      menu.addItem({ type: "separator" });
      this.add(menu, "Refresh", () => void this.bar.shownModel?.load(line));
    }
    menu.aboutToClose.connect(() => requestAnimationFrame(() => this.bar.tree.enter()));
    menu.open(x, y);
  }
  addPanels(menu, line) {
    const { node } = line, key = line.facts?.key ?? "";
    menu.addItem({ type: "separator" });
    for (const [command, name] of PANELS) this.add(menu, name, () => this.cell(panelSource(command, node), true));
    if (key && node.command) this.add(menu, "Row history …", () => this.cell(`%paimon why ${node.command} ${key}`, false));
    const beside = new import_ui_components.MenuSvg({ commands: this.app.commands });
    beside.title.label = "Open in a tab";
    for (const [command, name] of PANELS)
      this.add(beside, name, () => this.side(command, `${name}: ${node.label}`, node, panelSource(command, node)));
    menu.addItem({ type: "submenu", submenu: beside });
  }
  addJobs(menu, line) {
    this.add(menu, "Jobs in a new cell", () => this.cell("%paimon jobs", true));
    this.add(menu, "Jobs in a tab", () => this.side("jobs", "Jobs", line.node, "%paimon jobs"));
  }
  add(menu, label, act) {
    menu.addItem({ command: RUN, args: { label, run: this.held(act) } });
  }
  held(act) {
    return this.acts.push(act) - 1;
  }
  /** Run an item of the open menu. */
  run(index) {
    this.acts[index]?.();
  }
  preview(line) {
    const table = line.node.kind === "tag" || line.node.kind === "system_table" ? line.node.path[2] : "";
    const title = line.node.kind === "system_table" ? `${table}$${line.node.label}` : table ? `${table} at ${line.node.label}` : line.node.label;
    this.side("preview", title, line.node, querySource(line), false);
  }
  side(panel, title, node, source, run = true) {
    const target = this.bar.shownTarget, model = this.bar.shownModel;
    if (target && model) void this.tabs.open(model.catalog, target, { panel, title, node, source, run });
  }
  cell(source, run) {
    void this.bar.shownTarget?.cell(source, run);
  }
};
var RUN = "paimon-nb:catalog-menu-item";

// src/catalog/kernel.ts
var import_coreutils = require("@lumino/coreutils");
var import_signaling = require("@lumino/signaling");

// src/cells.ts
var import_notebook = require("@jupyterlab/notebook");
var GONE = /* @__PURE__ */ new Set(["restarting", "autorestarting", "terminating", "dead"]);
var RUNS_AT_ONCE = /^%paimon (\w+ [\w.-]+( (--at )?\d+)*|create|jobs|help|doctor)$/;
var isGone = (status) => GONE.has(status);
function endPanels(node) {
  for (const panel of node.querySelectorAll(".pnb")) panel.dispatchEvent(new CustomEvent("paimon-nb:kernel-ended"));
}
var endings = {
  id: "paimon-nb:endings",
  autoStart: true,
  requires: [import_notebook.INotebookTracker],
  activate: (_app, tracker) => {
    tracker.widgetAdded.connect((_, panel) => {
      panel.sessionContext.statusChanged.connect((_2, status) => {
        if (isGone(status)) endPanels(panel.node);
      });
    });
  }
};
function insertForWidgets(app, tracker) {
  document.addEventListener("paimon-nb:insert", (event) => {
    const { source, run } = event.detail;
    const panel = tracker.currentWidget;
    if (!panel || typeof source !== "string") return;
    event.preventDefault();
    void app.commands.execute("notebook:insert-cell-below").then(() => {
      tracker.activeCell?.model.sharedModel.setSource(source);
      if (run === true && RUNS_AT_ONCE.test(source)) return app.commands.execute("notebook:run-cell");
      return import_notebook.NotebookActions.focusActiveCell(panel.content);
    });
  });
}
function cancelButtons(tracker) {
  const style = document.createElement("style");
  style.textContent = "button.pnb-cancel{display:inline-block !important}";
  document.head.appendChild(style);
  document.addEventListener("click", (event) => {
    const panel = tracker.currentWidget;
    const pressed = event.target instanceof Element ? event.target.closest("button.pnb-cancel") : null;
    const kernel = pressed && panel && panel.node.contains(pressed) ? panel.sessionContext.session?.kernel : null;
    if (!pressed || !kernel) return;
    pressed.disabled = true;
    void kernel.interrupt();
  });
}
var help = {
  id: "paimon-nb:help",
  autoStart: true,
  requires: [import_notebook.INotebookTracker],
  activate: (app, tracker) => {
    insertForWidgets(app, tracker);
    cancelButtons(tracker);
  }
};

// src/catalog/kernel.ts
var TARGET = "paimon-nb:catalog";
var SUBSHELL_MS = 2e3;
var CatalogError = class extends Error {
};
var KernelEnded = class extends Error {
};
var KernelCatalog = class {
  constructor(connection) {
    this.connection = connection;
    this.comm = null;
    this.current = "waiting";
    this.pending = /* @__PURE__ */ new Map();
    this.signal = new import_signaling.Signal(this);
    /** The language of the kernel, for the message that it is not Python. */
    this.language = "";
    connection.registerCommTarget(TARGET, (comm) => this.attach(comm));
    connection.statusChanged.connect(this.onStatus, this);
    connection.disposed.connect(() => this.end("dead"));
    void this.probe();
  }
  /** The state or the kernel's status changed. */
  get changed() {
    return this.signal;
  }
  get state() {
    return this.current;
  }
  /** Milliseconds that the oldest request has waited for a busy kernel; 0 if none waits. */
  get waitedMs() {
    if (this.connection.status !== "busy" || !this.pending.size) return 0;
    return Date.now() - Math.min(...[...this.pending.values()].map((p) => p.since));
  }
  /** Find the comm that the kernel opened before this page was loaded. */
  async probe() {
    const info = await this.connection.info.catch(() => null);
    if (!info || this.connection.isDisposed) return;
    this.language = info.language_info.name;
    if (this.language !== "python") return this.become("foreign");
    const reply = await this.connection.requestCommInfo({ target_name: TARGET }).catch(() => null);
    if (this.connection.isDisposed || this.comm || !reply || reply.content.status !== "ok") return;
    const ids = Object.keys(reply.content.comms);
    if (!ids.length) return isGone(this.connection.status) ? void 0 : this.become("absent");
    await this.attach(this.connection.createComm(TARGET, ids[ids.length - 1]));
  }
  async attach(comm) {
    this.comm = comm;
    comm.onMsg = (message) => this.onAnswer(message);
    comm.onClose = () => {
      if (this.comm === comm) this.end("absent");
    };
    this.become("ready");
  }
  /** Load paimon_nb in the kernel, outside its history. */
  async load() {
    const future = this.connection.requestExecute({
      code: "%load_ext paimon_nb",
      silent: true,
      store_history: false,
      stop_on_error: false,
      user_expressions: { open: "__import__('paimon_nb.notebook.catalog_comm', fromlist=['open_comm']).open_comm()" }
    });
    const reply = await future.done;
    const content = reply?.content;
    if (content?.status === "error") throw new CatalogError(`${content.ename}: ${content.evalue}`);
    const opened = content?.user_expressions?.open;
    if (opened?.status === "error") throw new CatalogError(String(opened.evalue));
  }
  /** Ask the kernel. Rejects with CatalogError or KernelEnded. */
  async request(body) {
    await this.subshell();
    const comm = this.comm;
    if (!comm || comm.isDisposed) throw new KernelEnded("the kernel ended");
    const id = import_coreutils.UUID.uuid4();
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject, since: Date.now() });
      comm.send({ ...body, id });
    });
  }
  /** Requests that are sent before the subshell exists would wait for a running cell. */
  async subshell() {
    const started = this.comm?.subshellStarted;
    if (!started || !this.connection.supportsSubshells) return;
    await Promise.race([started, new Promise((done) => setTimeout(done, SUBSHELL_MS))]);
  }
  onAnswer(message) {
    const answer = message.content.data;
    const pending = this.pending.get(answer.id);
    if (!pending) return;
    this.pending.delete(answer.id);
    if (answer.error !== void 0) pending.reject(new CatalogError(answer.error));
    else pending.resolve(answer);
  }
  onStatus(_, status) {
    if (isGone(status)) return this.end(status === "dead" ? "dead" : "restarting");
    if (this.current === "restarting" || this.current === "dead") {
      this.become("waiting");
      void this.probe();
    } else {
      this.signal.emit();
    }
  }
  end(state) {
    this.comm = null;
    for (const pending of this.pending.values()) pending.reject(new KernelEnded("the kernel ended"));
    this.pending.clear();
    this.become(state);
  }
  become(state) {
    this.current = state;
    this.signal.emit();
  }
};

// src/catalog/sidebar.ts
var import_ui_components3 = require("@jupyterlab/ui-components");
var import_signaling4 = require("@lumino/signaling");
var import_widgets2 = require("@lumino/widgets");

// src/catalog/icons.ts
var import_ui_components2 = require("@jupyterlab/ui-components");
var PATHS = {
  catalog: "M2 3.2h12v2.6H2zM2 6.8h12v2.6H2zM2 10.4h12V13H2z",
  database: "M8 2c3 0 5 .9 5 2v8c0 1.100-2 2-5 2s-5-.9-5-2V4c0-1.100 2-2 5-2zM3 4c0 1.100 2 2 5 2s5-.9 5-2M3 8c0 1.100 2 2 5 2s5-.9 5-2",
  table: "M2 3h12v10H2zM2 6.200h12M2 9.600h12M6.200 6.200V13",
  view: "M1.500 8S4 3.800 8 3.800 14.500 8 14.500 8 12 12.200 8 12.200 1.500 8 1.500 8zM8 6.200a1.800 1.800 0 1 0 0 3.600 1.800 1.800 0 0 0 0-3.600z",
  column: "M5.500 3h5v10h-5z",
  key: "M6.200 4.200a2.800 2.800 0 1 0 0 5.600 2.800 2.800 0 0 0 0-5.600zM9 7h5.500M12.500 7v2.600",
  partition: "M2 3h5v10H2zM9 3h5v4H9zM9 9h5v4H9z",
  tag: "M2 3h5.500l6 6-4.500 4.500-7-6.500zM5 5.600v.1",
  branch: "M5 2.500v11M5 10c0-3 6-1.500 6-5M11 2.500a1.300 1.300 0 1 0 0 2.600 1.300 1.300 0 0 0 0-2.600z",
  system: "M2 3h12v10H2zM2 6.200h12M4.500 9.500h2M9 9.500h2.500",
  job: "M5 3.500v9l7-4.500z",
  temporary: "M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 5v3.200l2.200 1.500"
};
var SHAPES = {
  tags: "tag",
  branches: "branch",
  system_table: "system",
  jobs: "job"
};
var SVG = "http://www.w3.org/2000/svg";
function icon(kind, mark) {
  const shape = kind === "column" && mark ? mark : SHAPES[kind] ?? kind;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "pnb-cat-icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[shape] ?? PATHS.column);
  svg.appendChild(path);
  return svg;
}
var paimonIcon = new import_ui_components2.LabIcon({
  name: "paimon-nb:catalog",
  svgstr: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="16"><g class="jp-icon3" fill="#616161"><path d="M4 4h5v4H4zM11 4h9v4h-9zM4 10h11v4H4zM17 10h3v4h-3zM4 16h16v4H4z"/></g></svg>'
});

// src/catalog/model.ts
var import_signaling2 = require("@lumino/signaling");
var FACTS_AT_ONCE = 20;
var ROOT = { kind: "root", path: [], label: "", note: "", tip: "", expands: true, insert: "", command: "", mark: "" };
function lineOf(node, parent) {
  const key = JSON.stringify([node.kind, ...node.path]);
  const level = parent ? parent.level + 1 : 0;
  return { node, key, level, parent, children: null, more: 0, empty: "", loading: false, load: 0, error: "", facts: null, factsOf: 0 };
}
var TreeModel = class {
  constructor(catalog2) {
    this.catalog = catalog2;
    this.root = lineOf(ROOT, null);
    /** Keys of the open lines; they stay open over a refresh and a restart of the kernel. */
    this.open = /* @__PURE__ */ new Set();
    this.selected = "";
    this.current = "";
    this.warehouse = "";
    this.loadedAt = null;
    this.text = "";
    this.refreshes = 0;
    this.loads = 0;
    this.signal = new import_signaling2.Signal(this);
  }
  get changed() {
    return this.signal;
  }
  get filter() {
    return this.text;
  }
  /** Show only names that contain this text. Long lists are searched by the kernel. */
  set filter(text) {
    if (text === this.text) return;
    this.text = text;
    for (const line of this.lines()) if (line.more > 0 || line.node.kind === "database") this.searched(line);
    this.signal.emit();
  }
  searched(line) {
    if (line.children && (line.more > 0 || line.children.length === 0)) void this.load(line);
  }
  /** Every loaded line. */
  *lines(from = this.root) {
    yield from;
    for (const child of from.children ?? []) yield* this.lines(child);
  }
  find(key) {
    for (const line of this.lines()) if (line.key === key) return line;
    return null;
  }
  /** Read the top and all open lines again. */
  async refresh() {
    this.refreshes += 1;
    await this.load(this.root);
  }
  async expand(line) {
    if (!line.node.expands) return;
    this.open.add(line.key);
    this.signal.emit();
    if (line.children === null && !line.loading) await this.load(line);
  }
  collapse(line) {
    this.open.delete(line.key);
    this.signal.emit();
  }
  collapseAll() {
    this.open.clear();
    this.signal.emit();
  }
  /** The children of a line, and of those among them that are open. A later load of the same line replaces an earlier one. */
  async load(line, start = 0) {
    const load = ++this.loads;
    line.load = load;
    line.loading = true;
    this.signal.emit();
    const { kind, path } = line.node, match = kind === "database" ? this.text : "";
    const answer = await this.catalog.request({ do: "children", kind, path, match, start }).catch((error) => error);
    if (line.load !== load) return;
    line.loading = false;
    if (answer instanceof CatalogError) {
      line.error = answer.message;
      line.children = line.children ?? [];
    } else if (!(answer instanceof Error)) {
      line.error = "";
      this.merge(line, answer, start);
    }
    this.signal.emit();
    await Promise.all((line.children ?? []).filter((child) => this.open.has(child.key)).map((child) => this.load(child)));
  }
  merge(line, answer, start) {
    const before = new Map((line.children ?? []).map((c) => [c.key, c]));
    const kept = start > 0 ? line.children ?? [] : [];
    line.children = kept.concat(
      answer.nodes.map((node) => {
        const made = lineOf(node, line), known = before.get(made.key);
        if (!known) return made;
        known.node = node;
        return known;
      })
    );
    if (kept.length === 0 && before.size === 0) {
      for (const child of line.children) if (child.node.mark === "current") this.open.add(child.key);
    }
    line.more = answer.more;
    line.empty = answer.empty;
    this.current = answer.current;
    this.warehouse = answer.warehouse;
    this.loadedAt = /* @__PURE__ */ new Date();
  }
  /** Read size and health of tables that have none since the last refresh. */
  async loadFacts(lines) {
    let wanted = lines.filter((l) => l.node.kind === "table" && l.factsOf !== this.refreshes);
    const refresh = this.refreshes;
    for (const line of wanted) line.factsOf = refresh;
    while (wanted.length && refresh === this.refreshes) {
      const now = wanted.slice(0, FACTS_AT_ONCE);
      const answer = await this.catalog.request({ do: "facts", paths: now.map((l) => l.node.path) }).catch(() => null);
      if (!answer) return;
      now.slice(0, now.length - answer.left).forEach((line, i) => {
        line.facts = answer.facts[i];
      });
      wanted = wanted.slice(now.length - answer.left);
      this.signal.emit();
    }
  }
  /** What is drawn, from the top. */
  rows() {
    const rows = [];
    this.addRows(rows, this.root, this.text.toLowerCase());
    return rows;
  }
  addRows(rows, parent, filter) {
    const shown = (parent.children ?? []).filter((line) => !filter || this.matches(line, filter));
    const remarks = this.remarks(parent, shown.length, filter);
    shown.forEach((line, i) => {
      const found = !!filter && (line.children ?? []).some((c) => this.matches(c, filter));
      const open = line.node.expands && (this.open.has(line.key) || found);
      rows.push({ line, level: line.level, open, remark: "", text: "", position: i + 1, size: shown.length + remarks.length });
      if (open) this.addRows(rows, line, filter && !found ? "" : filter);
    });
    remarks.forEach(
      ([remark, text], i) => rows.push({ line: parent, level: parent.level + 1, open: false, remark, text, position: shown.length + i + 1, size: shown.length + remarks.length })
    );
  }
  matches(line, filter) {
    return line.node.label.toLowerCase().includes(filter) || (line.children ?? []).some((c) => this.matches(c, filter));
  }
  remarks(line, shown, filter) {
    if (line.error) return [["error", line.error]];
    if (line.children === null) return [];
    if (line.more > 0) return [["more", `${line.more.toLocaleString("en-US")} more …`]];
    if (shown === 0 && !line.loading) {
      const text = filter && line.children.length ? "no loaded name matches" : line.empty;
      return text ? [["empty", text]] : [];
    }
    return [];
  }
};

// src/catalog/view.ts
var import_signaling3 = require("@lumino/signaling");
var import_widgets = require("@lumino/widgets");
var WORDS = {
  catalog: "catalog",
  database: "database",
  table: "table",
  view: "view",
  column: "column",
  tag: "tag",
  branch: "branch",
  system_table: "system table",
  job: "job"
};
var HEALTH = {
  ok: ["●", "healthy"],
  slow: ["▲", "needs maintenance"],
  broken: ["✕", "damaged"],
  empty: ["○", "empty"],
  unknown: ["", "health not checked"]
};
var TYPED_MS = 700;
var MARGIN_PX = 200;
function element(name, attributes, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}
var TreeView = class extends import_widgets.Widget {
  constructor() {
    super();
    this.model = null;
    this.rows = [];
    this.made = /* @__PURE__ */ new Map();
    this.typed = "";
    this.typedAt = 0;
    this.drawing = 0;
    this.looking = 0;
    this.activatedSignal = new import_signaling3.Signal(this);
    this.menuSignal = new import_signaling3.Signal(this);
    this.addClass("pnb-cat-tree");
    this.node.setAttribute("role", "tree");
    this.node.setAttribute("aria-label", "Paimon catalog");
    this.node.addEventListener("click", (event) => this.onClick(event));
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    this.node.addEventListener("contextmenu", (event) => this.onContextMenu(event));
    this.node.addEventListener("dragstart", (event) => this.onDrag(event));
    this.node.addEventListener("focusin", (event) => this.onFocus(event));
    this.node.addEventListener("scroll", () => this.look());
  }
  /** Enter or a click on a name. */
  get activated() {
    return this.activatedSignal;
  }
  get menu() {
    return this.menuSignal;
  }
  display(model) {
    this.model?.changed.disconnect(this.draw, this);
    this.model = model;
    model?.changed.connect(this.draw, this);
    this.draw();
  }
  /** Draw soon; several changes are drawn at once. */
  draw() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.drawNow();
    });
  }
  drawNow() {
    const focused = this.node.contains(document.activeElement);
    this.rows = this.model?.rows() ?? [];
    this.place(this.rows.map((row, i) => this.drawn(row, i)));
    this.node.setAttribute("aria-busy", String(this.rows.some((row) => row.line.loading)));
    const at = this.selectedIndex();
    for (const row of this.node.querySelectorAll('[tabindex="0"]')) row.setAttribute("tabindex", "-1");
    this.rowNode(at)?.setAttribute("tabindex", "0");
    if (focused && !this.node.contains(document.activeElement)) this.rowNode(at)?.focus({ preventScroll: true });
    this.look();
  }
  /** Rows that are the same stay in the page as they are: a click or a drag that has begun goes on. */
  place(wanted) {
    const stays = new Set(wanted);
    for (const row of [...this.node.children]) if (!stays.has(row)) row.remove();
    wanted.forEach((row, i) => {
      if (this.node.children[i] !== row) this.node.insertBefore(row, this.node.children[i] ?? null);
    });
    this.made = new Map(wanted.map((row) => [row.dataset.row ?? "", row]));
  }
  drawn(row, index) {
    const { line, remark } = row, id = `${remark}${line.key}`;
    const selected = !remark && line.key === this.model?.selected;
    const look = JSON.stringify([row.level, row.open, row.text, row.position, row.size, line.node, line.facts, line.loading]);
    const made = this.made.get(id)?.dataset.look === look ? this.made.get(id) : remark ? this.drawnRemark(row) : this.drawnLine(row);
    Object.assign(made.dataset, { row: id, look, index: String(index) });
    if (!remark) made.setAttribute("aria-selected", String(selected));
    return made;
  }
  drawnRow(row, kind) {
    const made = element("div", {
      role: "treeitem",
      class: "pnb-cat-row",
      tabindex: "-1",
      "data-kind": kind,
      "aria-level": String(row.level),
      "aria-posinset": String(row.position),
      "aria-setsize": String(row.size)
    });
    made.style.setProperty("--level", String(row.level - 1));
    return made;
  }
  drawnRemark(row) {
    const made = this.drawnRow(row, row.remark);
    made.appendChild(element("span", { class: "pnb-cat-remark" }, row.text));
    made.title = row.text;
    return made;
  }
  drawnLine(row) {
    const { line } = row, { node, facts } = line, made = this.drawnRow(row, node.kind);
    if (node.expands) made.setAttribute("aria-expanded", String(row.open));
    made.setAttribute("aria-label", this.spoken(line));
    made.title = facts?.tip ? `${node.label}
${facts.tip}` : node.tip;
    made.draggable = node.insert !== "";
    if (node.mark) made.dataset.mark = node.mark;
    made.append(
      element("span", { class: "pnb-cat-twisty", "aria-hidden": "true" }, !node.expands ? "" : line.loading ? "◌" : "▸"),
      icon(node.kind, node.mark),
      element("span", { class: "pnb-cat-label" }, node.label),
      element("span", { class: "pnb-cat-note" }, facts?.note ?? node.note)
    );
    if (facts) made.appendChild(element("span", { class: "pnb-cat-health", "data-health": facts.health, "aria-hidden": "true" }, HEALTH[facts.health][0]));
    return made;
  }
  spoken(line) {
    const { node, facts } = line;
    const mark = node.kind === "column" ? { key: "primary key", partition: "partition key" }[node.mark] : node.mark === "current" ? "current" : "";
    const health = facts && facts.health !== "empty" ? HEALTH[facts.health][1] : "";
    return [node.label, WORDS[node.kind], facts?.note ?? node.note, mark, health].filter(Boolean).join(", ");
  }
  // -- where the keyboard is
  rowNode(index) {
    return this.node.children[index] ?? null;
  }
  selectedIndex() {
    const at = this.rows.findIndex((row) => !row.remark && row.line.key === this.model?.selected);
    return Math.max(at, 0);
  }
  focusedIndex() {
    const focused = document.activeElement?.dataset.index;
    return focused === void 0 || !this.node.contains(document.activeElement) ? this.selectedIndex() : Number(focused);
  }
  onFocus(event) {
    const row = event.target.closest(".pnb-cat-row");
    if (!row || !this.model) return;
    for (const other of this.node.querySelectorAll('[tabindex="0"]')) other.setAttribute("tabindex", "-1");
    row.setAttribute("tabindex", "0");
    const at = this.rows[Number(row.dataset.index)];
    if (!at || at.remark) return;
    this.node.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    row.setAttribute("aria-selected", "true");
    this.model.selected = at.line.key;
  }
  go(index) {
    const row = this.rowNode(Math.min(Math.max(index, 0), this.rows.length - 1));
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  }
  /** Move into the tree, for example from the filter box. */
  enter() {
    this.go(this.selectedIndex());
  }
  // -- what a person does
  rowOf(event) {
    const row = event.target instanceof Element ? event.target.closest(".pnb-cat-row") : null;
    return row ? this.rows[Number(row.dataset.index)] ?? null : null;
  }
  onClick(event) {
    const row = this.rowOf(event), model = this.model;
    if (!row || !model) return;
    event.target.closest(".pnb-cat-row")?.focus({ preventScroll: true });
    const onTwisty = event.target.classList.contains("pnb-cat-twisty") && row.line.node.expands && !row.remark;
    if (onTwisty) this.toggle(row);
    else this.press(row);
  }
  press(row) {
    if (row.remark === "more") void this.model?.load(row.line, row.line.children?.length ?? 0);
    else if (row.remark === "error") void this.model?.load(row.line);
    else if (row.remark) return;
    else if (row.line.node.expands && row.line.node.kind !== "table") this.toggle(row);
    else this.activatedSignal.emit(row.line);
  }
  toggle(row) {
    if (row.open) this.model?.collapse(row.line);
    else void this.model?.expand(row.line);
  }
  onContextMenu(event) {
    const row = this.rowOf(event);
    event.preventDefault();
    event.stopPropagation();
    if (!row || row.remark) return;
    this.openMenu(row, event.clientX, event.clientY);
  }
  openMenu(row, x, y) {
    this.go(this.rows.indexOf(row));
    this.menuSignal.emit({ line: row.line, x, y });
  }
  onDrag(event) {
    const row = this.rowOf(event);
    if (!row || row.remark || !event.dataTransfer) return;
    event.dataTransfer.setData("text/plain", row.line.node.insert);
    event.dataTransfer.effectAllowed = "copy";
  }
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.rows.length) return;
    const at = this.focusedIndex(), row = this.rows[at];
    if (!this.handled(event, at, row)) return;
    event.preventDefault();
    event.stopPropagation();
  }
  handled(event, at, row) {
    switch (event.key) {
      case "ArrowDown":
        this.go(at + 1);
        return true;
      case "ArrowUp":
        this.go(at - 1);
        return true;
      case "Home":
        this.go(0);
        return true;
      case "End":
        this.go(this.rows.length - 1);
        return true;
      case "ArrowRight":
        this.right(at, row);
        return true;
      case "ArrowLeft":
        this.left(at, row);
        return true;
      case "Enter":
      case " ":
        this.press(row);
        return true;
      case "*":
        for (const other of row.line.parent?.children ?? []) void this.model?.expand(other);
        return true;
      case "ContextMenu":
        this.menuByKey(at, row);
        return true;
      case "F10":
        if (event.shiftKey) this.menuByKey(at, row);
        return event.shiftKey;
    }
    return event.key.length === 1 && this.type(event.key, at);
  }
  right(at, row) {
    if (row.remark || !row.line.node.expands) return;
    if (!row.open) this.toggle(row);
    else if (this.rows[at + 1]?.level > row.level) this.go(at + 1);
  }
  left(at, row) {
    if (!row.remark && row.open && this.model?.open.has(row.line.key)) return this.toggle(row);
    for (let i = at - 1; i >= 0; i--) if (this.rows[i].level < row.level) return this.go(i);
  }
  menuByKey(at, row) {
    const box = this.rowNode(at)?.getBoundingClientRect();
    if (box && !row.remark) this.openMenu(row, box.left + 40, box.bottom);
  }
  /** Go to the next row whose name begins with what was typed. */
  type(character, at) {
    const now = Date.now();
    this.typed = (now - this.typedAt < TYPED_MS ? this.typed : "") + character.toLowerCase();
    this.typedAt = now;
    const from = this.typed.length > 1 ? at : at + 1;
    for (let i = 0; i < this.rows.length; i++) {
      const row = this.rows[(from + i) % this.rows.length];
      if (!row.remark && row.line.node.label.toLowerCase().startsWith(this.typed)) {
        this.go((from + i) % this.rows.length);
        break;
      }
    }
    return true;
  }
  // -- size and health are read for the tables in view
  look() {
    window.clearTimeout(this.looking);
    this.looking = window.setTimeout(() => void this.model?.loadFacts(this.inView()), 120);
  }
  inView() {
    if (!this.isVisible) return [];
    const box = this.node.getBoundingClientRect();
    return this.rows.filter((row, i) => {
      if (row.remark || row.line.node.kind !== "table") return false;
      const at = this.rowNode(i)?.getBoundingClientRect();
      return !!at && at.bottom > box.top - MARGIN_PX && at.top < box.bottom + MARGIN_PX;
    }).map((row) => row.line);
  }
};

// src/catalog/sidebar.ts
var FILTER_MS = 150;
var BUSY_MS = 800;
var CatalogSideBar = class extends import_widgets2.Widget {
  constructor() {
    super();
    this.tree = new TreeView();
    this.target = null;
    this.model = null;
    this.models = /* @__PURE__ */ new WeakMap();
    this.problem = "";
    this.stale = false;
    this.typing = 0;
    this.busy = 0;
    this.head = document.createElement("div");
    this.where = document.createElement("div");
    this.filter = document.createElement("input");
    this.state = document.createElement("div");
    this.createdSignal = new import_signaling4.Signal(this);
    this.id = "paimon-nb-catalog";
    this.title.icon = paimonIcon;
    this.title.caption = "Paimon catalog";
    this.node.setAttribute("role", "region");
    this.node.setAttribute("aria-label", "Paimon catalog side bar");
    this.addClass("pnb-cat");
    this.makeHead();
    const layout = new import_widgets2.PanelLayout();
    this.layout = layout;
    const top = new import_widgets2.Widget();
    top.node.append(this.head, this.where, this.filter, this.state);
    layout.addWidget(top);
    layout.addWidget(this.tree);
    this.draw();
  }
  /** The button for a new table. */
  get created() {
    return this.createdSignal;
  }
  get shownModel() {
    return this.model;
  }
  get shownTarget() {
    return this.target;
  }
  /** Follow another notebook or console. */
  follow(target, catalog2) {
    this.target = target;
    this.problem = "";
    if (this.model?.catalog !== catalog2) {
      this.model?.catalog.changed.disconnect(this.onKernel, this);
      this.model?.changed.disconnect(this.drawState, this);
      this.model = catalog2 && this.modelOf(catalog2);
      this.model?.catalog.changed.connect(this.onKernel, this);
      this.model?.changed.connect(this.drawState, this);
      if (this.model) this.model.filter = this.filter.value;
      this.stale = true;
    }
    this.onKernel();
  }
  modelOf(catalog2) {
    const known = this.models.get(catalog2) ?? new TreeModel(catalog2);
    this.models.set(catalog2, known);
    return known;
  }
  /** The catalog may have changed: read it again, now or when the side bar is shown. */
  refresh() {
    this.stale = true;
    if (!this.isVisible || this.model?.catalog.state !== "ready") return;
    this.stale = false;
    void this.model.refresh();
  }
  onAfterShow() {
    this.onKernel();
  }
  onAfterAttach() {
    this.onKernel();
  }
  onActivateRequest() {
    if (this.filter.hidden) this.node.querySelector("button:not([disabled])")?.focus();
    else this.filter.focus();
  }
  onKernel() {
    const state = this.model?.catalog.state;
    if (state !== "ready") this.stale = true;
    else if (this.stale) this.refresh();
    this.draw();
    window.clearTimeout(this.busy);
    if (this.model?.catalog.connection.status === "busy") this.busy = window.setTimeout(() => this.drawState(), BUSY_MS + 50);
  }
  // -- the parts above the tree
  makeHead() {
    this.head.className = "pnb-cat-head";
    const title = document.createElement("h2");
    title.textContent = "Paimon catalog";
    this.head.append(
      title,
      this.button(import_ui_components3.addIcon, "New table", () => this.createdSignal.emit()),
      this.button(import_ui_components3.collapseAllIcon ?? import_ui_components3.refreshIcon, "Collapse all", () => this.model?.collapseAll()),
      this.button(import_ui_components3.refreshIcon, "Refresh", () => this.refresh())
    );
    this.where.className = "pnb-cat-where";
    this.filter.type = "search";
    this.filter.placeholder = "Filter tables and columns";
    this.filter.setAttribute("aria-label", "Filter tables and columns");
    this.filter.className = "pnb-cat-filter";
    this.filter.addEventListener("input", () => {
      window.clearTimeout(this.typing);
      this.typing = window.setTimeout(() => {
        if (this.model) this.model.filter = this.filter.value;
      }, FILTER_MS);
    });
    this.filter.addEventListener("keydown", (event) => this.onFilterKey(event));
    this.state.className = "pnb-cat-state";
    this.state.setAttribute("role", "status");
  }
  onFilterKey(event) {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      this.tree.enter();
    } else if (event.key === "Escape" && this.filter.value) {
      event.stopPropagation();
      this.filter.value = "";
      if (this.model) this.model.filter = "";
    }
  }
  button(icon2, label, act) {
    const made = document.createElement("button");
    made.className = "jp-Button pnb-cat-tool";
    made.title = label;
    made.setAttribute("aria-label", label);
    made.appendChild(icon2.element({ tag: "span", elementSize: "normal" }));
    made.addEventListener("click", act);
    return made;
  }
  draw() {
    const state = this.model?.catalog.state, ready = state === "ready";
    const ended = state === "restarting" || state === "dead";
    this.tree.display(ready || ended ? this.model : null);
    this.tree.node.toggleAttribute("inert", ended);
    this.toggleClass("pnb-mod-ended", ended);
    this.filter.hidden = !ready;
    for (const button of this.head.querySelectorAll("button")) button.disabled = !ready;
    this.drawState();
  }
  drawState() {
    this.drawWhere();
    const [text, label, act] = this.message();
    if (this.state.dataset.text === text + label) return;
    this.state.dataset.text = text + label;
    this.state.replaceChildren();
    this.state.hidden = !text;
    if (!text) return;
    const line = document.createElement("div");
    line.textContent = text;
    this.state.appendChild(line);
    if (!label) return;
    const button = document.createElement("button");
    button.className = "jp-Button jp-mod-styled jp-mod-accept pnb-cat-button";
    button.textContent = label;
    button.addEventListener("click", act);
    this.state.appendChild(button);
  }
  drawWhere() {
    const { target, model } = this;
    this.where.hidden = !target;
    if (!target) return;
    const kernel = target.session.kernelDisplayName;
    const status = model?.catalog.connection.status ?? "unknown";
    this.where.replaceChildren();
    const dot = document.createElement("span"), name = document.createElement("span");
    dot.className = "pnb-cat-status";
    dot.dataset.status = model?.catalog.state === "dead" ? "dead" : status;
    name.textContent = `${target.name} · ${kernel}`;
    this.where.append(dot, name);
    this.where.title = [`${target.name}: ${kernel}, ${status}`, model?.warehouse && `warehouse ${model.warehouse}`, model?.current && `current ${model.current}`].filter(Boolean).join("\n");
  }
  /** The text, the label of its button, and what the button does. */
  message() {
    const nothing = () => void 0, { target, model } = this;
    if (this.problem) return [this.problem, "Try again", () => void this.load()];
    if (!target) return ["Open a notebook or a console: this view shows the tables of its kernel.", "", nothing];
    if (!target.session.session?.kernel) return [`${target.name} has no kernel.`, "Start a kernel", () => void target.session.startKernel()];
    if (!model) return [`${target.name} shares the kernel of a notebook. Open that notebook to see its tables.`, "", nothing];
    const { catalog: catalog2 } = model;
    switch (catalog2.state) {
      case "waiting":
        return [catalog2.connection.status === "busy" ? "Waiting for the kernel, which is busy …" : "Waiting for the kernel …", "", nothing];
      case "foreign":
        return [`The kernel of ${target.name} runs ${catalog2.language}. The catalog needs Python.`, "", nothing];
      case "absent":
        return [`paimon_nb is not loaded in the kernel of ${target.name}.`, "Load paimon_nb", () => void this.load()];
      case "restarting":
        return ["The kernel is restarting …", "", nothing];
      case "dead":
        return ["The kernel has died.", "Restart the kernel", () => void target.session.restartKernel()];
    }
    if (catalog2.waitedMs < BUSY_MS) return ["", "", nothing];
    const since = model.loadedAt?.toLocaleTimeString();
    return [`The kernel is busy.${since ? ` This is the state of ${since}.` : ""}`, "", nothing];
  }
  async load() {
    const catalog2 = this.model?.catalog;
    if (!catalog2) return;
    this.problem = "";
    this.state.querySelector("button")?.setAttribute("disabled", "");
    try {
      await catalog2.load();
    } catch (error) {
      if (!(error instanceof CatalogError)) return;
      this.problem = /No module named/.test(error.message) ? "The kernel's Python has no paimon_nb. Install it there: pip install paimon-nb" : `paimon_nb cannot be loaded: ${error.message}`;
    }
    this.draw();
  }
};

// src/catalog/style.css
var style_default = ".pnb-cat{display:flex;flex-direction:column;min-width:180px!important;background:var(--jp-layout-color1);color:var(--jp-ui-font-color1);font-size:var(--jp-ui-font-size1);font-family:var(--jp-ui-font-family)}\n.pnb-cat [hidden]{display:none!important}\n.pnb-cat-head{display:flex;align-items:center;gap:2px;padding:4px 6px 4px 12px;border-bottom:1px solid var(--jp-border-color2)}\n.pnb-cat-head h2{flex:1;margin:0;font-size:var(--jp-ui-font-size1);font-weight:600;line-height:24px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}\n.pnb-cat-tool{display:inline-flex;align-items:center;justify-content:center;width:26px;height:24px;padding:0;border:none;border-radius:4px;background:none;cursor:pointer}\n.pnb-cat-tool:hover:enabled{background:var(--jp-layout-color2)}\n.pnb-cat-tool:disabled{opacity:.35;cursor:default}\n.pnb-cat button:focus-visible,.pnb-cat-filter:focus-visible{outline:2px solid var(--jp-brand-color1);outline-offset:1px}\n.pnb-cat-where{display:flex;align-items:center;gap:7px;padding:6px 12px 2px;font-size:12px;color:var(--jp-ui-font-color1)}\n.pnb-cat-where>span:last-child{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}\n.pnb-cat-status{flex:none;width:8px;height:8px;border-radius:50%;box-sizing:border-box;border:1.5px solid var(--jp-ui-font-color2)}\n.pnb-cat-status[data-status=idle]{background:#009e73;border-color:#009e73}\n.pnb-cat-status[data-status=busy]{background:#e69f00;border-color:#e69f00}\n.pnb-cat-status[data-status=dead]{background:#d55e00;border-color:#d55e00;border-radius:1px}\n.pnb-cat .pnb-cat-filter.pnb-cat-filter{margin:6px 10px 4px;height:26px;padding:0 8px;box-sizing:border-box;width:calc(100% - 20px);font:inherit;font-size:12px;letter-spacing:0;color:var(--jp-ui-font-color1);background:var(--jp-layout-color1);border:1px solid var(--jp-border-color1);border-radius:4px}\n.pnb-cat-filter::placeholder{color:var(--jp-ui-font-color1);opacity:.7}\n.pnb-cat-state{padding:10px 12px;line-height:1.45}\n.pnb-cat-button.pnb-cat-button{margin-top:8px;height:28px;line-height:28px;padding:0 12px;border-radius:4px;font-size:var(--jp-ui-font-size1);cursor:pointer}\n.pnb-cat-state .pnb-cat-button{background:var(--jp-brand-color0,#0d47a1);color:#fff}\nbody[data-jp-theme-light=false] .pnb-cat-state .pnb-cat-button{background:#1565c0}\n.pnb-cat-tree{flex:1;min-height:0;overflow:auto;padding:2px 0 12px;outline:none}\n.pnb-mod-ended .pnb-cat-tree{opacity:.5}\n.pnb-cat-row{display:flex;align-items:center;gap:5px;height:24px;padding:0 10px 0 calc(6px + var(--level)*14px);cursor:pointer;white-space:nowrap;user-select:none;outline:none}\n.pnb-cat-row:hover{background:var(--jp-layout-color2)}\n.pnb-cat-row[aria-selected=true]{background:color-mix(in srgb,var(--jp-brand-color1) 16%,transparent)}\n.pnb-cat-row:focus-visible{box-shadow:inset 0 0 0 2px var(--jp-brand-color1)}\n.pnb-cat-twisty{flex:none;width:14px;height:24px;line-height:24px;text-align:center;font-size:11px;color:var(--jp-ui-font-color1)}\n.pnb-cat-row[aria-expanded=true]>.pnb-cat-twisty{transform:rotate(90deg)}\n.pnb-cat-icon{flex:none;width:15px;height:15px;fill:none;stroke:currentColor;stroke-width:1.15;stroke-linejoin:round;stroke-linecap:round;opacity:.85}\n.pnb-cat-row[data-kind=table]>.pnb-cat-icon,.pnb-cat-row[data-kind=view]>.pnb-cat-icon,.pnb-cat-row[data-kind=branch]>.pnb-cat-icon{color:var(--jp-brand-color1);opacity:1}\n.pnb-cat-row[data-mark=key]>.pnb-cat-icon{color:#b26a00;opacity:1}\nbody[data-jp-theme-light=false] .pnb-cat-row[data-mark=key]>.pnb-cat-icon{color:#e69f00}\n.pnb-cat-label{flex:0 1 auto;min-width:40px;overflow:hidden;text-overflow:ellipsis}\n.pnb-cat-row[data-mark=current]>.pnb-cat-label{font-weight:600}\n.pnb-cat-note{flex:1 1 0;min-width:0;overflow:hidden;text-overflow:ellipsis;font-size:11px;color:var(--jp-ui-font-color1);opacity:.75;font-variant-numeric:tabular-nums}\n.pnb-cat-row[data-kind=table]>.pnb-cat-note{text-align:right}\n.pnb-cat-health{flex:none;width:12px;text-align:center;font-size:10px;line-height:1}\n.pnb-cat-health[data-health=ok]{color:#00845f}\n.pnb-cat-health[data-health=slow]{color:#b26a00}\n.pnb-cat-health[data-health=broken]{color:#c4320a;font-weight:700;font-size:12px}\nbody[data-jp-theme-light=false] .pnb-cat-health[data-health=ok]{color:#2fc298}\nbody[data-jp-theme-light=false] .pnb-cat-health[data-health=slow]{color:#e69f00}\nbody[data-jp-theme-light=false] .pnb-cat-health[data-health=broken]{color:#ff8a65}\n.pnb-cat-remark{padding-left:19px;overflow:hidden;text-overflow:ellipsis;font-style:italic;font-size:12px}\n.pnb-cat-row[data-kind=error]>.pnb-cat-remark{font-style:normal;color:var(--jp-error-color0,#b00020)}\n.pnb-cat-row[data-kind=more]>.pnb-cat-remark{font-style:normal;text-decoration:underline}\n.pnb-cat-row[data-kind=empty]{cursor:default}\n.pnb-cat-tab{overflow:auto;padding:8px 12px;background:var(--jp-layout-color0);color:var(--jp-content-font-color1)}\n.pnb-cat-tabstate:not(:empty){padding:6px 0}\n.pnb-cat-tab .jp-OutputArea-output{overflow:visible}\n.pnb-cat-toolbar .jp-ToolbarButtonComponent-label{margin-left:4px}\n";

// src/catalog/tabs.ts
var import_apputils2 = require("@jupyterlab/apputils");
var import_rendermime = require("@jupyterlab/rendermime");
var import_ui_components4 = require("@jupyterlab/ui-components");
var import_coreutils2 = require("@lumino/coreutils");
var import_widgets3 = require("@lumino/widgets");
var PREVIEW = "preview";
var WIDGET = "application/vnd.jupyter.widget-view+json";
var TabContent = class extends import_widgets3.Widget {
  constructor(catalog2, rendermime, request) {
    super();
    this.catalog = catalog2;
    this.rendermime = rendermime;
    this.request = request;
    this.tab = import_coreutils2.UUID.uuid4();
    this.shown = null;
    this.bar = document.createElement("div");
    this.asked = 0;
    const layout = new import_widgets3.PanelLayout(), top = new import_widgets3.Widget({ node: this.bar });
    this.layout = layout;
    this.addClass("pnb-cat-tab");
    this.bar.setAttribute("role", "status");
    this.bar.className = "pnb-cat-tabstate";
    layout.addWidget(top);
    catalog2.changed.connect(this.onKernel, this);
  }
  async load() {
    const { panel, node } = this.request, asked = ++this.asked;
    this.say(this.catalog.connection.status === "busy" ? "Waiting for the kernel, which is busy …" : "Loading …");
    try {
      const answer = await this.catalog.request({ do: "open", tab: this.tab, panel, kind: node.kind, path: node.path });
      if (asked !== this.asked || this.isDisposed) return;
      await this.draw(answer);
      this.say("");
    } catch (error) {
      if (asked !== this.asked || this.isDisposed) return;
      this.say(error instanceof CatalogError ? `✗ ${error.message}` : "The kernel ended before it answered.", true);
    }
  }
  async draw(bundle) {
    const live = WIDGET in bundle.data && this.rendermime.getFactory(WIDGET);
    const type = live ? WIDGET : this.rendermime.preferredMimeType(bundle.data, "ensure");
    if (!type) return;
    const renderer = this.rendermime.createRenderer(type);
    await renderer.renderModel(new import_rendermime.MimeModel({ data: bundle.data, metadata: bundle.metadata, trusted: true }));
    this.shown?.dispose();
    this.shown = renderer;
    renderer.addClass("jp-OutputArea-output");
    this.layout.addWidget(renderer);
  }
  onKernel() {
    if (this.catalog.state !== "restarting" && this.catalog.state !== "dead") return;
    endPanels(this.node);
    this.say("The kernel has ended. Load paimon_nb again, then open this tab again.", true);
  }
  say(text, again = false) {
    this.bar.textContent = text;
    if (!again) return;
    const button = document.createElement("button");
    button.className = "jp-Button pnb-cat-button";
    button.textContent = "Open again";
    button.addEventListener("click", () => void this.load());
    this.bar.append(" ", button);
  }
  dispose() {
    if (this.isDisposed) return;
    this.catalog.changed.disconnect(this.onKernel, this);
    void this.catalog.request({ do: "close", tab: this.tab }).catch(() => void 0);
    this.shown?.dispose();
    super.dispose();
  }
};
var PanelTabs = class {
  constructor(app) {
    this.app = app;
    this.tabs = [];
  }
  /** Open a panel; the preview of another table replaces the last one. */
  async open(catalog2, target, request) {
    const old = request.panel === PREVIEW ? this.tabs.find((t) => t.content.request.panel === PREVIEW) : void 0;
    const tab = this.made(catalog2, target, request);
    const beside = old ?? [...this.tabs].reverse().find((t) => t.isAttached);
    this.app.shell.add(tab, "main", beside ? { mode: "tab-after", ref: beside.id, activate: false } : { mode: "split-right", ref: target.widget.id, activate: false });
    this.tabs.push(tab);
    old?.dispose();
    if (!tab.isVisible) this.raise(tab);
    await tab.content.load();
  }
  /** A tab behind others comes to the front; the focus stays where it is. */
  raise(tab) {
    const focused = document.activeElement;
    this.app.shell.activateById(tab.id);
    requestAnimationFrame(() => focused?.isConnected && focused.focus({ preventScroll: true }));
  }
  made(catalog2, target, request) {
    const content = new TabContent(catalog2, target.rendermime, request);
    const tab = new import_apputils2.MainAreaWidget({ content });
    tab.id = `paimon-nb-${content.tab}`;
    tab.title.label = request.title;
    tab.title.caption = `${request.title} · ${target.name}`;
    tab.title.icon = paimonIcon;
    tab.title.closable = true;
    tab.toolbar.addClass("pnb-cat-toolbar");
    tab.toolbar.addItem("refresh", new import_ui_components4.ToolbarButton({ icon: import_ui_components4.refreshIcon, tooltip: "Read again", onClick: () => void content.load() }));
    if (request.source)
      tab.toolbar.addItem("cell", new import_ui_components4.ToolbarButton({
        icon: import_ui_components4.addIcon,
        label: "Insert as cell",
        tooltip: `Insert as a cell of ${target.name}`,
        onClick: () => void target.cell(request.source, request.run)
      }));
    tab.disposed.connect(() => {
      this.tabs = this.tabs.filter((t) => t !== tab);
    });
    target.widget.disposed.connect(() => tab.dispose());
    return tab;
  }
};

// src/catalog/target.ts
var import_notebook2 = require("@jupyterlab/notebook");
function ofNotebook(panel) {
  return {
    widget: panel,
    session: panel.sessionContext,
    get name() {
      return panel.title.label;
    },
    rendermime: panel.content.rendermime,
    insert: (text) => {
      panel.content.activeCell?.editor?.replaceSelection?.(text);
      panel.content.activeCell?.editor?.focus();
    },
    cell: async (source, run) => {
      const notebook = panel.content;
      import_notebook2.NotebookActions.insertBelow(notebook);
      notebook.activeCell?.model.sharedModel.setSource(source);
      if (run) {
        await import_notebook2.NotebookActions.run(notebook, panel.sessionContext);
        return;
      }
      await import_notebook2.NotebookActions.focusActiveCell(notebook);
      const editor = notebook.activeCell?.editor;
      if (editor) editor.setCursorPosition(editor.getPositionAt(source.length) ?? { line: 0, column: 0 });
    }
  };
}
function ofConsole(panel) {
  return {
    widget: panel,
    session: panel.sessionContext,
    get name() {
      return panel.title.label;
    },
    rendermime: panel.console.rendermime,
    insert: (text) => {
      panel.console.promptCell?.editor?.replaceSelection?.(text);
      panel.console.promptCell?.editor?.focus();
    },
    cell: async (source, run) => {
      if (run) {
        await panel.console.inject(source);
        return;
      }
      panel.console.promptCell?.model.sharedModel.setSource(source);
      panel.console.promptCell?.editor?.focus();
    }
  };
}

// src/catalog/plugin.ts
var EXECUTED_MS = 400;
var SHOW = "paimon-nb:catalog-show";
var Follower = class {
  constructor(bar) {
    this.bar = bar;
    this.catalogs = /* @__PURE__ */ new Map();
    this.targets = /* @__PURE__ */ new Map();
    this.front = null;
    this.executed = 0;
  }
  /** `current`: the widget in front; a notebook may be added after it came to the front. */
  add(target, current) {
    this.targets.set(target.widget, target);
    target.session.kernelChanged.connect((session) => this.connect(session));
    target.session.statusChanged.connect(() => this.front === target && !target.session.session?.kernel && this.show());
    target.widget.title.changed.connect(() => this.front === target && this.show());
    target.widget.disposed.connect(() => this.remove(target));
    this.connect(target.session);
    this.current(this.front ? current : target.widget);
  }
  current(widget) {
    const target = widget && this.targets.get(widget);
    if (!target || target === this.front) return;
    this.front = target;
    this.show();
  }
  /** A cell of this notebook or console has ended. */
  ran(widget) {
    if (!this.front || widget !== this.front.widget) return;
    window.clearTimeout(this.executed);
    this.executed = window.setTimeout(() => this.bar.refresh(), EXECUTED_MS);
  }
  remove(target) {
    this.targets.delete(target.widget);
    if (this.front !== target) return;
    this.front = [...this.targets.values()].pop() ?? null;
    this.show();
  }
  connect(session) {
    const kernel = session.session?.kernel;
    if (kernel && kernel.handleComms && this.catalogs.get(kernel.id)?.connection !== kernel) {
      this.catalogs.set(kernel.id, new KernelCatalog(kernel));
      kernel.disposed.connect(() => {
        if (this.catalogs.get(kernel.id)?.connection === kernel) this.catalogs.delete(kernel.id);
      });
    }
    this.show();
  }
  show() {
    const id = this.front?.session.session?.kernel?.id;
    this.bar.follow(this.front, id && this.catalogs.get(id) || null);
  }
};
function addStyle() {
  const style = document.createElement("style");
  style.textContent = style_default;
  document.head.appendChild(style);
}
function addCommands(app, bar, actions, palette) {
  app.commands.addCommand(RUN, {
    label: (args) => String(args.label ?? "Run an item of the catalog's menu"),
    isVisible: (args) => args.run !== void 0,
    execute: (args) => actions.run(Number(args.run))
  });
  app.commands.addCommand(SHOW, { label: "Show the Paimon Catalog", execute: () => app.shell.activateById(bar.id) });
  palette?.addItem({ command: SHOW, category: "Paimon" });
}
function activate(app, notebooks, consoles, restorer, palette) {
  addStyle();
  const bar = new CatalogSideBar(), follower = new Follower(bar);
  const actions = new TreeActions(app, bar, new PanelTabs(app));
  bar.tree.activated.connect((_, line) => actions.activate(line));
  bar.tree.menu.connect((_, { line, x, y }) => actions.open(line, x, y));
  bar.created.connect(() => actions.newTable());
  addCommands(app, bar, actions, palette);
  app.shell.add(bar, "left", { rank: 350, type: "Paimon Catalog" });
  restorer?.add(bar, bar.id);
  notebooks.widgetAdded.connect((_, panel) => follower.add(ofNotebook(panel), app.shell.currentWidget));
  notebooks.currentChanged.connect((_, panel) => follower.current(panel));
  import_notebook3.NotebookActions.executed.connect((_, { notebook }) => follower.ran(notebooks.find((panel) => panel.content === notebook) ?? null));
  consoles?.widgetAdded.connect((_, panel) => {
    follower.add(ofConsole(panel), app.shell.currentWidget);
    panel.console.executed.connect(() => follower.ran(panel));
  });
  consoles?.currentChanged.connect((_, panel) => follower.current(panel));
  app.shell.currentChanged?.connect(() => follower.current(app.shell.currentWidget));
}
var catalog = {
  id: "paimon-nb:catalog",
  description: "The Paimon catalog of the active kernel in the side bar",
  autoStart: true,
  requires: [import_notebook3.INotebookTracker],
  optional: [import_console.IConsoleTracker, import_application.ILayoutRestorer, import_apputils3.ICommandPalette],
  activate
};

// src/highlight.ts
var import_codemirror = require("@jupyterlab/codemirror");
var OURS = /^\s*%%paimon\b/;
var PYTHON = /* @__PURE__ */ new Set(["text/x-ipython", "text/x-python"]);
var SQL = "text/x-sql";
function watch(model, languages) {
  let python = null;
  const wantsSql = () => OURS.test(model.sharedModel.getSource().slice(0, 200));
  const follow = async () => {
    if (model.isDisposed) return;
    if (wantsSql() && PYTHON.has(model.mimeType)) {
      await Promise.all([languages.getLanguage(model.mimeType), languages.getLanguage(SQL)]);
      if (model.isDisposed || !wantsSql() || !PYTHON.has(model.mimeType)) return;
      python = model.mimeType;
      model.mimeType = SQL;
    } else if (!wantsSql() && python && model.mimeType === SQL) {
      model.mimeType = python;
      python = null;
    }
  };
  const soon = () => queueMicrotask(follow);
  model.sharedModel.changed.connect(soon);
  model.mimeTypeChanged.connect(soon);
  setTimeout(follow, 0);
}
var highlight = {
  id: "paimon-nb:highlight",
  autoStart: true,
  requires: [import_codemirror.IEditorExtensionRegistry, import_codemirror.IEditorLanguageRegistry],
  activate: (_app, extensions, languages) => {
    extensions.addExtension(
      Object.freeze({
        name: "paimon-nb:sql",
        factory: ({ model }) => {
          watch(model, languages);
          return import_codemirror.EditorExtensionRegistry.createImmutableExtension([]);
        }
      })
    );
  }
};

// src/stills.ts
var import_notebook4 = require("@jupyterlab/notebook");
var VIEW = "application/vnd.jupyter.widget-view+json";
var STILL = "image/svg+xml";
function still(node, model) {
  const image = document.createElement("img");
  image.className = "pnb-still";
  image.alt = String(model.data["text/plain"] || "");
  image.style.maxWidth = "100%";
  image.style.colorScheme = document.body.dataset.jpThemeLight === "false" ? "dark" : "light";
  const text = model.data[STILL];
  image.src = "data:image/svg+xml," + encodeURIComponent([].concat(text).join(""));
  node.replaceChildren(image);
}
async function stillTable(node, model, rendermime) {
  const table = rendermime.createRenderer("text/html");
  await table.renderModel(model);
  node.replaceChildren(table.node);
}
function withStill(rendermime) {
  const live = rendermime.getFactory(VIEW);
  if (!live || live.paimonNb) return;
  const factory = {
    safe: live.safe,
    mimeTypes: [VIEW],
    paimonNb: true,
    createRenderer: (options) => {
      const renderer = live.createRenderer(options), render = renderer.renderModel.bind(renderer);
      renderer.renderModel = async (model) => {
        await render(model);
        if (!/model not found/.test(renderer.node.textContent ?? "")) return;
        if (model.data[STILL]) still(renderer.node, model);
        else if (model.data["text/html"]) await stillTable(renderer.node, model, rendermime);
      };
      return renderer;
    }
  };
  rendermime.addFactory(factory, -11);
}
var stills = {
  id: "paimon-nb:stills",
  autoStart: true,
  requires: [import_notebook4.INotebookTracker],
  activate: (_app, tracker) => {
    tracker.widgetAdded.connect((_, panel) => {
      withStill(panel.content.rendermime);
      void panel.context.ready.then(() => withStill(panel.content.rendermime));
    });
  }
};

// src/index.ts
var index_default = [highlight, stills, endings, help, catalog];
}
})();
