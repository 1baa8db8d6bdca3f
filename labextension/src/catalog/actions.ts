// What can be done with a node of the tree: the context menu, and what a click does.
import type { JupyterFrontEnd } from "@jupyterlab/application";
import { Clipboard } from "@jupyterlab/apputils";
import * as alter from "./alter";
import { MenuSvg } from "@jupyterlab/ui-components";
import type { Menu } from "@lumino/widgets";
import { warn } from "../notice";
import type { Line } from "./model";
import type { TreeNode } from "./protocol";
import type { Choice } from "./selection";
import type { CatalogSideBar } from "./sidebar";
import type { PanelTabs, Place } from "./tabs";
import type { Shown } from "./tabcontent";

/** A panel that needs only a table: its %paimon command, its name. */
const PANELS: [string, string][] = [
  ["explore", "Explore"], ["timeline", "Timeline"], ["lsm", "LSM tree"], ["compact", "Compaction"], ["skip", "Pruning"],
  ["compare", "Compare snapshots"], ["doctor", "Doctor"], ["live", "Live changes"],
];
const PREVIEWED = new Set(["table", "branch", "tag", "system_table"]);

/** Panels that a cell can open at a snapshot: the words between the table's name and the snapshot. */
const AT: Record<string, string> = { timeline: " ", lsm: " --at ", explore: " snapshot/" };

function panelSource(command: string, { node, snapshot }: Choice): string {
  const at = snapshot !== null && command in AT ? `${AT[command]}${snapshot}` : "";
  return node.command
    ? `%paimon ${command} ${node.command}${at}`
    : `from paimon_nb.notebook.table_panels import table_panel\n\ntable_panel("${command}", ${JSON.stringify(node.insert)})`;
}

const querySource = (name: string, version: string | number | null): string =>
  `%%paimon\nSELECT * FROM ${name}${version === null ? "" : ` VERSION AS OF ${version}`}\nLIMIT 50`;

/** The table of a line and its snapshot; null for a line that no tab follows. */
function choiceOf({ node, parent }: Line): Choice | null {
  if (node.kind === "table" || node.kind === "branch") return { node, snapshot: null };
  const table = node.kind === "tag" ? parent?.parent?.node : undefined;
  return table && node.snapshot !== null ? { node: table, snapshot: node.snapshot } : null;
}

export class TreeActions {
  private menu: Menu | null = null;

  constructor(private app: JupyterFrontEnd, private bar: CatalogSideBar, private tabs: PanelTabs) {}

  /** A click on a name, or Enter. */
  activate(line: Line): void {
    const { kind } = line.node;
    if (PREVIEWED.has(kind)) this.preview(line);
    else if (kind === "column" && line.parent && line.parent.node.kind === "table") this.preview(line.parent); // a column that was searched
    else if (kind === "job") this.jobs(line.node);
  }

  newTable(database = ""): void {
    this.cell(`%paimon create${database && ` ${database}.my_table`}`, true);
  }

  /** The form that opens a warehouse or a catalog. */
  connect(): void {
    const node = this.bar.shownModel?.root.node;
    if (node) void this.side("connect", { node }, () => "Open a warehouse", () => "%paimon connect", true);
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
    if (PREVIEWED.has(kind) || kind === "view") this.add(menu, "Query in a new cell", () => this.cell(this.query(line), false));
    if (kind === "table" || kind === "branch") this.addPanels(menu, line);
    if (kind === "database") this.add(menu, "New table", () => this.newTable(line.node.command));
    if (kind === "catalog") this.add(menu, "Open a warehouse or a catalog …", () => this.connect());
    this.addStatements(menu, alter.statementsOf(line));
    if (kind === "job" || kind === "jobs") this.addJobs(menu, line);
    if (line.node.insert) {
      menu.addItem({ type: "separator" });
      this.add(menu, "Insert name at the cursor", () => this.bar.shownTarget?.insert(line.node.insert));
      this.add(menu, "Copy name", () => Clipboard.copyToSystem(line.node.insert));
    }
    if (line.node.expands && kind !== "found") {
      menu.addItem({ type: "separator" });
      this.add(menu, "Refresh", () => void this.bar.shownModel?.load(line));
    }
    menu.aboutToClose.connect(() => requestAnimationFrame(() => this.bar.tree.enter()));
    menu.open(x, y);
  }

  private addPanels(menu: Menu, line: Line): void {
    const { node } = line, key = line.facts?.key ?? "", choice = { node, snapshot: null };
    menu.addItem({ type: "separator" });
    for (const [command, name] of PANELS) this.add(menu, name, () => this.cell(panelSource(command, choice), true));
    // The user fills in the values of the key.
    if (key && node.command) this.add(menu, "Row history …", () => this.cell(`%paimon why ${node.command} ${key}`, false));
    const beside = new MenuSvg({ commands: this.app.commands });
    beside.title.label = "Open in a tab";
    for (const [command, name] of PANELS) this.add(beside, name, () => void this.panel(command, name, choice));
    menu.addItem({ type: "submenu", submenu: beside });
    this.add(menu, "Open workbench", () => void this.workbench(choice));
  }

  /** Statements about a line: some run as a cell at once, some ask before, some wait in their cell. */
  private addStatements(menu: Menu, statements: alter.Statement[]): void {
    if (statements.length) menu.addItem({ type: "separator" });
    for (const statement of statements) {
      this.add(menu, statement.label, async () => {
        const source = await alter.asked(statement);
        if (source) this.cell(`%%paimon\n${source}`, statement.run);
      });
    }
  }

  private addJobs(menu: Menu, line: Line): void {
    this.add(menu, "Jobs in a new cell", () => this.cell("%paimon jobs", true));
    this.add(menu, "Jobs in a tab", () => this.jobs(line.node));
  }

  private add(menu: Menu, label: string, act: () => unknown): void {
    menu.addItem({ command: RUN, args: { label, run: this.held(act) } });
  }

  // Arguments of commands are JSON, so the menu holds its functions by number.
  private acts: (() => unknown)[] = [];

  private held(act: () => unknown): number {
    return this.acts.push(act) - 1;
  }

  /** Run an item of the open menu. */
  run(index: number): void {
    this.acts[index]?.();
  }

  private query({ node, parent }: Line): string {
    return node.kind === "tag" ? querySource(String(parent?.parent?.node.insert), node.insert) : querySource(node.insert, null);
  }

  private preview(line: Line): void {
    const choice = choiceOf(line), { node } = line;
    if (choice) return void this.rows(choice);
    if (node.kind === "tag") return warn(`The tag ${node.label} cannot be read: ${node.tip}`);
    void this.side("preview", { node }, () => `${node.path[2]}$${node.label}`, () => querySource(node.insert, null), false);
  }

  private rows(choice: Choice, mode?: Place): Promise<void> {
    const title = ({ node, snapshot }: Choice) => (snapshot === null ? node.label : `${node.label} at ${snapshot}`);
    return this.side("preview", { choice }, title, ({ node, snapshot }) => querySource(node.insert, snapshot), false, mode);
  }

  private panel(command: string, name: string, choice: Choice, mode?: Place): Promise<void> {
    return this.side(command, { choice }, ({ node }) => `${name}: ${node.label}`, (shown) => panelSource(command, shown), true, mode);
  }

  /** The history above the rows and the LSM tree. */
  private async workbench(choice: Choice): Promise<void> {
    await this.panel("timeline", "Timeline", choice, "above");
    await this.panel("lsm", "LSM tree", choice, "below");
    await this.rows(choice);
  }

  private jobs(node: TreeNode): void {
    void this.side("jobs", { node }, () => "Jobs", () => "%paimon jobs", true);
  }

  private async side(panel: string, shown: Shown, title: (of: Choice) => string, source: (of: Choice) => string, run: boolean, mode?: Place): Promise<void> {
    const target = this.bar.shownTarget, model = this.bar.shownModel;
    if (!target || !model) return;
    const choice = (now: Shown): Choice => now.choice ?? { node: now.node, snapshot: null };
    await this.tabs.open(model.catalog, target, { panel, shown, titleOf: (now) => title(choice(now)), sourceOf: (now) => source(choice(now)), run }, mode);
  }

  private cell(source: string, run: boolean): void {
    void this.bar.shownTarget?.cell(source, run);
  }
}

/** The command behind every item of the context menu. */
export const RUN = "paimon-nb:catalog-menu-item";
