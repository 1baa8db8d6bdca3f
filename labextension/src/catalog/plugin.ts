// Puts the catalog into the left side bar and lets it follow the active notebook or console.
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette, type ISessionContext } from "@jupyterlab/apputils";
import { IConsoleTracker } from "@jupyterlab/console";
import { INotebookTracker, NotebookActions } from "@jupyterlab/notebook";
import type { Widget } from "@lumino/widgets";
import { RUN, TreeActions } from "./actions";
import { catalogOf, connectCatalog } from "./kernel";
import { CatalogSideBar } from "./sidebar";
import css from "./style.css";
import { PanelTabs } from "./tabs";
import { ofConsole, ofNotebook, type Target } from "./target";

/** Cells that end in quick succession cause one refresh. */
const EXECUTED_MS = 400;
const SHOW = "paimon-nb:catalog-show";
const BACK = "paimon-nb:selection-back";
const FORWARD = "paimon-nb:selection-forward";

/** The notebook or console in front. */
class Follower {
  private targets = new Map<Widget, Target>();
  private front: Target | null = null;
  private executed = 0;

  constructor(private bar: CatalogSideBar) {}

  /** `current`: the widget in front; a notebook may be added after it came to the front. */
  add(target: Target, current: Widget | null): void {
    this.targets.set(target.widget, target);
    target.session.kernelChanged.connect((session) => this.connect(session));
    target.session.statusChanged.connect(() => this.front === target && !target.session.session?.kernel && this.show());
    target.widget.title.changed.connect(() => this.front === target && this.show());
    target.widget.disposed.connect(() => this.remove(target));
    this.connect(target.session);
    this.current(this.front ? current : target.widget);
  }

  current(widget: Widget | null): void {
    const target = widget && this.targets.get(widget);
    if (!target || target === this.front) return;
    this.front = target;
    this.show();
  }

  /** A cell of this notebook or console has ended. */
  ran(widget: Widget | null): void {
    if (!this.front || widget !== this.front.widget) return;
    window.clearTimeout(this.executed);
    this.executed = window.setTimeout(() => this.bar.refresh(), EXECUTED_MS);
  }

  private remove(target: Target): void {
    this.targets.delete(target.widget);
    if (this.front !== target) return;
    this.front = [...this.targets.values()].pop() ?? null;
    this.show();
  }

  private connect(session: ISessionContext): void {
    const kernel = session.session?.kernel;
    if (kernel) connectCatalog(kernel);
    this.show();
  }

  private show(): void {
    this.bar.follow(this.front, catalogOf(this.front?.session.session?.kernel?.id));
  }
}

function addStyle(): void {
  const style = document.createElement("style");
  style.textContent = css;
  document.head.appendChild(style);
}

function addCommands(app: JupyterFrontEnd, bar: CatalogSideBar, actions: TreeActions, palette: ICommandPalette | null): void {
  app.commands.addCommand(RUN, {
    label: (args) => String(args.label ?? "Run an item of the catalog's menu"),
    isVisible: (args) => args.run !== undefined,
    execute: (args) => actions.run(Number(args.run)),
  });
  app.commands.addCommand(SHOW, { label: "Show the Paimon Catalog", execute: () => app.shell.activateById(bar.id) });
  palette?.addItem({ command: SHOW, category: "Paimon" });
}

/** The way back through the tables and snapshots that the tabs have shown. */
function addSelectionCommands(app: JupyterFrontEnd, tabs: PanelTabs, palette: ICommandPalette | null): void {
  const selection = () => tabs.current?.selection ?? null;
  const add = (id: string, label: string, key: string, act: () => void) => {
    app.commands.addCommand(id, { label, execute: act });
    app.commands.addKeyBinding({ command: id, keys: [key], selector: ".pnb-cat-tab" });
    palette?.addItem({ command: id, category: "Paimon" });
  };
  add(BACK, "Back to the Table and Snapshot Before", "Alt ,", () => selection()?.back());
  add(FORWARD, "Forward to the Next Table and Snapshot", "Alt .", () => selection()?.forward());
}

function activate(
  app: JupyterFrontEnd, notebooks: INotebookTracker, consoles: IConsoleTracker | null, restorer: ILayoutRestorer | null, palette: ICommandPalette | null,
): void {
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
  NotebookActions.executed.connect((_, { notebook }) => follower.ran(notebooks.find((panel) => panel.content === notebook) ?? null));
  consoles?.widgetAdded.connect((_, panel) => {
    follower.add(ofConsole(panel), app.shell.currentWidget);
    panel.console.executed.connect(() => follower.ran(panel));
  });
  consoles?.currentChanged.connect((_, panel) => follower.current(panel));
  app.shell.currentChanged?.connect(() => follower.current(app.shell.currentWidget));
}

export const catalog: JupyterFrontEndPlugin<void> = {
  id: "paimon-nb:catalog",
  description: "The Paimon catalog of the active kernel in the side bar",
  autoStart: true,
  requires: [INotebookTracker],
  optional: [IConsoleTracker, ILayoutRestorer, ICommandPalette],
  activate,
};
