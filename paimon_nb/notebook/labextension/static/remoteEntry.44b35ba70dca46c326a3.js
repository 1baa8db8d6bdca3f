// Generated from labextension/ by `make labextension`. Do not edit.
// sources: 50db7da8401c290fa5ce68c65ce6559b32d20bbf1d6e19bb902f4bbd347ef72c
(() => {
const SHARED = ["@codemirror/language","@codemirror/state","@codemirror/view","@jupyterlab/application","@jupyterlab/apputils","@jupyterlab/cells","@jupyterlab/codemirror","@jupyterlab/completer","@jupyterlab/console","@jupyterlab/launcher","@jupyterlab/notebook","@jupyterlab/rendermime","@jupyterlab/ui-components","@lumino/coreutils","@lumino/signaling","@lumino/widgets"];
let scope;
const load = async (name) => (scope[name] ? (await Object.values(scope[name])[0].get())() : {});
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
var import_apputils5 = require("@jupyterlab/apputils");
var import_console = require("@jupyterlab/console");
var import_notebook3 = require("@jupyterlab/notebook");

// src/catalog/actions.ts
var import_apputils3 = require("@jupyterlab/apputils");

// src/catalog/alter.ts
var import_apputils = require("@jupyterlab/apputils");
var import_widgets = require("@lumino/widgets");
var PLAIN = /^[A-Za-z_]\w*$/;
var quoted = (name) => PLAIN.test(name) ? name : `\`${name.replace(/`/g, "``")}\``;
var literal = (text2) => `'${text2.replace(/'/g, "''")}'`;
var argument = ({ path }) => literal(path.slice(1, 3).map(quoted).join("."));
var call = ({ path }, procedure) => `CALL ${quoted(path[0])}.sys.${procedure}`;
var renamed = (insert, name) => insert.replace(/(`(?:[^`]|``)*`|[^.`]+)$/, () => quoted(name));
function ofTable(node, size) {
  const { insert, label } = node;
  return [
    { label: "Show CREATE TABLE", sql: () => `SHOW CREATE TABLE ${insert}`, run: true },
    { label: "Load a file into it", sql: () => `INSERT INTO ${insert} SELECT * FROM 'FILE.csv'`, run: false },
    { label: "Compact now", sql: () => `${call(node, "compact")}(table => ${argument(node)})`, run: true },
    { label: "New tag …", sql: (name) => `ALTER TABLE ${insert} CREATE TAG ${quoted(name)}`, run: true, ask: [`A tag keeps the table as it is now. Its name:`, ""] },
    { label: "New branch …", sql: (name) => `${call(node, "create_branch")}(table => ${argument(node)}, branch => ${literal(name)})`, run: true, ask: ["A branch is a copy that can be changed apart. Its name:", ""] },
    { label: "Rename …", sql: (name) => `ALTER TABLE ${insert} RENAME TO ${renamed(insert, name)}`, run: true, ask: [`New name of ${label}:`, label] },
    { label: "Drop …", sql: () => `DROP TABLE ${insert}`, run: true, loses: `The table ${label}${size && ` (${size})`} goes, with its history, tags and branches.` }
  ];
}
function statementsOf({ node, parent, facts }) {
  const { kind, label, insert, path } = node, table = parent?.parent?.node;
  if (kind === "table") return ofTable(node, facts?.note ?? "");
  if (kind === "view" && path[0]) return [
    { label: "Show CREATE VIEW", sql: () => `SHOW CREATE VIEW ${insert}`, run: true },
    { label: "Drop …", sql: () => `DROP VIEW ${insert}`, run: true, loses: `The view ${label} goes; the tables that it reads stay.` }
  ];
  if (kind === "tag" && table) return [
    { label: "Roll back to it …", sql: () => `${call(table, "rollback")}(table => ${argument(table)}, version => ${literal(label)})`, run: true, loses: `All snapshots of ${table.label} after the tag ${label} go.` },
    { label: "Delete …", sql: () => `ALTER TABLE ${table.insert} DELETE TAG ${quoted(label)}`, run: true, loses: `The tag ${label} goes. Rows that only its snapshot has are lost with it.` }
  ];
  if (kind === "branch" && table) return [
    { label: "Make it the table …", sql: () => `${call(table, "fast_forward")}(table => ${argument(table)}, branch => ${literal(label)})`, run: true, loses: `${table.label} becomes what the branch ${label} is now; its own snapshots since the branch was made go.` },
    { label: "Drop …", sql: () => `${call(table, "delete_branch")}(table => ${argument(table)}, branch => ${literal(label)})`, run: true, loses: `The branch ${label} goes, with what was written to it alone.` }
  ];
  if (kind === "database") return [
    { label: "Drop …", sql: () => `DROP DATABASE ${insert}`, run: true, loses: `The database ${label} goes. With tables in it, the statement is refused.` }
  ];
  if (kind === "catalog") return [
    { label: "New database …", sql: (name) => `CREATE DATABASE ${insert}.${quoted(name)}`, run: true, ask: ["Name of the new database:", ""] }
  ];
  return [];
}
async function asked(statement) {
  const title = statement.label.replace(/ …$/, "");
  if (statement.ask) {
    const [label, text3] = statement.ask;
    const answer2 = await import_apputils.InputDialog.getText({ title, label, text: text3, okLabel: title });
    const name = answer2.button.accept ? (answer2.value ?? "").trim() : "";
    return name && name !== text3 ? statement.sql(name) : "";
  }
  const sql = statement.sql("");
  if (!statement.loses) return sql;
  const body = new import_widgets.Widget(), text2 = document.createElement("div"), shown = document.createElement("pre");
  body.addClass("pnb-cat-dialog");
  text2.textContent = statement.loses;
  shown.textContent = sql;
  body.node.append(text2, shown);
  const answer = await (0, import_apputils.showDialog)({ title, body, buttons: [import_apputils.Dialog.cancelButton(), import_apputils.Dialog.warnButton({ label: title })], defaultButton: 0 });
  return answer.button.accept ? sql : "";
}

// src/catalog/actions.ts
var import_ui_components = require("@jupyterlab/ui-components");

// src/notice.ts
var import_apputils2 = require("@jupyterlab/apputils");
var SHOWN_MS = 6e3;
var warn = (text2) => void import_apputils2.Notification.warning(text2, { autoClose: SHOWN_MS });

// src/catalog/actions.ts
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
var AT = { timeline: " ", lsm: " --at ", explore: " snapshot/" };
function panelSource(command, { node, snapshot }) {
  const at = snapshot !== null && command in AT ? `${AT[command]}${snapshot}` : "";
  return node.command ? `%paimon ${command} ${node.command}${at}` : `from paimon_nb.notebook.table_panels import table_panel

table_panel("${command}", ${JSON.stringify(node.insert)})`;
}
var querySource = (name, version) => `%%paimon
SELECT * FROM ${name}${version === null ? "" : ` VERSION AS OF ${version}`}
LIMIT 50`;
function choiceOf({ node, parent }) {
  if (node.kind === "table" || node.kind === "branch") return { node, snapshot: null };
  const table = node.kind === "tag" ? parent?.parent?.node : void 0;
  return table && node.snapshot !== null ? { node: table, snapshot: node.snapshot } : null;
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
    const { kind } = line.node;
    if (PREVIEWED.has(kind)) this.preview(line);
    else if (kind === "column" && line.parent && line.parent.node.kind === "table") this.preview(line.parent);
    else if (kind === "job") this.jobs(line.node);
  }
  newTable(database = "") {
    this.cell(`%paimon create${database && ` ${database}.my_table`}`, true);
  }
  /** The form that opens a warehouse or a catalog. */
  connect() {
    const node = this.bar.shownModel?.root.node;
    if (node) void this.side("connect", { node }, () => "Open a warehouse", () => "%paimon connect", true);
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
    if (PREVIEWED.has(kind) || kind === "view") this.add(menu, "Query in a new cell", () => this.cell(this.query(line), false));
    if (kind === "table" || kind === "branch") this.addPanels(menu, line);
    if (kind === "database") this.add(menu, "New table", () => this.newTable(line.node.command));
    if (kind === "catalog") this.add(menu, "Open a warehouse or a catalog …", () => this.connect());
    this.addStatements(menu, statementsOf(line));
    if (kind === "job" || kind === "jobs") this.addJobs(menu, line);
    if (line.node.insert) {
      menu.addItem({ type: "separator" });
      this.add(menu, "Insert name at the cursor", () => this.bar.shownTarget?.insert(line.node.insert));
      this.add(menu, "Copy name", () => import_apputils3.Clipboard.copyToSystem(line.node.insert));
    }
    if (line.node.expands && kind !== "found") {
      menu.addItem({ type: "separator" });
      this.add(menu, "Refresh", () => void this.bar.shownModel?.load(line));
    }
    menu.aboutToClose.connect(() => requestAnimationFrame(() => this.bar.tree.enter()));
    menu.open(x, y);
  }
  addPanels(menu, line) {
    const { node } = line, key = line.facts?.key ?? "", choice = { node, snapshot: null };
    menu.addItem({ type: "separator" });
    for (const [command, name] of PANELS) this.add(menu, name, () => this.cell(panelSource(command, choice), true));
    if (key && node.command) this.add(menu, "Row history …", () => this.cell(`%paimon why ${node.command} ${key}`, false));
    const beside = new import_ui_components.MenuSvg({ commands: this.app.commands });
    beside.title.label = "Open in a tab";
    for (const [command, name] of PANELS) this.add(beside, name, () => void this.panel(command, name, choice));
    menu.addItem({ type: "submenu", submenu: beside });
    this.add(menu, "Open workbench", () => void this.workbench(choice));
  }
  /** Statements about a line: some run as a cell at once, some ask before, some wait in their cell. */
  addStatements(menu, statements) {
    if (statements.length) menu.addItem({ type: "separator" });
    for (const statement of statements) {
      this.add(menu, statement.label, async () => {
        const source = await asked(statement);
        if (source) this.cell(`%%paimon
${source}`, statement.run);
      });
    }
  }
  addJobs(menu, line) {
    this.add(menu, "Jobs in a new cell", () => this.cell("%paimon jobs", true));
    this.add(menu, "Jobs in a tab", () => this.jobs(line.node));
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
  query({ node, parent }) {
    return node.kind === "tag" ? querySource(String(parent?.parent?.node.insert), node.insert) : querySource(node.insert, null);
  }
  preview(line) {
    const choice = choiceOf(line), { node } = line;
    if (choice) return void this.rows(choice);
    if (node.kind === "tag") return warn(`The tag ${node.label} cannot be read: ${node.tip}`);
    void this.side("preview", { node }, () => `${node.path[2]}$${node.label}`, () => querySource(node.insert, null), false);
  }
  rows(choice, mode) {
    const title = ({ node, snapshot }) => snapshot === null ? node.label : `${node.label} at ${snapshot}`;
    return this.side("preview", { choice }, title, ({ node, snapshot }) => querySource(node.insert, snapshot), false, mode);
  }
  panel(command, name, choice, mode) {
    return this.side(command, { choice }, ({ node }) => `${name}: ${node.label}`, (shown) => panelSource(command, shown), true, mode);
  }
  /** The history above the rows and the LSM tree. */
  async workbench(choice) {
    await this.panel("timeline", "Timeline", choice, "above");
    await this.panel("lsm", "LSM tree", choice, "below");
    await this.rows(choice);
  }
  jobs(node) {
    void this.side("jobs", { node }, () => "Jobs", () => "%paimon jobs", true);
  }
  async side(panel, shown, title, source, run, mode) {
    const target = this.bar.shownTarget, model = this.bar.shownModel;
    if (!target || !model) return;
    const choice = (now) => now.choice ?? { node: now.node, snapshot: null };
    await this.tabs.open(model.catalog, target, { panel, shown, titleOf: (now) => title(choice(now)), sourceOf: (now) => source(choice(now)), run }, mode);
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
var RUNS_AT_ONCE = /^%paimon( (\w+ (?:[\w-]+|`[^`{}$\n]+`)(?:\.(?:[\w-]+|`[^`{}$\n]+`))*( (--at )?\d+)*|create|connect|jobs|help|doctor))?$/;
var SHOWS = /^%paimon(\s+(lsm|timeline|explore|compact|skip|why|compare|create|live|watch|jobs|doctor|pipeline|help)\b[^{}$\n]*)?$/;
var isGone = (status) => GONE.has(status);
function endPanels(node) {
  for (const panel of node.querySelectorAll(".pnb")) panel.dispatchEvent(new CustomEvent("paimon-nb:kernel-ended"));
}
function tellConnection(node, status) {
  for (const panel of node.querySelectorAll(".pnb")) panel.dispatchEvent(new CustomEvent("paimon-nb:connection", { detail: status }));
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
      panel.sessionContext.connectionStatusChanged.connect((_2, status) => tellConnection(panel.node, status));
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
function onlyReads(source) {
  const text2 = source.replace(/^\s*%%?paimon[ \t]*(?:-.*)?/, "").replace(/^\s*\w+\s*<<\s*/, "").replace(/--.*$|\/\*[\s\S]*?\*\//gm, "");
  const pieces = text2.split(";").map((piece) => piece.trim()).filter(Boolean);
  return pieces.length > 0 && !/\binsert\s+(into|overwrite)\b/i.test(text2) && pieces.every((piece) => /^\(*(select|with|from|values|explain|show|describe|desc)\b/i.test(piece));
}
function runCellsOf(tracker) {
  document.addEventListener("paimon-nb:run-cells", (event) => {
    const name = String(event.detail?.name);
    const panel = tracker.find((p) => p.node.contains(event.target));
    if (!panel || !/^\w+$/.test(name)) return;
    event.preventDefault();
    const uses = new RegExp(`(^|[^:\\w]):${name}\\b`);
    const cells = panel.content.widgets.filter((cell) => {
      const source = cell.model.sharedModel.getSource();
      return cell.model.type === "code" && /^\s*%%?paimon\b/.test(source) && uses.test(source) && onlyReads(source);
    });
    if (cells.length) void import_notebook.NotebookActions.runCells(panel.content, cells, panel.sessionContext);
  });
}
function onlyConnects(source) {
  const lines = source.split("\n").map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
  return lines.some((line) => /^%(load_ext\s+paimon_nb|paimon\s+connect\b)/.test(line)) && lines.every((line) => /^(%(re)?load_ext\s+\w+|%paimon\s+connect\b[^{}$]*|(import|from)\s.*)$/.test(line));
}
function showAgain(tracker) {
  document.addEventListener("paimon-nb:again", (event) => {
    const panel = tracker.find((p) => p.node.contains(event.target));
    const cells = panel?.content.widgets ?? [], at = cells.findIndex((cell) => cell.node.contains(event.target));
    if (!panel || at < 0) return;
    event.preventDefault();
    const source = (cell) => cell.model.sharedModel.getSource().trim();
    const reads = SHOWS.test(source(cells[at])) || /^%%?paimon\b/.test(source(cells[at])) && onlyReads(source(cells[at]));
    const chosen = cells.slice(0, at).filter((cell) => cell.model.type === "code" && onlyConnects(source(cell)));
    panel.content.activeCellIndex = at;
    const dead = panel.sessionContext.session?.kernel?.status === "dead" || !panel.sessionContext.session?.kernel;
    void (dead ? panel.sessionContext.restartKernel() : Promise.resolve()).then(() => import_notebook.NotebookActions.runCells(panel.content, reads ? [...chosen, cells[at]] : chosen, panel.sessionContext)).then(() => import_notebook.NotebookActions.focusActiveCell(panel.content));
  });
}
var cancelButton = (target) => target instanceof Element ? target.closest("button.pnb-cancel") : null;
function cancelButtons(tracker) {
  const style = document.createElement("style");
  style.textContent = "button.pnb-cancel{display:inline-block !important}";
  document.head.appendChild(style);
  const interrupt = (event) => {
    const panel = tracker.currentWidget, pressed = cancelButton(event.target);
    const kernel = pressed && panel && panel.node.contains(pressed) ? panel.sessionContext.session?.kernel : null;
    if (!pressed || !kernel) return;
    pressed.disabled = true;
    void kernel.interrupt();
  };
  document.addEventListener("pointerdown", (event) => {
    if (event.button === 0) interrupt(event);
  });
  document.addEventListener("click", (event) => {
    if (event.detail === 0) interrupt(event);
  });
  document.addEventListener("focusin", (event) => {
    const button = cancelButton(event.target);
    if (button) keepFocus(button);
  });
}
function keepFocus(button) {
  const area = button.closest(".jp-OutputArea");
  if (!area) return;
  const watch2 = new MutationObserver(() => {
    if (button.isConnected) return;
    watch2.disconnect();
    if (document.activeElement === document.body) area.querySelector("button.pnb-cancel")?.focus();
  });
  watch2.observe(area, { childList: true, subtree: true });
  button.addEventListener("blur", () => setTimeout(() => {
    if (button.isConnected) watch2.disconnect();
  }, 0));
}
var help = {
  id: "paimon-nb:help",
  autoStart: true,
  requires: [import_notebook.INotebookTracker],
  activate: (app, tracker) => {
    insertForWidgets(app, tracker);
    runCellsOf(tracker);
    showAgain(tracker);
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
var catalogs = /* @__PURE__ */ new Map();
var catalogOf = (id) => id && catalogs.get(id) || null;
function connectCatalog(kernel) {
  if (!kernel.handleComms || catalogs.get(kernel.id)?.connection === kernel) return;
  catalogs.set(kernel.id, new KernelCatalog(kernel));
  kernel.disposed.connect(() => {
    if (catalogs.get(kernel.id)?.connection === kernel) catalogs.delete(kernel.id);
  });
}
var KernelCatalog = class {
  constructor(connection) {
    this.connection = connection;
    /** Whether the kernel runs a cell. */
    this.running = false;
    this.ranSignal = new import_signaling.Signal(this);
    this.chosenSignal = new import_signaling.Signal(this);
    this.alteredSignal = new import_signaling.Signal(this);
    this.comm = null;
    this.current = "waiting";
    this.pending = /* @__PURE__ */ new Map();
    this.signal = new import_signaling.Signal(this);
    /** The language of the kernel, for the message that it is not Python. */
    this.language = "";
    connection.registerCommTarget(TARGET, (comm) => this.attach(comm));
    connection.statusChanged.connect(this.onStatus, this);
    connection.connectionStatusChanged.connect((_, status) => {
      if (status === "connected" && this.current === "absent") this.look();
    });
    connection.iopubMessage.connect(this.onOutput, this);
    connection.disposed.connect(() => this.end("dead"));
    void this.probe();
  }
  /** The state or the kernel's status changed. */
  get changed() {
    return this.signal;
  }
  /** A cell has ended. */
  get ran() {
    return this.ranSignal;
  }
  /** A snapshot was chosen in the panel of a tab, perhaps one of another page. */
  get chosen() {
    return this.chosenSignal;
  }
  /** The catalogs are others, though no cell has run. */
  get altered() {
    return this.alteredSignal;
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
    const content2 = reply?.content;
    if (content2?.status === "error") throw new CatalogError(`${content2.ename}: ${content2.evalue}`);
    const opened = content2?.user_expressions?.open;
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
    if ("event" in answer && answer.event === "catalog") return this.alteredSignal.emit();
    if ("event" in answer) return this.chosenSignal.emit(answer);
    const pending = this.pending.get(answer.id);
    if (!pending) return;
    this.pending.delete(answer.id);
    if (answer.error !== void 0) pending.reject(new CatalogError(answer.error));
    else pending.resolve(answer);
  }
  /** The kernel is also busy while it answers requests, so only the state of cells counts. */
  onOutput(_, message) {
    const parent = message.parent_header;
    if (message.header.msg_type !== "status" || parent.msg_type !== "execute_request") return;
    this.running = message.content.execution_state === "busy";
    if (!this.running) this.ranSignal.emit();
  }
  onStatus(_, status) {
    if (isGone(status)) return this.end(status === "dead" ? "dead" : "restarting");
    if (this.current === "restarting" || this.current === "dead") {
      this.look();
    } else {
      this.signal.emit();
    }
  }
  look() {
    this.become("waiting");
    void this.probe();
  }
  end(state) {
    this.comm = null;
    this.running = false;
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
var import_widgets3 = require("@lumino/widgets");

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
  found: "M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9zM10.200 10.200l3.600 3.600",
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
var LEAST_SEARCHED = 2;
var FACTS_AT_ONCE = 20;
var RESULTS = { kind: "found", path: [], label: "In all catalogs", note: "", tip: "names of databases, tables, views and columns", expands: true, insert: "", command: "", mark: "", snapshot: null };
var ROOT = { kind: "root", path: [], label: "", note: "", tip: "", expands: true, insert: "", command: "", mark: "", snapshot: null };
function resultsOf(found) {
  const top = lineOf(RESULTS, null), more = found?.more ?? 0;
  const note = found ? `${(found.matches.length + more).toLocaleString("en-US")} found` : "searching …";
  const unread = found?.unread ? `columns of ${found.unread.toLocaleString("en-US")} tables were not read: the time was too short` : "";
  const lines = (found?.matches ?? []).map(({ node, table }) => {
    const of = table && lineOf(table, top), line = lineOf({ ...node, expands: false }, of ?? top);
    return { ...line, level: 2, key: `found ${line.key}` };
  });
  return { ...top, key: "found", level: 1, node: { ...RESULTS, note, tip: unread || RESULTS.tip }, children: lines, loading: !found, empty: unread || "no name contains this text" };
}
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
    this.results = null;
    this.searches = 0;
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
  set filter(text2) {
    if (text2 === this.text) return;
    this.text = text2;
    for (const line of this.lines()) if (line.more > 0 || line.node.kind === "database") this.searched(line);
    void this.search();
    this.signal.emit();
  }
  /** Let the kernel look for the text in the names that are not loaded, too. */
  async search() {
    const search = ++this.searches, text2 = this.text.trim();
    if (text2.length < LEAST_SEARCHED) {
      this.results = null;
      return;
    }
    this.results = resultsOf(null);
    const found = await this.catalog.request({ do: "search", text: text2 }).catch(() => null);
    if (search !== this.searches) return;
    this.results = found && resultsOf(found);
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
    this.open.delete(`${line.key} closed`);
    this.open.add(line.key);
    this.signal.emit();
    if (line.children === null && !line.loading) await this.load(line);
  }
  collapse(line) {
    this.open.delete(line.key);
    if (line === this.results) this.open.add("found closed");
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
    this.addResults(rows);
    return rows;
  }
  addRows(rows, parent, filter) {
    const shown = (parent.children ?? []).filter((line) => !filter || this.matches(line, filter));
    const remarks = this.remarks(parent, shown.length, filter);
    shown.forEach((line, i) => {
      const found = !!filter && (line.children ?? []).some((c) => this.matches(c, filter));
      const open2 = line.node.expands && (this.open.has(line.key) || found);
      rows.push({ line, level: line.level, open: open2, remark: "", text: "", position: i + 1, size: shown.length + remarks.length });
      if (open2) this.addRows(rows, line, filter && !found ? "" : filter);
    });
    remarks.forEach(
      ([remark, text2], i) => rows.push({ line: parent, level: parent.level + 1, open: false, remark, text: text2, position: shown.length + i + 1, size: shown.length + remarks.length })
    );
  }
  /** What was found and does not stand above. */
  addResults(rows) {
    const top = this.results;
    if (!top) return;
    const above = new Set(rows.map((row) => `found ${row.line.key}`)), lines = (top.children ?? []).filter((line) => !above.has(line.key));
    if (!lines.length && top.children?.length) return;
    const open2 = !this.open.has("found closed"), empty = !lines.length && !top.loading;
    rows.push({ line: top, level: 1, open: open2, remark: "", text: "", position: 1, size: 1 });
    if (open2) lines.forEach((line, i) => rows.push({ line, level: 2, open: false, remark: "", text: "", position: i + 1, size: lines.length }));
    if (open2 && empty) rows.push({ line: top, level: 2, open: false, remark: "empty", text: top.empty, position: 1, size: 1 });
  }
  matches(line, filter) {
    return line.node.label.toLowerCase().includes(filter) || (line.children ?? []).some((c) => this.matches(c, filter));
  }
  remarks(line, shown, filter) {
    if (line.error) return [["error", line.error]];
    if (line.children === null) return [];
    if (line.more > 0) return [["more", `${line.more.toLocaleString("en-US")} more …`]];
    if (shown === 0 && !line.loading) {
      const text2 = filter && line.children.length ? "no loaded name matches" : line.empty;
      return text2 ? [["empty", text2]] : [];
    }
    return [];
  }
};

// src/catalog/view.ts
var import_signaling3 = require("@lumino/signaling");
var import_widgets2 = require("@lumino/widgets");
var WORDS = {
  catalog: "catalog",
  database: "database",
  table: "table",
  view: "view",
  column: "column",
  tag: "tag",
  branch: "branch",
  system_table: "system table",
  job: "job",
  found: "results of the search"
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
function element(name, attributes, text2 = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text2) made.textContent = text2;
  return made;
}
function update(shown, wanted) {
  for (const name of shown.getAttributeNames()) if (!wanted.hasAttribute(name)) shown.removeAttribute(name);
  for (const name of wanted.getAttributeNames()) {
    const value = wanted.getAttribute(name) ?? "";
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  }
  if (!wanted.childElementCount && shown.textContent !== wanted.textContent) shown.textContent = wanted.textContent;
  while (shown.childElementCount > wanted.childElementCount) shown.lastElementChild?.remove();
  [...wanted.children].forEach((child, i) => {
    const old = shown.children[i];
    if (!old) shown.appendChild(child);
    else if (old.tagName === child.tagName) update(old, child);
    else old.replaceWith(child);
  });
}
var TreeView = class extends import_widgets2.Widget {
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
  /** Rows that were there stay in the page: moving one would end a click that has begun on it. */
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
    let made = this.made.get(id);
    if (made?.dataset.look !== look) {
      const wanted = remark ? this.drawnRemark(row) : this.drawnLine(row);
      if (made) update(made, wanted);
      else made = wanted;
    }
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
function loadProblem(error) {
  const text2 = error instanceof Error ? error.message : String(error);
  return error instanceof CatalogError && /No module named/.test(text2) ? "The kernel's Python has no paimon_nb. Install it there: pip install paimon-nb" : `paimon_nb cannot be loaded: ${text2}. Run import paimon_nb in a cell to see the whole error.`;
}
var CatalogSideBar = class extends import_widgets3.Widget {
  constructor() {
    super();
    this.tree = new TreeView();
    this.target = null;
    this.model = null;
    this.models = /* @__PURE__ */ new WeakMap();
    this.problem = "";
    /** The kernel that was asked to load paimon_nb and has not answered. */
    this.loading = null;
    this.stale = false;
    this.typing = 0;
    this.busy = 0;
    this.head = document.createElement("div");
    this.where = document.createElement("div");
    this.path = document.createElement("button");
    this.filter = document.createElement("input");
    this.state = document.createElement("div");
    this.createdSignal = new import_signaling4.Signal(this);
    this.connectedSignal = new import_signaling4.Signal(this);
    this.id = "paimon-nb-catalog";
    this.title.icon = paimonIcon;
    this.title.caption = "Paimon catalog";
    this.node.setAttribute("role", "region");
    this.node.setAttribute("aria-label", "Paimon catalog side bar");
    this.addClass("pnb-cat");
    this.makeHead();
    const layout = new import_widgets3.PanelLayout();
    this.layout = layout;
    const top = new import_widgets3.Widget();
    top.node.append(this.head, this.where, this.path, this.filter, this.state);
    layout.addWidget(top);
    layout.addWidget(this.tree);
    this.draw();
  }
  /** The button for a new table. */
  get created() {
    return this.createdSignal;
  }
  /** The button that opens a warehouse or a catalog. */
  get connected() {
    return this.connectedSignal;
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
    if (this.loading !== catalog2) this.loading = null;
    if (this.model?.catalog !== catalog2) {
      this.model?.catalog.changed.disconnect(this.onKernel, this);
      this.model?.catalog.altered.disconnect(this.refresh, this);
      this.model?.changed.disconnect(this.drawState, this);
      this.model = catalog2 && this.modelOf(catalog2);
      this.model?.catalog.changed.connect(this.onKernel, this);
      this.model?.catalog.altered.connect(this.refresh, this);
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
    if (state !== "absent") {
      this.problem = "";
      this.loading = null;
    }
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
      this.button(import_ui_components3.folderIcon, "Open a warehouse or a catalog", () => this.connectedSignal.emit()),
      this.button(import_ui_components3.collapseAllIcon ?? import_ui_components3.refreshIcon, "Collapse all", () => this.model?.collapseAll()),
      this.button(import_ui_components3.refreshIcon, "Refresh", () => this.refresh())
    );
    this.where.className = "pnb-cat-where";
    this.path.className = "pnb-cat-path";
    this.path.hidden = true;
    this.path.addEventListener("click", () => this.connectedSignal.emit());
    this.filter.type = "search";
    this.filter.placeholder = "Search tables and columns";
    this.filter.setAttribute("aria-label", "Search tables and columns");
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
    const [text2, label, act] = this.message();
    if (this.state.dataset.text === text2 + label) return;
    this.state.dataset.text = text2 + label;
    this.state.replaceChildren();
    this.state.hidden = !text2;
    if (!text2) return;
    const line = document.createElement("div");
    line.textContent = text2;
    this.state.appendChild(line);
    if (!label) return;
    const button = document.createElement("button");
    button.className = "jp-Button jp-mod-styled jp-mod-accept pnb-cat-button";
    button.textContent = label;
    button.addEventListener("click", act);
    this.state.appendChild(button);
  }
  drawWhere() {
    const { target, model } = this, warehouse = model?.catalog.state === "ready" ? model.warehouse : "";
    this.where.hidden = !target;
    this.path.hidden = !warehouse;
    this.path.textContent = `‎${warehouse}`;
    this.path.title = `warehouse ${warehouse}
Open another one`;
    this.path.setAttribute("aria-label", `warehouse ${warehouse}: open another one`);
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
        if (this.loading === catalog2) return [`Loading paimon_nb in the kernel of ${target.name} …`, "", nothing];
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
    this.loading = catalog2;
    this.draw();
    let problem = "";
    try {
      await catalog2.load();
    } catch (error) {
      problem = loadProblem(error);
    }
    if (this.loading !== catalog2) return;
    this.loading = null;
    this.problem = problem;
    this.draw();
  }
};

// src/catalog/style.css
var style_default = ".pnb-cat{display:flex;flex-direction:column;min-width:180px!important;background:var(--jp-layout-color1);color:var(--jp-ui-font-color1);font-size:var(--jp-ui-font-size1);font-family:var(--jp-ui-font-family)}\n.pnb-cat [hidden]{display:none!important}\n.pnb-cat-head{display:flex;align-items:center;gap:2px;padding:4px 6px 4px 12px;border-bottom:1px solid var(--jp-border-color2)}\n.pnb-cat-head h2{flex:1;margin:0;font-size:var(--jp-ui-font-size1);font-weight:600;line-height:24px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}\n.pnb-cat-tool{display:inline-flex;align-items:center;justify-content:center;width:26px;height:24px;padding:0;border:none;border-radius:4px;background:none;cursor:pointer}\n.pnb-cat-tool:hover:enabled{background:var(--jp-layout-color2)}\n.pnb-cat-tool:disabled{opacity:.35;cursor:default}\n.pnb-cat button:focus-visible,.pnb-cat-filter:focus-visible{outline:2px solid var(--jp-brand-color1);outline-offset:1px}\n.pnb-cat-where{display:flex;align-items:center;gap:7px;padding:6px 12px 2px;font-size:12px;color:var(--jp-ui-font-color1)}\n.pnb-cat-where>span:last-child{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}\n.pnb-cat-path{display:block;max-width:calc(100% - 16px);margin:0 8px;padding:1px 4px;border:none;border-radius:3px;background:none;color:var(--jp-ui-font-color1);font:inherit;font-size:12px;text-align:left;direction:rtl;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;cursor:pointer}\n.pnb-cat-path:hover{background:var(--jp-layout-color2);text-decoration:underline}\n.pnb-cat-status{flex:none;width:8px;height:8px;border-radius:50%;box-sizing:border-box;border:1.5px solid var(--jp-ui-font-color2)}\n.pnb-cat-status[data-status=idle]{background:#009e73;border-color:#009e73}\n.pnb-cat-status[data-status=busy]{background:#e69f00;border-color:#e69f00}\n.pnb-cat-status[data-status=dead]{background:#d55e00;border-color:#d55e00;border-radius:1px}\n.pnb-cat .pnb-cat-filter.pnb-cat-filter{margin:6px 10px 4px;height:26px;padding:0 8px;box-sizing:border-box;width:calc(100% - 20px);font:inherit;font-size:12px;letter-spacing:0;color:var(--jp-ui-font-color1);background:var(--jp-layout-color1);border:1px solid var(--jp-border-color1);border-radius:4px}\n.pnb-cat-filter::placeholder{color:var(--jp-ui-font-color1);opacity:.7}\n.pnb-cat-state{padding:10px 12px;line-height:1.45}\n.pnb-cat-button.pnb-cat-button{margin-top:8px;height:28px;line-height:28px;padding:0 12px;border-radius:4px;font-size:var(--jp-ui-font-size1);cursor:pointer}\n.pnb-cat-state .pnb-cat-button{background:var(--jp-brand-color0,#0d47a1);color:#fff}\nbody[data-jp-theme-light=false] .pnb-cat-state .pnb-cat-button{background:#1565c0}\n.pnb-cat-tree{flex:1;min-height:0;overflow:auto;padding:2px 0 12px;outline:none}\n.pnb-mod-ended .pnb-cat-tree{opacity:.5}\n.pnb-cat-row{display:flex;align-items:center;gap:5px;height:24px;padding:0 10px 0 calc(6px + var(--level)*14px);cursor:pointer;white-space:nowrap;user-select:none;outline:none}\n.pnb-cat-row:hover{background:var(--jp-layout-color2)}\n.pnb-cat-row[aria-selected=true]{background:color-mix(in srgb,var(--jp-brand-color1) 16%,transparent)}\n.pnb-cat-row:focus-visible{box-shadow:inset 0 0 0 2px var(--jp-brand-color1)}\n.pnb-cat-twisty{flex:none;width:14px;height:24px;line-height:24px;text-align:center;font-size:11px;color:var(--jp-ui-font-color1)}\n.pnb-cat-row[aria-expanded=true]>.pnb-cat-twisty{transform:rotate(90deg)}\n.pnb-cat-icon{flex:none;width:15px;height:15px;fill:none;stroke:currentColor;stroke-width:1.15;stroke-linejoin:round;stroke-linecap:round;opacity:.85}\n.pnb-cat-row[data-kind=table]>.pnb-cat-icon,.pnb-cat-row[data-kind=view]>.pnb-cat-icon,.pnb-cat-row[data-kind=branch]>.pnb-cat-icon{color:var(--jp-brand-color1);opacity:1}\n.pnb-cat-row[data-mark=key]>.pnb-cat-icon{color:#b26a00;opacity:1}\nbody[data-jp-theme-light=false] .pnb-cat-row[data-mark=key]>.pnb-cat-icon{color:#e69f00}\n.pnb-cat-label{flex:0 1 auto;min-width:40px;overflow:hidden;text-overflow:ellipsis}\n.pnb-cat-row[data-mark=current]>.pnb-cat-label{font-weight:600}\n.pnb-cat-note{flex:1 1 0;min-width:0;overflow:hidden;text-overflow:ellipsis;font-size:11px;color:var(--jp-ui-font-color1);opacity:.75;font-variant-numeric:tabular-nums}\n.pnb-cat-row[data-kind=table]>.pnb-cat-note{text-align:right}\n.pnb-cat-health{flex:none;width:12px;text-align:center;font-size:10px;line-height:1}\n.pnb-cat-health[data-health=ok]{color:#00845f}\n.pnb-cat-health[data-health=slow]{color:#b26a00}\n.pnb-cat-health[data-health=broken]{color:#c4320a;font-weight:700;font-size:12px}\nbody[data-jp-theme-light=false] .pnb-cat-health[data-health=ok]{color:#2fc298}\nbody[data-jp-theme-light=false] .pnb-cat-health[data-health=slow]{color:#e69f00}\nbody[data-jp-theme-light=false] .pnb-cat-health[data-health=broken]{color:#ff8a65}\n.pnb-cat-remark{padding-left:19px;overflow:hidden;text-overflow:ellipsis;font-style:italic;font-size:12px}\n.pnb-cat-row[data-kind=error]>.pnb-cat-remark{font-style:normal;color:var(--jp-error-color0,#b00020)}\n.pnb-cat-row[data-kind=more]>.pnb-cat-remark{font-style:normal;text-decoration:underline}\n.pnb-cat-row[data-kind=empty]{cursor:default}\n.pnb-cat-tab{overflow:auto;padding:8px 12px;background:var(--jp-layout-color0);color:var(--jp-content-font-color1)}\n.pnb-cat-tabstate:not(:empty){padding:6px 0}\n.pnb-cat-tab .jp-OutputArea-output{overflow:visible}\n.pnb-cat-toolbar .jp-ToolbarButtonComponent-label{margin-left:4px}\n.pnb-cat-choosers{position:sticky;top:-8px;z-index:5;display:flex;flex-wrap:wrap;align-items:center;gap:4px 6px;margin:-8px -12px 0;padding:6px 10px;background:var(--jp-layout-color1);border-bottom:1px solid var(--jp-border-color2);font-size:12px}\n.pnb-cat-choosers [hidden]{display:none}\n.pnb-cat-choosers label{display:inline-flex;align-items:center;gap:5px;color:var(--jp-ui-font-color1)}\n.pnb-cat-choosers select{box-sizing:border-box;height:24px;max-width:110px;padding:0 4px;font:inherit;color:var(--jp-ui-font-color1);background:var(--jp-layout-color1);border:1px solid var(--jp-border-color1);border-radius:4px}\n.pnb-cat-choice{box-sizing:border-box;height:24px;min-width:24px;line-height:20px;padding:0 7px;border:1px solid var(--jp-border-color1);border-radius:4px;font-size:12px;color:var(--jp-ui-font-color1);background:var(--jp-layout-color1);cursor:pointer}\n.pnb-cat-choice:hover:enabled{background:var(--jp-layout-color2)}\n.pnb-cat-choice:disabled{opacity:.4;cursor:default}\n.pnb-cat-choice[aria-pressed=true]{background:var(--jp-brand-color3,#bbdefb);border-color:var(--jp-brand-color1)}\nbody[data-jp-theme-light=false] .pnb-cat-choice[aria-pressed=true]{background:#0d3c6b}\n.pnb-cat-choosers :is(select,button):focus-visible,.pnb-cat-tabstate button:focus-visible{outline:2px solid var(--jp-brand-color1);outline-offset:1px}\n.pnb-cat-latest{color:var(--jp-ui-font-color1)}\n.pnb-cat-row[data-kind=found]{margin-top:6px;border-top:1px solid var(--jp-border-color2)}\n.pnb-cat-dialog pre{margin:8px 0 0;padding:6px 8px;background:var(--jp-layout-color2);border-radius:4px;font-family:var(--jp-code-font-family);font-size:12px;white-space:pre-wrap;overflow-wrap:anywhere}\n";

// src/catalog/tabs.ts
var import_apputils4 = require("@jupyterlab/apputils");
var import_ui_components4 = require("@jupyterlab/ui-components");

// src/catalog/selection.ts
var import_signaling5 = require("@lumino/signaling");
var STEP_MS = 2e3;
var MAX_STEPS = 100;
var sameTable = (a, b) => a.kind === b.kind && a.path.join("\0") === b.path.join("\0");
var same = (a, b) => a.snapshot === b.snapshot && sameTable(a.node, b.node);
var Selection = class {
  constructor(catalog2, choice) {
    this.catalog = catalog2;
    this.choice = choice;
    /** Tables of the same database, and the table itself. */
    this.tables = [];
    this.snapshots = [];
    this.past = [];
    this.future = [];
    this.chosenAt = 0;
    this.reads = 0;
    this.signal = new import_signaling5.Signal(this);
    void this.read();
  }
  /** The choice or what is offered changed. */
  get changed() {
    return this.signal;
  }
  get current() {
    return this.choice;
  }
  get canGoBack() {
    return this.past.length > 0;
  }
  get canGoForward() {
    return this.future.length > 0;
  }
  choose(next) {
    if (same(next, this.choice)) return;
    const now = Date.now(), isStep = !sameTable(next.node, this.choice.node) || now - this.chosenAt > STEP_MS;
    if (isStep) this.past = [...this.past, this.choice].slice(-MAX_STEPS);
    this.chosenAt = now;
    this.future = [];
    this.show(next);
  }
  back() {
    const before = this.past.pop();
    if (!before) return;
    this.future.push(this.choice);
    this.chosenAt = 0;
    this.show(before);
  }
  forward() {
    const next = this.future.pop();
    if (!next) return;
    this.past.push(this.choice);
    this.chosenAt = 0;
    this.show(next);
  }
  /** Read which tables and snapshots there are, once for all tabs that ask at the same time. */
  async read() {
    const read = ++this.reads;
    await Promise.resolve();
    if (read !== this.reads) return;
    const { node } = this.choice;
    const list = { do: "children", kind: "database", path: node.path.slice(0, 2), match: "", start: 0 };
    const [tables, snapshots] = await Promise.all([
      this.catalog.request(list).catch(() => null),
      this.catalog.request({ do: "snapshots", kind: node.kind, path: node.path }).catch(() => null)
    ]);
    if (read !== this.reads) return;
    if (tables) this.tables = tables.nodes.filter((n) => n.kind === "table");
    if (snapshots) this.snapshots = snapshots.snapshots;
    this.signal.emit();
  }
  show(choice) {
    const moved = !sameTable(choice.node, this.choice.node);
    this.choice = choice;
    if (moved) this.snapshots = [];
    this.signal.emit();
    if (moved) void this.read();
  }
};

// src/catalog/tabcontent.ts
var import_rendermime = require("@jupyterlab/rendermime");
var import_coreutils2 = require("@lumino/coreutils");
var import_signaling6 = require("@lumino/signaling");
var import_widgets5 = require("@lumino/widgets");

// src/catalog/choosers.ts
var import_widgets4 = require("@lumino/widgets");
var LATEST_ONLY = /* @__PURE__ */ new Set(["compact", "doctor", "live"]);
var keyOf = ({ node }) => JSON.stringify([node.kind, ...node.path]);
function control(host, label) {
  const box = document.createElement("label"), select = document.createElement("select");
  box.append(`${label} `, select);
  host.appendChild(box);
  return select;
}
function fill(select, options, value) {
  const look = JSON.stringify(options);
  if (select.dataset.look !== look) {
    select.dataset.look = look;
    select.replaceChildren(...options.map(([key, text2]) => new Option(text2, key)));
  }
  select.value = value;
}
var Choosers = class extends import_widgets4.Widget {
  constructor(tab) {
    super();
    this.tab = tab;
    this.table = control(this.node, "Table");
    this.snapshot = control(this.node, "Snapshot");
    this.back = this.button("‹", "Back to the table and snapshot before (Alt+,)", () => this.tab.selection.back());
    this.forward = this.button("›", "Forward again (Alt+.)", () => this.tab.selection.forward());
    this.follow = this.button("Follow", "", () => this.tab.follow(!this.tab.follows));
    this.note = document.createElement("span");
    this.shown = null;
    this.addClass("pnb-cat-choosers");
    this.node.setAttribute("role", "group");
    this.node.setAttribute("aria-label", "table and snapshot of this tab");
    this.note.className = "pnb-cat-latest";
    this.node.appendChild(this.note);
    this.table.addEventListener("change", () => this.chooseTable());
    this.snapshot.addEventListener("change", () => this.chooseSnapshot());
    this.draw();
  }
  button(text2, title, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "pnb-cat-choice";
    made.textContent = text2;
    made.title = title;
    if (text2.length === 1) made.setAttribute("aria-label", title);
    made.addEventListener("click", act);
    this.node.appendChild(made);
    return made;
  }
  chooseTable() {
    const node = this.tab.selection.tables.find((n) => keyOf({ node: n, snapshot: null }) === this.table.value);
    if (node) this.tab.selection.choose({ node, snapshot: null });
  }
  chooseSnapshot() {
    const { selection } = this.tab, [id] = this.snapshot.value.split(" ");
    selection.choose({ node: selection.current.node, snapshot: id === "" ? null : Number(id) });
  }
  /** Show the choice of the tab, of the selection that it follows now. */
  draw() {
    const { selection, follows, panel } = this.tab;
    if (this.shown !== selection) {
      this.shown?.changed.disconnect(this.draw, this);
      this.shown = selection;
      selection.changed.connect(this.draw, this);
    }
    const { node, snapshot } = selection.current, key = keyOf(selection.current);
    const tables = selection.tables.map((n) => [keyOf({ node: n, snapshot: null }), n.label]);
    const name = node.kind === "branch" ? `${node.path[2]}, branch ${node.label}` : node.label;
    fill(this.table, tables.some(([k]) => k === key) ? tables : [[key, name], ...tables], key);
    this.fillSnapshots();
    const latestOnly = LATEST_ONLY.has(panel);
    this.snapshot.parentElement.hidden = latestOnly;
    this.note.textContent = latestOnly && snapshot !== null ? `shows the latest snapshot, not ${snapshot}` : "";
    const had = [this.back, this.forward].find((b) => b === document.activeElement);
    this.back.disabled = !selection.canGoBack;
    this.forward.disabled = !selection.canGoForward;
    if (had?.disabled) (had === this.back ? this.forward : this.back).focus();
    this.follow.setAttribute("aria-pressed", String(follows));
    this.follow.title = follows ? "Shows the table and snapshot that all tabs show. Press to keep this tab as it is" : "Keeps its own table and snapshot. Press to follow the other tabs";
  }
  fillSnapshots() {
    const { selection } = this.tab, { snapshot } = selection.current;
    const offered = selection.snapshots.map((s) => s.tag ? [`${s.id} ${s.tag}`, `${s.id} ⚑ ${s.tag}`] : [String(s.id), `${s.id} ${s.kind}`]);
    const value = snapshot === null ? "" : String(snapshot);
    const known = offered.some(([key]) => key === value);
    fill(this.snapshot, [["", "latest"], ...snapshot === null || known ? [] : [[value, value]], ...offered], value);
  }
  dispose() {
    if (this.isDisposed) return;
    this.shown?.changed.disconnect(this.draw, this);
    super.dispose();
  }
};

// src/catalog/tabcontent.ts
var WIDGET = "application/vnd.jupyter.widget-view+json";
var QUIET_MS = 400;
var MADE_AGAIN = /* @__PURE__ */ new Set(["preview"]);
var TabContent = class extends import_widgets5.Widget {
  constructor(catalog2, rendermime, panel, request, shared) {
    super();
    this.catalog = catalog2;
    this.rendermime = rendermime;
    this.panel = panel;
    this.request = request;
    this.shared = shared;
    this.tab = import_coreutils2.UUID.uuid4();
    this.follows = true;
    this.drawn = null;
    this.bar = document.createElement("div");
    this.choosers = null;
    this.asked = 0;
    /** What the panel in the kernel shows; null: it has none, or is being made. */
    this.at = null;
    this.moving = false;
    /** The kernel ended, or had no such table yet: try again when it is ready or has run a cell. */
    this.lost = false;
    this.movedSignal = new import_signaling6.Signal(this);
    const layout = new import_widgets5.PanelLayout();
    this.layout = layout;
    this.addClass("pnb-cat-tab");
    this.selection = shared;
    if (shared) {
      this.choosers = new Choosers(this);
      layout.addWidget(this.choosers);
      shared.changed.connect(this.onSelection, this);
    }
    this.bar.setAttribute("role", "status");
    this.bar.className = "pnb-cat-tabstate";
    layout.addWidget(new import_widgets5.Widget({ node: this.bar }));
    catalog2.changed.connect(this.onKernel, this);
    catalog2.ran.connect(this.onRan, this);
    catalog2.chosen.connect(this.onChosen, this);
    catalog2.connection.connectionStatusChanged.connect(this.onConnection, this);
  }
  get shown() {
    return this.shared ? { choice: this.selection.current } : this.request;
  }
  /** Another table or snapshot is shown. */
  get moved() {
    return this.movedSignal;
  }
  /** Show what the other tabs show, or keep what is shown now. */
  follow(follows) {
    if (!this.shared || follows === this.follows) return;
    this.follows = follows;
    this.selection.changed.disconnect(this.onSelection, this);
    this.selection = follows ? this.shared : new Selection(this.catalog, this.selection.current);
    this.selection.changed.connect(this.onSelection, this);
    this.choosers?.draw();
    this.onSelection();
  }
  /** Let the kernel make the panel again. */
  async load() {
    const asked2 = ++this.asked, { choice, node = choice?.node } = this.shown;
    this.at = null;
    this.lost = false;
    const text2 = this.catalog.connection.status === "busy" ? "Waiting for the kernel, which is busy …" : "Loading …";
    const slow = window.setTimeout(() => this.say(text2), this.drawn ? QUIET_MS : 0);
    try {
      const answer = await this.catalog.request({
        do: "open",
        tab: this.tab,
        panel: this.panel,
        kind: node?.kind,
        path: node?.path,
        snapshot: choice?.snapshot ?? null
      });
      if (asked2 !== this.asked || this.isDisposed) return;
      await this.draw(answer);
      this.say("");
      this.at = choice ?? null;
      this.catchUp();
    } catch (error) {
      if (asked2 !== this.asked || this.isDisposed) return;
      this.lost = true;
      this.say(error instanceof CatalogError ? `✗ ${error.message}` : "The kernel ended before it answered.", true);
    } finally {
      window.clearTimeout(slow);
    }
  }
  async draw(bundle) {
    const live = WIDGET in bundle.data && this.rendermime.getFactory(WIDGET);
    const type = live ? WIDGET : this.rendermime.preferredMimeType(bundle.data, "ensure");
    if (!type) return;
    const renderer = this.rendermime.createRenderer(type);
    await renderer.renderModel(new import_rendermime.MimeModel({ data: bundle.data, metadata: bundle.metadata, trusted: true }));
    this.drawn?.dispose();
    this.drawn = renderer;
    renderer.addClass("jp-OutputArea-output");
    this.layout.addWidget(renderer);
  }
  onSelection() {
    this.movedSignal.emit();
    this.catchUp();
  }
  /** Bring the panel to the choice, one step after the other: while one is answered, those in between are left out. */
  catchUp() {
    const { at, moving } = this, { choice } = this.shown;
    if (!choice || !at || moving || this.isDisposed) return;
    if (!sameTable(choice.node, at.node)) return void this.load();
    if (choice.snapshot === at.snapshot) return;
    if (MADE_AGAIN.has(this.panel)) return void this.load();
    void this.move(choice);
  }
  async move(choice) {
    this.moving = true;
    const asked2 = this.asked;
    let problem = "";
    try {
      await this.catalog.request({ do: "snapshot", tab: this.tab, snapshot: choice.snapshot });
    } catch (error) {
      problem = error instanceof CatalogError ? `✗ ${error.message}` : "";
    }
    this.moving = false;
    if (asked2 !== this.asked || this.isDisposed) return this.catchUp();
    this.at = choice;
    if (this.catalog.state === "ready") this.say(problem);
    this.catchUp();
  }
  /** The user chose a snapshot in this panel: it is there already, the other tabs follow. */
  onChosen(_, { tab, snapshot }) {
    if (tab !== this.tab || !this.at) return;
    this.at = { ...this.at, snapshot };
    if (sameTable(this.at.node, this.selection.current.node)) this.selection.choose(this.at);
  }
  // -- the kernel ends, comes back, or is not reached
  onKernel() {
    const { state } = this.catalog;
    if (state === "ready") {
      if (this.lost) void this.load();
      return;
    }
    if (state !== "restarting" && state !== "dead" && state !== "absent") return;
    if (this.lost && this.bar.textContent) return;
    this.asked += 1;
    this.lost = true;
    this.at = null;
    endPanels(this.node);
    this.say("The kernel has ended. This tab opens again when paimon_nb is loaded and connected in its kernel.", true);
  }
  onRan() {
    if (this.catalog.state !== "ready") return;
    if (this.lost) void this.load();
    else if (this.shared && (this.selection === this.shared ? this.isVisible : true)) void this.selection.read();
  }
  onConnection(_, status) {
    tellConnection(this.node, status);
  }
  say(text2, again = false) {
    this.bar.textContent = text2;
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
    this.catalog.ran.disconnect(this.onRan, this);
    this.catalog.chosen.disconnect(this.onChosen, this);
    this.catalog.connection.connectionStatusChanged.disconnect(this.onConnection, this);
    this.selection?.changed.disconnect(this.onSelection, this);
    void this.catalog.request({ do: "close", tab: this.tab }).catch(() => void 0);
    this.drawn?.dispose();
    super.dispose();
  }
};

// src/catalog/tabs.ts
var PREVIEW = "preview";
var PanelTabs = class {
  constructor(app) {
    this.app = app;
    this.tabs = [];
    this.selections = /* @__PURE__ */ new WeakMap();
  }
  /** Open a panel, or show its table in the tab that has this panel already. The other tabs show the table, too. */
  async open(catalog2, target, request, mode = "tab") {
    const choice = request.shown.choice, selection = choice && this.select(catalog2, choice);
    const open2 = selection && this.tabs.find((t) => t.content.selection === selection && t.content.follows && t.content.panel === request.panel);
    if (open2) return this.raise(open2);
    const old = request.panel === PREVIEW ? this.tabs.find((t) => t.content.catalog === catalog2 && t.content.panel === PREVIEW && (!t.content.shown.choice || t.content.follows)) : void 0;
    const tab = this.made(catalog2, target, request, selection || null);
    const beside = old ?? [...this.tabs].reverse().find((t) => t.isAttached);
    this.app.shell.add(tab, "main", { ...this.placeOf(mode, catalog2, beside, target), activate: false });
    this.tabs.push(tab);
    old?.dispose();
    if (!tab.isVisible) this.raise(tab);
    await tab.content.load();
  }
  placeOf(mode, catalog2, beside, target) {
    const rows = this.tabs.find((t) => t.isAttached && t.content.catalog === catalog2 && t.content.panel === PREVIEW);
    if (mode === "above" && rows) return { mode: "split-top", ref: rows.id };
    if (mode === "below" && rows) return { mode: "tab-after", ref: rows.id };
    if (!beside) return { mode: "split-right", ref: target.widget.id };
    return { mode: mode === "below" ? "split-bottom" : "tab-after", ref: beside.id };
  }
  /** The tab that has the focus, or the one in front. */
  get current() {
    const focused = this.tabs.find((t) => t.node.contains(document.activeElement));
    return (focused ?? this.tabs.find((t) => t.isVisible))?.content ?? null;
  }
  select(catalog2, choice) {
    const known = this.selections.get(catalog2);
    if (known && this.tabs.some((t) => t.content.selection === known)) {
      if (choice.snapshot !== null || !sameTable(choice.node, known.current.node)) known.choose(choice);
      return known;
    }
    const made = new Selection(catalog2, choice);
    this.selections.set(catalog2, made);
    return made;
  }
  /** A tab behind others comes to the front; the focus stays where it is. */
  raise(tab) {
    const focused = document.activeElement;
    this.app.shell.activateById(tab.id);
    requestAnimationFrame(() => focused?.isConnected && focused.focus({ preventScroll: true }));
  }
  made(catalog2, target, request, selection) {
    const content2 = new TabContent(catalog2, target.rendermime, request.panel, request.shown, selection);
    const tab = new import_apputils4.MainAreaWidget({ content: content2 });
    tab.id = `paimon-nb-${content2.tab}`;
    const name = () => {
      tab.title.label = request.titleOf(content2.shown);
      tab.title.caption = `${tab.title.label} · ${target.name}`;
    };
    name();
    content2.moved.connect(name);
    tab.title.icon = paimonIcon;
    tab.title.closable = true;
    tab.toolbar.addClass("pnb-cat-toolbar");
    tab.toolbar.addItem("refresh", new import_ui_components4.ToolbarButton({ icon: import_ui_components4.refreshIcon, tooltip: "Read again", onClick: () => void content2.load() }));
    tab.toolbar.addItem("cell", new import_ui_components4.ToolbarButton({
      icon: import_ui_components4.addIcon,
      label: "Insert as cell",
      tooltip: `Insert as a cell of ${target.name}`,
      onClick: () => void target.cell(request.sourceOf(content2.shown), request.run)
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
    insert: (text2) => {
      panel.content.activeCell?.editor?.replaceSelection?.(text2);
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
      const editor2 = notebook.activeCell?.editor;
      if (editor2) editor2.setCursorPosition(editor2.getPositionAt(source.length) ?? { line: 0, column: 0 });
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
    insert: (text2) => {
      panel.console.promptCell?.editor?.replaceSelection?.(text2);
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
var BACK = "paimon-nb:selection-back";
var FORWARD = "paimon-nb:selection-forward";
var Follower = class {
  constructor(bar) {
    this.bar = bar;
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
    if (kernel) connectCatalog(kernel);
    this.show();
  }
  show() {
    this.bar.follow(this.front, catalogOf(this.front?.session.session?.kernel?.id));
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
function addSelectionCommands(app, tabs, palette) {
  const selection = () => tabs.current?.selection ?? null;
  const add = (id, label, key, act) => {
    app.commands.addCommand(id, { label, execute: act });
    app.commands.addKeyBinding({ command: id, keys: [key], selector: ".pnb-cat-tab" });
    palette?.addItem({ command: id, category: "Paimon" });
  };
  add(BACK, "Back to the Table and Snapshot Before", "Alt ,", () => selection()?.back());
  add(FORWARD, "Forward to the Next Table and Snapshot", "Alt .", () => selection()?.forward());
}
function activate(app, notebooks, consoles, restorer, palette) {
  addStyle();
  const bar = new CatalogSideBar(), follower = new Follower(bar);
  const tabs = new PanelTabs(app), actions = new TreeActions(app, bar, tabs);
  bar.tree.activated.connect((_, line) => actions.activate(line));
  bar.tree.menu.connect((_, { line, x, y }) => actions.open(line, x, y));
  bar.created.connect(() => actions.newTable());
  bar.connected.connect(() => actions.connect());
  addCommands(app, bar, actions, palette);
  addSelectionCommands(app, tabs, palette);
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
  optional: [import_console.IConsoleTracker, import_application.ILayoutRestorer, import_apputils5.ICommandPalette],
  activate
};

// src/editor/plugin.ts
var import_view4 = require("@codemirror/view");
var import_apputils6 = require("@jupyterlab/apputils");
var import_codemirror = require("@jupyterlab/codemirror");
var import_completer2 = require("@jupyterlab/completer");
var import_console2 = require("@jupyterlab/console");
var import_notebook4 = require("@jupyterlab/notebook");

// src/editor/cell.ts
var HEAD = /^(?:[^\S\n]*\n|[^\S\n]*%(?!%?paimon\b)[^\n]*\n)*[^\S\n]*%%paimon\b/;
var HEAD_LENGTH = 2e3;
var isSqlCell = (source) => source.includes("%%paimon") && HEAD.test(source.slice(0, HEAD_LENGTH));

// src/editor/checks.ts
var import_state = require("@codemirror/state");
var import_view2 = require("@codemirror/view");
var PAUSE_MS = 400;
var WORD_MS = 1200;
var show = import_state.StateEffect.define();
var finished = import_state.StateEffect.define();
var NOTHING = { problems: import_view2.Decoration.none, names: import_view2.Decoration.none, typing: false };
function inside(problem, length) {
  const start = Math.max(0, Math.min(problem.start, length - 1));
  return [start, Math.max(start + 1, Math.min(problem.stop, length))];
}
function marksOf(checked, length, typing) {
  if (!length) return { ...NOTHING, typing };
  const problems = checked.problems.map((problem) => {
    const [from, to] = inside(problem, length);
    return import_view2.Decoration.mark({ class: "pnb-problem", problem }).range(from, to);
  });
  const names = checked.names.filter(([from, to]) => from < to && to <= length).map(([from, to, kind]) => import_view2.Decoration.mark({ class: `pnb-name-${kind}` }).range(from, to));
  return { problems: import_view2.Decoration.set(problems, true), names: import_view2.Decoration.set(names, true), typing };
}
var marks = import_state.StateField.define({
  create: () => NOTHING,
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(show)) return effect.value ? marksOf(effect.value, transaction.newDoc.length, value.typing) : { ...NOTHING, typing: value.typing };
      if (effect.is(finished)) return { ...value, typing: false };
    }
    if (!transaction.docChanged) return transaction.selection ? { ...value, typing: false } : value;
    const typing = transaction.isUserEvent("input") || transaction.isUserEvent("delete");
    return { problems: value.problems.map(transaction.changes), names: value.names.map(transaction.changes), typing };
  },
  provide: (field) => [
    import_state.Prec.high(import_view2.EditorView.decorations.from(field, (value) => value.names)),
    import_state.Prec.highest(import_view2.EditorView.decorations.compute([field, "selection"], underlined))
  ]
});
var atCursor = (state, from, to) => from <= state.selection.main.head && state.selection.main.head <= to;
function underlined(state) {
  const { problems, typing } = state.field(marks);
  return typing ? problems.update({ filter: (from, to) => !atCursor(state, from, to) }) : problems;
}
function problemsAt(state, position) {
  const found = [];
  state.field(marks, false)?.problems.between(position, position, (from, to, mark) => {
    found.push({ problem: mark.spec.problem, from, to });
  });
  return found;
}
function nextProblem(state, position) {
  let first = null, next = null;
  state.field(marks, false)?.problems.between(0, state.doc.length, (from) => {
    first ?? (first = from);
    if (from > position) next ?? (next = from);
  });
  return next ?? first;
}
function clear(view) {
  const shown = view.state.field(marks, false);
  if (shown && (shown.problems.size || shown.names.size)) view.dispatch({ effects: show.of(null) });
}
var Checker = class {
  constructor(view, model, kernels) {
    this.view = view;
    this.model = model;
    this.kernels = kernels;
    this.timer = 0;
    this.wordTimer = 0;
    this.catalog = null;
    this.asked = 0;
    this.shown = null;
    this.state = "";
    this.soon = () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.check(), PAUSE_MS);
    };
    /** Underline the problem at the cursor, too: the word is finished, or its user pauses. */
    this.finish = () => {
      window.clearTimeout(this.wordTimer);
      if (this.view.state.field(marks).typing) this.view.dispatch({ effects: finished.of(null) });
    };
    this.again = () => {
      this.shown = null;
      this.soon();
    };
    /** The kernel was restarted, or paimon_nb was loaded. */
    this.onState = () => {
      if (this.catalog?.state === this.state) return;
      this.state = this.catalog?.state ?? "";
      this.again();
    };
    this.soon();
  }
  update(update2) {
    if (update2.focusChanged && !update2.view.hasFocus) setTimeout(this.finish);
    if (!update2.docChanged) return;
    window.clearTimeout(this.wordTimer);
    this.asked += 1;
    if (this.catalog?.running || !isSqlCell(update2.state.doc.toString())) setTimeout(() => clear(this.view));
    this.soon();
  }
  destroy() {
    window.clearTimeout(this.timer);
    window.clearTimeout(this.wordTimer);
    this.follow(null);
    this.asked += 1;
  }
  follow(catalog2) {
    if (catalog2 === this.catalog) return;
    this.catalog?.ran.disconnect(this.again);
    this.catalog?.changed.disconnect(this.onState);
    this.catalog = catalog2;
    this.state = catalog2?.state ?? "";
    catalog2?.ran.connect(this.again);
    catalog2?.changed.connect(this.onState);
  }
  async check() {
    const cell = this.view.state.doc.toString();
    if (!isSqlCell(cell)) return;
    const catalog2 = this.kernels.of(this.model);
    this.follow(catalog2);
    if (catalog2?.state !== "ready") {
      clear(this.view);
      this.shown = null;
      return;
    }
    if (catalog2.running || cell === this.shown) return;
    const asked2 = ++this.asked;
    const answer = await catalog2.request({ do: "check", cell }).catch(() => null);
    if (asked2 !== this.asked || !answer?.problems || catalog2.running) return;
    this.shown = cell;
    this.view.dispatch({ effects: show.of(answer) });
    window.clearTimeout(this.wordTimer);
    this.wordTimer = window.setTimeout(this.finish, WORD_MS);
  }
};
var checkers = /* @__PURE__ */ new Set();
function checkAll() {
  for (const checker of checkers) checker.again();
}
function checks(model, kernels) {
  const plugin = import_view2.ViewPlugin.define((view) => {
    const checker = new Checker(view, model, kernels);
    checkers.add(checker);
    return {
      update: (update2) => checker.update(update2),
      destroy: () => {
        checkers.delete(checker);
        checker.destroy();
      }
    };
  });
  return [marks, plugin];
}

// src/editor/completer.ts
var import_completer = require("@jupyterlab/completer");
var NO_ITEMS = { start: 0, end: 0, items: [] };
var KINDS = ["column", "alias", "table", "keyword", "function"];
var placeOf = (kind) => KINDS.indexOf(kind) + 1 || KINDS.length + 1;
var Model = class extends import_completer.CompleterModel {
  completionItems() {
    if (!this.processedItemsCache) {
      const items = super.completionItems();
      if (this.query && items.some((item) => item.place !== void 0))
        this.processedItemsCache = [...items].sort((a, b) => (a.place ?? Infinity) - (b.place ?? Infinity) || 0);
    }
    return super.completionItems();
  }
};
var Renderer = class extends import_completer.Completer.Renderer {
  createCompletionItemNode(item, types) {
    const node = super.createCompletionItemNode(item, types);
    const kind = node.querySelector(".jp-Completer-typeExtended");
    if (!kind || !item.detail && !item.note) return node;
    node.classList.add("pnb-offer");
    kind.textContent = item.detail ? "" : item.type ?? "";
    node.title = [item.type, item.detail, item.note].filter(Boolean).join("\n");
    for (const [className, text2] of [["pnb-offer-detail", item.detail], ["pnb-offer-note", item.note]]) {
      if (!text2) continue;
      const shown = document.createElement("span");
      shown.className = className ?? "";
      shown.textContent = text2;
      kind.append(shown);
    }
    return node;
  }
  itemWidthHeuristic(item) {
    return super.itemWidthHeuristic(item) + (item.detail?.length ?? 0) + (item.note?.length ?? 0);
  }
};
var SqlCompletions = class {
  constructor(kernels) {
    this.kernels = kernels;
    this.identifier = "paimon-nb:sql";
    /** First: the first provider draws the items, and the kernel's own offers the same names without documentation. */
    this.rank = 1100;
    this.renderer = new Renderer();
    this.modelFactory = async () => new Model();
  }
  async isApplicable(context) {
    const editor2 = context.editor;
    return !!editor2 && isSqlCell(editor2.model.sharedModel.getSource()) && !!this.kernels.ready(editor2.model);
  }
  async fetch(request, context) {
    const catalog2 = context.editor && this.kernels.ready(context.editor.model);
    if (!catalog2 || catalog2.running) return NO_ITEMS;
    const found = await catalog2.request({ do: "complete", cell: request.text, at: request.offset });
    if (found.start === void 0 || found.stop === void 0) return NO_ITEMS;
    const items = found.items.map(([text2, kind, detail, note]) => ({
      // A signature begins with the function's name, so that it takes the name's place.
      ...kind === "function" && detail ? { label: detail } : { label: text2, detail },
      insertText: text2,
      type: kind,
      note,
      place: placeOf(kind),
      documentation: [detail, note].filter(Boolean).join("\n")
    }));
    return { start: found.start, end: found.stop, items };
  }
};

// src/editor/format.ts
var refuse = (reason) => warn(`Not formatted: ${reason}`);
var solid = (text2) => text2.replace(/\s+/g, "").length;
function offsetOf(text2, count) {
  let at = 0;
  for (; at < text2.length && count > 0; at++) if (/\S/.test(text2[at])) count--;
  return at;
}
async function format(view, model, kernels) {
  const cell = view.state.doc.toString();
  if (!isSqlCell(cell)) return;
  const catalog2 = kernels.ready(model);
  if (!catalog2) return refuse("paimon_nb is not loaded in the kernel; run %load_ext paimon_nb");
  if (catalog2.running) return refuse("the kernel is busy");
  let answer;
  try {
    answer = await catalog2.request({ do: "format", cell });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
  if (view.state.doc.toString() !== cell) return;
  if (answer.problems) view.dispatch({ effects: show.of({ problems: answer.problems, names: [] }) });
  if (answer.cell === void 0) return refuse(answer.refused ?? "the kernel gave no answer");
  if (answer.cell === cell) return;
  const head = offsetOf(answer.cell, solid(cell.slice(0, view.state.selection.main.head)));
  view.dispatch({ changes: { from: 0, to: cell.length, insert: answer.cell }, selection: { anchor: head }, scrollIntoView: true });
}

// src/editor/kernels.ts
var Kernels = class {
  constructor(notebooks, consoles) {
    this.notebooks = notebooks;
    this.consoles = consoles;
  }
  /** The kernel of a cell if paimon_nb is loaded in it; else null. */
  ready(model) {
    const found = this.of(model);
    return found?.state === "ready" ? found : null;
  }
  /** The connection to the kernel of a cell; null: it has none. */
  of(model) {
    const session = this.notebooks.find((panel) => panel.content.widgets.some((cell) => cell.model === model))?.sessionContext ?? this.consoles?.find((panel) => panel.console.promptCell?.model === model)?.sessionContext;
    return catalogOf(session?.session?.kernel?.id);
  }
};

// src/editor/style.css
var style_default2 = ".pnb-problem{text-decoration:underline wavy #d55e00;text-decoration-skip-ink:none;text-underline-offset:3px}\nbody[data-jp-theme-light=false] .pnb-problem{text-decoration-color:#ff9d5c}\n.pnb-name-table{font-weight:600}\n.cm-tooltip.pnb-tip,.cm-tooltip:has(>.pnb-tip){z-index:1000;border:1px solid var(--jp-border-color1);border-radius:4px;background:var(--jp-layout-color1);color:var(--jp-ui-font-color1);box-shadow:var(--jp-elevation-z4)}\n.pnb-tip{max-width:min(560px,90vw);max-height:50vh;overflow:auto;font-family:var(--jp-ui-font-family);font-size:var(--jp-ui-font-size1);line-height:1.45}\n.pnb-tip>div{padding:7px 11px}\n.pnb-tip>div+div{border-top:1px solid var(--jp-border-color2)}\n.pnb-tip-message,.pnb-tip-line,.pnb-tip-hint,.pnb-tip-title{overflow-wrap:anywhere;white-space:pre-wrap}\n.pnb-tip-problem{border-left:3px solid #d55e00}\n.pnb-tip-title{font-family:var(--jp-code-font-family);font-size:var(--jp-code-font-size);font-weight:600}\n.pnb-spoken{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}\n.pnb-offer .jp-Completer-typeExtended{text-align:left;white-space:nowrap}\n.pnb-offer-detail{color:var(--jp-ui-font-color1);display:inline-block;max-width:300px;overflow:hidden;text-overflow:ellipsis;vertical-align:bottom}\n.jp-mod-active .pnb-offer-detail,.jp-mod-active .pnb-offer-note{color:inherit}\n.pnb-offer-note{font-family:var(--jp-ui-font-family);color:var(--jp-ui-font-color2);padding-left:12px;display:inline-block;max-width:340px;overflow:hidden;text-overflow:ellipsis;vertical-align:bottom}\n";

// src/editor/tooltip.ts
var import_state2 = require("@codemirror/state");
var import_view3 = require("@codemirror/view");
var HOVER_MS = 350;
var setTip = import_state2.StateEffect.define();
var tip = import_state2.StateField.define({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setTip)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : value;
  },
  provide: (field) => import_view3.showTooltip.from(field)
});
function part(parent, className, text2) {
  const node = document.createElement("div");
  node.className = className;
  node.textContent = text2;
  parent.append(node);
  return node;
}
function content(problems, described) {
  const node = document.createElement("div");
  node.className = "pnb-tip";
  node.setAttribute("role", "tooltip");
  for (const problem of problems) {
    const shown = part(node, "pnb-tip-problem", "");
    part(shown, "pnb-tip-message", `${problem.kind}: ${problem.message}`);
    if (problem.hint) part(shown, "pnb-tip-hint", `→ ${problem.hint}`);
  }
  if (described.title) {
    const shown = part(node, "pnb-tip-name", "");
    part(shown, "pnb-tip-title", described.title);
    for (const line of described.lines ?? []) part(shown, "pnb-tip-line", line);
  }
  return node;
}
async function tipAt(view, position, model, kernels) {
  const cell = view.state.doc.toString();
  if (!isSqlCell(cell)) return null;
  const problems = problemsAt(view.state, position), catalog2 = kernels.ready(model);
  let described = {};
  if (catalog2 && !catalog2.running) described = await catalog2.request({ do: "describe", cell, at: position }).catch(() => ({}));
  if (view.state.doc.toString() !== cell || !problems.length && !described.title) return null;
  const starts = [...problems.map((p) => p.from), ...described.start === void 0 ? [] : [described.start]];
  const stops = [...problems.map((p) => p.to), ...described.stop === void 0 ? [] : [described.stop]];
  return {
    pos: Math.min(...starts),
    end: Math.max(...stops),
    above: false,
    create: () => ({ dom: content(problems.map((p) => p.problem), described) })
  };
}
var spoken = null;
function say(text2) {
  if (!spoken) {
    spoken = document.createElement("div");
    spoken.className = "pnb-spoken";
    spoken.setAttribute("role", "status");
    document.body.append(spoken);
  }
  spoken.textContent = text2;
}
async function openTip(view, model, kernels) {
  const position = view.state.selection.main.head, found = await tipAt(view, position, model, kernels);
  if (view.state.selection.main.head !== position) return;
  view.dispatch({ effects: setTip.of(found) });
  say(view.dom.ownerDocument.querySelector(".pnb-tip")?.textContent ?? "nothing is known about this word");
}
function closeTip(view) {
  if (!view.state.field(tip, false)) return false;
  view.dispatch({ effects: setTip.of(null) });
  return true;
}
function documentation(model, kernels) {
  return [
    tip,
    (0, import_view3.hoverTooltip)((view, position) => tipAt(view, position, model, kernels), { hoverTime: HOVER_MS }),
    (0, import_view3.tooltips)({ parent: document.body }),
    import_state2.Prec.highest(import_view3.keymap.of([{ key: "Escape", run: closeTip }])),
    import_view3.EditorView.domEventHandlers({ blur: (_, view) => void closeTip(view) })
  ];
}

// src/editor/plugin.ts
var SQL_EDITOR = ".cm-editor.pnb-sql .cm-content";
var AT_A_WORD = `.jp-InputArea-editor:not(.jp-mod-has-primary-selection):not(.jp-mod-in-leading-whitespace):not(.jp-mod-completer-active) ${SQL_EDITOR}`;
function activeEditor(notebooks, consoles) {
  const prompt = consoles?.currentWidget?.console.promptCell ?? null;
  const cell = prompt?.editor?.hasFocus() ? prompt : notebooks.activeCell;
  const view = cell?.editor?.editor;
  return cell && view ? { view, model: cell.model } : null;
}
function addCommands2(app, notebooks, consoles, palette, kernels) {
  const add = (id, label, keys, selector, run) => {
    app.commands.addCommand(id, {
      label,
      isEnabled: () => isSqlCell(activeEditor(notebooks, consoles)?.model.sharedModel.getSource() ?? ""),
      execute: async () => {
        const found = activeEditor(notebooks, consoles);
        if (found) await run(found.view, found.model);
      }
    });
    app.commands.addKeyBinding({ command: id, keys, selector });
    palette?.addItem({ command: id, category: "Paimon" });
  };
  add("paimon-nb:format", "Format SQL", ["Accel Shift F"], SQL_EDITOR, (view, model) => format(view, model, kernels));
  app.contextMenu.addItem({ command: "paimon-nb:format", selector: SQL_EDITOR, rank: 0 });
  add("paimon-nb:describe", "Show Documentation of a SQL Name", ["Shift Tab"], AT_A_WORD, (view, model) => openTip(view, model, kernels));
  add("paimon-nb:next-problem", "Go to the Next SQL Problem", ["F8"], SQL_EDITOR, async (view, model) => {
    const at = nextProblem(view.state, view.state.selection.main.head);
    if (at === null) return;
    view.focus();
    view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    await openTip(view, model, kernels);
  });
}
var editor = {
  id: "paimon-nb:editor",
  description: "Problems while typing, documentation, completion and formatting in %%paimon cells",
  autoStart: true,
  requires: [import_codemirror.IEditorExtensionRegistry, import_notebook4.INotebookTracker],
  optional: [import_console2.IConsoleTracker, import_completer2.ICompletionProviderManager, import_apputils6.ICommandPalette],
  activate: (app, extensions, notebooks, consoles, completions, palette) => {
    const style = document.createElement("style");
    style.textContent = style_default2;
    document.head.appendChild(style);
    const kernels = new Kernels(notebooks, consoles);
    extensions.addExtension(
      Object.freeze({
        name: "paimon-nb:editor",
        factory: ({ model }) => import_codemirror.EditorExtensionRegistry.createImmutableExtension([
          checks(model, kernels),
          documentation(model, kernels),
          import_view4.EditorView.editorAttributes.of((view) => isSqlCell(view.state.doc.sliceString(0, 2e3)) ? { class: "pnb-sql" } : null)
        ])
      })
    );
    notebooks.widgetAdded.connect((_, panel) => panel.sessionContext.kernelChanged.connect(() => setTimeout(checkAll)));
    completions?.registerProvider(new SqlCompletions(kernels));
    addCommands2(app, notebooks, consoles, palette, kernels);
  }
};

// src/highlight.ts
var import_codemirror2 = require("@jupyterlab/codemirror");

// src/editor/language.ts
var import_language = require("@codemirror/language");

// src/editor/words.json
var words_default = {
  keywords: [
    "ADD",
    "AFTER",
    "ALL",
    "ALTER",
    "ANALYZE",
    "AND",
    "ANTI",
    "ANY",
    "AS",
    "ASC",
    "AT",
    "BEGIN",
    "BETWEEN",
    "BRANCH",
    "BRANCHES",
    "BY",
    "CACHE",
    "CALL",
    "CASCADE",
    "CASE",
    "CAST",
    "CATALOG",
    "CATALOGS",
    "CLUSTER",
    "COLUMN",
    "COLUMNS",
    "COMMENT",
    "COMPUTE",
    "CONTINUOUS",
    "CREATE",
    "CROSS",
    "CUBE",
    "CURRENT",
    "CURRENT_DATE",
    "CURRENT_TIMESTAMP",
    "DATABASE",
    "DATABASES",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DESCRIPTOR",
    "DISTINCT",
    "DISTRIBUTE",
    "DROP",
    "ELSE",
    "END",
    "ENFORCED",
    "ESCAPE",
    "EXCEPT",
    "EXECUTE",
    "EXISTS",
    "EXPLAIN",
    "EXTENDED",
    "EXTERNAL",
    "FALSE",
    "FETCH",
    "FILTER",
    "FIRST",
    "FOLLOWING",
    "FOR",
    "FORMATTED",
    "FRESHNESS",
    "FROM",
    "FULL",
    "FUNCTION",
    "FUNCTIONS",
    "GROUP",
    "GROUPING",
    "HAVING",
    "IF",
    "ILIKE",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOB",
    "JOBS",
    "JOIN",
    "KEY",
    "LAST",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCALTIMESTAMP",
    "MATCHED",
    "MATERIALIZED",
    "MERGE",
    "METADATA",
    "MINUS",
    "MODIFY",
    "NATURAL",
    "NOT",
    "NULL",
    "NULLS",
    "OF",
    "OFFSET",
    "ON",
    "ONLY",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "OVERWRITE",
    "PARTITION",
    "PARTITIONED",
    "PARTITIONS",
    "PIVOT",
    "PRECEDING",
    "PRIMARY",
    "PROCEDURES",
    "PURGE",
    "RANGE",
    "RECURSIVE",
    "REFRESH",
    "REFRESH_MODE",
    "RENAME",
    "REPLACE",
    "RESET",
    "RESUME",
    "RIGHT",
    "RLIKE",
    "ROLLUP",
    "ROW",
    "ROWS",
    "SELECT",
    "SEMI",
    "SET",
    "SETS",
    "SHOW",
    "SORT",
    "START_MODE",
    "STATEMENT",
    "STATISTICS",
    "STOP",
    "SUSPEND",
    "SYSTEM_TIME",
    "SYSTEM_VERSION",
    "TABLE",
    "TABLES",
    "TABLESAMPLE",
    "TAG",
    "TAGS",
    "TBLPROPERTIES",
    "TEMP",
    "TEMPORARY",
    "THEN",
    "TIMESTAMP",
    "TO",
    "TRUE",
    "TRUNCATE",
    "UNBOUNDED",
    "UNCACHE",
    "UNDROP",
    "UNION",
    "UNNEST",
    "UNPIVOT",
    "UNSET",
    "UPDATE",
    "USE",
    "USING",
    "VALUES",
    "VERSION",
    "VIEW",
    "VIEWS",
    "VIRTUAL",
    "WATERMARK",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
    "WITHIN"
  ],
  types: [
    "ARRAY",
    "BIGINT",
    "BINARY",
    "BLOB",
    "BOOLEAN",
    "BYTES",
    "CHAR",
    "DATE",
    "DECIMAL",
    "DOUBLE",
    "FLOAT",
    "GEOGRAPHY",
    "GEOMETRY",
    "INT",
    "INTEGER",
    "MAP",
    "MULTISET",
    "NUMERIC",
    "ROW",
    "SMALLINT",
    "STRING",
    "STRUCT",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "TIMESTAMP_NTZ",
    "TINYINT",
    "VARBINARY",
    "VARCHAR",
    "VARIANT",
    "VECTOR"
  ],
  functions: [
    "abs",
    "any_value",
    "approx_count_distinct",
    "array",
    "array_agg",
    "array_contains",
    "array_distinct",
    "array_join",
    "array_size",
    "avg",
    "cardinality",
    "cast",
    "ceil",
    "coalesce",
    "collect_list",
    "collect_set",
    "concat",
    "concat_ws",
    "corr",
    "count",
    "count_if",
    "current_date",
    "current_timestamp",
    "date_add",
    "date_diff",
    "date_format",
    "date_sub",
    "date_trunc",
    "day",
    "dayofweek",
    "dense_rank",
    "element_at",
    "exists",
    "exp",
    "explode",
    "extract",
    "filter",
    "first_value",
    "flatten",
    "floor",
    "from_json",
    "from_unixtime",
    "get_json_object",
    "greatest",
    "hour",
    "if",
    "ifnull",
    "initcap",
    "instr",
    "lag",
    "last_day",
    "last_value",
    "lead",
    "least",
    "left",
    "length",
    "ln",
    "log",
    "lower",
    "lpad",
    "ltrim",
    "make_date",
    "map",
    "map_entries",
    "map_from_arrays",
    "map_keys",
    "map_values",
    "max",
    "max_by",
    "md5",
    "median",
    "min",
    "min_by",
    "minute",
    "mod",
    "month",
    "months_between",
    "named_struct",
    "now",
    "nullif",
    "nvl",
    "percentile",
    "percentile_approx",
    "pmod",
    "posexplode",
    "pow",
    "rand",
    "rank",
    "regexp_count",
    "regexp_extract",
    "regexp_like",
    "regexp_replace",
    "repeat",
    "replace",
    "reverse",
    "right",
    "round",
    "row_number",
    "rpad",
    "rtrim",
    "second",
    "sequence",
    "sha2",
    "sign",
    "size",
    "slice",
    "sort_array",
    "split",
    "split_part",
    "sqrt",
    "starts_with",
    "stddev",
    "string_agg",
    "struct",
    "substring",
    "sum",
    "to_date",
    "to_json",
    "to_timestamp",
    "transform",
    "trim",
    "try_cast",
    "try_divide",
    "try_to_timestamp",
    "typeof",
    "unix_timestamp",
    "upper",
    "uuid",
    "var_pop",
    "variance",
    "weekofyear",
    "year"
  ],
  options: [
    "add-column-before-partition",
    "aggregation.remove-record-on-delete",
    "alter-column-null-to-not-null.disabled",
    "async-file-write",
    "auto-create",
    "batch-scan-mode",
    "bitmap-index.compression",
    "bitmap-index.compression-level",
    "bitmap-index.dictionary-block-size",
    "bitmap-index.fallback-scan-max-size",
    "blob-as-descriptor",
    "blob-compaction.enabled",
    "blob-descriptor-field",
    "blob-descriptor.source-table",
    "blob-field",
    "blob-view-field",
    "blob-view.resolve.enabled",
    "blob-write-null-on-fetch-failure",
    "blob-write-null-on-missing-file",
    "blob.copy-buffer-size",
    "blob.split-by-file-size",
    "blob.target-file-size",
    "branch",
    "branch-merge.enabled",
    "btree-index.block-size",
    "btree-index.cache-size",
    "btree-index.compression",
    "btree-index.compression-level",
    "btree-index.fallback-scan-max-size",
    "btree-index.high-priority-pool-ratio",
    "bucket",
    "bucket-append-ordered",
    "bucket-function.type",
    "bucket-key",
    "cache-page-size",
    "chain-table.chain-partition-keys",
    "chain-table.enabled",
    "chain-table.split.key-range-enabled",
    "chain-table.streaming.merge-snapshot",
    "changelog-file.compression",
    "changelog-file.format",
    "changelog-file.prefix",
    "changelog-file.stats-mode",
    "changelog-producer",
    "changelog-producer.row-deduplicate",
    "changelog-producer.row-deduplicate-ignore-fields",
    "changelog.num-retained.max",
    "changelog.num-retained.min",
    "changelog.time-retained",
    "clustering.columns",
    "clustering.history-partition.idle-to-full-sort",
    "clustering.history-partition.limit",
    "clustering.incremental",
    "clustering.incremental.mode",
    "clustering.incremental.optimize-write",
    "clustering.strategy",
    "commit.callback.#.param",
    "commit.callbacks",
    "commit.discard-duplicate-files",
    "commit.force-compact",
    "commit.force-create-snapshot",
    "commit.max-retries",
    "commit.max-retry-wait",
    "commit.min-retry-wait",
    "commit.strict-mode.last-safe-snapshot",
    "commit.timeout",
    "commit.user-prefix",
    "compaction.delete-ratio-threshold",
    "compaction.file-num-limit",
    "compaction.force-rewrite-all-files",
    "compaction.force-up-level-0",
    "compaction.incremental-size-threshold",
    "compaction.max-size-amplification-percent",
    "compaction.max.file-num",
    "compaction.min.file-num",
    "compaction.offpeak-ratio",
    "compaction.offpeak.end.hour",
    "compaction.offpeak.start.hour",
    "compaction.optimization-interval",
    "compaction.size-ratio",
    "compaction.skip-expired-partitions",
    "compaction.small-file-ratio",
    "compaction.total-size-threshold",
    "consumer-id",
    "consumer.changelog-only",
    "consumer.expiration-time",
    "consumer.ignore-progress",
    "consumer.mode",
    "continuous.discovery-interval",
    "cross-partition-upsert.bootstrap-parallelism",
    "cross-partition-upsert.index-ttl",
    "data-evolution.compaction.rewrite-row-ids",
    "data-evolution.enabled",
    "data-evolution.merge-into.file-pruning",
    "data-evolution.merge-into.source-persist",
    "data-evolution.reassign.skip-contiguous-row-count",
    "data-evolution.row-id-conflict-rewrite.max-size",
    "data-evolution.row-sidecar.enabled",
    "data-evolution.row-sidecar.max-selected-rows",
    "data-evolution.row-sidecar.max-selection-ratio",
    "data-file.external-paths",
    "data-file.external-paths.specific-fs",
    "data-file.external-paths.strategy",
    "data-file.external-paths.weights",
    "data-file.path-directory",
    "data-file.prefix",
    "data-file.thin-mode",
    "delete.force-produce-changelog",
    "deletion-vector.index-file.target-size",
    "deletion-vectors.bitmap64",
    "deletion-vectors.enabled",
    "deletion-vectors.merge-on-read",
    "deletion-vectors.modifiable",
    "disable-explicit-type-casting",
    "dynamic-bucket.assigner-parallelism",
    "dynamic-bucket.initial-buckets",
    "dynamic-bucket.max-buckets",
    "dynamic-bucket.target-row-num",
    "dynamic-partition-overwrite",
    "end-input.check-partition-expire",
    "fields.default-aggregate-function",
    "file-index.in-manifest-threshold",
    "file-index.read.enabled",
    "file-operation.thread-num",
    "file-reader-async-threshold",
    "file.block-size",
    "file.compression",
    "file.compression.per.level",
    "file.compression.zstd-level",
    "file.format",
    "file.format.per.level",
    "file.suffix.include.compression",
    "force-lookup",
    "format-table.commit-hive-sync-url",
    "format-table.file.compression",
    "format-table.implementation",
    "format-table.partition-path-only-value",
    "format-table.scan.list-parallelism",
    "full-compaction.delta-commits",
    "full-text-index.search-mode",
    "global-index.build.max-parallelism",
    "global-index.build.max-shard",
    "global-index.column-update-action",
    "global-index.enabled",
    "global-index.external-path",
    "global-index.row-count-per-shard",
    "global-index.search-mode",
    "global-index.thread-num",
    "ignore-delete",
    "ignore-update-before",
    "incremental-between",
    "incremental-between-scan-mode",
    "incremental-between-tag-to-snapshot",
    "incremental-between-timestamp",
    "incremental-to-auto-tag",
    "index-file-in-data-file-dir",
    "key-value.sequence_number.enabled",
    "local-kv-db.block-size",
    "local-merge-buffer-size",
    "local-sort.max-num-file-handles",
    "log.changelog-mode",
    "log.consistency",
    "log.format",
    "log.ignore-delete",
    "log.key.format",
    "lookup-compact",
    "lookup-compact.max-interval",
    "lookup-wait",
    "lookup.blob-as-descriptor",
    "lookup.cache-file-retention",
    "lookup.cache-max-disk-size",
    "lookup.cache-max-memory-size",
    "lookup.cache-rows",
    "lookup.cache-spill-compression",
    "lookup.cache.bloom.filter.enabled",
    "lookup.cache.bloom.filter.fpp",
    "lookup.cache.high-priority-pool-ratio",
    "lookup.continuous.discovery-interval",
    "lookup.hash-load-factor",
    "lookup.local-file-type",
    "lookup.merge-buffer-size",
    "lookup.merge-records-threshold",
    "lookup.remote-file.enabled",
    "lookup.remote-file.level-threshold",
    "manifest-sort.enabled",
    "manifest-sort.max-rewrite-size",
    "manifest-sort.partition-field",
    "manifest.compression",
    "manifest.delete-file-drop-stats",
    "manifest.format",
    "manifest.full-compaction-threshold-size",
    "manifest.merge-min-count",
    "manifest.merge-optimize.enabled",
    "manifest.target-file-size",
    "materialized-table.definition-query",
    "materialized-table.interval-freshness",
    "materialized-table.interval-freshness.time-unit",
    "materialized-table.logical-refresh-mode",
    "materialized-table.refresh-handler-bytes",
    "materialized-table.refresh-handler-description",
    "materialized-table.refresh-mode",
    "materialized-table.refresh-status",
    "merge-engine",
    "metadata.iceberg.compaction.max.file-num",
    "metadata.iceberg.compaction.min.file-num",
    "metadata.iceberg.database",
    "metadata.iceberg.delete-after-commit.enabled",
    "metadata.iceberg.format-version",
    "metadata.iceberg.glue.skip-archive",
    "metadata.iceberg.hadoop-conf-dir",
    "metadata.iceberg.hive-client-class",
    "metadata.iceberg.hive-conf-dir",
    "metadata.iceberg.hive-skip-update-stats",
    "metadata.iceberg.manifest-compression",
    "metadata.iceberg.manifest-legacy-version",
    "metadata.iceberg.previous-versions-max",
    "metadata.iceberg.storage",
    "metadata.iceberg.storage-location",
    "metadata.iceberg.table",
    "metadata.iceberg.uri",
    "metadata.stats-dense-store",
    "metadata.stats-keep-first-n-columns",
    "metadata.stats-mode",
    "metadata.stats-mode.per.level",
    "metastore.partitioned-table",
    "metastore.tag-to-partition",
    "metastore.tag-to-partition.preview",
    "num-levels",
    "num-sorted-run.compaction-trigger",
    "num-sorted-run.stop-trigger",
    "overwrite-upgrade",
    "page-size",
    "parquet.enable.dictionary",
    "partial-update.remove-record-on-delete",
    "partial-update.remove-record-on-sequence-group",
    "partition",
    "partition.default-name",
    "partition.end-input-to-done",
    "partition.expiration-batch-size",
    "partition.expiration-check-interval",
    "partition.expiration-max-num",
    "partition.expiration-strategy",
    "partition.expiration-time",
    "partition.idle-time-to-report-statistic",
    "partition.legacy-name",
    "partition.mark-done-action",
    "partition.mark-done-action.custom.class",
    "partition.mark-done-action.http.params",
    "partition.mark-done-action.http.url",
    "partition.sink-strategy",
    "partition.timestamp-format.strict",
    "partition.timestamp-formatter",
    "partition.timestamp-pattern",
    "path",
    "pk-bitmap.index.columns",
    "pk-btree.index.columns",
    "pk-clustering-override",
    "pk-full-text.index.columns",
    "pk-multivalue.index.columns",
    "pk-vector.index.columns",
    "postpone.batch-write-fixed-bucket",
    "postpone.batch-write-fixed-bucket.max-parallelism",
    "postpone.batch-write-fixed-bucket.rescale-load-factor",
    "postpone.default-bucket-num",
    "postpone.merge-on-read",
    "postpone.target-row-num-per-bucket",
    "postpone.target-size-per-bucket",
    "primary-key",
    "primary-key.nullable",
    "query-auth.enabled",
    "read.batch-size",
    "record-level.expire-time",
    "record-level.time-field",
    "row-tracking.enabled",
    "row-tracking.partition-group-on-commit",
    "rowkind.field",
    "scalar-index.search-mode",
    "scan.bounded.watermark",
    "scan.bucket",
    "scan.creation-time-millis",
    "scan.fallback-branch",
    "scan.fallback-branch.read-fail-fast",
    "scan.fallback-delta-branch",
    "scan.fallback-snapshot-branch",
    "scan.file-creation-time-millis",
    "scan.ignore-corrupt-files",
    "scan.ignore-lost-files",
    "scan.manifest.parallelism",
    "scan.max-splits-per-task",
    "scan.mode",
    "scan.plan-auto-tag-for-read.time-retained",
    "scan.plan-sort-partition",
    "scan.primary-branch",
    "scan.snapshot-id",
    "scan.tag-name",
    "scan.timestamp",
    "scan.timestamp-millis",
    "scan.version",
    "scan.watermark",
    "sequence.field",
    "sequence.field.sort-order",
    "sequence.snapshot-ordering",
    "sink.process-time-zone",
    "sink.watermark-time-zone",
    "snapshot-id",
    "snapshot.clean-empty-directories",
    "snapshot.expire.execution-mode",
    "snapshot.expire.limit",
    "snapshot.ignore-empty-commit",
    "snapshot.num-retained.max",
    "snapshot.num-retained.min",
    "snapshot.time-retained",
    "snapshot.watermark-idle-timeout",
    "sort-compaction.local-sample.magnification",
    "sort-compaction.range-strategy",
    "sort-engine",
    "sort-spill-buffer-size",
    "sort-spill-threshold",
    "sorted-index.build.max-parallelism",
    "sorted-index.records-per-range",
    "source.split.open-file-cost",
    "source.split.target-size",
    "spill-compression",
    "spill-compression.zstd-level",
    "stream-scan-mode",
    "streaming-read-append-overwrite",
    "streaming-read-mode",
    "streaming-read-overwrite",
    "streaming.read.snapshot.delay",
    "table-read.sequence-number.enabled",
    "tag.automatic-completion",
    "tag.automatic-creation",
    "tag.batch.customized-name",
    "tag.callback.#.param",
    "tag.callbacks",
    "tag.create-success-file",
    "tag.creation-delay",
    "tag.creation-period",
    "tag.creation-period-duration",
    "tag.default-time-retained",
    "tag.num-retained-max",
    "tag.period-formatter",
    "tag.time-expire-enabled",
    "target-file-row-num",
    "target-file-size",
    "type",
    "upsert-key",
    "variant.inferShreddingSchema",
    "variant.shredding.adaptive.maxInferBufferRow",
    "variant.shredding.adaptive.retentionRatio",
    "variant.shredding.inferenceMode",
    "variant.shredding.maxInferBufferRow",
    "variant.shredding.maxSchemaDepth",
    "variant.shredding.maxSchemaWidth",
    "variant.shredding.minFieldCardinalityRatio",
    "variant.shreddingSchema",
    "vector-field",
    "vector-index.search-mode",
    "vector-search.distribute.enabled",
    "vector-search.lateral-join.batch-size",
    "vector.file.format",
    "vector.target-file-size",
    "visibility-callback.check-interval",
    "visibility-callback.enabled",
    "visibility-callback.timeout",
    "write-buffer-for-append",
    "write-buffer-size",
    "write-buffer-spill.max-disk-size",
    "write-buffer-spillable",
    "write-max-writers-to-spill",
    "write-mode",
    "write-only",
    "write.batch-memory",
    "write.batch-size",
    "write.sequence-number-init-mode",
    "zorder.var-length-contribution"
  ]
};

// src/editor/language.ts
var SQL_MIME = "text/x-paimon-sql";
var KEYWORDS = new Set(words_default.keywords);
var TYPES = new Set(words_default.types);
var FUNCTIONS = new Set(words_default.functions);
var OPTIONS = new Set(words_default.options);
function quoted2(stream, quote) {
  for (let c = stream.next(); c !== void 0; c = stream.next()) {
    if (c === "\\" && quote !== "`") stream.next();
    else if (c === quote && !stream.eat(quote)) return true;
  }
  return false;
}
function comment(stream, state) {
  const style = state.open === "+" ? "meta" : "comment";
  state.open = stream.skipTo("*/") ? (stream.match("*/"), "") : (stream.skipToEnd(), state.open);
  return style;
}
var STYLES = { "'": "string", '"': "string", "`": "variableName.special" };
function text(stream, state, quote, started) {
  const ends = quoted2(stream, quote);
  state.open = ends ? "" : quote;
  if (started && ends && OPTIONS.has(stream.current().slice(1, -1)) && stream.match(/^\s*=/, false)) return "attributeName";
  return STYLES[quote];
}
function word(stream, afterDot) {
  stream.match(/^[\p{L}\p{N}_$]*/u);
  const found = stream.current(), upper = found.toUpperCase();
  if (afterDot || stream.match(/^\./, false)) return "variableName";
  if (stream.match(/^\s*\(/, false) && FUNCTIONS.has(found.toLowerCase())) return "variableName.standard";
  if (TYPES.has(upper)) return "variableName.standard";
  if (upper === "TRUE" || upper === "FALSE" || upper === "NULL") return "atom";
  return KEYWORDS.has(upper) ? "keyword" : "variableName";
}
function token(stream, state) {
  if (state.open === "*" || state.open === "+") return comment(stream, state);
  if (state.open) return text(stream, state, state.open, false);
  if (state.head && stream.sol() && stream.match(/^\s*%.*/)) {
    state.head = !/%%paimon\b/.test(stream.current());
    return "meta";
  }
  if (stream.eatSpace()) return null;
  const afterDot = state.afterDot;
  state.afterDot = false;
  if (stream.match("--")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("/*")) {
    state.open = stream.eat("+") ? "+" : "*";
    return comment(stream, state);
  }
  const quote = stream.match(/^[rRxX]?(?=['"])/) ? stream.next() : stream.eat("`");
  if (quote) return text(stream, state, quote, true);
  if (stream.match(/^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\p{L}_$])[LlSsYyDdFf]?/u)) return "number";
  if (stream.match(/^::|^=>|^->/)) return "operator";
  if (stream.match(/^:[\p{L}_][\p{L}\p{N}_]*/u)) return "atom";
  if (stream.match(/^[\p{L}\p{N}_]/u)) return word(stream, afterDot);
  const c = stream.next();
  state.afterDot = c === ".";
  return c && "+-*/%=<>!|&^~".includes(c) ? "operator" : c && "()[]{},;.".includes(c) ? "punctuation" : null;
}
var parser = {
  name: "paimon-sql",
  startState: () => ({ head: true, open: "", afterDot: false }),
  copyState: (state) => ({ ...state }),
  token,
  languageData: { commentTokens: { line: "--", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "'", '"', "`"] } }
};
function addLanguage(languages) {
  if (languages.findByMIME(SQL_MIME)) return;
  languages.addLanguage({
    name: "paimon-sql",
    displayName: "SQL (Paimon)",
    mime: SQL_MIME,
    load: async () => new import_language.LanguageSupport(import_language.StreamLanguage.define(parser))
  });
}

// src/highlight.ts
var PYTHON = /* @__PURE__ */ new Set(["text/x-ipython", "text/x-python"]);
function watch(model, languages) {
  let python = null;
  const wantsSql = () => isSqlCell(model.sharedModel.getSource());
  const follow = async () => {
    if (model.isDisposed) return;
    if (wantsSql() && PYTHON.has(model.mimeType)) {
      await Promise.all([languages.getLanguage(model.mimeType), languages.getLanguage(SQL_MIME)]);
      if (model.isDisposed || !wantsSql() || !PYTHON.has(model.mimeType)) return;
      python = model.mimeType;
      model.mimeType = SQL_MIME;
    } else if (!wantsSql() && python && model.mimeType === SQL_MIME) {
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
  requires: [import_codemirror2.IEditorExtensionRegistry, import_codemirror2.IEditorLanguageRegistry],
  activate: (_app, extensions, languages) => {
    addLanguage(languages);
    extensions.addExtension(
      Object.freeze({
        name: "paimon-nb:sql",
        factory: ({ model }) => {
          watch(model, languages);
          return import_codemirror2.EditorExtensionRegistry.createImmutableExtension([]);
        }
      })
    );
  }
};

// src/launcher.ts
var import_launcher = require("@jupyterlab/launcher");
var import_notebook5 = require("@jupyterlab/notebook");
var OPEN = "paimon-nb:new-notebook";
var FIRST_CELL = "%load_ext paimon_nb\n%paimon connect";
function pythonKernel(app) {
  const specs = app.serviceManager.kernelspecs?.specs, all = Object.values(specs?.kernelspecs ?? {});
  const found = [...all.filter((s) => s?.name === specs?.default), ...all].find((s) => s?.language.toLowerCase() === "python");
  return found && { name: found.name };
}
async function open(app, folder) {
  const { path } = await app.commands.execute("docmanager:new-untitled", { path: folder, type: "notebook" });
  const panel = await app.commands.execute("docmanager:open", { path, factory: "Notebook", kernel: pythonKernel(app) });
  void Promise.all([panel.context.ready, panel.revealed]).then(async () => {
    await panel.sessionContext.ready;
    panel.content.widgets[0]?.model.sharedModel.setSource(FIRST_CELL);
    await import_notebook5.NotebookActions.run(panel.content, panel.sessionContext);
  });
  return panel;
}
var launcher = {
  id: "paimon-nb:launcher",
  description: "A notebook with a Paimon warehouse, from the launcher",
  autoStart: true,
  // Notebook 7 may not share this package.
  optional: [import_launcher.ILauncher].filter(Boolean),
  activate: (app, cards) => {
    app.commands.addCommand(OPEN, {
      label: "Paimon notebook",
      caption: "A notebook that opens a warehouse",
      icon: paimonIcon,
      execute: (args) => open(app, String(args.cwd ?? ""))
    });
    cards?.add({ command: OPEN, category: "Notebook", rank: 1 });
  }
};

// src/stills.ts
var import_cells3 = require("@jupyterlab/cells");
var import_notebook6 = require("@jupyterlab/notebook");
var VIEW = "application/vnd.jupyter.widget-view+json";
var STILL = "image/svg+xml";
function still(node, model) {
  const image = document.createElement("img");
  image.className = "pnb-still";
  image.alt = String(model.data["text/plain"] || "");
  image.style.maxWidth = "100%";
  image.style.colorScheme = document.body.dataset.jpThemeLight === "false" ? "dark" : "light";
  const text2 = model.data[STILL];
  image.src = "data:image/svg+xml," + encodeURIComponent([].concat(text2).join(""));
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
var IMAGE = /^<img class="pnb-still"[^>]*>\n/;
function withChart(output, node) {
  const grid = node.querySelector(".pnb.datagrid"), data = output.data;
  if (!grid || !data) return output;
  const detail = { svg: "", text: "" };
  grid.dispatchEvent(new CustomEvent("paimon-nb:still", { detail }));
  const { [STILL]: _, ...others } = data, html = [].concat(data["text/html"] ?? "").join("").replace(IMAGE, "");
  if (!detail.svg) return { ...output, data: { ...others, "text/html": html } };
  const image = document.createElement("img");
  image.className = "pnb-still";
  image.alt = detail.text;
  image.src = "data:image/svg+xml," + encodeURIComponent(detail.svg);
  return { ...output, data: { ...others, [STILL]: detail.svg, "text/html": `${image.outerHTML}
${html}` } };
}
function storeCharts(panel) {
  const model = panel.context.model, whole = model.toJSON.bind(model);
  model.toJSON = () => {
    const notebook = whole();
    panel.content.widgets.forEach((cell, i) => {
      const stored = notebook.cells[i];
      if (!(cell instanceof import_cells3.CodeCell) || !stored || !Array.isArray(stored.outputs) || cell.outputArea.widgets.length !== stored.outputs.length) return;
      stored.outputs = stored.outputs.map((output, j) => withChart(output, cell.outputArea.widgets[j].node));
    });
    return notebook;
  };
}
var stills = {
  id: "paimon-nb:stills",
  autoStart: true,
  requires: [import_notebook6.INotebookTracker],
  activate: (_app, tracker) => {
    tracker.widgetAdded.connect((_, panel) => {
      withStill(panel.content.rendermime);
      void panel.context.ready.then(() => {
        withStill(panel.content.rendermime);
        storeCharts(panel);
      });
    });
  }
};

// src/index.ts
var index_default = [highlight, stills, endings, help, catalog, editor, launcher];
}
})();
