// What a tab shows: the output of a panel, or why there is none. It follows the selection of its kernel's tabs.
import { MimeModel, type IRenderMime, type IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { Kernel } from "@jupyterlab/services";
import { UUID } from "@lumino/coreutils";
import { Signal, type ISignal } from "@lumino/signaling";
import { PanelLayout, Widget } from "@lumino/widgets";
import { endPanels, tellConnection } from "../cells";
import { Choosers } from "./choosers";
import { CatalogError, type KernelCatalog } from "./kernel";
import type { Bundle, SnapshotEvent, TreeNode } from "./protocol";
import { type Choice, sameTable, Selection } from "./selection";

/** A table at a snapshot; or another node, such as a system table, which no tab follows. */
export type Shown = { choice: Choice; node?: undefined } | { choice?: undefined; node: TreeNode };

const WIDGET = "application/vnd.jupyter.widget-view+json";
/** A shorter wait is not mentioned. */
const QUIET_MS = 400;
/** Panels that cannot go to another snapshot in place: the kernel makes a new one. */
const MADE_AGAIN = new Set(["preview"]);

export class TabContent extends Widget {
  readonly tab = UUID.uuid4();
  follows = true;
  selection: Selection;
  private drawn: IRenderMime.IRenderer | null = null;
  private bar = document.createElement("div");
  private choosers: Choosers | null = null;
  private asked = 0;
  /** What the panel in the kernel shows; null: it has none, or is being made. */
  private at: Choice | null = null;
  private moving = false;
  /** The kernel ended, or had no such table yet: try again when it is ready or has run a cell. */
  private lost = false;
  private movedSignal = new Signal<this, void>(this);

  constructor(
    readonly catalog: KernelCatalog, private rendermime: IRenderMimeRegistry, readonly panel: string, private request: Shown, private shared: Selection | null,
  ) {
    super();
    const layout = new PanelLayout();
    this.layout = layout;
    this.addClass("pnb-cat-tab");
    this.selection = shared as Selection;
    if (shared) {
      this.choosers = new Choosers(this);
      layout.addWidget(this.choosers);
      shared.changed.connect(this.onSelection, this);
    }
    this.bar.setAttribute("role", "status");
    this.bar.className = "pnb-cat-tabstate";
    layout.addWidget(new Widget({ node: this.bar }));
    catalog.changed.connect(this.onKernel, this);
    catalog.ran.connect(this.onRan, this);
    catalog.chosen.connect(this.onChosen, this);
    catalog.connection.connectionStatusChanged.connect(this.onConnection, this);
  }

  get shown(): Shown {
    return this.shared ? { choice: this.selection.current } : this.request;
  }

  /** Another table or snapshot is shown. */
  get moved(): ISignal<this, void> {
    return this.movedSignal;
  }

  /** Show what the other tabs show, or keep what is shown now. */
  follow(follows: boolean): void {
    if (!this.shared || follows === this.follows) return;
    this.follows = follows;
    this.selection.changed.disconnect(this.onSelection, this);
    this.selection = follows ? this.shared : new Selection(this.catalog, this.selection.current);
    this.selection.changed.connect(this.onSelection, this);
    this.choosers?.draw();
    this.onSelection();
  }

  /** Let the kernel make the panel again. */
  async load(): Promise<void> {
    const asked = ++this.asked, { choice, node = choice?.node } = this.shown;
    this.at = null;
    this.lost = false;
    const text = this.catalog.connection.status === "busy" ? "Waiting for the kernel, which is busy …" : "Loading …";
    const slow = window.setTimeout(() => this.say(text), this.drawn ? QUIET_MS : 0);
    try {
      const answer = await this.catalog.request<Bundle>({
        do: "open", tab: this.tab, panel: this.panel, kind: node?.kind, path: node?.path, snapshot: choice?.snapshot ?? null,
      });
      if (asked !== this.asked || this.isDisposed) return;
      await this.draw(answer);
      this.say("");
      this.at = choice ?? null;
      this.catchUp();
    } catch (error) {
      if (asked !== this.asked || this.isDisposed) return;
      this.lost = true;
      this.say(error instanceof CatalogError ? `✗ ${error.message}` : "The kernel ended before it answered.", true);
    } finally {
      window.clearTimeout(slow);
    }
  }

  private async draw(bundle: Bundle): Promise<void> {
    // Notebooks have the renderer of widgets; where it is missing, the stored form of the widget is shown.
    const live = WIDGET in bundle.data && this.rendermime.getFactory(WIDGET);
    const type = live ? WIDGET : this.rendermime.preferredMimeType(bundle.data, "ensure");
    if (!type) return;
    const renderer = this.rendermime.createRenderer(type);
    await renderer.renderModel(new MimeModel({ data: bundle.data, metadata: bundle.metadata, trusted: true }));
    this.drawn?.dispose();
    this.drawn = renderer;
    renderer.addClass("jp-OutputArea-output");
    (this.layout as PanelLayout).addWidget(renderer);
  }

  private onSelection(): void {
    this.movedSignal.emit();
    this.catchUp();
  }

  /** Bring the panel to the choice, one step after the other: while one is answered, those in between are left out. */
  private catchUp(): void {
    const { at, moving } = this, { choice } = this.shown;
    if (!choice || !at || moving || this.isDisposed) return;
    if (!sameTable(choice.node, at.node)) return void this.load();
    if (choice.snapshot === at.snapshot) return;
    if (MADE_AGAIN.has(this.panel)) return void this.load();
    void this.move(choice);
  }

  private async move(choice: Choice): Promise<void> {
    this.moving = true;
    const asked = this.asked;
    let problem = "";
    try {
      await this.catalog.request({ do: "snapshot", tab: this.tab, snapshot: choice.snapshot });
    } catch (error) {
      problem = error instanceof CatalogError ? `✗ ${error.message}` : "";
    }
    this.moving = false;
    if (asked !== this.asked || this.isDisposed) return this.catchUp();
    this.at = choice;
    if (this.catalog.state === "ready") this.say(problem);
    this.catchUp();
  }

  /** The user chose a snapshot in this panel: it is there already, the other tabs follow. */
  private onChosen(_: KernelCatalog, { tab, snapshot }: SnapshotEvent): void {
    if (tab !== this.tab || !this.at) return;
    this.at = { ...this.at, snapshot };
    if (sameTable(this.at.node, this.selection.current.node)) this.selection.choose(this.at);
  }

  // -- the kernel ends, comes back, or is not reached

  private onKernel(): void {
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

  private onRan(): void {
    if (this.catalog.state !== "ready") return;
    if (this.lost) void this.load();
    else if (this.shared && (this.selection === this.shared ? this.isVisible : true)) void this.selection.read();
  }

  private onConnection(_: Kernel.IKernelConnection, status: Kernel.ConnectionStatus): void {
    tellConnection(this.node, status);
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
    this.catalog.ran.disconnect(this.onRan, this);
    this.catalog.chosen.disconnect(this.onChosen, this);
    this.catalog.connection.connectionStatusChanged.disconnect(this.onConnection, this);
    this.selection?.changed.disconnect(this.onSelection, this);
    void this.catalog.request({ do: "close", tab: this.tab }).catch(() => undefined);
    this.drawn?.dispose();
    super.dispose();
  }
}
