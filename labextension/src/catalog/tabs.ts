// Tabs beside the notebook: the preview of a table, and panels. The kernel makes the widget; nothing is executed.
// The tabs of a kernel show one table and one snapshot, unless a tab keeps its own.
import type { JupyterFrontEnd } from "@jupyterlab/application";
import { MainAreaWidget } from "@jupyterlab/apputils";
import { addIcon, refreshIcon, ToolbarButton } from "@jupyterlab/ui-components";
import type { Widget } from "@lumino/widgets";
import { paimonIcon } from "./icons";
import type { KernelCatalog } from "./kernel";
import { type Choice, sameTable, Selection } from "./selection";
import { type Shown, TabContent } from "./tabcontent";
import type { Target } from "./target";

export interface Request {
  panel: string;
  /** The title of the tab, and the cell that shows the same; "" if there is none. */
  titleOf: (shown: Shown) => string;
  sourceOf: (shown: Shown) => string;
  /** Whether the cell may run at once. */
  run: boolean;
  shown: Shown;
}

const PREVIEW = "preview";
/** Above or below the other tabs; rows that are shown already stay where they are, below. */
export type Place = "tab" | "above" | "below";
type Tab = MainAreaWidget<TabContent>;

export class PanelTabs {
  private tabs: Tab[] = [];
  private selections = new WeakMap<KernelCatalog, Selection>();

  constructor(private app: JupyterFrontEnd) {}

  /** Open a panel, or show its table in the tab that has this panel already. The other tabs show the table, too. */
  async open(catalog: KernelCatalog, target: Target, request: Request, mode: Place = "tab"): Promise<void> {
    const choice = request.shown.choice, selection = choice && this.select(catalog, choice);
    const open = selection && this.tabs.find((t) => t.content.selection === selection && t.content.follows && t.content.panel === request.panel);
    if (open) return this.raise(open);
    // The preview of another table replaces the last one.
    const old = request.panel === PREVIEW ? this.tabs.find((t) => t.content.catalog === catalog && t.content.panel === PREVIEW && (!t.content.shown.choice || t.content.follows)) : undefined;
    const tab = this.made(catalog, target, request, selection || null);
    const beside = old ?? [...this.tabs].reverse().find((t) => t.isAttached);
    this.app.shell.add(tab, "main", { ...this.placeOf(mode, catalog, beside, target), activate: false });
    this.tabs.push(tab);
    old?.dispose();
    if (!tab.isVisible) this.raise(tab);
    await tab.content.load();
  }

  private placeOf(mode: Place, catalog: KernelCatalog, beside: Tab | undefined, target: Target) {
    const rows = this.tabs.find((t) => t.isAttached && t.content.catalog === catalog && t.content.panel === PREVIEW);
    if (mode === "above" && rows) return { mode: "split-top" as const, ref: rows.id };
    if (mode === "below" && rows) return { mode: "tab-after" as const, ref: rows.id };
    if (!beside) return { mode: "split-right" as const, ref: target.widget.id };
    return { mode: mode === "below" ? ("split-bottom" as const) : ("tab-after" as const), ref: beside.id };
  }

  /** The tab that has the focus, or the one in front. */
  get current(): TabContent | null {
    const focused = this.tabs.find((t) => t.node.contains(document.activeElement));
    return (focused ?? this.tabs.find((t) => t.isVisible))?.content ?? null;
  }

  private select(catalog: KernelCatalog, choice: Choice): Selection {
    const known = this.selections.get(catalog);
    if (known && this.tabs.some((t) => t.content.selection === known)) {
      // Another panel of the same table shows the snapshot that is selected.
      if (choice.snapshot !== null || !sameTable(choice.node, known.current.node)) known.choose(choice);
      return known;
    }
    const made = new Selection(catalog, choice);
    this.selections.set(catalog, made);
    return made;
  }

  /** A tab behind others comes to the front; the focus stays where it is. */
  private raise(tab: Widget): void {
    const focused = document.activeElement as HTMLElement | null;
    this.app.shell.activateById(tab.id);
    requestAnimationFrame(() => focused?.isConnected && focused.focus({ preventScroll: true }));
  }

  private made(catalog: KernelCatalog, target: Target, request: Request, selection: Selection | null): Tab {
    const content = new TabContent(catalog, target.rendermime, request.panel, request.shown, selection);
    const tab = new MainAreaWidget({ content });
    tab.id = `paimon-nb-${content.tab}`;
    const name = () => {
      tab.title.label = request.titleOf(content.shown);
      tab.title.caption = `${tab.title.label} · ${target.name}`;
    };
    name();
    content.moved.connect(name);
    tab.title.icon = paimonIcon;
    tab.title.closable = true;
    tab.toolbar.addClass("pnb-cat-toolbar");
    tab.toolbar.addItem("refresh", new ToolbarButton({ icon: refreshIcon, tooltip: "Read again", onClick: () => void content.load() }));
    tab.toolbar.addItem("cell", new ToolbarButton({
      icon: addIcon, label: "Insert as cell", tooltip: `Insert as a cell of ${target.name}`, onClick: () => void target.cell(request.sourceOf(content.shown), request.run),
    }));
    tab.disposed.connect(() => { this.tabs = this.tabs.filter((t) => t !== tab); });
    target.widget.disposed.connect(() => tab.dispose());
    return tab;
  }
}
