// What can be done with a node of the tree: the context menu, and what a click does.
import type { JupyterFrontEnd } from "@jupyterlab/application";
import { Clipboard } from "@jupyterlab/apputils";
import { MenuSvg } from "@jupyterlab/ui-components";
import type { Menu } from "@lumino/widgets";
import type { Line } from "./model";
import type { TreeNode } from "./protocol";
import type { CatalogSideBar } from "./sidebar";
import type { PanelTabs } from "./tabs";

/** A panel that needs only a table: its %paimon command, its name. */
const PANELS: [string, string][] = [
  ["explore", "Explore"], ["timeline", "Timeline"], ["lsm", "LSM tree"], ["compact", "Compaction"], ["skip", "Pruning"],
  ["compare", "Compare snapshots"], ["doctor", "Doctor"], ["live", "Live changes"],
];
const PREVIEWED = new Set(["table", "branch", "tag", "system_table"]);

const panelSource = (command: string, node: TreeNode): string =>
  node.command
    ? `%paimon ${command} ${node.command}`
    : `from paimon_nb.notebook.table_panels import table_panel\n\ntable_panel("${command}", ${JSON.stringify(node.insert)})`;

function querySource(line: Line): string {
  const { node, parent } = line;
  if (node.kind === "tag") return `%%paimon\nSELECT * FROM ${parent?.parent?.node.insert} VERSION AS OF ${node.insert}\nLIMIT 50`;
  return `%%paimon\nSELECT * FROM ${node.insert}\nLIMIT 50`;
}

export class TreeActions {
  private menu: Menu | null = null;

  constructor(private app: JupyterFrontEnd, private bar: CatalogSideBar, private tabs: PanelTabs) {}

  /** A click on a name, or Enter. */
  activate(line: Line): void {
    if (PREVIEWED.has(line.node.kind)) this.preview(line);
    else if (line.node.kind === "job") this.side("jobs", "Jobs", line.node, "%paimon jobs");
  }

  newTable(database = ""): void {
    this.cell(`%paimon create${database && ` ${database}.my_table`}`, true);
  }

  /** Open the menu of a line. */
  open(line: Line, x: number, y: number): void {
    this.menu?.dispose();
    this.acts = [];
    const menu = new MenuSvg({ commands: this.app.commands });
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
      this.add(menu, "Copy name", () => Clipboard.copyToSystem(line.node.insert));
    }
    if (line.node.expands) {
      menu.addItem({ type: "separator" });
      this.add(menu, "Refresh", () => void this.bar.shownModel?.load(line));
    }
    menu.aboutToClose.connect(() => requestAnimationFrame(() => this.bar.tree.enter()));
    menu.open(x, y);
  }

  private addPanels(menu: Menu, line: Line): void {
    const { node } = line, key = line.facts?.key ?? "";
    menu.addItem({ type: "separator" });
    for (const [command, name] of PANELS) this.add(menu, name, () => this.cell(panelSource(command, node), true));
    // The user fills in the values of the key.
    if (key && node.command) this.add(menu, "Row history …", () => this.cell(`%paimon why ${node.command} ${key}`, false));
    const beside = new MenuSvg({ commands: this.app.commands });
    beside.title.label = "Open in a tab";
    for (const [command, name] of PANELS)
      this.add(beside, name, () => this.side(command, `${name}: ${node.label}`, node, panelSource(command, node)));
    menu.addItem({ type: "submenu", submenu: beside });
  }

  private addJobs(menu: Menu, line: Line): void {
    this.add(menu, "Jobs in a new cell", () => this.cell("%paimon jobs", true));
    this.add(menu, "Jobs in a tab", () => this.side("jobs", "Jobs", line.node, "%paimon jobs"));
  }

  private add(menu: Menu, label: string, act: () => void): void {
    menu.addItem({ command: RUN, args: { label, run: this.held(act) } });
  }

  // Arguments of commands are JSON, so the menu holds its functions by number.
  private acts: (() => void)[] = [];

  private held(act: () => void): number {
    return this.acts.push(act) - 1;
  }

  /** Run an item of the open menu. */
  run(index: number): void {
    this.acts[index]?.();
  }

  private preview(line: Line): void {
    const table = line.node.kind === "tag" || line.node.kind === "system_table" ? line.node.path[2] : "";
    const title = line.node.kind === "system_table" ? `${table}$${line.node.label}` : table ? `${table} at ${line.node.label}` : line.node.label;
    this.side("preview", title, line.node, querySource(line), false);
  }

  private side(panel: string, title: string, node: TreeNode, source: string, run = true): void {
    const target = this.bar.shownTarget, model = this.bar.shownModel;
    if (target && model) void this.tabs.open(model.catalog, target, { panel, title, node, source, run });
  }

  private cell(source: string, run: boolean): void {
    void this.bar.shownTarget?.cell(source, run);
  }
}

/** The command behind every item of the context menu. */
export const RUN = "paimon-nb:catalog-menu-item";
