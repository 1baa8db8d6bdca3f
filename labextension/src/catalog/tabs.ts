// Tabs beside the notebook: the preview of a table, and panels. The kernel makes the widget; nothing is executed.
import type { JupyterFrontEnd } from "@jupyterlab/application";
import { MainAreaWidget } from "@jupyterlab/apputils";
import { MimeModel, type IRenderMime, type IRenderMimeRegistry } from "@jupyterlab/rendermime";
import { addIcon, refreshIcon, ToolbarButton } from "@jupyterlab/ui-components";
import { UUID } from "@lumino/coreutils";
import { PanelLayout, Widget } from "@lumino/widgets";
import { endPanels } from "../cells";
import { paimonIcon } from "./icons";
import { CatalogError, type KernelCatalog } from "./kernel";
import type { Bundle, TreeNode } from "./protocol";
import type { Target } from "./target";

export interface Request {
  panel: string;
  title: string;
  node: TreeNode;
  /** The same in a cell; "" if there is no such cell. */
  source: string;
  /** Whether the cell may run at once. */
  run: boolean;
}

const PREVIEW = "preview";
const WIDGET = "application/vnd.jupyter.widget-view+json";

/** What a tab shows: the output of a panel, or why there is none. */
class TabContent extends Widget {
  readonly tab = UUID.uuid4();
  private shown: IRenderMime.IRenderer | null = null;
  private bar = document.createElement("div");
  private asked = 0;

  constructor(private catalog: KernelCatalog, private rendermime: IRenderMimeRegistry, public request: Request) {
    super();
    const layout = new PanelLayout(), top = new Widget({ node: this.bar });
    this.layout = layout;
    this.addClass("pnb-cat-tab");
    this.bar.setAttribute("role", "status");
    this.bar.className = "pnb-cat-tabstate";
    layout.addWidget(top);
    catalog.changed.connect(this.onKernel, this);
  }

  async load(): Promise<void> {
    const { panel, node } = this.request, asked = ++this.asked;
    this.say(this.catalog.connection.status === "busy" ? "Waiting for the kernel, which is busy …" : "Loading …");
    try {
      const answer = await this.catalog.request<Bundle>({ do: "open", tab: this.tab, panel, kind: node.kind, path: node.path });
      if (asked !== this.asked || this.isDisposed) return;
      await this.draw(answer);
      this.say("");
    } catch (error) {
      if (asked !== this.asked || this.isDisposed) return;
      this.say(error instanceof CatalogError ? `✗ ${error.message}` : "The kernel ended before it answered.", true);
    }
  }

  private async draw(bundle: Bundle): Promise<void> {
    // Notebooks have the renderer of widgets; where it is missing, the stored form of the widget is shown.
    const live = WIDGET in bundle.data && this.rendermime.getFactory(WIDGET);
    const type = live ? WIDGET : this.rendermime.preferredMimeType(bundle.data, "ensure");
    if (!type) return;
    const renderer = this.rendermime.createRenderer(type);
    await renderer.renderModel(new MimeModel({ data: bundle.data, metadata: bundle.metadata, trusted: true }));
    this.shown?.dispose();
    this.shown = renderer;
    renderer.addClass("jp-OutputArea-output");
    (this.layout as PanelLayout).addWidget(renderer);
  }

  private onKernel(): void {
    if (this.catalog.state !== "restarting" && this.catalog.state !== "dead") return;
    endPanels(this.node);
    this.say("The kernel has ended. Load paimon_nb again, then open this tab again.", true);
  }

  private say(text: string, again = false): void {
    this.bar.textContent = text;
    if (!again) return;
    const button = document.createElement("button");
    button.className = "jp-Button pnb-cat-button";
    button.textContent = "Open again";
    button.addEventListener("click", () => void this.load());
    this.bar.append(" ", button);
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.catalog.changed.disconnect(this.onKernel, this);
    void this.catalog.request({ do: "close", tab: this.tab }).catch(() => undefined);
    this.shown?.dispose();
    super.dispose();
  }
}

export class PanelTabs {
  private tabs: MainAreaWidget<TabContent>[] = [];

  constructor(private app: JupyterFrontEnd) {}

  /** Open a panel; the preview of another table replaces the last one. */
  async open(catalog: KernelCatalog, target: Target, request: Request): Promise<void> {
    const old = request.panel === PREVIEW ? this.tabs.find((t) => t.content.request.panel === PREVIEW) : undefined;
    const tab = this.made(catalog, target, request);
    const beside = old ?? [...this.tabs].reverse().find((t) => t.isAttached);
    this.app.shell.add(tab, "main", beside ? { mode: "tab-after", ref: beside.id, activate: false } : { mode: "split-right", ref: target.widget.id, activate: false });
    this.tabs.push(tab);
    old?.dispose();
    if (!tab.isVisible) this.raise(tab);
    await tab.content.load();
  }

  /** A tab behind others comes to the front; the focus stays where it is. */
  private raise(tab: Widget): void {
    const focused = document.activeElement as HTMLElement | null;
    this.app.shell.activateById(tab.id);
    requestAnimationFrame(() => focused?.isConnected && focused.focus({ preventScroll: true }));
  }

  private made(catalog: KernelCatalog, target: Target, request: Request): MainAreaWidget<TabContent> {
    const content = new TabContent(catalog, target.rendermime, request);
    const tab = new MainAreaWidget({ content });
    tab.id = `paimon-nb-${content.tab}`;
    tab.title.label = request.title;
    tab.title.caption = `${request.title} · ${target.name}`;
    tab.title.icon = paimonIcon;
    tab.title.closable = true;
    tab.toolbar.addClass("pnb-cat-toolbar");
    tab.toolbar.addItem("refresh", new ToolbarButton({ icon: refreshIcon, tooltip: "Read again", onClick: () => void content.load() }));
    if (request.source)
      tab.toolbar.addItem("cell", new ToolbarButton({
        icon: addIcon, label: "Insert as cell", tooltip: `Insert as a cell of ${target.name}`, onClick: () => void target.cell(request.source, request.run),
      }));
    tab.disposed.connect(() => { this.tabs = this.tabs.filter((t) => t !== tab); });
    target.widget.disposed.connect(() => tab.dispose());
    return tab;
  }
}
